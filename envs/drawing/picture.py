"""The layout of a scene as a picture: plain shapes on a page, of which dice and tiles are drawn.

The colours are those of Okabe and Ito, which colour-blind people can tell apart; no information is
in the colour alone.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, TypeAlias

from ...core import Die, Gauge, Note, Row, Tile, Tokens
from .scene import Event, Scene

TOP, MARGIN = 52, 16  # height of the head, and width of the margins
LOWEST, HIGHEST = 36, 64  # least and largest height of a row
LINE = 22  # height of a line of the foot
LETTER = 8.3  # width of a letter in the foot
CARD_LEFT = 100  # left edge of the other pieces on a page with a card: five dice are easy to hit
EASY, LARGEST = 44, 46  # wanted width of a die or a tile, and its largest side
NO_DICE = 84  # width of the words where no dice have been rolled
SMALL = 17  # side of a die in the foot
FEW_DICE, MOST_DICE = 8, 30  # most dice beside the words of a move, and in a line of their own
PAPER, INK, FAINT, PALE = "#faf8f3", "#1b1f24", "#6b7280", "#e3e0d8"
PLAYERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
WOOD, LIT, SPECIAL, CLOSED = "#e8c07d", "#f0e442", "#0072b2", "#5f5b50"
CELL, GAP = 1.18, 4  # height of a box of a card, relative to a row of words, and space around it
ROLL = 2.0  # height of a row of dice that were rolled, relative to a row of words
BEYOND, ZONE = 1.12, "#f3d9cf"  # end of a scale with points above its limit, and the colour there
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
    thick: float = 1.5
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


@dataclass(frozen=True)
class Page:
    """The size of a picture and of its parts, in pixels."""

    width: int  # width of the page
    height: int  # height of the page
    left: int  # left edge of the pieces, which stand to the right of the labels
    lines: int  # least number of lines of words in the foot
    row: int = 0  # least height of a row below a card, for which the page grows

    @property
    def room(self) -> int:
        """Width that is left for pieces."""
        return self.width - MARGIN - self.left

    @property
    def letters(self) -> int:
        """Number of letters that fit into a line of the foot."""
        return int((self.width - 2 * MARGIN) / LETTER)


WIDE = Page(600, 400, 140, 4)
NARROW = Page(360, 350, 116, 3, 38)  # for phones, with room for the moves below it


@dataclass(frozen=True)
class Picture:
    """Shapes on a page, back to front."""

    page: Page
    shapes: list[Shape]


def picture_of(scene: Scene, page: Page = WIDE) -> Picture:
    """Lay out a scene."""
    if any(row.rolled for row in scene.rows):  # the dice of the last moves lie there, not below
        last: dict[int | None, tuple[Die, ...]] = {one.seat: one.dice for one in scene.events}
        own = (
            replace(row, pieces=last.get(row.seat, ())) if row.rolled else row for row in scene.rows
        )
        events = tuple(replace(event, dice=()) for event in scene.events)
        scene, page = replace(scene, rows=tuple(own), events=events), replace(page, lines=2)
    bands, has_card = list(_bands(scene.rows)), any(map(is_card, scene.rows))
    if has_card:  # it leaves little room for words
        page = replace(page, left=min(page.left, CARD_LEFT), lines=1)
    lines = _foot_lines(scene, page)
    foot = LINE * max(len(lines), page.lines) + 8  # at least, so that moves do not shift the rows
    parts = [_part(band, page) for band in bands]
    if has_card:
        page = replace(page, height=max(page.height, round(TOP + foot + page.row * sum(parts))))
    height = min(HIGHEST, (page.height - TOP - foot) / max(sum(parts), 1))
    top = TOP + (page.height - TOP - foot - sum(parts) * height) / 2
    shapes: list[Shape] = [Box(0, 0, page.width, page.height, PAPER), *_head(scene, page)]
    for band, part in zip(bands, parts, strict=True):
        draw = _columns if is_card(band[0]) else _row
        shapes += draw(band, scene, page, top, height * part)
        top += height * part
    return Picture(page, [*shapes, *_foot(lines, page, page.height - foot)])


def _head(scene: Scene, page: Page) -> Iterator[Shape]:
    words = scene.ended or f"{scene.mover} to move"
    width = 16 + 8.4 * len(words)
    left = page.width - MARGIN - width
    room = left - 2 * MARGIN
    size = 20 if 0.55 * 20 * len(scene.title) <= room else 16
    lines = textwrap.wrap(scene.title, max(1, int(room / (0.55 * size))))
    for number, line in enumerate(lines):
        yield Text(MARGIN, 26 + (number - (len(lines) - 1) / 2) * 20, line, size)
    # The colour is the edge: white words on it would have too little contrast.
    fill, edge, ink = (INK, INK, "#ffffff") if scene.ended else ("#ffffff", colour(scene.seat), INK)
    yield Box(left, 11, width, 30, fill, edge, radius=15, thick=3)
    yield Text(left + width / 2, 26, words, 15, ink, "middle")


def is_card(row: Row) -> bool:
    """Say whether a row is a column of a card: its tiles have names."""
    return any(isinstance(piece, Tile) and piece.name for piece in row.pieces)


def _bands(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield what stands side by side: the columns of a card, and every other row by itself."""
    for card, found in groupby(rows, is_card):
        each = list(found)
        yield from [each] if card else ([row] for row in each)


def _part(band: list[Row], page: Page) -> float:
    """Return the height of a band relative to a row of words: dice may need several lines."""
    row = band[0]
    if is_card(row):
        return CELL * max(len(column.pieces) for column in band)
    if row.rolled:
        return ROLL  # always, so that bars stay where they are
    pieces = sum(isinstance(piece, Die | Tile) for piece in row.pieces)
    # an empty row gets pieces later, without shifting the others
    width = pieces if row.pieces else 1
    return 1 + 0.5 * -(-width * EASY // page.room)


def _columns(
    band: list[Row], scene: Scene, page: Page, top: float, height: float
) -> Iterator[Shape]:
    """Draw a card: columns of boxes with their names and points."""
    each = height / max(len(column.pieces) for column in band)
    wide = (page.width - 2 * MARGIN + GAP) / len(band)
    for place, column in enumerate(band):
        for number, piece in enumerate(column.pieces):
            box = Box(
                MARGIN + place * wide, top + number * each, wide - GAP, each - GAP, PAPER, radius=6
            )
            if isinstance(piece, Tile):
                yield from draw_box(piece, box, piece.part in scene.taken)
            elif isinstance(piece, Gauge):
                yield from draw_bar(piece, column, box)


def _row(band: list[Row], scene: Scene, page: Page, top: float, height: float) -> Iterator[Shape]:
    (row,), middle = band, top + height / 2
    if row.seat is not None:
        yield Box(MARGIN - 8, top + 6, 4, height - 12, colour(row.seat), radius=2)
    if row.rolled:
        page = replace(page, left=MARGIN + 4)  # such rows have no label
    else:
        size = min(15, (page.left - 24) / (0.57 * max(1, len(row.label))))
        yield Text(MARGIN + 4, middle, row.label, size, FAINT)
    if not row.pieces:
        none = Text(page.left, middle, "none", 15, FAINT)
        yield from _places(page, middle) if row.rolled else [none]
    side = _side(len(row.pieces), page.room, height - 10)
    columns = max(1, int((page.room + side / 5) // (side * 1.2)))
    lines = -(-len(row.pieces) // columns)
    columns = -(-len(row.pieces) // max(lines, 1))  # lines of about the same length
    for number, piece in enumerate(row.pieces):
        line, column = divmod(number, columns)
        x = page.left + column * side * 1.2
        y = middle + (line - (lines - 1) / 2) * side * 1.15 - side / 2
        if isinstance(piece, Die):
            yield from draw_die(piece, x, y, side, piece.part in scene.taken)
        elif isinstance(piece, Tile):
            yield from draw_tile(piece, x, y, side, piece.part in scene.taken)
        elif isinstance(piece, Gauge):
            yield from draw_gauge(piece, row, x, y + side / 2, page.room)
        elif isinstance(piece, Tokens):
            yield from draw_tokens(piece, row, x, y + side / 2, page.room)
        elif isinstance(piece, Note):
            yield Text(x, y + side / 2, piece.words, 18)


def _places(page: Page, middle: float) -> Iterator[Shape]:
    """Draw places for the dice that a player will roll."""
    yield Text(page.left, middle, "no dice yet", 13, FAINT)
    for place in range(int((page.room - NO_DICE) // (EASY + 6))):
        left = page.left + NO_DICE + place * (EASY + 6)
        yield Box(left, middle - EASY / 2, EASY, EASY, PAPER, PALE, radius=EASY / 6)


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


def colour(seat: int) -> str:
    """Give a player's colour."""
    return PLAYERS[seat % len(PLAYERS)]


def draw_die(die: Die, x: float, y: float, side: float, taken: bool) -> Iterator[Shape]:
    """Draw a die; a die that was taken is lit, and one that was kept before has a bar below it."""
    fill = LIT if taken else "#ffffff"
    thick = max(1.0, side / (16 if taken else 32))
    yield Box(x, y, side, side, fill, INK, side / 6, thick, die.part)
    if die.kept:
        yield Box(x + side / 5, y + side + 2, side * 3 / 5, 3, INK, radius=1.5)
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


def draw_tile(tile: Tile, x: float, y: float, side: float, taken: bool) -> Iterator[Shape]:
    """Draw a tile with its number."""
    fill, line, ink = _colours(tile, taken)
    yield Box(x, y, side, side, fill, line, side / 8, 3 if taken else 1.5, tile.part)
    yield Text(x + side / 2, y + side / 2, str(tile.number), side / 2, ink, "middle", tile.part)
    if not tile.is_open:
        yield Box(x + side / 5, y + side / 2 - 1, side * 3 / 5, 2, ink)


def _colours(tile: Tile, taken: bool) -> tuple[str, str, str]:
    """Return the colours of a tile's face, edge and words."""
    return (LIT if taken else WOOD, INK, INK) if tile.is_open else (PALE, PALE, CLOSED)


def draw_box(tile: Tile, box: Box, taken: bool) -> Iterator[Shape]:
    """Draw a box of a card with its name and points; a filled one without points is struck out."""
    fill, line, ink = _colours(tile, taken)
    yield replace(box, fill=fill, line=line, thick=3 if taken else 1.5, part=tile.part)
    middle, size = box.y + box.height / 2, min(15, box.height / 2)
    size = min(size, (box.width - 48) / (0.55 * len(tile.name)))
    yield Text(box.x + 8, middle, tile.name, size, ink, part=tile.part)
    end = box.x + box.width - 8
    if tile.points is not None:
        points = min(18, box.height * 0.6)
        yield Text(end, middle, str(tile.points), points, INK, "end", tile.part)
    elif not tile.is_open:
        yield Box(box.x + 8, middle - 1, box.width - 16, 2, ink)


def draw_bar(gauge: Gauge, row: Row, box: Box) -> Iterator[Shape]:
    """Draw points of a card as a filled part of a bar below their name."""
    high, size = box.height / 4, min(14, box.height / 2.4)
    words, bar = box.y + box.height * 0.32, box.y + box.height - high - 2
    yield Text(box.x + 4, words, gauge.name, size, FAINT)
    yield Text(box.x + box.width - 4, words, f"{gauge.points} of {gauge.limit}", size, INK, "end")
    full = box.width * min(1, gauge.points / gauge.limit)
    yield Box(box.x, bar, box.width, high, PALE, radius=high / 2)
    if gauge.points:
        yield Box(box.x, bar, max(high, full), high, colour(row.seat or 0), radius=high / 2)


def draw_gauge(gauge: Gauge, row: Row, x: float, middle: float, room: float) -> Iterator[Shape]:
    """Draw points as a filled part of a bar, with a line at the limit if there may be more."""
    width, height = room - 88, 22
    top, end = middle - height / 2, width / BEYOND if gauge.beyond else width
    for long, fill in ((width, ZONE if gauge.beyond else PALE), (end, PALE)):
        yield Box(x, top, long, height, fill, radius=height / 2)
    filled = min(width, max(height, end * gauge.points / gauge.limit))
    if gauge.points:
        yield Box(x, top, filled, height, colour(row.seat or 0), radius=height / 2)
    if gauge.beyond:
        yield Box(x + end - 1, top - 5, 2, height + 10, CLOSED)
        words = f"{gauge.beyond} above {gauge.limit}"
        yield Text(x + width, top + height + 9, words, 11, FAINT, "end")
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
