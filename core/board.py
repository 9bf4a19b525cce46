"""The board of a position: rows of pieces as data, without places, colours or sizes.

``Presentation.board`` gives the rows; pictures, pages and the terminal draw them. A piece
that a move may take has a number, its ``part``; ``Presentation.parts`` gives the parts that an
action takes. A ``Layout`` gives the cells of states on maps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Die:
    """A die.

    Attributes:
        face: the face on top.
        part: its number among the pieces that a move may take; None if no move takes it.
        special: whether the face is drawn apart, because it does not count its number.
    """

    face: int
    part: int | None = None
    special: bool = False


@dataclass(frozen=True)
class Tile:
    """A tile with a number or a name, open or closed.

    Attributes:
        number: the number on it.
        is_open: whether it is open.
        part: see ``Die.part``.
        name: a word or a few, which stand on it instead of the number; empty for the number.
    """

    number: int
    is_open: bool
    part: int | None = None
    name: str = ""


@dataclass(frozen=True)
class Gauge:
    """A number of points on a scale from 0 to a limit."""

    points: int
    limit: int


@dataclass(frozen=True)
class Tokens:
    """A number of tokens, and the largest number there may be."""

    count: int
    limit: int


@dataclass(frozen=True)
class Note:
    """A text: a few words or a number."""

    words: str


Piece: TypeAlias = Die | Tile | Gauge | Tokens | Note


@dataclass(frozen=True)
class Row:
    """Pieces side by side, with a label.

    Attributes:
        label: a word or two.
        pieces: the pieces from left to right.
        seat: the player who owns the pieces; None if no player does.
    """

    label: str
    pieces: tuple[Piece, ...]
    seat: int | None = None


def dice_of(
    faces: Sequence[int], part: int | None = None, special: int | None = None
) -> tuple[Die, ...]:
    """Return a die for each face other than 0, which stands for no die.

    Args:
        faces: the faces on top.
        part: the ``part`` of the first die, counted up from there; None if no move takes dice.
        special: the face that is drawn apart (``Die.special``), if any.
    """
    shown = [int(face) for face in faces if face]
    return tuple(
        Die(face, None if part is None else part + i, face == special)
        for i, face in enumerate(shown)
    )


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
