"""What lies on the table: a position as rows of pieces, which any drawing shows.

A game says which rows of which pieces a position has (``Game.board``), and nothing about places,
colours or sizes. Pieces that a move may take have numbers, their ``part``; ``Game.parts`` says
which of them an action takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Die:
    """A die.

    Attributes:
        face: what it shows.
        part: its number among the pieces that a move may take, None if no move does.
        special: whether its face has a worth of its own, as the zero face has.
    """

    face: int
    part: int | None = None
    special: bool = False


@dataclass(frozen=True)
class Tile:
    """A tile with a number, open or closed; ``part`` as for a die."""

    number: int
    is_open: bool
    part: int | None = None


@dataclass(frozen=True)
class Gauge:
    """Points on a scale that ends at a limit."""

    points: int
    limit: int


@dataclass(frozen=True)
class Tokens:
    """Some tokens, of as many as there may be."""

    count: int
    limit: int


@dataclass(frozen=True)
class Note:
    """A few words or a number."""

    words: str


Piece: TypeAlias = Die | Tile | Gauge | Tokens | Note


@dataclass(frozen=True)
class Row:
    """Pieces side by side.

    Attributes:
        label: what they are, in a word or two.
        pieces: from left to right.
        seat: whose they are, None if that is no player.
    """

    label: str
    pieces: tuple[Piece, ...]
    seat: int | None = None


def dice_of(
    faces: Sequence[int], part: int | None = None, special: int | None = None
) -> tuple[Die, ...]:
    """Make dice of faces; a 0 among them stands for no die.

    Args:
        faces: what they show.
        part: number of the first of them, if moves take them.
        special: the face with a worth of its own, if there is one.
    """
    shown = [int(face) for face in faces if face]
    return tuple(
        Die(face, None if part is None else part + i, face == special)
        for i, face in enumerate(shown)
    )
