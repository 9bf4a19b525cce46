"""The cells of maps of Greed."""

from ...core.layout import Layout
from ...core.types import IntArray


def layout(observations: IntArray) -> Layout:
    """Return the column of own scores and row of other scores, with a panel for last turns.

    Args:
        observations: (own score, other player's score, last turn?), shape (state, component).
    """
    column, row, panel = observations.T
    return Layout(
        x_label="own score",
        y_label="other's score",
        column=column,
        row=row,
        panel=panel,
        panels=("Normal turns", "Last turns"),
    )
