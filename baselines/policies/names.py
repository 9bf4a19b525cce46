"""Policies by name: the names that every game has, and the registered policies of each game.

The names that every game has stand for policies that need a solution; ``problem`` makes them.
"""

from collections.abc import Mapping
from types import MappingProxyType

from ... import registry
from ...core import Game, InputError, NamedPolicy
from ...core.named_policy import Maker
from ...core.words import meant
from ...registry import Places
from ..cache import cached, clear_cache
from .kinds import Policy
from .tabular import PolicyCheck, table_policy

#: Names that stand for the best response to all other players, if the agent plays them.
BEST = ("optimal", "best_response")
#: Names that stand for the equilibrium policy, if another player plays them.
EQUILIBRIUM = ("optimal", "equilibrium")
#: Beginning of the names of graded strength; the share follows it.
STRENGTH = "strength:"
#: Names of the policies that every game has.
COMMON = (*BEST, "equilibrium", "random", f"{STRENGTH}<share>")
#: The registered policies, by game and name.
POLICIES = Places[Mapping[str, NamedPolicy]](registry.POLICIES)


def register_policies(game_name: str, policies: Mapping[str, Maker | NamedPolicy]) -> None:
    """Register functions that make a policy of a game, by name; "hold:<points>" has an argument."""
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
    POLICIES[game_name] = {**registered_policies(game_name), **found}
    clear_cache()  # its keys hold policies by their names


def known_name(name: str, game: Game, seat: int, masked: bool) -> str:
    """Return a name after checking that a policy of this seat has it; nothing is solved."""
    if name == "best_response":
        raise InputError(
            "opponent or policy must be one by itself, got 'best_response', which only the agent "
            "of an environment can play: its opponents are known"
        )
    if name.startswith(STRENGTH):
        read_share(name)
    elif name not in COMMON and source_policy(game, name, seat, masked) is None:
        names = ", ".join(repr(known) for known in policy_names(game))
        raise InputError(
            f"opponent or policy must be {names}, a table, a callable, a model, or the path of a "
            f"run folder, a certificate or a saved model, got {name!r}"
            f"{meant(name, policy_names(game))}"
        )
    return name


@cached
def source_policy(game: Game, name: str, seat: int, masked: bool = True) -> Policy | None:
    """Return the policy registered for a game under a name; None if there is none.

    The name holds the argument, if the policy takes one. If ``masked``, the policy must keep to the
    legal actions.
    """
    kind, colon, argument = name.partition(":")
    for pattern, policy in registered_policies(game.name).items():
        if pattern.partition(":")[:2] == (kind, colon):
            given = policy.make(game, argument) if colon else policy.make(game)
            try:
                return table_policy(given, PolicyCheck(game, seat, masked), name)
            except InputError as error:
                raise InputError(f"{name}, as it is registered for {game.name}: {error}") from None
    return None


def is_policy_name(game: type[Game] | Game, name: str) -> bool:
    """Return whether a policy of the game has this name, with any argument."""
    kinds = {known.partition(":")[:2] for known in policy_names(game)}
    return name.partition(":")[:2] in kinds


def policy_names(game: type[Game] | Game) -> list[str]:
    """List the names of a game's policies, registered policies included."""
    return [*COMMON, *registered_policies(game.name)]


def registered_policies(game_name: str) -> Mapping[str, NamedPolicy]:
    """Return the policies registered for a game, by name; ``game_name`` is its ``Game.name``."""
    return MappingProxyType(POLICIES.get(game_name, {}))


def reference_names(game: Game) -> list[str]:
    """List the names of the game's registered policies that the leaderboard scores."""
    found: list[str] = []
    for name, policy in registered_policies(game.name).items():
        own = () if ":" in name else (name,)
        found += own if policy.references is None else policy.references
    return found


def read_share(name: str) -> float:
    """Read the share of a policy's name, a number from 0 to 1."""
    text = name.removeprefix(STRENGTH)
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(
            f"strength must be a number from 0 (random) to 1 (optimal), got {text!r} in {name!r}"
        )
    return share
