"""Guesses of the numbers of a block's cut: blocks that follow one another are often alike."""

import numpy as np

from ...core import Array, FloatArray


class Trend:
    """Floats that follow one another, such as the values of the cuts of blocks: guesses the next.

    Arrays of different lengths are compared by place, the first with the first, the last with the
    last.
    """

    def __init__(self) -> None:
        self._last: list[FloatArray] = []

    def add(self, numbers: FloatArray) -> None:
        """Add what came next."""
        if len(numbers):
            self._last = [*self._last[-1:], numbers]

    def guess(self, default: Array) -> Array:
        """Continue the last two arrays in a line, or repeat the only one.

        Args:
            default: what to give if there is none, of the shape of the next.
        """
        if not self._last:
            return default
        before, last = (_stretched(self._last[k], len(default)) for k in (0, -1))
        guess: Array = 2 * last - before
        return guess


def _stretched(numbers: FloatArray, count: int) -> FloatArray:
    """Read numbers at places that divide the way from the first to the last evenly."""
    places = np.arange(count) * ((len(numbers) - 1) / max(count - 1, 1))
    low = places.astype(np.int64)
    high = np.minimum(low + 1, len(numbers) - 1)
    stretched: FloatArray = numbers[low] + (places - low) * (numbers[high] - numbers[low])
    return stretched
