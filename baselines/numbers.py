"""Numbers as people give them: those of any library as Python's, and floats as fractions.

A float stands for a decimal or for a fraction with a small denominator if it is next to one, so
that a law in floats has the exact values that its author means: ``rational`` has the rules.
"""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import floor, sqrt
from numbers import Rational
from typing import Any

import numpy as np

#: p/q is a small fraction if q max(|p|, q) is at most the square of this number.
DENOMINATOR = 10**6
#: Floats that computation has rounded a few times differ from it by this part of it at most.
ROUNDED = 2.0**-50
#: Digits of a decimal that any float next to it stands for, and the most that all floats keep.
SHORT, KEPT = 12, 15
#: The largest number, and the requirement in words.
LARGEST = 1e300
NUMBERS = f"numbers from {-LARGEST:g} to {LARGEST:g}"


def rational(number: float | Fraction) -> Fraction:
    """Give the fraction that a number stands for: of a float next to 1/3, say, 1/3.

    A float stands for the first of these that there is:

    1. the decimal that Python prints for it, if that has at most ``SHORT`` digits;
    2. the small fraction (see ``DENOMINATOR``) that is rounded to this float;
    3. the decimal that Python prints for it, if that has at most ``KEPT`` digits;
    4. the small fraction that a few roundings part from it (see ``ROUNDED``);
    5. itself.

    Two small fractions differ by 10^-12 of them at least: there is one at most.
    """
    return near(number) or Fraction(number)


def near(number: float | Fraction) -> Fraction | None:
    """Give the decimal or small fraction that a float stands for; None if it stands for itself."""
    if not isinstance(number, float):
        return Fraction(number)
    kept = float(f"{number:.{KEPT}g}") == number
    if kept and float(f"{number:.{SHORT}g}") == number:
        return Fraction(str(number))
    small = _small(number, ROUNDED, DENOMINATOR)
    if kept and (small is None or float(small) != number):
        return Fraction(str(number))
    return small


def _small(number: float, part: float, most: int) -> Fraction | None:
    """Give the fraction p/q, with q max(|p|, q) up to the square of ``most``, next to a float.

    It is among the convergents of its continued fraction. Their computation in floats errs by less
    than two roundings of the number.

    Args:
        number: the float.
        part: the largest distance, as a part of the float.
        most: bound of the denominator.
    """
    size = rest = abs(number)
    largest = most / sqrt(max(size, 1.0))
    (above, below), (last, before) = (1, 0), (0, 1)
    while rest <= most * most:
        whole = floor(rest)
        above, below, last, before = whole * above + last, whole * below + before, above, below
        if below > largest:
            break
        if abs(above / below - size) <= part * size:
            return Fraction(above if number > 0 else -above, below)
        rest = 1 / (rest - whole)
    return None


def plain(number: Any) -> Any:
    """Give a number of any library as an int, float or Fraction; None if it is none.

    Infinities and numbers above ``LARGEST`` are none. Floats of less than 64 bits become fractions
    (see ``_coarse``).
    """
    found = number
    if type(number) is not float and type(number) is not int:
        try:
            found = _of_library(number)
        except Exception:  # each library raises errors of its own
            return None
    return found if -LARGEST <= found <= LARGEST else None


def _of_library(number: Any) -> float | Fraction:
    """Give a number as one of Python."""
    if isinstance(number, Rational):  # truth values and NumPy's integers, too
        above, below = int(number.numerator), int(number.denominator)
        return above if below == 1 else Fraction(above, below)
    if isinstance(number, Decimal):
        return Fraction(number)
    given = np.asarray(number.detach() if hasattr(number, "detach") else number)[()]
    if given.dtype.kind not in "biuf" or given.ndim:
        raise TypeError
    if rounding(given.dtype):
        return _coarse(given)
    return float(given) if given.dtype.kind == "f" else int(given)


def _coarse(number: Any) -> Fraction:
    """Give the small fraction or the decimal that a float of less than 64 bits stands for."""
    kind, digits = type(number), np.finfo(number).precision
    if kind(f"{number:.{digits}g}") != number:
        small = _small(float(number), float(np.finfo(number).eps), floor(10 ** (digits / 2)))
        if small is not None and kind(float(small)) == number:
            return small
    return Fraction(str(number))


def rounding(kind: Any) -> float:
    """Return by how much a sum of floats, of a type with less than 64 bits, may miss 1; else 0."""
    coarse = isinstance(kind, np.dtype) and kind.kind == "f" and kind.itemsize < 8
    return 10.0 ** -np.finfo(kind).precision if coarse else 0.0


def plain_law(chances: Iterable[Any]) -> list[Any]:
    """Give probabilities as ``plain`` does; a sum of coarse floats that is rounded becomes 1."""
    given = list(chances)
    found = [plain(chance) for chance in given]
    off = max((rounding(getattr(chance, "dtype", None)) for chance in given), default=0.0)
    if off and None not in found and 0 < abs((total := sum(found)) - 1) <= off:
        return [chance / total for chance in found]
    return found


def as_list(given: Any) -> list[Any]:
    """List the entries of a thing that has some; a thing without is the only entry."""
    has = isinstance(given, Iterable) and not isinstance(given, str)
    return list(given) if has and getattr(given, "ndim", 1) != 0 else [given]
