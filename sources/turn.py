"""One turn against chance, for any utilities of its results: the building block of policies.

Columns are utilities: many problems on one turn are solved side by side.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod

import numpy as np

from ..games import Array, BoolArray, IntArray, Turn, TurnGame
from ..games.arithmetic import EXACT, FLOATS, TIE


@dataclass(frozen=True)
class TurnValues:
    """Expected utilities in a turn.

    Attributes:
        turn: what is played.
        ends: utility of each result, shape (result, column).
        choices: action taken in each node, shape (node, column).
        start: expected utility before the first roll, shape (column,).
    """

    turn: Turn
    ends: Array
    choices: IntArray
    start: Array
    _scaled: Array  # (node, column), as ``Turn.backward`` scales them
    _unit: int  # denominator of the utilities

    @cached_property
    def nodes(self) -> Array:
        """Expected utility in each node, shape (node, column)."""
        if self.ends.dtype != object:
            return self._scaled
        values, units = self._scaled.copy(), self.turn.units
        for layer, (_, nodes) in enumerate(self.turn.slices):
            values[nodes] = values[nodes] * Fraction(1, self._unit * prod(units[layer + 1 :]))
        return values

    @cached_property
    def positions(self) -> Array:
        """Expected utility before each position's roll, shape (position, column)."""
        return np.stack([self.before_roll(number) for number in range(self.turn.num_positions)])

    def before_roll(self, position: int, columns: slice = slice(None)) -> Array:
        """Expected utility in one position before its roll, shape (column,)."""
        outcomes = np.flatnonzero(self.turn.nodes[position] >= 0)
        law = self._laws[self.turn.laws[position], outcomes]
        following = self.nodes[self.turn.nodes[position, outcomes], columns]
        values: Array = (law[:, None] * following).sum(axis=0)
        return values

    @cached_property
    def _laws(self) -> Array:
        exact = self.ends.dtype == object
        return exact_probabilities(self.turn) if exact else self.turn.probabilities


def exact_probabilities(turn: Turn) -> Array:
    """Give the laws of a turn's rolls as fractions, shape (law, outcome)."""
    totals = turn.rolls.sum(axis=1)
    fractions: Array = turn.rolls * np.array([[Fraction(1, total)] for total in totals])
    return fractions


def solve_turn(turn: Turn, ends: Array) -> TurnValues:
    """Maximise every utility; of equally good actions the smallest is taken.

    Args:
        turn: what is played.
        ends: utility of each result, shape (result, column); exact if of dtype object, else not
            negative, so that small chances keep their relative precision and differ by it.
    """
    return _sweep(turn, ends, None)


def follow_choices(turn: Turn, ends: Array, choices: IntArray) -> TurnValues:
    """Evaluate given actions, shape (node, column), by every utility."""
    return _sweep(turn, ends, choices)


def _sweep(turn: Turn, ends: Array, choices: IntArray | None) -> TurnValues:
    shape = (turn.num_nodes, ends.shape[1])
    taken = np.zeros(shape, dtype=np.int64) if choices is None else choices
    whole, unit = _integers(ends) if ends.dtype == object else (ends, 1)

    def decide(nodes: slice, expected: Array) -> Array:
        actions = expected.transpose(0, 2, 1).reshape(-1, expected.shape[1])
        if choices is None:
            legal = np.repeat(turn.after[nodes] >= 0, shape[1], axis=0)
            taken[nodes] = _largest(actions, legal).reshape(-1, shape[1])
        best: Array = actions[np.arange(len(actions)), taken[nodes].ravel()]
        return best.reshape(-1, shape[1])

    values, start = turn.backward(decide, whole)
    if ends.dtype == object:
        start = start * Fraction(1, unit * prod(turn.units))
    return TurnValues(turn, ends, taken, start, values, unit)


def _integers(numbers: Array) -> tuple[Array, int]:
    """Write fractions as integers over one denominator, in which arithmetic is much faster."""
    fractions = [Fraction(number) for number in numbers.ravel().tolist()]
    unit = lcm(*(number.denominator for number in fractions))
    whole = np.array([int(number * unit) for number in fractions], dtype=object)
    return whole.reshape(numbers.shape), unit


def _largest(actions: Array, legal: BoolArray) -> IntArray:
    """Give the first of the largest legal entries in each row."""
    arithmetic = EXACT if actions.dtype == object else FLOATS
    if arithmetic is FLOATS:
        largest = actions.max(axis=1, keepdims=True, initial=0, where=legal)
        actions = np.divide(actions, largest, out=np.zeros_like(actions), where=largest > 0)
    first: IntArray = arithmetic.best(actions, legal, TIE)[1].argmax(axis=1)
    return first


def in_every_context(game: TurnGame, choices: list[IntArray]) -> IntArray:
    """Turn choices of each leg, shape (node,) or (node, context), into actions of all states."""
    columns = [len(leg.contexts) for leg in game.legs]
    tables = [
        choice.ravel() if choice.ndim == 2 else np.repeat(choice, contexts)
        for choice, contexts in zip(choices, columns, strict=True)
    ]
    return np.concatenate(tables)
