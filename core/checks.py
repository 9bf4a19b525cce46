"""Checks of arguments, and of the laws, the moves and the payoffs of a game.

Without them a game whose moves lead to earlier stages, or whose probabilities do not sum to one,
would be solved to wrong numbers without an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import isfinite
from numbers import Rational
from typing import Any

import numpy as np

from .errors import GameError, InputError
from .sizes import show
from .types import Array, IntArray, Move
from .words import meant

#: Payoffs other than 0 are from 10^-200 to 10^200 in size, so that floats never over- or underflow.
LARGEST_EXPONENT = 200
#: Kinds of NumPy's dtypes, by their names in messages.
KINDS = {"integers": "iu", "bool": "b", "floats": "f", "fractions": "iuO", "numbers": "fiuO"}


def is_bool(value: Any) -> bool:
    """Return whether a value holds truth values, of any library: Python takes many for 0 or 1."""
    dtype = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", None) or str(dtype)
    return isinstance(value, bool) or kind in ("b", "torch.bool")


def is_whole(value: Any) -> bool:
    """Say whether a value is an integer, of Python or of NumPy; booleans are none."""
    return isinstance(value, int | np.integer) and not is_bool(value)


def at_least(
    name: str, value: int, minimum: int, maximum: int | None = None, called: str = ""
) -> int:
    """Return ``value``; raise an ``InputError`` unless it is an integer of at least ``minimum``.

    If there is a ``maximum``, the message has ``called`` before it, words such as "faces = ".
    """
    if not is_whole(value):
        raise InputError(f"{name} must be an integer, got {value!r}")
    if value < minimum:
        raise InputError(f"{name} must be at least {minimum}, got {show(value)}")
    if maximum is not None and value > maximum:
        raise InputError(f"{name} must be at most {called}{maximum}, got {show(value)}")
    return int(value)


def at_most(count: int | None) -> int | None:
    """Return a largest number of entries, after checking it; None stands for all."""
    return None if count is None else at_least("count", count, 0)


def require_count(name: str, value: Any) -> None:
    """Raise a ``GameError`` if a number of a game is no integer of at least 1."""
    if not is_whole(value) or value < 1:
        raise GameError(f"{name} must be an integer of at least 1, got {value!r}")


def one_of(name: str, value: Any, known: Sequence[str]) -> Any:
    """Return ``value`` if it is one of the known names, else raise an ``InputError``."""
    if value not in known:
        names = ", ".join(repr(entry) for entry in known)
        raise InputError(f"{name} must be one of {names}, got {value!r}{meant(value, known)}")
    return value


def require_laws(name: str, laws: Array, states: IntArray | None = None) -> None:
    """Raise a ``GameError`` unless probabilities, (law, outcome), are at least 0 and sum to one.

    Fractions must sum to one exactly, floats within their rounding.
    """
    for row, outcome in np.argwhere(laws < 0)[:1].tolist():
        where = f"in row {row}, outcome {outcome}"
        where = where if states is None else f"for state {states[outcome]}"
        raise GameError(f"{name} must not be negative, got {laws[row, outcome]} {where}")
    rounding = 0 if laws.dtype == object else laws.shape[1] * float(np.finfo(np.float64).eps)
    with np.errstate(invalid="ignore"):  # of infinities
        sums = laws.sum(axis=1)
        wrong = ~(np.abs(sums - 1) <= rounding)
    for row in np.flatnonzero(wrong)[:1]:
        raise GameError(f"{name} must sum to 1, got {float(sums[row])!r} in row {row}")


def as_exact(name: str, numbers: Array) -> Array:
    """Return integers and fractions as Python's; raise a ``GameError`` for other numbers.

    NumPy's integers, which may be inside a fraction, overflow without a word.
    """
    if numbers.dtype.kind in "iu":
        return numbers.astype(object)
    each = numbers.ravel().tolist()
    for kind, number in {type(number): number for number in reversed(each)}.items():
        if kind is bool or not issubclass(kind, Rational):
            raise GameError(f"{name} must have fractions, got {number!r}")
    if all(type(number.numerator) is int for number in each):
        return numbers
    exact: Array = np.empty(numbers.size, dtype=object)
    exact[:] = [Fraction(int(number.numerator), int(number.denominator)) for number in each]
    return exact.reshape(numbers.shape)


def require_size(largest: Fraction) -> None:
    """Raise an ``InputError`` unless the largest payoff is 0 or from 10^-200 to 10^200 in size."""
    low, high = Fraction(10) ** -LARGEST_EXPONENT, Fraction(10) ** LARGEST_EXPONENT
    if largest and not low <= largest <= high:
        bits = largest.numerator.bit_length() - largest.denominator.bit_length()
        raise InputError(
            f"the largest payoff must be 0 or from 1e-{LARGEST_EXPONENT} to 1e{LARGEST_EXPONENT} "
            f"in size, got about 2**{bits}"
        )


def require_array(said: str, array: Any, kind: str, *shape: int | str) -> None:
    """Raise a ``GameError`` that begins with ``said`` unless an array has this kind and shape.

    The kind is one of ``KINDS``; an axis that is a text has any length.
    """
    fits = isinstance(array, np.ndarray) and array.dtype.kind in KINDS[kind]
    fits = fits and array.ndim == len(shape)
    if not fits or not all(isinstance(n, str) or n == array.shape[i] for i, n in enumerate(shape)):
        axes = ", ".join(map(str, shape)) + "," * (len(shape) == 1)
        raise GameError(f"{said} {kind} of shape ({axes}), got {kind_of(array)}")


def require_tables(owner: Any, forms: Mapping[str, tuple[str, ...]], **sizes: int) -> None:
    """Check attributes that are arrays with common axes, given by kind and names of axes.

    An attribute whose default is None may be None.
    """
    for name, (kind, *axes) in forms.items():
        array = getattr(owner, name)
        if array is not None or not hasattr(type(owner), name):
            require_array(f"{name} must be", array, kind, *(sizes.get(axis, axis) for axis in axes))
            sizes.update(zip(axes, array.shape, strict=True))


def require_below(said: str, numbers: IntArray, count: int | IntArray) -> None:
    """Raise a ``GameError`` if integers are not from 0 to below ``count``, that of their column."""
    beyond = (numbers < 0) | (numbers >= count)
    if beyond.any():
        found = show_numbers(numbers[beyond])
        raise GameError(f"{said} below {show_numbers(count)}, got {found}")


def entries(said: str, value: Any) -> list[Any]:
    """List the entries of a value; raise a ``GameError`` if it has none."""
    found = list(value) if isinstance(value, Iterable) else []
    if not found:
        raise GameError(f"{said}, got {value!r}")
    return found


def pair(said: str, value: Any) -> tuple[Any, Any]:
    """Return the entries of a tuple or a list; raise a ``GameError`` if they are not two."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise GameError(f"{said}, got {value!r}")
    return value[0], value[1]


def require_shapes(game: Any, count: int, move: Move) -> None:
    """Raise a ``GameError`` unless the arrays of a ``Move`` have their shapes and dtypes."""
    if not isinstance(move, Move):
        raise GameError(f"advance must give a Move, got {kind_of(move)}")
    kinds = {"seats": "integers", "states": "integers", "payoffs": "numbers", "over": "bool"}
    for name, array in move._asdict().items():
        shape = (count,) if name in ("seats", "states") else (count, game.num_players)
        require_array(f"advance must give {name} as", array, kinds[name], *shape)


def action_of(seat: Any, state: Any, action: Any) -> str:
    """Name a move for a message."""
    return f"action {action} of player {seat} in state {state}"


def require_numbers(
    game: Any, seats: IntArray, states: IntArray, actions: IntArray, move: Move
) -> None:
    """Raise a ``GameError`` unless the payoffs of moves, in floats, are finite."""
    require_shapes(game, len(states), move)
    for row, player in np.argwhere(~np.isfinite(move.payoffs.astype(float)))[:1].tolist():
        raise GameError(
            f"payoffs must be finite numbers, got {move.payoffs[row, player]} by "
            f"{action_of(seats[row], states[row], actions[row])}"
        )


def range_of(game: Any) -> tuple[float, float]:
    """Return ``payoff_range``; raise a ``GameError`` unless it is two finite floats in order."""
    try:
        low, high = game.payoff_range
        right = isfinite(low) and isfinite(high) and low <= high
        right = right and not isinstance(low, Fraction) and not isinstance(high, Fraction)
    except (TypeError, ValueError, OverflowError):
        right = False
    if not right:
        raise GameError(
            "payoff_range must be the smallest and the largest payoff, two finite floats, got "
            f"{show_numbers(game.payoff_range)}"
        )
    return low, high


def kind_of(value: Any) -> str:
    """Describe a wrong value for a message: dtype and shape of an array, or its type."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return f"a {type(value).__name__}"


def show_numbers(values: Any) -> str:
    """Write the first ten numbers of an array for a message."""
    numbers = [
        str(number.item() if isinstance(number, np.generic) else number)
        for number in np.ravel(np.asarray(values, dtype=object))
    ]
    return " ".join(numbers[:10]) + (" ..." if len(numbers) > 10 else "")
