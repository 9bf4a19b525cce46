"""The cells of maps of a turn of 421."""

import numpy as np

from ...core.layout import Layout
from ...core.types import IntArray


def layout(observations: IntArray, of_first: IntArray, dice: int, faces: int, casts: int) -> Layout:
    """Return the columns, by faces put aside (few faces first), and the rows, by casts made.

    Args:
        observations: observations of the states, shape (state, component).
        of_first: observations of all states of the first player, shape (state, component).
        dice: number of dice.
        faces: faces of a die.
        casts: the largest number of casts.
    """
    aside = np.unique(of_first[:, : dice - 1], axis=0)  # (column, die)
    aside = aside[np.argsort((aside > 0).sum(axis=1), kind="stable")]
    places = (faces + 1) ** np.arange(dice - 1)  # faces as digits of a number
    column = np.full((faces + 1) ** (dice - 1), -1)
    column[(aside * places).sum(axis=1)] = np.arange(len(aside))
    return Layout(
        x_label="faces put aside",
        y_label="casts made",
        column=column[(observations[:, : dice - 1] * places).sum(axis=1)],
        row=observations[:, 2 * dice - 1] - 1,
        columns=["".join(str(face) for face in put if face) or "none" for put in aside.tolist()],
        rows=[str(number + 1) for number in range(casts)],
    )
