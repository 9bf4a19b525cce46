"""Shapes, and the pieces of a board drawn with them: dice, tiles, gauges and tokens.

The colours are those of Okabe and Ito, which colour-blind people can tell apart; no information is
in the colour alone.
"""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...core import Die, Gauge, Row, Tile, Tokens

PAPER, INK, FAINT, PALE = "#faf8f3", "#1b1f24", "#6b7280", "#e3e0d8"
PLAYERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
WOOD, LIT, SPECIAL, CLOSED = "#e8c07d", "#f0e442", "#0072b2", "#5f5b50"
WORD = 8  # most letters in a line of a tile
#: Where pips lie on a die, in thirds of its half side.
PIPS = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (-1, 1), (1, -1), (1, 1)],
    5: [(-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)],
    6: [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)],
}


@dataclass(frozen=True)
class Box:
    """A rectangle with round corners; ``part`` is the number of the piece to which it belongs."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    line: str = ""
    radius: float = 0
    thick: float = 1.5
    part: int | None = None


@dataclass(frozen=True)
class Disc:
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str
    line: str = ""
    part: int | None = None


@dataclass(frozen=True)
class Text:
    """A line of words; (x, y) is half-way up its beginning, its middle or its end (``anchor``)."""

    x: float
    y: float
    words: str
    size: float
    fill: str = INK
    anchor: Literal["start", "middle", "end"] = "start"
    part: int | None = None


Shape: TypeAlias = Box | Disc | Text


def colour(seat: int) -> str:
    """Give a player's colour."""
    return PLAYERS[seat % len(PLAYERS)]


def draw_die(die: Die, x: float, y: float, side: float, taken: bool) -> Iterator[Shape]:
    """Draw a die; a die that was taken is lit."""
    fill = LIT if taken else "#ffffff"
    thick = max(1.0, side / (16 if taken else 32))
    yield Box(x, y, side, side, fill, INK, side / 6, thick, die.part)
    pip = SPECIAL if die.special else INK
    middle = x + side / 2, y + side / 2
    if die.face not in PIPS:
        yield Text(*middle, str(die.face), side * 0.6, pip, "middle", die.part)
        return
    for right, down in PIPS[die.face]:
        place = middle[0] + right * side / 4, middle[1] + down * side / 4
        yield Disc(*place, side / 10, pip, part=die.part)
    if die.special and side > 20:  # the worth, for people who cannot see the colour
        yield Box(x + side - 13, y - 5, 18, 16, SPECIAL, radius=8)
        yield Text(x + side - 4, y + 3, "0", 12, "#ffffff", "middle")


def lines_of(name: str) -> list[str]:
    """Return the name of a tile in lines."""
    return textwrap.wrap(name, WORD)


def draw_tile(
    tile: Tile, x: float, y: float, side: float, wide: float, taken: bool, letters: int
) -> Iterator[Shape]:
    """Draw a tile; ``letters`` is the length of the longest line on a tile of its row."""
    if tile.is_open:
        fill, line, ink = (LIT if taken else WOOD), INK, INK
    else:
        fill, line, ink = PALE, PALE, CLOSED
    yield Box(x, y, wide, side, fill, line, side / 8, 3 if taken else 1.5, tile.part)
    lines = lines_of(tile.name) or [str(tile.number)]
    size = (wide - 6) / (0.55 * letters) if tile.name else side / 2
    for number, words in enumerate(lines):
        middle = y + side / 2 + (number - (len(lines) - 1) / 2) * size * 1.15
        yield Text(x + wide / 2, middle, words, size, ink, "middle", tile.part)
    if not tile.is_open:
        yield Box(x + wide / 5, y + side / 2 - 1, wide * 3 / 5, 2, ink)


def draw_gauge(gauge: Gauge, row: Row, x: float, middle: float, room: float) -> Iterator[Shape]:
    """Draw points as a filled part of a bar."""
    width, height = room - 84, 22
    yield Box(x, middle - height / 2, width, height, PALE, radius=height / 2)
    filled = min(width, max(height, width * gauge.points / gauge.limit))
    if gauge.points:
        yield Box(x, middle - height / 2, filled, height, colour(row.seat or 0), radius=height / 2)
    yield Text(x + width + 12, middle, f"{gauge.points} of {gauge.limit}", 15)


def draw_tokens(tokens: Tokens, row: Row, x: float, middle: float, room: float) -> Iterator[Shape]:
    """Draw tokens as discs, in places for as many as there may be."""
    step = min(26.0, (room - 40) / tokens.limit)
    fill = FAINT if row.seat is None else colour(row.seat)
    for number in range(tokens.limit):
        there = number < tokens.count
        place = x + 10 + step * number, middle
        yield Disc(*place, min(10, step * 0.4), fill if there else PAPER, fill if there else PALE)
    yield Text(x + step * tokens.limit + 8, middle, str(tokens.count), 16)
