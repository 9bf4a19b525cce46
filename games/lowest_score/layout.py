"""The cells of maps of the lowest-score game."""

from ...core.layout import Layout
from ...core.types import IntArray


def layout(observations: IntArray, dice: int) -> Layout:
    """Return the columns, by the total kept so far, and the rows, by the dice just rolled.

    Args:
        observations: shape (state, component): the total, the dice, and the context.
        dice: number of dice of a player.
    """
    return Layout(
        x_label="total kept so far",
        y_label="dice just rolled",
        column=observations[:, 0],
        row=(observations[:, 1 : 1 + dice] > 0).sum(axis=1) - 1,
        rows=[str(number + 1) for number in range(dice)],
    )
