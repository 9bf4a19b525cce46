"""How the states of the lowest-score game lie on a map."""

from ...core.layout import Layout
from ...core.types import IntArray


def layout(observations: IntArray, dice: int) -> Layout:
    """Put the total kept so far into columns, and the number of dice just rolled into rows.

    Args:
        observations: shape (state, component): the total, the dice, and what is known besides.
        dice: number of dice.
    """
    return Layout(
        x_label="total kept so far",
        y_label="dice just rolled",
        column=observations[:, 0],
        row=(observations[:, 1 : 1 + dice] > 0).sum(axis=1) - 1,
        rows=[str(number + 1) for number in range(dice)],
    )
