"""A scene as a picture: plain shapes on a page of 600 x 400, which any painter can paint.

Colours are those of Okabe and Ito, which the colour-blind tell apart too; nothing is said by
colour alone.
"""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, TypeAlias

from ..games import Die, Gauge, Note, Piece, Row, Tile, Tokens
from .scene import Event, Scene

WIDTH, HEIGHT = 600, 400
TOP, LEFT, MARGIN = 52, 140, 16  # height of the head, width of the labels
LOWEST, HIGHEST, LINE = 36, 80, 22  # heights of a row, and of a line of the foot
FOOT = 4  # lines that it has room for at least
PAPER, INK, FAINT, PALE = "#faf8f3", "#1b1f24", "#6b7280", "#e3e0d8"
PLAYERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
WOOD, LIT, SPECIAL = "#e8c07d", "#f0e442", "#0072b2"
LETTER, WORDS = 8.2, 68  # width of a letter in the foot, and how many a line has room for
LARGEST = 46  # side of a die
SMALL = 17  # side of a die in the foot
FEW_DICE, MOST_DICE = 8, 30  # beside the words of a move, and in a line of their own
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
    """A rectangle with round corners; ``part`` is the number of the piece that it belongs to."""

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
    """Words, of which (x, y) is the middle of the beginning, the middle or the end."""

    x: float
    y: float
    words: str
    size: float
    fill: str = INK
    anchor: Literal["start", "middle", "end"] = "start"
    part: int | None = None


Shape: TypeAlias = Box | Disc | Text


def picture_of(scene: Scene) -> list[Shape]:
    """Lay out a scene, back to front."""
    rows, lines = len(scene.rows), _foot_lines(scene)
    foot = LINE * max(len(lines), FOOT) + 8  # so that rows stay where they are as moves come
    height = min(HIGHEST, (HEIGHT - TOP - foot) / max(rows, 1))
    top = TOP + (HEIGHT - TOP - foot - rows * height) / 2
    shapes: list[Shape] = [Box(0, 0, WIDTH, HEIGHT, PAPER), *_head(scene)]
    for number, row in enumerate(scene.rows):
        shapes += _row(row, scene, top + height * number, height)
    return [*shapes, *_foot(lines, HEIGHT - foot)]


def _head(scene: Scene) -> Iterator[Shape]:
    yield Text(MARGIN, 26, scene.title, 20)
    words = scene.ended or f"{scene.mover} to move"
    width = 16 + 8.4 * len(words)
    yield Box(
        WIDTH - MARGIN - width, 11, width, 30, INK if scene.ended else colour(scene.seat), radius=15
    )
    yield Text(WIDTH - MARGIN - width / 2, 26, words, 15, "#ffffff", "middle")


def colour(seat: int) -> str:
    """Give a player's colour."""
    return PLAYERS[seat % len(PLAYERS)]


def _row(row: Row, scene: Scene, top: float, height: float) -> Iterator[Shape]:
    middle = top + height / 2
    if row.seat is not None:
        yield Box(MARGIN - 8, top + 6, 4, height - 12, colour(row.seat), radius=2)
    yield Text(MARGIN + 4, middle, row.label, 15, FAINT)
    if not row.pieces:
        yield Text(LEFT, middle, "none", 15, FAINT)
    room = WIDTH - MARGIN - LEFT
    side = _side(len(row.pieces), room, height - 10)
    columns = max(1, int((room + side / 5) // (side * 1.2)))
    lines = -(-len(row.pieces) // columns)
    for number, piece in enumerate(row.pieces):
        line, column = divmod(number, columns)
        x = LEFT + column * side * 1.2
        y = middle + (line - (lines - 1) / 2) * side * 1.15 - side / 2
        yield from _piece(piece, row, scene, x, y, side)


def _side(count: int, room: float, height: float) -> float:
    """Find how large so many square pieces may be."""
    for lines in range(1, count + 1):
        columns = -(-count // lines)
        side = min(LARGEST, height / (1.15 * lines), room / (1.2 * columns))
        if side >= min(LARGEST, height / (1.15 * (lines + 1))):
            return side
    return min(LARGEST, height)


def _piece(
    piece: Piece, row: Row, scene: Scene, x: float, y: float, side: float
) -> Iterator[Shape]:
    if isinstance(piece, Die):
        yield from _die(piece, x, y, side, piece.part is not None and piece.part in scene.taken)
    elif isinstance(piece, Tile):
        yield from _tile(piece, x, y, side, piece.part in scene.taken)
    elif isinstance(piece, Gauge):
        yield from _gauge(piece, row, x, y + side / 2)
    elif isinstance(piece, Tokens):
        yield from _tokens(piece, row, x, y + side / 2)
    elif isinstance(piece, Note):
        yield Text(x, y + side / 2, piece.words, 18)


def _die(die: Die, x: float, y: float, side: float, taken: bool) -> Iterator[Shape]:
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
    if die.special and side > 20:  # its worth, for those who do not see the colour
        yield Box(x + side - 13, y - 5, 18, 16, SPECIAL, radius=8)
        yield Text(x + side - 4, y + 3, "0", 12, "#ffffff", "middle")


def _tile(tile: Tile, x: float, y: float, side: float, taken: bool) -> Iterator[Shape]:
    if tile.is_open:
        fill, line, ink = (LIT if taken else WOOD), INK, INK
    else:
        fill, line, ink = PALE, PALE, "#a8a396"
    yield Box(x, y, side, side, fill, line, side / 8, 3 if taken else 1.5, tile.part)
    yield Text(x + side / 2, y + side / 2, str(tile.number), side / 2, ink, "middle", tile.part)
    if not tile.is_open:
        yield Box(x + side / 5, y + side / 2 - 1, side * 3 / 5, 2, ink)


def _gauge(gauge: Gauge, row: Row, x: float, middle: float) -> Iterator[Shape]:
    width, height = WIDTH - MARGIN - LEFT - 84, 22
    yield Box(x, middle - height / 2, width, height, PALE, radius=height / 2)
    filled = max(height, width * gauge.points / gauge.limit)
    if gauge.points:
        yield Box(x, middle - height / 2, filled, height, colour(row.seat or 0), radius=height / 2)
    yield Text(x + width + 12, middle, f"{gauge.points} of {gauge.limit}", 15)


def _tokens(tokens: Tokens, row: Row, x: float, middle: float) -> Iterator[Shape]:
    step = min(26.0, (WIDTH - MARGIN - LEFT - 40) / tokens.limit)
    fill = FAINT if row.seat is None else colour(row.seat)
    for number in range(tokens.limit):
        there = number < tokens.count
        place = x + 10 + step * number, middle
        yield Disc(*place, min(10, step * 0.4), fill if there else PAPER, fill if there else PALE)
    yield Text(x + step * tokens.limit + 8, middle, str(tokens.count), 16)


#: A line of the foot: words, and dice with whether they were taken.
Line: TypeAlias = tuple[str, list[tuple[Die, bool]]]


def _foot_lines(scene: Scene) -> list[Line]:
    """Tell the moves in as many lines as the rows leave room for, the latest if that is few."""
    room = max(FOOT, int((HEIGHT - TOP - 8 - LOWEST * len(scene.rows)) // LINE))
    lines = [line for event in scene.events for line in _lines(event)]
    if len(lines) > room:  # what somebody does in a row shares a line
        turns = groupby(scene.events, key=lambda event: event.who)
        told = [f"{who} {', '.join(event.words for event in turn)}" for who, turn in turns]
        lines = [(words, []) for turn in told for words in textwrap.wrap(turn, WORDS)]
    return lines[-room:]


def _lines(event: Event) -> Iterator[Line]:
    """Break what is said of a move into lines; some dice stand beside the first one."""
    taken = [die.part is not None and die.part in event.taken for die in event.dice]
    past = [replace(die, part=None) for die in event.dice]  # no longer for a move to take
    dice = list(zip(past, taken, strict=True))
    beside = dice if len(dice) <= FEW_DICE else []
    width = int(WORDS - len(beside) * SMALL * 1.2 / LETTER)
    first, *rest = textwrap.wrap(f"{event.who} {event.words}", width)
    yield first, beside
    for words in textwrap.wrap(" ".join(rest), WORDS):
        yield words, []
    if len(dice) > len(beside):
        yield "" if len(dice) <= MOST_DICE else "...", dice[:MOST_DICE]


def _foot(lines: list[Line], top: float) -> Iterator[Shape]:
    yield Box(0, top, WIDTH, HEIGHT - top, "#ffffff")
    yield Box(0, top, WIDTH, 1.5, PALE)
    for number, (words, dice) in enumerate(lines):
        middle = top + 15 + LINE * number
        yield Text(MARGIN, middle, words, 14)
        step = min(SMALL * 1.2, (WIDTH - 2 * MARGIN - LETTER * len(words)) / max(len(dice), 1))
        left = WIDTH - MARGIN - step * len(dice)
        for place, (die, taken) in enumerate(dice):
            yield from _die(die, left + step * place, middle - step / 2.4, step / 1.2, taken)
