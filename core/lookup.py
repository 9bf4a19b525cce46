"""Look-up of states by their observations."""

from collections.abc import Sequence

import numpy as np

from .types import IntArray


def keys_of(seen: IntArray, sizes: Sequence[int]) -> IntArray:
    """Return a number for each observation, shape (..., component); -1 if it is out of range."""
    keys = np.zeros(seen.shape[:-1], dtype=np.int64)
    for column, size in zip(np.moveaxis(seen, -1, 0), sizes, strict=True):
        keys = keys * size + column
    return np.where(((seen >= 0) & (seen < np.array(sizes))).all(axis=-1), keys, -1)


class Index:
    """Finds the index of a number in an array, shape (entry,), of different numbers."""

    def __init__(self, keys: IntArray) -> None:
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def find(self, wanted: IntArray) -> IntArray:
        """Return the index of each number, -1 if the array does not have it."""
        place = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[place] == wanted, self._order[place], -1)
