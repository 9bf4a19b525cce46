"""Policies by name: the equilibrium, the uniform one, and those registered for a game."""

from collections.abc import Callable, Mapping

from ..games import Game, InputError, IntArray
from .answers import forget, remembered
from .policies import DeterministicPolicy

#: Names of the best response to all other players, as a policy of the agent.
BEST = ("optimal", "best_response")
#: Names of the equilibrium, as a policy of other players.
EQUILIBRIUM = ("optimal", "equilibrium")
#: Names of policies that solving finds.
SOLVED = ("optimal", "best_response", "equilibrium")
#: The policies that every game has.
COMMON = (*SOLVED, "random")
#: The policies of particular games, by game and name.
_REGISTERED: dict[str, dict[str, Callable[..., IntArray]]] = {}


def register_policies(game_name: str, policies: Mapping[str, Callable[..., IntArray]]) -> None:
    """Make policies of a game known by name.

    Args:
        game_name: ``Game.name`` of the game.
        policies: by name, functions from the game to actions, shape (state,). After a name such as
            "ratchet:<goal>" the function takes an argument too, what follows the colon.

    Raises:
        ValueError: if a name is one that every game has, or something is no function.
    """
    for name, play in policies.items():
        if not isinstance(name, str) or not name or name.partition(":")[0] in COMMON:
            known = ", ".join(COMMON)
            raise InputError(
                f"policies must have names other than {known}, which every game has, got {name!r}"
            )
        if not callable(play):
            raise InputError(f"policies must be functions of the game, got {play!r} as {name}")
    _REGISTERED.setdefault(game_name, {}).update(policies)
    forget()  # as answers know policies by their names


@remembered
def source_policy(game: Game, name: str) -> DeterministicPolicy | None:
    """Give a policy that is registered for a game, or None if it has none of that name.

    Raises:
        ValueError: if the name's argument is wrong.
    """
    kind, colon, argument = name.partition(":")
    for pattern, play in _REGISTERED.get(game.name, {}).items():
        if pattern.partition(":")[:2] == (kind, colon):
            actions = play(game, argument) if colon else play(game)
            return DeterministicPolicy(actions, game.num_actions, name)
    return None


def is_policy_name(game: Game, name: str) -> bool:
    """Say whether a name is one of ``policy_names``, whatever its argument."""
    kinds = {known.partition(":")[:2] for known in policy_names(game)}
    return name.partition(":")[:2] in kinds


def policy_names(game: Game) -> list[str]:
    """List the names by which policies of a game are known."""
    return [*COMMON, *_REGISTERED.get(game.name, {})]
