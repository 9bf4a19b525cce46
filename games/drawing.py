"""Drawing outcomes from laws, a whole batch at a time."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .game import FloatArray, IntArray


class InverseLaws:
    """Draws outcomes by inverting cumulative laws, a whole batch in one binary search.

    Args:
        laws: probabilities, shape (law, outcome); rows sum to one up to rounding.

    Row r of the flattened table holds r + P(outcome <= k), so that r + u falls among its entries.
    """

    def __init__(self, laws: "FloatArray") -> None:
        self._num_outcomes = laws.shape[1]
        cumulative = np.minimum(np.cumsum(laws, axis=1), 1.0)
        self._last = laws.shape[1] - 1 - np.argmax(laws[:, ::-1] > 0, axis=1)  # (law,)
        self._flat = (np.arange(len(laws))[:, None] + cumulative).ravel()

    def draw(self, rows: "IntArray", rng: np.random.Generator) -> "IntArray":
        """Draw one outcome for each row, shape (row,)."""
        found = np.searchsorted(self._flat, rows + rng.random(len(rows)), side="right")
        # r + u may round up to r + 1, or past a cumulative sum that rounded to less than one.
        outcomes: IntArray = np.minimum(found - rows * self._num_outcomes, self._last[rows])
        return outcomes
