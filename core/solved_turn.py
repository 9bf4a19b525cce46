"""Optimal play of one turn against chance, for any utility of its results.

The sources' policies are made of it. Arrays have a column for each utility, so that several
utilities are solved at once.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .arithmetic import EXACT, FLOATS, TIE, Arithmetic, Values
from .turn import Piece, Turn
from .turn_game import TurnGame
from .types import Array, BoolArray, IntArray


@dataclass(frozen=True)
class SolvedTurn:
    """Expected utilities in a turn."""

    turn: Turn  # the turn that is played
    ends: Array  # (result, column) utility of each result
    choices: IntArray  # (state, column) action taken in each state
    start: Array  # (column,) expected utility before the first roll
    _values: Values  # (state, column)
    _arithmetic: Arithmetic

    @cached_property
    def states(self) -> Array:
        """Expected utility in each state, shape (state, column)."""
        return self._values.array

    @cached_property
    def afterstates(self) -> Array:
        """Expected utility in each afterstate, shape (afterstate, column)."""
        return np.stack([self.before_roll(number) for number in range(self.turn.num_afterstates)])

    def before_roll(self, afterstate: int, columns: slice = slice(None)) -> Array:
        """Expected utility in one afterstate, shape (column,)."""
        outcomes = np.flatnonzero(self.turn.possible[afterstate])
        law = self.turn.probabilities[self._arithmetic][self.turn.law[afterstate], outcomes]
        rolled = self.states[self.turn.rolled[afterstate, outcomes], columns]
        return (law[:, None] * rolled).sum(axis=0)


def solve_turn(
    turn: Turn, ends: Array, arithmetic: Arithmetic = EXACT, choices: IntArray | None = None
) -> SolvedTurn:
    """Maximise each expected utility; of equally good actions the smallest number is taken.

    Args:
        turn: the turn that is played.
        ends: utility of each result, shape (result, column); floats must be at least 0, as values
            are compared by their relative difference, which keeps small probabilities apart.
        arithmetic: of the utilities.
        choices: actions to be taken instead, shape (state, column).
    """
    shape = (turn.num_states, ends.shape[1])
    taken = np.zeros(shape, dtype=np.int64) if choices is None else choices

    def decide(piece: Piece, expected: Array) -> Array:
        states = piece.states
        actions = expected.transpose(0, 2, 1).reshape(-1, expected.shape[1])
        if choices is None:
            legal = np.repeat(turn.legal[states], shape[1], axis=0)
            taken[states] = _largest(actions, legal, arithmetic).reshape(-1, shape[1])
        best: Array = actions[np.arange(len(actions)), taken[states].ravel()]
        return best.reshape(-1, shape[1])

    values, start = turn.backward(decide, ends, arithmetic)
    return SolvedTurn(turn, ends, taken, start, values, arithmetic)


def _largest(actions: Array, legal: BoolArray, arithmetic: Arithmetic) -> IntArray:
    """Return the index of the first of the largest legal entries in each row."""
    if arithmetic is FLOATS:
        largest = actions.max(axis=1, keepdims=True, initial=0, where=legal)
        actions = np.divide(actions, largest, out=np.zeros_like(actions), where=largest > 0)
    return arithmetic.best(actions, legal, TIE)[1].argmax(axis=1)


def in_every_context(game: TurnGame, choices: list[IntArray]) -> IntArray:
    """Join the actions of each leg, shape (state,) or (state, context), to those of the game."""
    tables = [
        choice.ravel() if choice.ndim == 2 else np.repeat(choice, len(leg.contexts))
        for choice, leg in zip(choices, game.legs, strict=True)
    ]
    return np.concatenate(tables)
