"""The cells of maps of Yahtzee."""

from ...core.layout import Layout
from ...core.types import IntArray
from .card import BOXES
from .game import MORE


def layout(observations: IntArray, turns: int) -> Layout:
    """Return the columns, by turn, and the rows, by roll.

    Args:
        observations: shape (state, component): the open boxes, upper points, whether a further
            Yahtzee is paid, rolls left, and the dice.
        turns: number of turns of a game.
    """
    return Layout(
        x_label="turn",
        y_label="roll",
        column=turns - observations[:, : len(BOXES)].sum(axis=1),
        row=observations[:, len(BOXES) + 2],
        columns=[str(turn + 1) for turn in range(turns)],
        rows=[str(MORE + 1 - left) for left in range(MORE + 1)],
    )
