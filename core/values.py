"""What a sweep leaves: numbers of positions, from which floats or fractions are taken."""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from .types import Array, IntArray, Stage


def _scaled(number: Any, scale: Any) -> Any:
    return _rescaled(number.numerator, number.denominator, scale)


def _rescaled(number: Any, old: Any, new: Any) -> Any:
    whole, rest = divmod(number * new, old)
    return Fraction(number * new, old) if rest else whole


RESCALED = np.frompyfunc(_rescaled, 3, 1)
SCALED = np.frompyfunc(_scaled, 2, 1)
FRACTION = np.frompyfunc(Fraction, 2, 1)


class Values:
    """Numbers that a sweep has found, shape (..., player to move, state); here, floats.

    Indexing gives the numbers as they are.

    Attributes:
        numbers: what the sweep computed with.
    """

    def __init__(self, numbers: Array) -> None:
        self.numbers = numbers

    def __getitem__(self, index: Any) -> Any:
        """Give some numbers, as floats or fractions."""
        return self.numbers[index]

    def at(self, seat: int, states: IntArray) -> Array:
        """Give the numbers of some positions of one player, shape (..., state)."""
        numbers: Array = self[..., seat, states]
        return numbers

    @property
    def array(self) -> Array:
        """All numbers."""
        return self.numbers

    def at_stage(self, stage: Stage) -> Array:
        """Give the numbers of a stage, multiplied by its scale, shape (..., state)."""
        numbers: Array = self.numbers[..., stage.seat, stage.states]
        return numbers

    def put(self, index: Any, numbers: Array, scale: Any) -> None:
        """Fill in numbers that are multiplied by a scale."""
        self.numbers[index] = numbers

    def take_over(self, others: "Values") -> None:
        """Replace the numbers by others of the same kind."""
        vars(self).update(vars(others))

    def row(self, number: int) -> "Values":
        """Give an entry of the first axis, which is for one player."""
        return Values(self.numbers[number])

    def subtracted_from(self, payoffs: tuple[Any, Any]) -> "Values":
        """Give what the other player of a zero-sum game gets, computed where it is asked for.

        Args:
            payoffs: the smallest and the largest payoff.
        """
        return _Complement(self, payoffs)

    def frozen(self) -> "Values":
        """Make the numbers read-only, which many share."""
        self.numbers.setflags(write=False)
        return self


class ScaledValues(Values):
    """Integers that stand for fractions: each is multiplied by its scale, of the same shape."""

    def __init__(self, numbers: Array, scale: Array) -> None:
        super().__init__(numbers)
        self._scale = scale

    def __getitem__(self, index: Any) -> Any:
        """Give some numbers as fractions."""
        return FRACTION(self.numbers[index], self._scale[index])

    @cached_property
    def array(self) -> Array:
        """All numbers as fractions."""
        numbers: Array = self[...]
        numbers.setflags(write=False)
        return numbers

    def at_stage(self, stage: Stage) -> Array:
        """Give the numbers of a stage, multiplied by its scale, shape (..., state)."""
        numbers, scale = super().at_stage(stage), self._scale[..., stage.seat, stage.states]
        if (scale == stage.scale).all():
            return numbers
        changed: Array = RESCALED(numbers, scale, stage.scale)
        return changed

    def put(self, index: Any, numbers: Array, scale: Any) -> None:
        """Fill in numbers that are multiplied by a scale."""
        self.numbers[index], self._scale[index] = numbers, scale

    def row(self, number: int) -> Values:
        """Give an entry of the first axis, which is for one player."""
        return ScaledValues(self.numbers[number], self._scale[number])

    def frozen(self) -> Values:
        """Make the numbers read-only, which many share."""
        self._scale.setflags(write=False)
        return super().frozen()


class _Complement(Values):
    """What others leave of the total of two payoffs."""

    def __init__(self, others: Values, payoffs: tuple[Any, Any]) -> None:
        super().__init__(others.numbers)
        self._others, self._payoffs = others, payoffs

    def __getitem__(self, index: Any) -> Any:
        """Give some numbers, as floats or fractions."""
        rest = sum(self._payoffs) - self._others[index]
        if self.numbers.dtype == object:
            return rest
        low, high = self._payoffs
        return np.maximum(low, np.minimum(rest, high))  # rounding may take it out of the range

    @cached_property
    def array(self) -> Array:
        """All numbers."""
        numbers: Array = self[...]
        numbers.setflags(write=False)
        return numbers

    def at_stage(self, stage: Stage) -> Array:
        """Give the numbers of a stage, multiplied by its scale, shape (..., state)."""
        numbers: Array = self[(..., *stage.positions)]
        return numbers if numbers.dtype != object else SCALED(numbers, stage.scale)
