"""How exact computation counts: in floats, or without rounding.

Public functions turn their argument ``exact`` into one of the two arithmetics, which is handed down
from there. Without rounding, values are fractions, but sweeps compute with integers over
denominators that they know, which is many times as fast: nothing scaled leaves a sweep.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .errors import InputError

#: Float values of actions that differ by no more of the span of payoffs are equal. Errors of a
#: sweep are near 1e-15 of the largest payoff; the closest unequal actions of the default Greed are
#: 3.5e-13 apart.
TIE = 1e-13
#: Payoffs must differ by this part of their size at least, or rounding hides what they differ by.
SMALLEST_SPAN = Fraction(1, 10**6)


class Arithmetic(ABC):
    """Numbers of one kind.

    Attributes:
        dtype: of arrays of such numbers.
    """

    dtype: ClassVar[np.dtype[Any]]

    @abstractmethod
    def number(self, value: Any) -> Any:
        """Give a number as it leaves: a float, or a fraction."""

    def zeros(self, *shape: int) -> npt.NDArray[Any]:
        """Give an array of zeros."""
        return np.zeros(shape, dtype=self.dtype)

    @abstractmethod
    def numbers(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give an array of numbers as they leave: floats, or fractions."""

    @abstractmethod
    def laws(self, probabilities: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give laws in floats, shape (state, action), in these numbers."""

    @abstractmethod
    def payoff_range(self, game: Any) -> tuple[Any, Any]:
        """Give the smallest and the largest payoff of a game."""

    @abstractmethod
    def tie(self, game: Any) -> float:
        """Give the difference up to which values in a game are equal."""

    @abstractmethod
    def scaled(self, values: Any, scale: Any) -> Any:
        """Give values as a sweep has them, which multiplies those of a state by its ``scale``."""

    @abstractmethod
    def unscaled(self, numbers: npt.NDArray[Any], scale: Any) -> npt.NDArray[Any]:
        """Give the numbers of a sweep, shape (state, action), as they leave."""

    @abstractmethod
    def mean(self, chances: npt.NDArray[Any], values: npt.NDArray[Any]) -> Any:
        """Add up values times their chances, both of shape (state,)."""

    @abstractmethod
    def best(
        self, expected: npt.NDArray[Any], mask: npt.NDArray[np.bool_], tie: float
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """Give the largest legal entry of each row, and which entries are as large.

        Args:
            expected: numbers, shape (state, action).
            mask: which are legal, of the same shape.
            tie: floats that differ by no more are equal.
        """


@dataclass(frozen=True)
class Floats(Arithmetic):
    """Numbers of 64 bits."""

    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float64)

    def number(self, value: Any) -> float:
        """Give a float."""
        return float(value)

    def numbers(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give floats."""
        return values.astype(np.float64)

    def laws(self, probabilities: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give them as they are."""
        return probabilities

    def payoff_range(self, game: Any) -> tuple[float, float]:
        """Give two floats."""
        low, high = game.payoff_range
        return low, high

    def tie(self, game: Any) -> float:
        """Give ``TIE`` of the span, more where payoffs, and their rounding, are far larger.

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

    def scaled(self, values: Any, scale: Any) -> Any:
        """Give the values: floats are not scaled."""
        return values

    def unscaled(self, numbers: npt.NDArray[Any], scale: Any) -> npt.NDArray[Any]:
        """Give them as they are."""
        return numbers

    def mean(self, chances: npt.NDArray[Any], values: npt.NDArray[Any]) -> float:
        """Round once, whatever the order."""
        return fsum(chances * values)

    def best(
        self, expected: npt.NDArray[Any], mask: npt.NDArray[np.bool_], tie: float
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """Compare up to rounding."""
        legal = np.where(mask, expected, -np.inf)
        best: npt.NDArray[Any] = legal.max(axis=1) + 0.0  # of 0.0 and -0.0 processors take either
        return best, legal >= (best - tie)[:, None]


@dataclass(frozen=True)
class Exact(Arithmetic):
    """Integers and fractions."""

    dtype: ClassVar[np.dtype[Any]] = np.dtype(object)

    def number(self, value: Any) -> Fraction:
        """Give a fraction."""
        return Fraction(value)

    def numbers(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give fractions."""
        numbers = np.empty(values.size, dtype=object)
        numbers[:] = [Fraction(value) for value in values.ravel().tolist()]
        return numbers.reshape(values.shape)

    def laws(self, probabilities: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give the fractions that the floats are, normalised."""
        exact = self.numbers(probabilities)
        normalized: npt.NDArray[Any] = exact / exact.sum(axis=1, keepdims=True)
        return normalized

    def payoff_range(self, game: Any) -> tuple[Fraction, Fraction]:
        """Give two fractions."""
        low, high = game.exact_range
        return low, high

    def tie(self, game: Any) -> float:
        """Give none."""
        return 0.0

    def scaled(self, values: Any, scale: Any) -> Any:
        """Give integers, where the scale is a multiple of the denominators."""
        products = np.asarray(values * scale, dtype=object)
        whole = [number.numerator if number.denominator == 1 else number for number in products]
        return np.array(whole, dtype=object)

    def unscaled(self, numbers: npt.NDArray[Any], scale: Any) -> npt.NDArray[Any]:
        """Give fractions."""
        divided: npt.NDArray[Any] = self.numbers(numbers) / scale[:, None]
        return divided

    def mean(self, chances: npt.NDArray[Any], values: npt.NDArray[Any]) -> Fraction:
        """Add fractions."""
        return Fraction(sum((chances * values).tolist(), Fraction(0)))

    def best(
        self, expected: npt.NDArray[Any], mask: npt.NDArray[np.bool_], tie: float
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """Compare legal entries only, as comparing takes time."""
        rows, actions = np.nonzero(mask)
        numbers = expected[rows, actions]
        best = np.maximum.reduceat(numbers, np.searchsorted(rows, np.arange(len(mask))))
        optimal = np.zeros_like(mask)
        optimal[rows, actions] = numbers == best[rows]
        return best, optimal


FLOATS = Floats()
EXACT = Exact()


def arithmetic(exact: bool) -> Arithmetic:
    """Give the arithmetic that a user asks for."""
    return EXACT if exact else FLOATS
