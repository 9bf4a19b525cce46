"""The running program: its place, its variables, and the declarations of its user."""

import contextlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from ...core import InputError

#: The folder of this package.
HERE = str(Path(__file__).parents[2])
#: Discounts and lambdas that are tried beside the numbers of the program.
USUAL = (0.99, 0.95, 1.0, 0.9, 0.98, 0.995, 0.97, 0.999, 0.0, 0.5, 0.8, 0.85, 0.92, 0.3)
#: Parts of the names that programs have for a discount, and for lambda.
WORDS = {"gamma": {"gamma", "discount"}, "gae_lambda": {"lambda", "lam"}}
#: Mistakes of a discount and of lambda other than the program's own.
WRONG = {"gamma": "gamma-wrong", "gae_lambda": "lambda-wrong"}
#: What a user may declare: numbers, and names of arrays of a row for each move of a batch.
ARRAYS = ("returns", "advantages")
#: Most numbers of the program that are tried, and in how many objects within one another they are.
MOST, DEPTH = 24, 2


@cache
def is_of_program(name: str) -> bool:
    """Whether a file belongs to the program, not to a library."""
    return not any(part in name for part in (HERE, "site-packages", "/lib/python", "<"))


def frames() -> Iterator[FrameType]:
    """Yield the frames of the running program, those of its libraries included, innermost first."""
    frame = inspect.currentframe()
    while frame is not None:
        if not str(frame.f_globals.get("__name__", "")).startswith("exactdice.diagnose"):
            yield frame
        frame = frame.f_back


def where() -> str:
    """Return the file and the line of the program that runs."""
    for frame in frames():
        if is_of_program(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
    return ""


def _numbers() -> Iterator[tuple[str, float]]:
    """Yield the numbers from 0 to 1 among the variables of the running program, with their names.

    Attributes of its objects and entries of its dictionaries are among them, and those of these.
    What has started the program, a notebook or a run of tests, has none of its numbers.
    """
    callers = [*frames()]
    own = [n for n, frame in enumerate(callers) if is_of_program(frame.f_code.co_filename)]
    for frame in callers[: own[-1] + 1 if own else None]:
        if str(frame.f_globals.get("__name__", "")).startswith("torch"):
            continue
        for name, each in _inside({**frame.f_globals, **frame.f_locals}, DEPTH):
            if isinstance(each, float) and 0 <= each <= 1:
                yield str(name).lower(), each


def _inside(given: Any, depth: int) -> Iterator[tuple[Any, Any]]:
    """Yield the attributes or entries of an object, and of those that are the program's own."""
    kind = given if isinstance(given, type) else type(given)
    module = sys.modules.get(kind.__module__)
    of_program = is_of_program(getattr(module, "__file__", None) or "<")
    own = getattr(given, "__dict__", given)
    if not isinstance(own, dict) or isinstance(given, ModuleType):
        own = {}
    defaults = given is kind and is_dataclass(kind)  # which objects may have changed
    if of_program and not isinstance(given, ModuleType) and not defaults:
        own = {**vars(kind), **own}  # a class may hold numbers, too
    if own:
        for name, each in tuple(own.items()):
            yield name, each
            if depth and (depth == DEPTH or of_program):
                yield from _inside(each, depth - 1)


class Declared:
    """The discount and lambda of a program, by its variables or by its user, and its arrays.

    Args:
        given: by the user: "gamma" and "gae_lambda", numbers or expressions of the program, and
            "returns" and "advantages", expressions of which the program has values where it
            computes a gradient.

    Raises:
        InputError: if something else is declared.
    """

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self._given = dict(given or {})
        known = (*WORDS, *ARRAYS)
        if wrong := self._given.keys() - set(known):
            raise InputError(f"declare must name {', '.join(known)}, got {min(wrong)}")
        self.unmet = dict(self._given)  # expressions that the program has not had
        self.found: dict[str, float] = {}  # what explains the numbers of the program
        self._numbers: list[tuple[str, float]] = []  # of the program, by name
        self._said: dict[str, list[float]] = {}  # its discounts, and its lambdas

    def array(self, name: str, count: int) -> Any:
        """Return a declared array, (row,); None if none of so many rows is declared."""
        import torch as th

        given = self._value(name)
        found = None if given is None else th.as_tensor(given).detach().reshape(-1).float()
        return found if found is not None and len(found) == count else None

    def _value(self, name: str) -> Any:
        if name not in self._given:
            return None
        for frame in frames():
            if is_of_program(frame.f_code.co_filename):
                with contextlib.suppress(Exception):  # of a frame without such variables
                    found = eval(self._given[name], frame.f_globals, frame.f_locals)  # noqa: S307  the user's own
                    self.unmet.pop(name, None)
                    return found
        return None

    def look(self) -> None:
        """Read the numbers of the running program, which may have ended when they are asked for."""
        self._numbers = [*_numbers()]
        for name, words in WORDS.items():
            own = [number for word, number in self._numbers if {word, *word.split("_")} & words]
            if name in self._given:
                given = self._value(name)
                own = [] if given is None else [float(given)]
            self._said[name] = [*dict.fromkeys(own)][:3] or self._said.get(name, [])

    def numbers(self, name: str, usual: float | None = None) -> list[float]:
        """Return what the program calls its discount or lambda, and a usual number."""
        said = self._said.get(name, [])
        return said if usual is None or usual in said else [*said, usual]

    def options(self, name: str) -> list[float]:
        """Return numbers that the discount or lambda may be, the likeliest first."""
        first = [self.found[name]] if name in self.found else []
        others = dict.fromkeys(number for _, number in self._numbers if number > 0.5)
        return [*dict.fromkeys([*first, *self.numbers(name, 1.0), *[*others][:MOST], *USUAL])]

    def explain(self, name: str, number: float) -> list[str]:
        """Keep a number that explains the program; return a note if the program has another."""
        self.found[name] = number
        own = self.numbers(name)
        if not own or any(abs(each - number) < 1e-9 for each in own):
            return []
        told = ", ".join(f"{each:g}" for each in own)
        return [
            f"{name} = {number:g} explains the numbers, the program says {told} ({WRONG[name]})"
        ]
