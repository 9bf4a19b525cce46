"""Small linear systems: how often the points of a cut are met, or what they are worth."""

import numpy as np

from ...core import Arithmetic, Array, GameError
from ...core.blocks import Block


def solve_linear(block: Block, chances: Array, right: Array, arithmetic: Arithmetic) -> Array:
    """Solve x = right + A x, for each group by itself.

    Gauss-Jordan elimination without pivoting. I - A needs none: it has no positive entry off the
    diagonal, and either no row or no column with a negative sum.

    Args:
        block: the block of the cut.
        chances: A, shape (group, place, place).
        right: shape (cut,).
        arithmetic: of all numbers.

    Raises:
        GameError: if a point is never left for good.
    """
    at, width = (block.groups, block.places), chances.shape[1]
    one = arithmetic.numbers(np.eye(width, dtype=np.int64))
    matrices = np.concatenate([one - chances, np.zeros_like(chances[..., :1])], axis=2)
    matrices[(*at, width)] = right
    for column in range(width):
        pivots = matrices[:, column, column]
        if (pivots <= 0).any():
            point = np.flatnonzero(block.groups == np.argmax(pivots <= 0))[column]
            raise GameError(
                "a game must end with positive probability whatever its players do, but they can "
                f"come back for ever to {block.describe_cut(point)}"
            )
        matrices[:, column] = matrices[:, column] * (1 / pivots)[:, None]
        factors = matrices[:, :, column].copy()
        factors[:, column] = 0
        matrices -= factors[:, :, None] * matrices[:, column, None]
    solved: Array = matrices[(*at, width)]
    return solved
