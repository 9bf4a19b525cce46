"""Policies by name: optimal and random play, and the policies registered for a game."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy.typing as npt

from ...core import Game, InputError
from ..cache import cached, clear_cache
from .kinds import Policy
from .strength import PATTERN
from .tables import PolicyCheck, table_policy

#: Names that stand for the best response to all other players, if the agent plays them.
BEST = ("optimal", "best_response")
#: Names that stand for the equilibrium policy, if another player plays them.
EQUILIBRIUM = ("optimal", "equilibrium")
#: Names of policies that are computed by solving the game.
SOLVED = ("optimal", "best_response", "equilibrium")
#: Names of the policies that every game has.
COMMON = (*SOLVED, "random", PATTERN)
#: A function from the game to actions, shape (state,), or to probabilities, shape (state, action).
#: Entries of states in which the policy's seat is never to move are ignored. If the name has an
#: argument, such as "hold:<points>", the function also gets the text after the colon.
Maker: TypeAlias = Callable[..., npt.ArrayLike]


@dataclass(frozen=True)
class NamedPolicy:
    """A registered policy.

    Attributes:
        make: the function that makes it.
        references: the names that the leaderboard scores, such as ("hold:20",); () for none. None
            stands for the policy's own name, or for no name if it has an argument.
        title: name of the player for people; empty for the policy's own name.
        about: a sentence for people on how the player plays; empty for none.
    """

    make: Maker
    references: tuple[str, ...] | None = None
    title: str = ""
    about: str = ""


#: The registered policies, by game and name.
_REGISTERED: dict[str, dict[str, NamedPolicy]] = {}


def register_policies(game_name: str, policies: Mapping[str, Maker | NamedPolicy]) -> None:
    """Register policies of a game by name.

    Args:
        game_name: ``Game.name`` of the game.
        policies: functions that make a policy, or ``NamedPolicy``, by name. A name such as
            "hold:<points>" has an argument.

    Raises:
        ValueError: if ``policies`` is no mapping, if every game has a policy of a given name, or if
            a function is not callable.
    """
    if not isinstance(policies, Mapping):
        raise InputError(
            "policies must be a mapping from names to functions of the game, got "
            f"{type(policies).__name__}"
        )
    found = {
        name: given if isinstance(given, NamedPolicy) else NamedPolicy(given)
        for name, given in policies.items()
    }
    common = {name.partition(":")[0] for name in COMMON}
    for name, policy in found.items():
        if not isinstance(name, str) or not name or name.partition(":")[0] in common:
            known = ", ".join(COMMON)
            raise InputError(
                f"policies must have names other than {known}, which every game has, got {name!r}"
            )
        if not callable(policy.make):
            raise InputError(
                f"policies must be functions of the game, got {policy.make!r} as {name}"
            )
    _REGISTERED.setdefault(game_name, {}).update(found)
    clear_cache()  # its keys hold policies by their names


@cached
def source_policy(game: Game, name: str, seat: int, masked: bool = True) -> Policy | None:
    """Return the policy registered for a game under a name; None if there is none.

    Args:
        game: the game that is played.
        name: name of the policy, with its argument if it takes one.
        seat: the seat that the policy plays.
        masked: whether the policy must keep to the legal actions.

    Raises:
        ValueError: if the argument is wrong, or the function returns no policy for the seat.
    """
    kind, colon, argument = name.partition(":")
    for pattern, policy in _REGISTERED.get(game.name, {}).items():
        if pattern.partition(":")[:2] == (kind, colon):
            given = policy.make(game, argument) if colon else policy.make(game)
            try:
                return table_policy(given, PolicyCheck(game, seat, name, masked))
            except InputError as error:
                raise InputError(f"{name}, as it is registered for {game.name}: {error}") from None
    return None


def is_policy_name(game: Game, name: str) -> bool:
    """Return whether a policy of the game has this name, with any argument."""
    kinds = {known.partition(":")[:2] for known in policy_names(game)}
    return name.partition(":")[:2] in kinds


def policy_names(game: Game) -> list[str]:
    """List the names of a game's policies, registered policies included."""
    return [*COMMON, *_REGISTERED.get(game.name, {})]


def registered_policies(game_name: str) -> Mapping[str, NamedPolicy]:
    """Return the policies registered for a game, by name; ``game_name`` is its ``Game.name``."""
    return MappingProxyType(_REGISTERED.get(game_name, {}))


def reference_names(game: Game) -> list[str]:
    """List the names of the game's registered policies that the leaderboard scores."""
    found: list[str] = []
    for name, policy in _REGISTERED.get(game.name, {}).items():
        own = () if ":" in name else (name,)
        found += own if policy.references is None else policy.references
    return found
