"""Drawing outcomes from laws, a whole batch at a time."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .checks import require_laws
from .game import Game
from .identity import once_a_game
from .types import FloatArray, IntArray


def draw(game: Game, states: IntArray, actions: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw the outcome of each move, shape (move,), with one uniform number a move."""
    return _inverse_laws(game).draw(game.law(states, actions), rng)


@once_a_game
def _inverse_laws(game: Game) -> "InverseLaws":
    require_laws("laws", game.laws)
    return InverseLaws(game.laws)


class InverseLaws:
    """Draws outcomes by inverting cumulative laws, a whole batch in one binary search.

    Args:
        laws: probabilities, shape (law, outcome); rows sum to one up to rounding.

    Row r of the flattened table holds r + P(outcome <= k), so that r + u falls among its entries.
    """

    def __init__(self, laws: FloatArray) -> None:
        self._num_outcomes = laws.shape[1]
        cumulative = np.minimum(np.cumsum(laws, axis=1), 1.0)
        self._last = laws.shape[1] - 1 - np.argmax(laws[:, ::-1] > 0, axis=1)  # (law,)
        self._flat = (np.arange(len(laws))[:, None] + cumulative).ravel()

    def draw(self, rows: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw one outcome for each row, shape (row,)."""
        found = np.searchsorted(self._flat, rows + rng.random(len(rows)), side="right")
        # r + u may round up to r + 1, or past a cumulative sum that rounded to less than one.
        outcomes: IntArray = np.minimum(found - rows * self._num_outcomes, self._last[rows])
        return outcomes


class AliasLaws(NamedTuple):
    """Draws outcomes with two looks into a table, however many there are (Walker 1977).

    A law of n outcomes is cut into n slots of equal chance; each belongs to one outcome up to its
    threshold and to another one, its alias, beyond.

    Attributes:
        sizes: number of outcomes, as floats, shape (law,).
        firsts: first slot, shape (law,).
        thresholds: share of each slot that is its own outcome's, shape (slot,).
        aliases: outcome that has the rest, shape (slot,).
    """

    sizes: FloatArray
    firsts: IntArray
    thresholds: FloatArray
    aliases: IntArray

    @classmethod
    def of(cls, tables: Sequence[FloatArray]) -> "AliasLaws":
        """Make laws of some tables of probabilities, each (law, outcome), one below the other."""
        thresholds, aliases = zip(*map(_alias, tables), strict=True)
        sizes = np.repeat([table.shape[1] for table in tables], [len(table) for table in tables])
        return cls(
            sizes.astype(np.float64),
            np.append(0, np.cumsum(sizes)[:-1]),
            np.concatenate([table.ravel() for table in thresholds]),
            np.concatenate([table.ravel() for table in aliases]).astype(np.int32),
        )

    def draw(self, rows: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw one outcome for each row, with one uniform number each: shape (row,)."""
        spread = rng.random(len(rows)) * self.sizes[rows]
        outcomes = spread.astype(np.int64)
        slots = self.firsts[rows] + outcomes
        own = spread - outcomes < self.thresholds[slots]
        drawn: IntArray = np.where(own, outcomes, self.aliases[slots])
        return drawn


def _alias(laws: FloatArray) -> tuple[FloatArray, IntArray]:
    """Find thresholds and aliases, (law, outcome), of all laws of a table side by side.

    Light outcomes, which do not fill their slots, get what is missing from a heavy one, until that
    is light itself and gets it from the next heavy one. Every step settles one outcome a law.
    """
    number, size = laws.shape
    weights = laws / laws.sum(axis=1, keepdims=True) * size
    order = np.argsort(weights >= 1, axis=1, kind="stable")  # light ones first
    heavies = (weights < 1).sum(axis=1)
    every, last = np.arange(number), size - 1
    light, heavy = np.zeros(number, dtype=np.int64), np.minimum(heavies, last)
    thresholds, aliases = np.ones(laws.shape), np.tile(np.arange(size), (number, 1))
    left = weights[every, order[every, heavy]]  # of the heavy one
    for _ in range(size):
        filling = (light < heavies) & (light < heavy) & ((left >= 1) | (heavy == last))
        rows = np.flatnonzero(filling)
        poor, rich = order[rows, light[rows]], order[rows, heavy[rows]]
        thresholds[rows, poor], aliases[rows, poor] = weights[rows, poor], rich
        left[rows] -= 1 - weights[rows, poor]
        light[rows] += 1
        rows = np.flatnonzero(~filling & (left < 1) & (heavy < last))
        poor, rich = order[rows, heavy[rows]], order[rows, heavy[rows] + 1]
        thresholds[rows, poor], aliases[rows, poor] = left[rows], rich
        left[rows] = weights[rows, rich] - (1 - left[rows])
        heavy[rows] += 1
    return thresholds, aliases
