"""What exact computation has found out already, apart from what was asked about.

Games, tasks and policies are descriptions, equal if they say the same, so that an answer is looked
up by its question. Whoever is handed one shares it: all arrays in it are read-only.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import wraps
from threading import RLock
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..games import Game

#: Numbers that all answers may hold together; those that were not asked for longest go first. Where
#: one answer holds as many, twice its own, or it would drive out what is found on the way to it.
LIMIT = 2**25
#: What the smallest answer counts for, so that there are not too many of them.
LEAST = 2**17
_ANSWERS: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
_LOCK = RLock()

_Question = ParamSpec("_Question")
_Answer = TypeVar("_Answer")


def remembered(find: Callable[_Question, _Answer]) -> Callable[_Question, _Answer]:
    """Have a function of hashable arguments compute each answer once."""

    @wraps(find)
    def ask(*args: _Question.args, **kwargs: _Question.kwargs) -> _Answer:
        question = find, args, tuple(kwargs.items())
        with _LOCK:
            if question in _ANSWERS:
                _ANSWERS.move_to_end(question)
                known: _Answer = _ANSWERS[question]
                return known
        answer = find(*args, **kwargs)
        with _LOCK:
            _ANSWERS[question] = answer
            _make_room()
        return answer

    return ask


def forget() -> None:
    """Forget all answers."""
    with _LOCK:
        _ANSWERS.clear()


def _make_room() -> None:
    """Let the oldest answers go while they hold too many numbers; the newest stays."""
    counted: set[int] = set()
    held = [(args, answer) for (_, args, _), answer in reversed(_ANSWERS.items())]  # newest first
    sizes = [max(_size(each, counted), LEAST) for each in held]
    largest = max(_size(each, set()) for each in held)  # with what it shares
    kept = int((np.cumsum(sizes) <= max(LIMIT, 2 * largest)).sum())
    for _ in sizes[kept:]:
        _ANSWERS.popitem(last=False)


def _size(thing: Any, counted: set[int]) -> int:
    """Count the numbers in arrays, each array once; a fraction is as large as eight floats.

    Args:
        thing: what may hold arrays.
        counted: identities of arrays, to which those of ``thing`` are added.
    """
    if isinstance(thing, np.ndarray):
        if id(thing) in counted:
            return 0
        counted.add(id(thing))
        return int(thing.size) * (8 if thing.dtype == object else 1)
    if isinstance(thing, Game) or not (
        isinstance(thing, tuple | list | Mapping) or type(thing).__module__.startswith("exactdice")
    ):
        return 0
    if not isinstance(thing, tuple | list | Mapping):
        thing = getattr(thing, "__dict__", {})
    parts = thing.values() if isinstance(thing, Mapping) else thing
    return sum(_size(part, counted) for part in parts)
