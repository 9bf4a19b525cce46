"""Values of positions, as a sweep has computed them, in floats or fractions."""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from typing_extensions import override

from .types import Array, Decide, IntArray, Stage, frozen


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

    Args:
        numbers: what the sweep computes with, filled in by ``put``.
    """

    def __init__(self, numbers: Array) -> None:
        self.numbers = numbers

    def __getitem__(self, index: Any) -> Any:
        """Give some numbers, as floats or fractions."""
        return self.numbers[index]

    @cached_property
    def array(self) -> Array:
        """All numbers, as floats or fractions, read-only."""
        return frozen(self[...])

    def at(self, seats: int | IntArray, states: IntArray) -> Array:
        """Give the numbers of some positions, shape (..., state).

        Args:
            seats: the player to move, one for all or one for each, shape (state,).
            states: shape (state,).
        """
        numbers: Array = self[..., seats, states]
        return numbers

    def centres(self, seats: int | IntArray, states: IntArray) -> Array:
        """Give the values about which ``Block.deviations`` takes squares, of some positions."""
        return self.at(seats, states)

    def recent(self, lanes: int) -> "Values | None":
        """Give the same values for play: they keep what was computed for the last positions.

        Args:
            lanes: number of games that are played at once.

        Returns:
            None if that would be no faster than a table.
        """
        return None

    def of_moves(self, states: IntArray, actions: IntArray) -> Array | None:
        """Give the values of some legal moves, shape (move,); None if only listed moves have any.

        Args:
            states: shape (move,).
            actions: shape (move,).
        """
        return None

    def total(self, seat: int) -> Any:
        """Add up the numbers of all positions of a player."""
        return self[seat].sum()

    def at_stage(self, stage: Stage) -> Array:
        """Give the numbers of a stage, multiplied by its scale, shape (..., state)."""
        numbers: Array = self.numbers[..., stage.seat, stage.states]
        return numbers

    def again(self, stage: Stage, expected: Array) -> Array:
        """Decide a stage as the sweep did that has found these values (see ``types.Decide``).

        Args:
            stage: the stage.
            expected: the expected values of its actions, for values that are not kept.
        """
        return self.at_stage(stage)

    def put(self, index: Any, numbers: Array, scale: Any) -> None:
        """Fill in numbers that are multiplied by a scale."""
        self.numbers[index] = numbers

    def subtracted_from(self, payoffs: tuple[Any, Any], decide: Decide) -> "Values":
        """Give the values to the other player of a zero-sum game.

        Args:
            payoffs: the smallest and the largest payoff.
            decide: what all players do, in a sweep for the other player.
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

    @override
    def __getitem__(self, index: Any) -> Any:
        return FRACTION(self.numbers[index], self._scale[index])

    @override
    def at_stage(self, stage: Stage) -> Array:
        numbers = super().at_stage(stage)
        scale = self._scale[..., stage.seat, stage.states]
        if (scale == stage.scale).all():
            return numbers
        changed: Array = RESCALED(numbers, scale, stage.scale)
        return changed

    @override
    def put(self, index: Any, numbers: Array, scale: Any) -> None:
        self.numbers[index], self._scale[index] = numbers, scale

    @override
    def frozen(self) -> Values:
        self._scale.setflags(write=False)
        return super().frozen()


class _Complement(Values):
    """Values of a player in a zero-sum game: the total payoff less the other player's values."""

    def __init__(self, others: Values, payoffs: tuple[Any, Any]) -> None:
        super().__init__(others.numbers)
        self._others, self._payoffs = others, payoffs

    @override
    def __getitem__(self, index: Any) -> Any:
        return complement(self._others[index], self._payoffs)

    @override
    def at_stage(self, stage: Stage) -> Array:
        numbers: Array = self[(..., *stage.positions)]
        return numbers if numbers.dtype != object else SCALED(numbers, stage.scale)


def complement(numbers: Any, payoffs: tuple[Any, Any]) -> Any:
    """Subtract one player's values from the total of the smallest and the largest payoff."""
    rest = sum(payoffs) - numbers
    if np.asarray(rest).dtype == object:
        return rest
    clipped: Array = np.clip(rest, *payoffs)  # rounding may leave the range
    return clipped
