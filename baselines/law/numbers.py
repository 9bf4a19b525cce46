"""Numbers as people give them: those of any library as Python's, and floats as fractions.

A float stands for a decimal or for a fraction with a small denominator if it is next to one, so
that a law in floats has the exact values that its author means: ``rational`` has the rules.
"""

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import floor, nan, sqrt
from numbers import Rational
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core import InputError, is_bool

#: p/q is a small fraction if q max(|p|, q) is at most the square of this number.
DENOMINATOR = 10**6
#: Floats that computation has rounded a few times differ from it by this part of it at most.
ROUNDED = 2.0**-50
#: With a denominator up to this one, no other decimal of 12 digits is the same float: it differs by
#: a part of 1 / (4000 10^12) at least.
SURE = 4000
#: The largest number, and the requirement in words.
LARGEST = 1e300
NUMBERS = f"numbers from {-LARGEST:g} to {LARGEST:g}"
#: Types of numbers that stay as they are.
_OWN = frozenset((bool, int, float))
#: Types of numbers that are read all at once.
_AT_ONCE = _OWN | {np.bool_, np.int64, np.float64}
#: Floats of less than 64 bits.
COARSE = frozenset((np.float16, np.float32))


def rational(number: float | Fraction) -> Fraction:
    """Give the fraction that a number stands for: of a float next to 1/3, say, 1/3.

    A float stands for the first of these that there is:

    1. the decimal that Python prints for it, if that has at most 12 digits;
    2. the small fraction (see ``DENOMINATOR``) that is rounded to this float;
    3. the decimal that Python prints for it, if that has at most 15 digits;
    4. the small fraction that a few roundings part from it (see ``ROUNDED``);
    5. itself.

    Two small fractions differ by 10^-12 of them at least: there is one at most.
    """
    return near(number) or Fraction(number)


def near(number: float | Fraction) -> Fraction | None:
    """Give the decimal or small fraction that a float stands for; None if it stands for itself."""
    if not isinstance(number, float):
        return Fraction(number)
    above, below = _small(number, DENOMINATOR, ROUNDED)
    exact = below > 0 and above / below == number
    digits = f"{number:.12g}" if exact and below > SURE else "" if exact else f"{number:.15g}"
    if digits and float(digits) == number:
        return Fraction(Decimal(str(number)))
    return Fraction(above, below) if below else None


def _small(number: float, most: int, part: float) -> tuple[int, int]:
    """Find the fraction p/q, with q max(|p|, q) up to ``most`` squared, that is next to a float.

    If there is one, it is the last convergent of the continued fraction within the bound. In floats
    the quotients err by less than two roundings of the number. The largest distance is a ``part``
    of the float; p and q are 0 if there is no such fraction.
    """
    size = rest = abs(number)
    if size * most < 0.5:
        return 0, 0
    largest = most / sqrt(size) if size > 1 else most
    before, below = 1, 0
    while below <= largest:
        whole = floor(rest)
        before, below = below, whole * below + before
        rest = 1 / (rest - whole or ROUNDED)
    above = round(before * size)  # the last convergent within the bound is above / before
    if not before or abs(above / before - size) > part * size:
        return 0, 0
    return above if number > 0 else -above, before


def plain(number: Any) -> Any:
    """Give a number of any library as an int, float or Fraction; None if it is none.

    Infinities and numbers above ``LARGEST`` are none. Floats of less than 64 bits become fractions
    (see ``_coarse``).
    """
    found = number
    if type(number) not in _OWN:
        try:
            if type(number) in COARSE:
                return _coarse(number)
            found = _of_library(number)
        except Exception:  # each library raises errors of its own
            return None
    return found if -LARGEST <= found <= LARGEST else None


def _of_library(number: Any) -> float | Fraction:
    """Give a number as one of Python."""
    if isinstance(number, Rational):  # NumPy's integers, too
        above, below = int(number.numerator), int(number.denominator)
        return above if below == 1 else Fraction(above, below)
    if isinstance(number, Decimal):
        return Fraction(number)
    given: Any = np.asarray(number.detach() if hasattr(number, "detach") else number)[()]
    if given.dtype.kind not in "biuf" or given.ndim:
        raise TypeError
    if rounding(given.dtype):
        return _coarse(given)
    return float(given) if given.dtype.kind == "f" else int(given)


@lru_cache(2**16, typed=True)
def _coarse(number: Any) -> Fraction:
    """Give the small fraction or the decimal that a float of less than 64 bits stands for."""
    kind, digits = type(number), np.finfo(number).precision
    if kind(f"{number:.{digits}g}") != number:
        most, part = floor(10 ** (digits / 2)), float(np.finfo(number).eps)
        above, below = _small(float(number), most, part)
        if below and kind(above / below) == number:
            return Fraction(above, below)
    return Fraction(str(number))


def rounding(kind: np.dtype[Any]) -> float:
    """Return by how much a sum of floats, of a type with less than 64 bits, may miss 1; else 0."""
    coarse = kind.kind == "f" and kind.itemsize < 8
    return 10.0 ** -np.finfo(kind).precision if coarse else 0.0


def plain_law(chances: Iterable[Any]) -> list[Any]:
    """Give probabilities as ``plain`` does; a sum of coarse floats that is rounded becomes 1."""
    given = list(chances)
    found = [plain(chance) for chance in given]
    coarse = [rounding(chance.dtype) for chance in given if type(chance) in COARSE]
    if coarse and None not in found and 0 < abs((total := sum(found)) - 1) <= max(coarse):
        return [chance / total for chance in found]
    return found


def column(given: Sequence[Any] | npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Read numbers of any library, an array or a list, as ``plain`` does; NaN is none.

    The array is of floats, if these stand for all the numbers.
    """
    if isinstance(given, np.ndarray) and given.dtype != object:
        if not rounding(given.dtype):
            return given.astype(np.float64, copy=False)
        kinds, numbers = np.unique(given, return_inverse=True)
        return column(list(kinds))[numbers]
    if {*map(type, given)} <= _AT_ONCE:
        with suppress(OverflowError):
            floats = np.array(given, dtype=np.float64)
            if (np.abs(floats) < 2.0**53).all():  # whole numbers, too, are exact
                return floats
    found = [nan if (number := plain(each)) is None else number for each in given]
    alike = (
        type(each) is float or float(each) == each or rational(float(each)) == each
        for each in set(found)
    )
    return np.array(found, dtype=np.float64 if all(alike) else object)


def as_list(given: Any) -> list[Any]:
    """List the entries of a thing that has some; a thing without is the only entry."""
    has = isinstance(given, Iterable) and not isinstance(given, str)
    return list(given) if has and getattr(given, "ndim", 1) != 0 else [given]


def as_numbers(given: Any, name: str) -> npt.NDArray[Any]:
    """Return an array of integers, floats or booleans, of an array, a list, or any tensor."""
    masked = sys.modules.get("numpy.ma")  # NumPy loads it at its first use
    if masked and isinstance(given, masked.MaskedArray):
        raise InputError(
            f"{name} must be numbers, got a masked array: give one without, such as its filled(0)"
        )
    if isinstance(given, tuple) and len(given) == 2 and given[1] is None:
        raise InputError(
            f"{name} must be numbers, got a pair of an array and None, as predict of a model gives "
            "it: take the first of the two"
        )
    if given is None:
        raise InputError(f"{name} must be numbers, got nothing (None)")
    try:
        array = np.asarray(_of_tensor(given))
    except Exception as error:  # each library raises errors of its own
        said = " ".join(str(error).split())[:120]
        raise InputError(
            f"{name} must be numbers in rows of one length, got a {type(given).__name__}: {said}"
        ) from None
    if array.dtype.kind not in "uifb":
        raise InputError(f"{name} must be numbers, got {array.dtype} of shape {array.shape}")
    if array.dtype.kind != "b" and isinstance(given, list | tuple) and any(map(is_bool, given)):
        raise InputError(f"{name} must be numbers, got True or False among them")
    return array


def _of_tensor(given: Any) -> Any:
    """Detach a tensor of torch and move it to the CPU; bfloat16, unknown to numpy, is widened."""
    if not hasattr(given, "detach"):
        return given
    tensor = given.detach().cpu()
    return tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor
