"""Policies by name: the equilibrium, the uniform one, and those that the sources describe."""

from collections.abc import Callable
from functools import lru_cache

from ..games import Game, InputError, IntArray
from . import four_two_one, greed, lowest_score
from .induction import equilibrium
from .policies import DeterministicPolicy, Policy, PolicyLike, UniformPolicy, tabulate

#: Names of the equilibrium as a policy of other players.
EQUILIBRIUM = ("optimal", "equilibrium")
#: The policies that the sources describe, by game and name; a name such as "ratchet:<goal>" takes
#: an argument.
SOURCES: dict[str, dict[str, Callable[..., IntArray]]] = {
    "Greed": greed.POLICIES,
    "LowestScore": lowest_score.POLICIES,
    "FourTwoOne": four_two_one.POLICIES,
}


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


def resolve(policy: PolicyLike, game: Game, seat: int, exact: bool = False) -> Policy:
    """Turn what a user gives for a policy into a checked ``Policy`` for one seat.

    Raises:
        ValueError: if the name is unknown or the policy does not fit the game.
    """
    if isinstance(policy, Policy):
        if policy.shape != (game.num_states, game.num_actions):
            raise InputError(
                f"policy must be for {game.num_states} states and {game.num_actions} actions "
                f"({game!r}), got one for {policy.shape[0]} and {policy.shape[1]}"
            )
        return policy
    if not isinstance(policy, str):
        return tabulate(policy, game, seat)
    if policy in EQUILIBRIUM:
        return equilibrium(game, exact).policies[seat]
    if policy == "random":
        return UniformPolicy(game)
    named = source_policy(game, policy)
    if named is not None:
        return named
    known = ", ".join(repr(name) for name in policy_names(game))
    raise InputError(f"opponent or policy must be {known}, a table or a callable, got {policy!r}")


def label(policy: PolicyLike) -> str:
    """Name a policy for people."""
    if isinstance(policy, str):
        return policy
    return str(getattr(policy, "__name__", type(policy).__name__))
