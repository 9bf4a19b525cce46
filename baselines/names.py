"""Policies by name: the equilibrium, the uniform one, and those that the sources describe."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from ..games import Game, IntArray
from . import four_two_one, greed, lowest_score
from .policies import DeterministicPolicy

#: Names of the equilibrium as a policy of other players.
EQUILIBRIUM = ("optimal", "equilibrium")
#: The policies that the sources describe, by game and name; a name such as "ratchet:<goal>" takes
#: an argument.
SOURCES: dict[str, dict[str, Callable[..., IntArray]]] = {
    "Greed": greed.POLICIES,
    "LowestScore": lowest_score.POLICIES,
    "FourTwoOne": four_two_one.POLICIES,
}


def register_policies(game: str, policies: Mapping[str, Callable[..., IntArray]]) -> None:
    """Add policies of a game, by its name, to ``SOURCES``."""
    SOURCES[game] = {**SOURCES.get(game, {}), **policies}
    source_policy.cache_clear()


@lru_cache(maxsize=32)
def source_policy(game: Game, name: str) -> DeterministicPolicy | None:
    """Give a policy that the game's source describes, or None if it has none of that name.

    Raises:
        ValueError: if the name's argument is wrong.
    """
    kind, colon, argument = name.partition(":")
    for pattern, play in SOURCES.get(game.name, {}).items():
        if pattern.partition(":")[:2] == (kind, colon):
            actions = play(game, argument) if colon else play(game)
            return DeterministicPolicy(actions, game.num_actions)
    return None


def is_policy_name(game: Game, name: str) -> bool:
    """Say whether a name is one of ``policy_names``, whatever its argument."""
    kinds = {known.partition(":")[:2] for known in policy_names(game)}
    return name.partition(":")[:2] in kinds


def policy_names(game: Game) -> list[str]:
    """List the names by which policies of a game are known."""
    return ["optimal", "equilibrium", "random", *SOURCES.get(game.name, {})]
