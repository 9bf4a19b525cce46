"""Checks of arguments, and of the laws, the moves and the payoffs of a game.

Without them a game whose moves lead to earlier stages, or whose probabilities do not sum to one,
would be solved to wrong numbers without an error.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, isfinite
from typing import Any

import numpy as np

from .errors import GameError, InputError
from .sizes import show
from .types import Array, IntArray, Move, Order
from .words import meant

#: Payoffs other than 0 are from 10^-200 to 10^200 in size, so that floats never over- or underflow.
LARGEST_EXPONENT = 200
#: The largest relative difference of a probability in ``laws`` from the same one in ``exact_laws``.
CLOSEST = Fraction(1, 10**9)


def is_bool(value: Any) -> bool:
    """Return whether a value holds truth values, of any library: Python takes many for 0 or 1."""
    dtype = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", None) or str(dtype)
    return isinstance(value, bool) or kind in ("b", "torch.bool")


def at_least(name: str, value: int, minimum: int) -> int:
    """Return ``value`` if it is an integer of at least ``minimum``.

    Raises:
        ValueError: naming the argument, the requirement and the value.
    """
    if is_bool(value) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be an integer, got {value!r}")
    if value < minimum:
        raise InputError(f"{name} must be at least {minimum}, got {show(value)}")
    return int(value)


def at_most(count: int | None) -> int | None:
    """Return a largest number of entries, after checking it; None stands for all."""
    return None if count is None else at_least("count", count, 0)


def one_of(name: str, value: Any, known: Sequence[str]) -> Any:
    """Return ``value`` if it is one of the known names.

    Raises:
        ValueError: naming the argument, the known names and the value.
    """
    if value not in known:
        names = ", ".join(repr(entry) for entry in known)
        raise InputError(f"{name} must be one of {names}, got {value!r}{meant(value, known)}")
    return value


def require_laws(name: str, laws: Array) -> None:
    """Check that no probability is negative and that each row of (law, outcome) sums to one.

    Fractions must sum to one exactly, floats within their rounding.

    Raises:
        GameError: naming the first wrong row.
    """
    rounding = 0 if laws.dtype == object else laws.shape[1] * float(np.finfo(np.float64).eps)
    with np.errstate(invalid="ignore"):  # of infinities
        sums = laws.sum(axis=1)
        wrong = (laws < 0).any(axis=1) | ~(np.abs(sums - 1) <= rounding)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise GameError(f"{name} must sum to 1, got {float(sums[row])!r} in row {row}")


def roundings_between(laws: Array, exact: Array) -> int:
    """Return the largest relative error of ``laws``, in roundings (units of 2^-53), rounded up.

    Args:
        laws: probabilities in floats, shape (law, outcome).
        exact: the same probabilities as fractions.

    Raises:
        GameError: if a relative error is larger than ``CLOSEST``.
    """
    most = Fraction(0)
    for (row, outcome), chance in np.ndenumerate(exact):
        found = Fraction(float(laws[row, outcome]))
        if chance == 0 == found:
            continue
        most = max(most, abs(found / chance - 1) if chance else Fraction(1))
        if most > CLOSEST:
            raise GameError(
                f"laws must be exact_laws in floats, got {float(found)!r} for {chance} in row "
                f"{row}, outcome {outcome}"
            )
    return ceil(most * 2**53)


def require_size(largest: Fraction) -> None:
    """Check that the size of the largest payoff is 0 or from 10^-200 to 10^200.

    Raises:
        InputError: if it is not.
    """
    low, high = Fraction(10) ** -LARGEST_EXPONENT, Fraction(10) ** LARGEST_EXPONENT
    if largest and not low <= largest <= high:
        bits = largest.numerator.bit_length() - largest.denominator.bit_length()
        raise InputError(
            f"the largest payoff must be 0 or from 1e-{LARGEST_EXPONENT} to 1e{LARGEST_EXPONENT} "
            f"in size, got about 2**{bits}"
        )


def require_later(
    order: Order, seats: IntArray, states: IntArray, actions: IntArray, move: Move
) -> None:
    """Check that no move leads back.

    Each move must end the game, lead to a later block, or stay in its block and lead to a later
    stage or to a position of the cut.

    Args:
        order: the stage and the block of each position.
        seats: player of each move, shape (move,).
        states: state before each move, shape (move,).
        actions: shape (move,).
        move: the result of ``advance``.

    Raises:
        GameError: naming the first wrong move.
    """
    players, count = order.stages.shape
    stages, blocks, in_cut = (table.ravel() for table in order)
    known = (move.seats >= 0) & (move.seats < players)
    known &= (move.states >= 0) & (move.states < count)
    after = np.where(known, move.seats * count + move.states, 0)
    before = seats * count + states
    stage, later = stages.take(after), blocks.take(after) - blocks.take(before)
    known &= stage >= 0
    right = (later > 0) | ((later == 0) & (stage > stages.take(before)))
    wrong = np.flatnonzero(~(known & right))  # unless it leads to the cut, or the game is over
    wrong = wrong[~(known[wrong] & (later[wrong] == 0) & in_cut[after[wrong]])]
    wrong = wrong[~move.over[wrong].all(axis=1)]
    if len(wrong):
        row = int(wrong[0])
        allowed = "a later stage"
        if order.cut.any():
            allowed = "a later block, in its own to a later stage or to the cut,"
        raise GameError(
            f"a move must lead to {allowed} or end the game, got action {actions[row]} of "
            f"player {seats[row]} in state {states[row]}, which leads to player {move.seats[row]} "
            f"in state {move.states[row]}"
        )


def require_shapes(game: Any, count: int, move: Move) -> None:
    """Check shapes and dtypes of ``Move``: (move,) or, for payoffs and ends, (move, player).

    Raises:
        GameError: naming the array of another shape or dtype.
    """
    kinds = {"seats": "iu", "states": "iu", "payoffs": "fiuO", "over": "b"}
    for name, array in move._asdict().items():
        shape = (count,) if name in ("seats", "states") else (count, game.num_players)
        if np.shape(array) != shape:
            raise GameError(f"advance must give {name} of shape {shape}, got {np.shape(array)}")
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds[name]:
            wanted = {"payoffs": "numbers", "over": "bool"}.get(name, "integers")
            raise GameError(f"advance must give {name} as {wanted}, got {kind_of(array)}")


def require_numbers(
    game: Any, seats: IntArray, states: IntArray, actions: IntArray, move: Move
) -> None:
    """Check that the payoffs of moves, in floats, are finite.

    Raises:
        GameError: naming the first payoff that is not.
    """
    require_shapes(game, len(states), move)
    wrong = np.argwhere(~np.isfinite(move.payoffs.astype(float)))
    if len(wrong):
        row, player = wrong[0].tolist()
        raise GameError(
            f"payoffs must be finite numbers, got {move.payoffs[row, player]} by action "
            f"{actions[row]} of player {seats[row]} in state {states[row]}"
        )


def range_of(game: Any) -> tuple[float, float]:
    """Return ``payoff_range`` after checking it.

    Raises:
        GameError: if it is not a pair of finite numbers in growing order.
    """
    try:
        low, high = game.payoff_range
        right = isfinite(low) and isfinite(high) and low <= high
    except (TypeError, ValueError, OverflowError):
        right = False
    if not right:
        raise GameError(
            "payoff_range must be the smallest and the largest payoff, two finite numbers, got "
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
