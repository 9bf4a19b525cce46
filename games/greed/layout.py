"""The cells of maps of Greed."""

from ...core.layout import Layout
from ...core.types import IntArray


def layout(observations: IntArray) -> Layout:
    """Lay states out by both scores, a panel for each kind of turn.

    Args:
        observations: (own score, other's score, last turn?), shape (state, component).
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
