"""The cache of exact computation: results by function and arguments, least recently used first.

Games, tasks and policies are descriptions that are equal if they say the same, so they serve as
keys. All callers share a result; all arrays in it are read-only.
"""

from collections.abc import Callable
from functools import wraps
from itertools import islice
from threading import RLock
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..core import Game

#: Numbers that all cached results may hold together. A result larger than half of this gets room
#: for twice its size, so that it does not evict its own intermediate results.
LIMIT = 2**25
#: Numbers that a result counts as at least, so that there are not too many small results.
LEAST = 2**17


class _Key:
    """A function with its arguments. The hash is kept: a game changed later is not hashed again."""

    def __init__(self, *parts: Any) -> None:
        self._parts, self._hash = parts, hash(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._parts == other._parts

    def __hash__(self) -> int:
        return self._hash


#: Arguments and result by key, the least recently used first.
_ENTRIES: dict[_Key, tuple[Any, Any]] = {}
_LOCK = RLock()
#: Numbers of the results that came after those of all results were counted last.
_uncounted = 0

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def cached(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Cache the results of a function of hashable arguments."""

    @wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        key = _Key(function, args, tuple(kwargs.items()))
        with _LOCK:
            entry = _ENTRIES.pop(key, None)
            if entry is not None:
                _ENTRIES[key] = entry
                return entry[1]
        result = function(*args, **kwargs)
        with _LOCK:
            _ENTRIES.pop(key, None)  # another thread may have computed it meanwhile
            _ENTRIES[key] = args, result
            _evict(result)
        return result

    return call


def clear_cache() -> None:
    """Drop all cached results."""
    with _LOCK:
        _ENTRIES.clear()


def _evict(result: Any) -> None:
    """Drop the least recently used results while all hold too many numbers; the newest stays.

    To count the numbers of all results takes time: it is done for every large result, and after
    some small ones.
    """
    global _uncounted
    _uncounted += max(sum(_arrays(result).values()), LEAST)
    if _uncounted < LIMIT / 16:
        return
    _uncounted = 0
    sizes = [_arrays(entry) for entry in reversed(_ENTRIES.values())]  # newest first
    room = max(LIMIT, 2 * max(sum(each.values()) for each in sizes))  # with the arrays it shares
    counted: set[int] = set()
    total = 0
    for place, each in enumerate(sizes):
        total += max(sum(each[array] for array in each.keys() - counted), LEAST)
        if total > room:
            for key in list(islice(_ENTRIES, len(sizes) - place)):
                del _ENTRIES[key]
            return
        counted |= each.keys()


def _arrays(thing: Any) -> dict[int, int]:
    """Count the numbers in each array that an object holds, by the identity of the array.

    A fraction counts as eight floats. All results are counted whenever there is a new one, because
    cached properties make results grow.
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
