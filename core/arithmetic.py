"""How exact computation counts: in floats, or without rounding in ``Fractions``.

Public functions turn their argument ``exact`` into one of the two arithmetics, which is handed down
from there. Without rounding, values are fractions, but sweeps compute with integers, which is many
times as fast: each number is multiplied by a *scale*, a multiple of its denominator. What a sweep
leaves are ``Values``, from which floats or fractions are taken; nothing scaled leaves otherwise.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import fsum, lcm
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from .contract import exact_laws_of
from .game import Game, ListedGame
from .sizes import check_exact
from .types import Array, BoolArray, Decide, IntArray, Stage, frozen

#: Float values of actions that differ by no more of the span of payoffs are equal. Errors of a
#: sweep are near 1e-15 of the largest payoff; the closest unequal actions of the default Greed are
#: 3.5e-13 apart.
TIE = 1e-13
#: Rows of no more numbers are compared by columns: numpy's maximum is slow along short rows.
SHORT = 16


def largest(rows: Array) -> Array:
    """Give the largest number of each row, shape (row,)."""
    if rows.shape[1] <= SHORT:
        least: Any = -np.inf
        return reduce(np.maximum, rows.T, least)
    return rows[np.arange(len(rows)), rows.argmax(axis=1)]  # the place is found faster


def _rescaled(number: Any, old: Any, new: Any) -> Any:
    whole, rest = divmod(number * new, old)
    return Fraction(number * new, old) if rest else whole


def _fraction(number: Any, scale: Any) -> Any:
    return Fraction(number, scale) if type(number) is not float else number  # minus infinity


RESCALED = np.frompyfunc(_rescaled, 3, 1)
SCALED = np.frompyfunc(lambda one, new: _rescaled(one.numerator, one.denominator, new), 2, 1)
FRACTION = np.frompyfunc(_fraction, 2, 1)
OF_FLOATS: Any = np.frompyfunc(Fraction, 1, 1)


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
        return self[..., seats, states]

    def centres(self, seats: int | IntArray, states: IntArray) -> Array:
        """Give the values about which ``Block.deviations`` takes squares, of some positions."""
        return self.at(seats, states)

    def total(self, seat: int) -> Any:
        """Add up the numbers of all positions of a player."""
        return self[seat].sum()

    def at_stage(self, stage: Stage) -> Array:
        """Give the numbers of a stage, multiplied by its scale, shape (..., state)."""
        return self.numbers[..., stage.seat, stage.states]

    def again(self, stage: Stage, expected: Array) -> Array:
        """Decide a stage as the sweep did that has found these values (see ``types.Decide``).

        Values that are not kept need what is expected of the actions.
        """
        return self.at_stage(stage)

    def put(self, index: Any, numbers: Array, scale: Any) -> None:
        """Fill in numbers that are multiplied by a scale."""
        self.numbers[index] = numbers

    def subtracted_from(self, payoffs: tuple[Any, Any], decide: Decide) -> "Values":
        """Give the values to the other player of a zero-sum game, in whose sweep all ``decide``.

        The payoffs are the smallest and the largest one.
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
        return RESCALED(numbers, scale, stage.scale)

    @override
    def put(self, index: Any, numbers: Array, scale: Any) -> None:
        self.numbers[index], self._scale[index] = numbers, scale

    @override
    def frozen(self) -> Values:
        self._scale.setflags(write=False)
        return super().frozen()


class _Complement(Values):
    """The total payoff less another player's values, without a second table."""

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


class BetweenTurns(Values):
    """Numbers between turns alone; those inside turns are swept again when they are asked for.

    Then ``decide``, what all players do, is called again. The numbers ``between`` turns are those
    of each context, shape (context,), which a sweep fills in.
    """

    def __init__(self, game: Any, arithmetic: "Arithmetic", decide: Any, between: Array) -> None:
        super().__init__(between)
        self._game, self._arithmetic, self._decide = game, arithmetic, decide

    @override
    def __getitem__(self, index: Any) -> Any:
        return self.array[index]

    @override
    def at_stage(self, stage: Stage) -> Array:
        return self._arithmetic.scaled(self.at(*stage.positions), stage.scale)


def complement(numbers: Any, payoffs: tuple[Any, Any]) -> Any:
    """Subtract one player's values from the total of the smallest and the largest payoff."""
    rest = sum(payoffs) - numbers
    if np.asarray(rest).dtype == object:
        return rest
    return np.clip(rest, *payoffs)  # rounding may leave the range


@dataclass(frozen=True)
class Arithmetic:
    """Numbers of one kind, and how they are computed with; here, floats of 64 bits, of scale 1.

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
        """Give zeros, whose scale is 1, which a sweep replaces."""
        return Values(self.zeros(*shape))

    # ------------------------------------------------------------------ numbers

    def number(self, value: Any) -> Any:
        """Give a number as it leaves: a float, or a fraction."""
        return float(value)

    def numbers(self, values: Array) -> Array:
        """Give an array of numbers as they leave, as ``number`` does."""
        return values.astype(np.float64)

    def from_floats(self, values: Array) -> Array:
        """Give floats, in exact computation as the fractions that they are."""
        return self.numbers(values)

    def divided(self, numbers: Array, by: Any) -> Array:
        """Divide an array of numbers by another one, or by a number; floats are rounded once."""
        return np.asarray(numbers / by, dtype=np.float64)  # wide integers divide into objects

    def whole(self, numbers: Array) -> tuple[Array, int]:
        """Multiply numbers by the smallest scale that makes them integers; give it too."""
        return numbers, 1

    def scaled(self, numbers: Any, scale: Any) -> Any:
        """Multiply numbers by a scale, to the shape of both; integers, where the products are."""
        return np.asarray(numbers, dtype=np.float64) * scale

    def unscaled(self, numbers: Any, scale: Any) -> Any:
        """Divide numbers by their scale."""
        return numbers

    # ------------------------------------------------------ a game and policies

    def laws(self, game: Game) -> Array:
        """Give the laws of a game, shape (law, outcome)."""
        return game.laws

    def payoff_range(self, game: Game) -> tuple[Any, Any]:
        """Give the smallest and the largest payoff."""
        return game.payoff_range

    def chances(self, counts: Array) -> Array:
        """Turn counts of equally likely casts, shape (law, outcome), into probabilities."""
        return self.divided(counts, counts.sum(axis=1, keepdims=True))

    def normalized(self, probabilities: Array) -> Array:
        """Give a policy's law in floats, shape (state, action), in these numbers, normalised."""
        return probabilities

    # -------------------------------------------------------------- comparisons

    def within(self, values: Any, low: Any, high: Any) -> Any:
        """Move values, or one, that rounding took out of a range back to its ends."""
        return np.maximum(low, np.minimum(values, high)) + 0.0  # processors may leave -0.0

    def tie(self, game: Game, states: IntArray | None = None) -> Any:
        """Give the difference up to which values of actions in a game are equal.

        In floats it is ``TIE`` of the span of payoffs, more where payoffs, and their rounding, are
        far larger; or ``ListedGame.ties``. Fractions are equal if their difference is 0. It is one
        number for all states, or of the shape of ``states``, (state,); None asks for the largest.
        """
        if isinstance(game, ListedGame) and game.ties is not None:
            return game.ties.max() if states is None else game.ties[states % len(game.ties)]
        low, high = game.exact_range
        span, size = high - low, max(abs(low), abs(high))
        return TIE * float(max(span, size / 8))

    def mean(self, chances: Array, values: Array) -> Any:
        """Add up values times their chances, both of shape (state,), as ``total`` does."""
        return self.total(chances * values)

    def total(self, numbers: Array) -> Any:
        """Add up numbers, whatever the shape, and round once."""
        return fsum(numbers[numbers != 0])

    def best(self, expected: Array, mask: BoolArray, tie: Any) -> tuple[Array, BoolArray]:
        """Give the largest legal entry of each row, and which entries are as large.

        Numbers and mask are of shape (state, action). Floats that differ by ``tie``, a number or of
        shape (state,), or by less are equal.
        """
        legal = np.where(mask, expected, -np.inf)
        best = largest(legal) + 0.0  # of 0.0 and -0.0 processors take either
        return best, legal >= (best - tie)[:, None]


@dataclass(frozen=True)
class Fractions(Arithmetic):
    """Fractions, and integers that stand for them."""

    dtype = np.dtype(object)
    rounds = False

    @override
    def values(self, *shape: int) -> Values:
        return ScaledValues(self.zeros(*shape), np.ones(shape, dtype=object))

    @override
    def number(self, value: Any) -> Fraction:
        found = Fraction(value, 1)  # refuses floats
        if type(found.numerator) is int:
            return found
        return Fraction(int(found.numerator), int(found.denominator))  # of NumPy's integers

    @override
    def numbers(self, values: Array) -> Array:
        return np.frompyfunc(self.number, 1, 1)(values)

    @override
    def from_floats(self, values: Array) -> Array:
        return OF_FLOATS(values)

    @override
    def divided(self, numbers: Array, by: Any) -> Array:
        return FRACTION(numbers, by)  # Python divides whole numbers into a float

    @override
    def whole(self, numbers: Array) -> tuple[Array, int]:
        scale = lcm(*{number.denominator for number in numbers.ravel().tolist()})
        return self.scaled(numbers, scale), scale

    @override
    def scaled(self, numbers: Any, scale: Any) -> Any:
        return SCALED(numbers, scale)

    @override
    def unscaled(self, numbers: Any, scale: Any) -> Any:
        return FRACTION(numbers, scale)

    @override
    def laws(self, game: Game) -> Array:
        return exact_laws_of(game)

    @override
    def payoff_range(self, game: Game) -> tuple[Fraction, Fraction]:
        return game.exact_range

    @override
    def normalized(self, probabilities: Array) -> Array:
        exact = self.from_floats(probabilities)
        return self.divided(exact, exact.sum(axis=1, keepdims=True))

    @override
    def within(self, values: Any, low: Any, high: Any) -> Any:
        return values

    @override
    def tie(self, game: Game, states: IntArray | None = None) -> Any:
        return 0.0

    @override
    def total(self, numbers: Array) -> Fraction:
        return self.number(sum(numbers.ravel().tolist(), Fraction(0)))

    @override
    def best(self, expected: Array, mask: BoolArray, tie: Any) -> tuple[Array, BoolArray]:
        rows, actions = np.nonzero(mask)  # legal entries only, as comparing takes time
        numbers = expected[rows, actions]
        best = np.maximum.reduceat(numbers, np.searchsorted(rows, np.arange(len(mask))))
        optimal = np.zeros_like(mask)
        optimal[rows, actions] = numbers == best[rows]
        return best, optimal


FLOATS = Arithmetic()
EXACT = Fractions()


def arithmetic(exact: bool, game: Game | None = None) -> Arithmetic:
    """Give the arithmetic for a user's option ``exact``: without rounding if True, else floats."""
    if exact and game is not None:
        check_exact(game)
    return EXACT if exact else FLOATS
