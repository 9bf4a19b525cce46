"""The rows and columns of Yahtzee's maps of states."""

from ...core.layout import Layout
from ...core.types import IntArray
from .card import BOXES
from .game import MORE


def layout(observations: IntArray, turns: int) -> Layout:
    """Return the cell of each state in a map: the turn is the column, the roll is the row.

    Args:
        observations: integers, shape (state, component): the open boxes, the upper points, whether
            a further Yahtzee earns the bonus, the rolls left, and the dice.
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
