"""How exact computation counts: in floats, or without rounding.

Public functions turn their argument ``exact`` into one of the two arithmetics, which is handed down
from there. Without rounding, values are fractions, but sweeps compute with integers, which is many
times as fast: each number is multiplied by a *scale*, a multiple of its denominator. What a sweep
leaves are ``Values``, from which floats or fractions are taken; nothing scaled leaves otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, lcm
from typing import Any, ClassVar

import numpy as np

from .contract import exact_laws_of
from .errors import InputError
from .game import Game
from .types import Array, BoolArray, IntArray, Move
from .values import FRACTION, SCALED, ScaledValues, Values

#: Float values of actions that differ by no more of the span of payoffs are equal. Errors of a
#: sweep are near 1e-15 of the largest payoff; the closest unequal actions of the default Greed are
#: 3.5e-13 apart.
TIE = 1e-13
#: Rows of no more numbers are folded by halves: numpy's maximum is slow along short rows.
SHORT = 16
#: Payoffs must differ by this part of their size at least, or rounding hides what they differ by.
SMALLEST_SPAN = Fraction(1, 10**6)


@dataclass(frozen=True)
class Arithmetic:
    """Numbers of one kind; here, floats of 64 bits, whose scale is 1.

    Attributes:
        dtype: of arrays of such numbers.
        rounds: whether they are rounded.
    """

    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float64)
    rounds: ClassVar[bool] = True

    def zeros(self, *shape: int) -> Array:
        """Give an array of zeros."""
        return np.zeros(shape, dtype=self.dtype)

    def values(self, *shape: int) -> Values:
        """Give zeros, which a sweep replaces."""
        return Values(self.zeros(*shape))

    # ------------------------------------------------------------------ numbers

    def number(self, value: Any) -> Any:
        """Give a number as it leaves: a float, or a fraction."""
        return float(value)

    def numbers(self, values: Array) -> Array:
        """Give an array of numbers as they leave."""
        return values.astype(np.float64)

    def from_floats(self, values: Array) -> Array:
        """Give floats, in exact computation as the fractions that they are."""
        return values.astype(np.float64)

    def divided(self, numbers: Array, by: Any) -> Array:
        """Divide an array of numbers by another one, or by a number."""
        quotients: Array = numbers / by
        return quotients

    def scales(self, first: int, factor: int, count: int) -> Array:
        """Give the scales first * factor^k for k = 0, ..., count - 1; of floats all are 1."""
        return np.ones(count)

    def whole(self, numbers: Array) -> tuple[Array, int]:
        """Multiply numbers by the smallest scale that makes them integers; give it too."""
        return numbers, 1

    def scaled(self, numbers: Any, scale: Any) -> Any:
        """Multiply numbers by a scale, to the shape of both."""
        return np.asarray(numbers, dtype=np.float64) * scale

    def unscaled(self, numbers: Any, scale: Any) -> Any:
        """Divide numbers by their scale."""
        return numbers

    # ------------------------------------------------------ a game and policies

    def laws(self, game: Game) -> Array:
        """Give the laws of a game, shape (law, outcome)."""
        return game.laws

    def rules(self, game: Game) -> Callable[[IntArray, IntArray, IntArray, IntArray], Move]:
        """Give the method of a game that applies its rules."""
        return game.advance

    def payoff_range(self, game: Game) -> tuple[Any, Any]:
        """Give the smallest and the largest payoff."""
        return game.payoff_range

    def chances(self, counts: Array) -> Array:
        """Turn counts of equally likely casts, shape (law, outcome), into probabilities.

        Floats are rounded once.
        """
        chances: Array = (counts / counts.sum(axis=1, keepdims=True)).astype(np.float64)
        return chances

    def normalized(self, probabilities: Array) -> Array:
        """Give a policy's law in floats, shape (state, action), in these numbers."""
        return probabilities

    # -------------------------------------------------------------- comparisons

    def within(self, values: Any, low: Any, high: Any) -> Any:
        """Move values, or one, that rounding took out of a range back to its ends."""
        return np.maximum(low, np.minimum(values, high)) + 0.0  # processors may leave -0.0

    def tie(self, game: Game) -> float:
        """Give the difference up to which values in a game are equal.

        In floats it is ``TIE`` of the span of payoffs, more where payoffs, and their rounding, are
        far larger.

        Raises:
            InputError: if the span is lost in that rounding.
        """
        low, high = game.exact_range
        span, size = high - low, max(abs(low), abs(high))
        if 0 < span < SMALLEST_SPAN * size:
            raise InputError(
                f"payoffs must differ by more than {float(SMALLEST_SPAN)} of their size, got "
                f"{float(low)!r} to {float(high)!r}: subtract the smallest from all, or compute "
                "exactly"
            )
        return TIE * float(max(span, size / 8))

    def mean(self, chances: Array, values: Array) -> Any:
        """Add up values times their chances, both of shape (state,), and round once."""
        return fsum(chances * values)

    def total(self, numbers: Array) -> Any:
        """Add up numbers, whatever the shape, and round once."""
        return fsum(numbers[numbers != 0])

    def best(self, expected: Array, mask: BoolArray, tie: float) -> tuple[Array, BoolArray]:
        """Give the largest legal entry of each row, and which entries are as large.

        Args:
            expected: numbers, shape (state, action).
            mask: which are legal, of the same shape.
            tie: floats that differ by no more are equal.
        """
        columns = legal = np.where(mask, expected, -np.inf)
        while 1 < (count := columns.shape[1]) <= SHORT:
            columns = np.maximum(columns[:, : (count + 1) // 2], columns[:, count // 2 :])
        best: Array = columns.max(axis=1) + 0.0  # of 0.0 and -0.0 processors take either
        return best, legal >= (best - tie)[:, None]


@dataclass(frozen=True)
class Exact(Arithmetic):
    """Integers and fractions."""

    dtype: ClassVar[np.dtype[Any]] = np.dtype(object)
    rounds: ClassVar[bool] = False

    def values(self, *shape: int) -> Values:
        """Give zeros, whose scale is 1."""
        return ScaledValues(self.zeros(*shape), np.ones(shape, dtype=object))

    def number(self, value: Any) -> Fraction:
        """Give a fraction of a whole number or a fraction.

        Raises:
            TypeError: if it is a float: rounding got into exact computation, which is a bug.
        """
        return Fraction(int(value) if isinstance(value, np.integer) else value, 1)

    def numbers(self, values: Array) -> Array:
        """Give fractions, as ``number`` does."""
        return _each(self.number, values)

    def from_floats(self, values: Array) -> Array:
        """Give the fractions that floats are."""
        return _each(Fraction, values)

    def divided(self, numbers: Array, by: Any) -> Array:
        """Give fractions: Python divides whole numbers into a float."""
        quotients: Array = FRACTION(numbers, by)
        return quotients

    def within(self, values: Any, low: Any, high: Any) -> Any:
        """Give the values, which nothing rounds."""
        return values

    def scales(self, first: int, factor: int, count: int) -> Array:
        """Give integers."""
        return np.array([first * factor**k for k in range(count)], dtype=object)

    def whole(self, numbers: Array) -> tuple[Array, int]:
        """Give integers."""
        scale = lcm(*{number.denominator for number in numbers.ravel().tolist()})
        return self.scaled(numbers, scale), scale

    def scaled(self, numbers: Any, scale: Any) -> Any:
        """Give integers, where the products are."""
        return SCALED(numbers, scale)

    def unscaled(self, numbers: Any, scale: Any) -> Any:
        """Give fractions."""
        return FRACTION(numbers, scale)

    def laws(self, game: Game) -> Array:
        """Give ``exact_laws``, which were checked and kept."""
        return exact_laws_of(game)

    def rules(self, game: Game) -> Callable[[IntArray, IntArray, IntArray, IntArray], Move]:
        """Give ``exact_advance``."""
        return game.exact_advance

    def payoff_range(self, game: Game) -> tuple[Fraction, Fraction]:
        """Give ``exact_range``."""
        return game.exact_range

    def chances(self, counts: Array) -> Array:
        """Give fractions."""
        chances: Array = self.unscaled(counts, counts.sum(axis=1, keepdims=True))
        return chances

    def normalized(self, probabilities: Array) -> Array:
        """Give the fractions that the floats are, normalised."""
        exact = self.from_floats(probabilities)
        return self.divided(exact, exact.sum(axis=1, keepdims=True))

    def tie(self, game: Game) -> float:
        """Give none."""
        return 0.0

    def mean(self, chances: Array, values: Array) -> Fraction:
        """Add fractions."""
        return self.total(chances * values)

    def total(self, numbers: Array) -> Fraction:
        """Add fractions."""
        return self.number(sum(numbers.ravel().tolist(), Fraction(0)))

    def best(self, expected: Array, mask: BoolArray, tie: float) -> tuple[Array, BoolArray]:
        """Compare legal entries only, as comparing takes time."""
        rows, actions = np.nonzero(mask)
        numbers = expected[rows, actions]
        best = np.maximum.reduceat(numbers, np.searchsorted(rows, np.arange(len(mask))))
        optimal = np.zeros_like(mask)
        optimal[rows, actions] = numbers == best[rows]
        return best, optimal


def _each(make: Callable[[Any], Fraction], values: Array) -> Array:
    """Make a fraction of each entry; numpy's own whole numbers are no rationals to ``Fraction``."""
    fractions = np.empty(values.size, dtype=object)
    fractions[:] = [make(value) for value in values.ravel().tolist()]
    return fractions.reshape(values.shape)


FLOATS = Arithmetic()
EXACT = Exact()


def arithmetic(exact: bool) -> Arithmetic:
    """Give the arithmetic that a user asks for."""
    return EXACT if exact else FLOATS
