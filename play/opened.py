"""Objects that browsers have open, under random names that only their own pages know."""

import secrets
from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

from ..core import InputError

KEPT = 50  # largest number of open things of a kind
Thing = TypeVar("Thing")


class NotKeptError(InputError):
    """A request for something that the server does not keep."""


class Opened(Generic[Thing]):
    """Things by random name; if there are too many, the least recently used is closed.

    Args:
        kind: what a thing is, "game".
    """

    def __init__(self, kind: str) -> None:
        self._kind, self._lock = kind, Lock()
        self._kept: OrderedDict[str, Thing] = OrderedDict()

    def add(self, thing: Thing) -> str:
        """Keep a thing, and return its name."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._kept[name] = thing
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return name

    def find(self, name: str) -> Thing:
        """Return the thing of a name.

        Raises:
            NotKeptError: if there is none, or it has been closed.
        """
        with self._lock:
            if name not in self._kept:
                raise NotKeptError(
                    f"This {self._kind} is not kept here: only the last {KEPT} are. "
                    "Begin a new one."
                )
            self._kept.move_to_end(name)
            return self._kept[name]
