"""The one door for policies: turn whatever a user gives as a policy into a checked ``Policy``.

Three functions do it: ``convert`` is ``read_policy``, which gives a known name or a ``Policy``,
followed by ``resolve``, which gives the ``Policy`` that a name stands for. (``as_policy`` of
``solver`` calls ``convert`` for the agent of an environment.)

Names, tables and callables are read here. Another library registers a converter for its package;
the converter gets objects whose class, or a base class, comes from that package, and turns them
into a name, a table or a callable. So nothing here imports those libraries.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...core import BoolArray, Game, InputError, IntArray
from ..solving.induction import equilibrium
from ..solving.observations import Reader
from .checks import PolicyCheck
from .functions import function_policy
from .kinds import Policy, PolicyLike, UniformPolicy
from .names import COMMON, EQUILIBRIUM, policy_names, source_policy
from .tables import table_policy


@dataclass(frozen=True)
class Sight:
    """How an environment shows states to its agent: encoded, and changed by its wrappers.

    Attributes:
        space: the observation space that an agent sees.
        show: turns observations, integers of shape (state, component), into a batch of that space.
        wrapped: whether wrappers change what is shown.
        read: turns one observation of that space back into integers, or refuses it; None if
            observations are the integers.
    """

    space: Any
    show: Callable[[IntArray], npt.NDArray[Any]]
    wrapped: bool
    read: Reader | None = None


@dataclass(frozen=True)
class Reading:
    """How to read a policy that a user gives.

    Attributes:
        deterministic: whether a network takes its likeliest action or draws from its law.
        masked: whether the policy is held to the legal actions.
        sight: how the environment shows states to the policy; None if there is no environment.
        observations: changes a batch of observations before the network gets it: a function, or
            an object with a method ``normalize_obs``.
        worthless: says in which states no action is worth more than the worst payoff.
    """

    deterministic: bool = True
    masked: bool = True
    sight: Sight | None = None
    observations: Any = None
    worthless: Callable[[IntArray], BoolArray] | None = None


#: Turns an object of another library into a name, a table, a callable or a ``Policy``.
Converter: TypeAlias = Callable[[Any, Game, Reading], PolicyLike]

_CONVERTERS: dict[str, Converter] = {}


def register_converter(package: str, converter: Converter) -> None:
    """Register the converter of objects whose class comes from a package."""
    _CONVERTERS[package] = converter


def read_policy(policy: Any, game: Game, seat: int, reading: Reading | None = None) -> str | Policy:
    """Read what a user gives as a policy: the result is a known name or a checked ``Policy``.

    A name stays a name, so that a policy can be stored and written down before it is solved for.

    Args:
        policy: a ``Policy``; a name; probabilities, shape (state, action); actions, integers of
            shape (state,); a mapping from the seat's states to actions; a callable on
            (observations, masks); the path of a file or folder that holds a policy; or an object
            of a library that has registered a converter.
        game: the game that is played.
        seat: the seat that the policy plays.
        reading: how the policy is to be understood.

    Raises:
        ValueError: if the policy does not fit the game, if no policy has this name, or if the name
            is "best_response": only the agent of an environment has known opponents to respond to.
    """
    reading = reading or Reading()
    name = label(policy)
    if isinstance(policy, str) and _is_path(policy, game):
        policy = Path(policy)
    while not isinstance(policy, Policy) and (converter := _converter(policy)) is not None:
        policy = converter(policy, game, reading)
        reading = replace(reading, observations=None)
    if reading.observations is not None:
        raise InputError(f"observations must be left out, as {label(policy)} is no model")
    if isinstance(policy, str):
        return _known_name(policy, game, seat, reading.masked)
    if isinstance(policy, Policy):
        return _fitting(policy, game, seat, reading.masked)
    check = PolicyCheck(game, seat, name, reading.masked, reading.worthless)
    if isinstance(policy, np.ndarray | list | tuple | Mapping):
        return table_policy(policy, check)
    if callable(policy) and not isinstance(policy, type):
        return function_policy(policy, check)
    got = f"the class {policy.__name__}" if isinstance(policy, type) else type(policy).__name__
    raise InputError(
        "policy must be a name, a table, actions, a callable on (observations, masks) or a "
        f"model, got {got}"
    )


def resolve(
    known: str | Policy, game: Game, seat: int, exact: bool = False, masked: bool = True
) -> Policy:
    """Give the ``Policy`` that a name stands for; "optimal" is the equilibrium.

    Args:
        known: a name or a ``Policy``, as ``read_policy`` gives it; a ``Policy`` is returned as it
            is.
        game: the game that is played.
        seat: the seat that the policy plays.
        exact: whether an equilibrium is computed without rounding.
        masked: whether a registered policy must keep to the legal actions.

    Raises:
        ValueError: if no policy has this name, or the registered policy does not fit the seat.
    """
    if not isinstance(known, str):
        return known
    if known in EQUILIBRIUM:
        return equilibrium(game, exact).policies[seat]
    if known == "random":
        return UniformPolicy(game)
    named = source_policy(game, known, seat, masked)
    if named is not None:
        return named
    names = ", ".join(repr(name) for name in policy_names(game))
    raise InputError(
        f"opponent or policy must be {names}, a table, a callable, a model, or the path of a run "
        f"folder, a certificate or a saved model, got {known!r}"
    )


def convert(
    policy: Any, game: Game, seat: int, exact: bool = False, reading: Reading | None = None
) -> Policy:
    """Turn what a user gives into the ``Policy`` of one seat: ``read_policy``, then ``resolve``.

    Args:
        policy: what ``read_policy`` takes.
        game: the game that is played.
        seat: the seat that the policy plays.
        exact: whether an equilibrium is computed without rounding.
        reading: how the policy is to be understood.

    Raises:
        ValueError: as ``read_policy`` and ``resolve`` do.
    """
    reading = reading or Reading()
    known = read_policy(policy, game, seat, reading)
    return resolve(known, game, seat, exact, reading.masked)


def _known_name(name: str, game: Game, seat: int, masked: bool) -> str:
    """Refuse a name that no policy of this seat has; nothing is solved."""
    if name == "best_response":
        raise InputError(
            "opponent or policy must be one by itself, got 'best_response', which only the agent "
            "of an environment can play: its opponents are known"
        )
    if name not in COMMON:
        resolve(name, game, seat, masked=masked)
    return name


def _fitting(policy: Policy, game: Game, seat: int, masked: bool) -> Policy:
    """Refuse a policy with another number of states or actions, and check a user's own class.

    An object of a user's own class is checked as a function is. The checked copy replaces it,
    unless the class has its own ``law`` for arithmetic without rounding.
    """
    if policy.shape != (game.num_states, game.num_actions):
        raise InputError(
            f"policy must be for {game.num_states} states and {game.num_actions} actions "
            f"({game!r}), got one for {policy.shape[0]} and {policy.shape[1]}"
        )
    if packages_of(policy)[0] == "exactdice":
        return policy

    def ask(observations: IntArray, _masks: BoolArray) -> Any:
        return policy.probabilities(game.encode(observations))

    checked = function_policy(ask, PolicyCheck(game, seat, policy.name, masked))
    return checked if type(policy).law is Policy.law else policy


def _converter(policy: Any) -> Converter | None:
    """Find the converter of an object's class, or of the nearest class it inherits from."""
    if isinstance(policy, type):
        return None
    return next((_CONVERTERS[name] for name in packages_of(policy) if name in _CONVERTERS), None)


def packages_of(thing: Any) -> list[str]:
    """List the packages that the class of an object and those it inherits from come from."""
    return [base.__module__.partition(".")[0] for base in type(thing).__mro__]


def _is_path(text: str, game: Game) -> bool:
    """Say whether a text is an existing path and no name of a policy."""
    kinds = {known.partition(":")[0] for known in policy_names(game)}
    named = not text or text.partition(":")[0] in kinds
    return not named and Path(text).exists()


def label(policy: Any) -> str:
    """Name a policy for people."""
    if isinstance(policy, Policy):
        return policy.name
    if isinstance(policy, Path):
        return policy.name or str(policy)
    if isinstance(policy, str):
        return policy
    if isinstance(policy, np.ndarray | list | tuple | Mapping):
        return "a table"
    name = str(getattr(policy, "__name__", type(policy).__name__))
    return "a function" if name == "<lambda>" else name
