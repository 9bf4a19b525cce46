"""Maps of states as data for charts: the panel, row and column of each state."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, kw_only=True, eq=False)
class Layout:
    """The cells of a batch of states; several states may share a cell.

    Attributes:
        x_label: label of the columns.
        y_label: label of the rows.
        column: column of each state, shape (state,), from 0 on.
        row: row of each state, shape (state,), from 0 on.
        panel: panel of each state, shape (state,), from 0 on; None if there is one panel.
        panels: names of the panels.
        columns: names of the columns; None for numbers.
        rows: names of the rows; None for numbers.
    """

    x_label: str
    y_label: str
    column: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]
    panel: npt.NDArray[np.int64] | None = None
    panels: Sequence[str] = ("",)
    columns: Sequence[str] | None = None
    rows: Sequence[str] | None = None
