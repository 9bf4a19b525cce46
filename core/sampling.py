"""Random draws of outcomes from laws, for a batch of moves at once."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .checks import require_laws
from .game import Game, once_a_game
from .types import FloatArray, IntArray


def draw(game: Game, states: IntArray, actions: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw the outcome of each move, shape (move,), with one uniform number per move."""
    return inverse_laws(game).draw(game.law(states, actions), rng)


@once_a_game
def inverse_laws(game: Game) -> "InverseLaws":
    """Give the laws of a game, from which outcomes are drawn."""
    require_laws("laws", game.laws)
    return InverseLaws(game.laws)


class InverseLaws:
    """Draws outcomes by inverse transform sampling, a batch in one binary search.

    Row r of the flattened table of laws, (law, outcome), holds r + P(outcome <= k). For a uniform
    number u, the place of r + u in that table gives the outcome.
    """

    def __init__(self, laws: FloatArray) -> None:
        self._num_outcomes = laws.shape[1]
        cumulative = np.minimum(np.cumsum(laws, axis=1), 1.0)
        self._last = laws.shape[1] - 1 - np.argmax(laws[:, ::-1] > 0, axis=1)  # (law,)
        self._flat = (np.arange(len(laws))[:, None] + cumulative).ravel()
        self._plain: tuple[Any, Any] = self._flat.tolist(), self._last.tolist()

    def draw(self, rows: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw one outcome for each row, shape (row,)."""
        found = np.searchsorted(self._flat, rows + rng.random(len(rows)), side="right")
        # r + u may round up to r + 1, or past a cumulative sum that rounded to less than one.
        return np.minimum(found - rows * self._num_outcomes, self._last[rows])

    def draw_one(self, row: int, chance: float) -> int:
        """Give the outcome that ``draw`` gives for a row and a uniform random number."""
        flat, last = self._plain
        found = bisect_right(flat, row + chance) - row * self._num_outcomes
        return found if found < last[row] else int(last[row])


class AliasLaws(NamedTuple):
    """Draws outcomes by the alias method, in constant time per draw (Walker 1977).

    A law of n outcomes has n slots of equal probability, one for each outcome. A draw that falls
    into a slot below its threshold gives the slot's own outcome, and above it the slot's alias.
    """

    sizes: FloatArray  # (law,) number of outcomes, as floats
    firsts: IntArray  # (law,) number of the first slot
    thresholds: FloatArray  # (slot,) share that belongs to the slot's own outcome
    aliases: IntArray  # (slot,) outcome that has the rest

    @classmethod
    def of(cls, tables: Sequence[FloatArray]) -> "AliasLaws":
        """Build the slots of the laws of several tables (law, outcome), numbered table by table."""
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
        return np.where(own, outcomes, self.aliases[slots])

    def outcomes(self, rows: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """List the outcomes of positive probability: place in ``rows``, number and probability."""
        sizes = self.sizes[rows].astype(np.int64)
        places = np.repeat(np.arange(len(rows)), sizes)
        begins = (np.cumsum(sizes) - sizes)[places]
        outcomes = np.arange(len(places)) - begins
        slots = self.firsts[rows][places] + outcomes
        shares = self.thresholds[slots]
        shares = shares + np.bincount(begins + self.aliases[slots], 1 - shares, len(places))
        likely = shares > 0
        return places[likely], outcomes[likely], (shares / self.sizes[rows][places])[likely]


def _alias(laws: FloatArray) -> tuple[FloatArray, IntArray]:
    """Compute thresholds and aliases, (law, outcome), of all laws of a table at once.

    A light outcome has a smaller probability than its slot; a heavy outcome fills the rest of that
    slot. Once the heavy outcome has become light itself, the next heavy outcome fills its slot.
    Each step finishes one slot of each law.
    """
    number, size = laws.shape
    weights = laws / laws.sum(axis=1, keepdims=True) * size
    order = np.argsort(weights >= 1, axis=1, kind="stable")  # light outcomes first
    heavies = (weights < 1).sum(axis=1)
    every, last = np.arange(number), size - 1
    light, heavy = np.zeros(number, dtype=np.int64), np.minimum(heavies, last)
    thresholds, aliases = np.ones(laws.shape), np.tile(np.arange(size), (number, 1))
    left = weights[every, order[every, heavy]]  # probability that the heavy outcome still has
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
