"""The door for policies: every policy of a user becomes a checked ``Policy`` here.

``read_policy`` returns a known name or a checked ``Policy``. Names that need a solution are
resolved where problems are made (``problem.convert``).

This module reads names, tables and callables. For objects of another library it calls the converter
of the package of the object's class or of a base class (``CONVERTERS``); the converter returns a
name, a table or a callable. So this module imports no such library.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ... import registry
from ...core import BoolArray, Game, InputError, IntArray
from ...registry import Places
from ..law.explicit import ExplicitGame
from .called import function_policy, takes
from .kinds import Policy, PolicyLike
from .names import known_name, policy_names
from .observations import Sight, shows, sight_of
from .tabular import NoLawError, PolicyCheck, table_policy


@dataclass(frozen=True)
class Reading:
    """Options for reading a user's policy."""

    # Whether a network takes its likeliest action; if not, it draws from its law.
    deterministic: bool = True
    masked: bool = True  # whether the policy must keep to the legal actions
    # The observations of the environment's agent; None if there is no environment.
    sight: Sight | None = None
    # Changes a batch of observations before the network gets it: a function, or an object with a
    # method ``normalize_obs``.
    observations: Any = None
    # Says in which states every action has the worst payoff as its value.
    worthless: Callable[[IntArray], BoolArray] | None = None
    # Whether a function may be called later (``CalledPolicy``); scores ask for it.
    lazy: bool = False
    exact: bool = False  # whether named policies are computed without rounding


#: Turns an object of another library into a name, a table, a callable or a ``Policy``.
Converter: TypeAlias = Callable[[Any, Game, Reading], PolicyLike]

#: Endings of the files that hold policies, or in which users look for them.
FILES = (".npy", ".npz", ".zip", ".pt", ".pth")

#: The converters of objects, by the package of their class.
CONVERTERS = Places[Converter](registry.CONVERTERS)


def read_policy(policy: Any, game: Game, seat: int, reading: Reading | None = None) -> str | Policy:
    """Return the known name or the checked ``Policy`` of a user's policy.

    A name stays a name, so that a task can be stored and printed before its policies are computed.
    Else the policy is a ``Policy``; probabilities, shape (state, action); actions, integers of
    shape (state,); a mapping (see ``table_policy``); a callable on (observations, masks); the path
    of a file or folder that holds a policy; or an object of a library that has registered a
    converter.
    """
    reading = reading or Reading()
    name = label(policy)
    if isinstance(policy, str) and is_path(policy, game):
        policy = Path(policy)
    policy, reading = converted(policy, game, reading)
    if reading.observations is not None:
        raise InputError(f"observations must be left out, as {label(policy)} is no model")
    if getattr(policy, "masked", False) is True and not reading.masked:
        raise InputError(
            f"masked=False must be given to from_network, too: {label(policy)} chooses among the "
            "legal actions alone"
        )
    if isinstance(policy, str):
        return known_name(policy, game, seat, reading.masked)
    check = PolicyCheck(game, seat, reading.masked, reading.worthless)
    if isinstance(policy, Policy):
        return _fitting(policy, check)
    try:
        if isinstance(policy, np.ndarray | list | tuple | Mapping):
            show = reading.sight.show if reading.sight else None
            return table_policy(policy, check, name, show)
        if callable(policy) and not isinstance(policy, type):
            show = (reading.sight or sight_of(game)).show if shows(game) else None
            return function_policy(policy, check, name, reading.lazy, show)
    except NoLawError as error:
        values = "if these are logits or action values, give"
        raise InputError(f"{error}; {values} {_cure(policy, game)}") from None
    got = f"the class {policy.__name__}" if isinstance(policy, type) else type(policy).__name__
    raise InputError(
        "policy must be a name, a table, actions, a callable on (observations, masks) or a "
        f"model, got {got}"
    )


def _cure(policy: Any, game: Game) -> str:
    """Return code that makes a policy of logits or action values in the form of a policy."""
    if isinstance(game, ExplicitGame) and game.listing.legal.all() and np.ndim(policy) == 2:
        return "policy.argmax(axis=1)"
    alone = callable(policy) and not takes(policy, "observations, legal")
    keyed = isinstance(policy, Mapping)
    if alone or (keyed and (shows(game) or isinstance(next(iter(policy), ()), tuple))):
        values = "lambda seen: [policy(one) for one in seen]" if alone else "policy"
        return f"exactdice.from_network({values}, env)"
    values = "[policy[state] for state in exactdice.as_task(env).game.encode(seen)]"
    values = "policy(seen, legal)" if callable(policy) else values
    return f"lambda seen, legal: np.where(legal, {values}, -np.inf).argmax(axis=1)"


def converted(policy: Any, game: Game, reading: Reading) -> tuple[Any, Reading]:
    """Convert an object of another library, repeatedly if needed; return it and its options.

    The converter is that of the object's class, or of the nearest class it inherits from. The
    option ``observations`` applies to the first conversion alone.
    """
    while not isinstance(policy, Policy | type):
        known = next((name for name in packages_of(policy) if name in CONVERTERS), None)
        if known is None:
            break
        policy = CONVERTERS[known](policy, game, reading)
        reading = replace(reading, observations=None)
    return policy, reading


def _fitting(policy: Policy, check: PolicyCheck) -> Policy:
    """Return a ``Policy`` after checking its shape and, in a user's own class, its laws.

    An object of a user's own class is called like a function, and the checked copy replaces it,
    unless the class has its own ``probabilities_in`` for arithmetic without rounding.
    """
    if policy.shape != check.shape:
        raise InputError(
            f"policy must be for {check.shape[0]} states and {check.shape[1]} actions "
            f"({check.game!r}), got one for {policy.shape[0]} and {policy.shape[1]}"
        )
    if packages_of(policy)[0] == "exactdice":
        return policy

    def ask(observations: IntArray, _masks: BoolArray) -> Any:
        return policy.probabilities(check.game.encode(observations))

    checked = function_policy(ask, check, policy.name)
    return checked if type(policy).probabilities_in is Policy.probabilities_in else policy


def packages_of(thing: Any) -> list[str]:
    """List the packages of an object's class and of its base classes."""
    return [base.__module__.partition(".")[0] for base in type(thing).__mro__]


def is_path(text: str, game: Game) -> bool:
    """Return whether a text is a path, be the file there or missing, and not a policy's name."""
    kinds = {known.partition(":")[0] for known in policy_names(game)}
    named = not text or text.partition(":")[0] in kinds
    reads_so = "/" in text or os.sep in text or Path(text).suffix in FILES
    return not named and (reads_so or Path(text).exists())


def label(policy: Any) -> str:
    """Return a name for a user's policy, for messages and tables."""
    if isinstance(policy, Policy):
        return policy.name
    if isinstance(policy, Path):  # the certificates of all runs have the same file name
        named = policy.parent if policy.name == "certificate.npz" else policy
        return named.name or str(policy)
    if isinstance(policy, str):
        return policy
    if isinstance(policy, np.ndarray | list | tuple | Mapping):
        return "a table"
    name = str(getattr(policy, "__name__", type(policy).__name__))
    return "a function" if name == "<lambda>" else name
