"""The layout of a scene as a picture: plain shapes on a page."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

from ...core import Die, Gauge, Note, Row, Tile, Tokens
from .pieces import (
    FAINT,
    INK,
    PALE,
    PAPER,
    Box,
    Shape,
    Text,
    colour,
    draw_die,
    draw_gauge,
    draw_tile,
    draw_tokens,
    lines_of,
)
from .scene import Event, Scene

TOP, MARGIN = 52, 16  # height of the head, and width of the margins
LOWEST, HIGHEST = 36, 64  # least and largest height of a row
LINE = 22  # height of a line of the foot
LETTER = 8.3  # width of a letter in the foot
EASY, LARGEST = 44, 46  # wanted width of a die or a tile, and its largest side
NAMED = 1.5  # width of a tile with a name, relative to its height
SMALL = 17  # side of a die in the foot
FEW_DICE, MOST_DICE = 8, 30  # most dice beside the words of a move, and in a line of their own


@dataclass(frozen=True)
class Page:
    """The size of a picture and of its parts, in pixels.

    Attributes:
        width: width of the page.
        height: height of the page.
        left: left edge of the pieces, which stand to the right of the labels.
        lines: least number of lines of words in the foot.
    """

    width: int
    height: int
    left: int
    lines: int

    @property
    def room(self) -> int:
        """Width that is left for pieces."""
        return self.width - MARGIN - self.left

    @property
    def letters(self) -> int:
        """Number of letters that fit into a line of the foot."""
        return int((self.width - 2 * MARGIN) / LETTER)


WIDE = Page(600, 400, 140, 4)
NARROW = Page(360, 350, 116, 3)  # for phones, with room for the moves below it


@dataclass(frozen=True)
class Picture:
    """Shapes on a page, back to front."""

    page: Page
    shapes: list[Shape]


def picture_of(scene: Scene, page: Page = WIDE) -> Picture:
    """Lay out a scene."""
    lines = _foot_lines(scene, page)
    foot = LINE * max(len(lines), page.lines) + 8  # at least, so that moves do not shift the rows
    parts = [_part(row, page) for row in scene.rows]
    height = min(HIGHEST, (page.height - TOP - foot) / max(sum(parts), 1))
    top = TOP + (page.height - TOP - foot - sum(parts) * height) / 2
    shapes: list[Shape] = [Box(0, 0, page.width, page.height, PAPER), *_head(scene, page)]
    for row, part in zip(scene.rows, parts, strict=True):
        shapes += _row(row, scene, page, top, height * part)
        top += height * part
    return Picture(page, [*shapes, *_foot(lines, page, page.height - foot)])


def _head(scene: Scene, page: Page) -> Iterator[Shape]:
    words = scene.ended or f"{scene.mover} to move"
    width = 16 + 8.4 * len(words)
    left = page.width - MARGIN - width
    yield from _title(scene.title, left - 2 * MARGIN)
    # The colour is the edge: white words on it would have too little contrast.
    fill, line, ink = (INK, INK, "#ffffff") if scene.ended else ("#ffffff", colour(scene.seat), INK)
    yield Box(left, 11, width, 30, fill, line, radius=15, thick=3)
    yield Text(left + width / 2, 26, words, 15, ink, "middle")


def _title(title: str, room: float) -> Iterator[Shape]:
    size = 20 if 0.55 * 20 * len(title) <= room else 16
    lines = textwrap.wrap(title, max(1, int(room / (0.55 * size))))
    for number, words in enumerate(lines):
        yield Text(MARGIN, 26 + (number - (len(lines) - 1) / 2) * 20, words, size)


def _part(row: Row, page: Page) -> float:
    """Return the height of a row relative to a row of words: dice may need several lines."""
    pieces = sum(isinstance(piece, Die | Tile) for piece in row.pieces)
    # an empty row gets pieces later, without shifting the others
    width = pieces * _width(row) if row.pieces else 1
    return 1 + 0.5 * -(-width * EASY // page.room)


def _width(row: Row) -> float:
    """Return the width of the pieces of a row relative to their height."""
    named = any(isinstance(piece, Tile) and piece.name for piece in row.pieces)
    return NAMED if named else 1.0


def _row(row: Row, scene: Scene, page: Page, top: float, height: float) -> Iterator[Shape]:
    middle = top + height / 2
    if row.seat is not None:
        yield Box(MARGIN - 8, top + 6, 4, height - 12, colour(row.seat), radius=2)
    yield Text(MARGIN + 4, middle, row.label, 15, FAINT)
    if not row.pieces:
        yield Text(page.left, middle, "none", 15, FAINT)
    wide = _width(row)
    side = _side(len(row.pieces), page.room / wide, height - 10)
    columns = max(1, int((page.room / wide + side / 5) // (side * 1.2)))
    lines = -(-len(row.pieces) // columns)
    columns = -(-len(row.pieces) // max(lines, 1))  # lines of about the same length
    names = [piece.name for piece in row.pieces if isinstance(piece, Tile)]
    letters = max((len(line) for name in names for line in lines_of(name)), default=0)
    for number, piece in enumerate(row.pieces):
        line, column = divmod(number, columns)
        x = page.left + column * side * 1.2 * wide
        y = middle + (line - (lines - 1) / 2) * side * 1.15 - side / 2
        if isinstance(piece, Die):
            yield from draw_die(piece, x, y, side, piece.part in scene.taken)
        elif isinstance(piece, Tile):
            yield from draw_tile(piece, x, y, side, wide * side, piece.part in scene.taken, letters)
        elif isinstance(piece, Gauge):
            yield from draw_gauge(piece, row, x, y + side / 2, page.room)
        elif isinstance(piece, Tokens):
            yield from draw_tokens(piece, row, x, y + side / 2, page.room)
        elif isinstance(piece, Note):
            yield Text(x, y + side / 2, piece.words, 18)


def _side(count: int, room: float, height: float) -> float:
    """Return the largest side of ``count`` squares in lines that fit into a rectangle."""
    for lines in range(1, count + 1):
        columns = -(-count // lines)
        side = min(LARGEST, height / (1.15 * lines), room / (1.2 * columns))
        if side >= min(LARGEST, height / (1.15 * (lines + 1))):
            return side
    return min(LARGEST, height)


#: A line of the foot: words, and dice with a flag for a die that was taken.
Line: TypeAlias = tuple[str, list[tuple[Die, bool]]]


def _foot_lines(scene: Scene, page: Page) -> list[Line]:
    """Return the moves as lines; if they do not all fit below the rows, the latest ones."""
    room = max(page.lines, int((page.height - TOP - 8 - LOWEST * len(scene.rows)) // LINE))
    lines = [line for event in scene.events for line in _lines(event, page)]
    if len(lines) > room:  # consecutive moves of a player share a line
        turns = groupby(scene.events, key=lambda event: event.who)
        told = [f"{who} {', '.join(event.words for event in turn)}" for who, turn in turns]
        lines = [(words, []) for turn in told for words in textwrap.wrap(turn, page.letters)]
    return lines[-room:]


def _lines(event: Event, page: Page) -> Iterator[Line]:
    """Yield the lines of a move; a few dice are in the first line, more in their own line."""
    taken = [die.part is not None and die.part in event.taken for die in event.dice]
    past = [replace(die, part=None) for die in event.dice]  # dice of the past cannot be chosen
    dice = list(zip(past, taken, strict=True))
    beside = dice if len(dice) <= FEW_DICE else []
    width = int(page.letters - len(beside) * SMALL * 1.2 / LETTER)
    first, *rest = textwrap.wrap(f"{event.who} {event.words}", width)
    yield first, beside
    for words in textwrap.wrap(" ".join(rest), page.letters):
        yield words, []
    if len(dice) > len(beside):
        yield "" if len(dice) <= MOST_DICE else "...", dice[:MOST_DICE]


def _foot(lines: list[Line], page: Page, top: float) -> Iterator[Shape]:
    if not lines:
        return
    yield Box(0, top, page.width, page.height - top, "#ffffff")
    yield Box(0, top, page.width, 1.5, PALE)
    for number, (words, dice) in enumerate(lines):
        middle = top + 15 + LINE * number
        yield Text(MARGIN, middle, words, 14)
        room = page.width - 2 * MARGIN - LETTER * len(words)
        step = min(SMALL * 1.2, room / max(len(dice), 1))
        left = page.width - MARGIN - step * len(dice)
        for place, (die, taken) in enumerate(dice):
            yield from draw_die(die, left + step * place, middle - step / 2.4, step / 1.2, taken)
