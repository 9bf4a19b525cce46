"""How the states of a turn of 421 lie on a map."""

import numpy as np

from ...core.layout import Layout
from ...core.types import IntArray


def layout(observations: IntArray, known: IntArray, dice: int, faces: int, casts: int) -> Layout:
    """Put faces put aside into columns, few faces first, and casts made into rows.

    Args:
        observations: of the states that are laid out, shape (state, component).
        known: of all states of the first player, shape (state, component).
        dice: number of dice.
        faces: faces of a die.
        casts: the most casts.
    """
    seen = np.unique(known[:, : dice - 1], axis=0)  # (column, die)
    seen = seen[np.argsort((seen > 0).sum(axis=1), kind="stable")]
    column = np.full((faces + 1,) * (dice - 1), -1)
    column[tuple(seen.T)] = np.arange(len(seen))
    return Layout(
        x_label="faces put aside",
        y_label="casts made",
        column=column[tuple(observations[:, : dice - 1].T)],
        row=observations[:, 2 * dice - 1] - 1,
        columns=["".join(str(face) for face in put if face) or "none" for put in seen.tolist()],
        rows=[str(number + 1) for number in range(casts)],
    )
