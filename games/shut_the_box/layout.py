"""The cells of maps of Shut the Box."""

import numpy as np

from ...core.layout import Layout
from ...core.types import IntArray


def layout(observations: IntArray, tiles: int) -> Layout:
    """Return the columns, by the sum of the open tiles, and the rows, by the roll.

    Args:
        observations: (whether each tile is open, roll, score to beat), shape (state, component).
        tiles: number of tiles.
    """
    numbers = np.arange(1, tiles + 1)
    return Layout(
        x_label="sum of the open tiles",
        y_label="roll",
        column=(observations[:, :tiles] * numbers).sum(axis=1),
        row=observations[:, -2],
    )
