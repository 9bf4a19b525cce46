"""What exact computation has found out already, apart from what was asked about.

Games, tasks and policies are descriptions, equal if they say the same, so that an answer is looked
up by its question. Whoever is handed one shares it: all arrays in it are read-only.
"""

from collections.abc import Callable
from functools import wraps
from itertools import islice
from threading import RLock
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..core import Game

#: Numbers that all answers may hold together; those that were not asked for longest go first. Where
#: one answer holds as many, twice its own, or it would drive out what is found on the way to it.
LIMIT = 2**25
#: What the smallest answer counts for, so that there are not too many of them.
LEAST = 2**17


class _Asked:
    """What was asked. Its hash is kept: a game that is changed later is hashed no more."""

    def __init__(self, *parts: Any) -> None:
        self._parts, self._hash = parts, hash(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self._parts == other._parts

    def __hash__(self) -> int:
        return self._hash


#: What was asked with its answer, by question; what was not asked for longest comes first.
_ANSWERS: dict[_Asked, tuple[Any, Any]] = {}
_LOCK = RLock()

_Question = ParamSpec("_Question")
_Answer = TypeVar("_Answer")


def remembered(find: Callable[_Question, _Answer]) -> Callable[_Question, _Answer]:
    """Have a function of hashable arguments compute each answer once."""

    @wraps(find)
    def ask(*args: _Question.args, **kwargs: _Question.kwargs) -> _Answer:
        question = _Asked(find, args, tuple(kwargs.items()))
        with _LOCK:
            held = _ANSWERS.pop(question, None)
            if held is not None:
                _ANSWERS[question] = held
                known: _Answer = held[1]
                return known
        answer = find(*args, **kwargs)
        with _LOCK:
            _ANSWERS.pop(question, None)  # which another thread may have found meanwhile
            _ANSWERS[question] = args, answer
            _make_room()
        return answer

    return ask


def forget() -> None:
    """Forget all answers."""
    with _LOCK:
        _ANSWERS.clear()


def _make_room() -> None:
    """Let the oldest answers go while they hold too many numbers; the newest stays."""
    held = [_arrays(each) for each in reversed(_ANSWERS.values())]  # newest first
    room = max(LIMIT, 2 * max(sum(each.values()) for each in held))  # with what it shares
    counted: set[int] = set()
    total = 0
    for place, each in enumerate(held):
        total += max(sum(each[array] for array in each.keys() - counted), LEAST)
        if total > room:
            for question in list(islice(_ANSWERS, len(held) - place)):
                del _ANSWERS[question]
            return
        counted |= each.keys()


def _arrays(thing: Any) -> dict[int, int]:
    """Count the numbers in each array that something holds; a fraction is as large as eight floats.

    It is called for all answers whenever there is a new one, as they may have grown.

    Returns:
        The counts, by the identity of the array.
    """
    found: dict[int, int] = {}
    waiting = [thing]
    while waiting:
        part = waiting.pop()
        if isinstance(part, np.ndarray):
            found[id(part)] = part.size * (8 if part.dtype == object else 1)
        elif isinstance(part, tuple | list):
            waiting.extend(part)
        elif isinstance(part, dict | MappingProxyType):
            waiting.extend(part.values())
        elif not isinstance(part, Game) and type(part).__module__.startswith("exactdice"):
            waiting.extend(getattr(part, "__dict__", {}).values())
    return found
