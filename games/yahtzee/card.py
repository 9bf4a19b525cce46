"""The score card: its boxes, what dice score in them, which boxes a roll may take, and contexts.

A set of boxes is an integer, whose bit i stands for box i.

The *context* of a turn are the open boxes, the upper points, and whether the box for a Yahtzee
holds 50. Contexts are numbered turn by turn, starting with the empty card, so taking a box always
leads to a context with a larger number. The number after the last context stands for the end of the
game.
"""

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from ...core import BoolArray, InputError, IntArray, frozen
from .dice import FACES, KEEPS, dice

#: The names of the boxes, in the order of the card.
BOXES = (
    *("ones", "twos", "threes", "fours", "fives", "sixes"),
    *("three_of_a_kind", "four_of_a_kind", "full_house", "small_straight", "large_straight"),
    *("yahtzee", "chance"),
)
#: The keyword for all boxes.
ALL = "all"
THREE, FOUR, FULL, SMALL, LARGE, YAHTZEE, CHANCE = range(FACES, len(BOXES))
#: The upper boxes, those of a face, as a set.
UPPER = (1 << FACES) - 1
#: Points in the upper boxes that earn the upper bonus, and the points of the bonus.
ENOUGH, UPPER_BONUS = 63, 35
FIFTY, HOUSE, SHORT, LONG = 50, 25, 30, 40
#: Number of upper points that ``ranks`` knows, those that a box takes above 63 included.
WIDTH = ENOUGH + 5 * FACES + 1
#: Largest points of each box.
MOST_POINTS = (*range(5, 31, 5), 30, 30, HOUSE, SHORT, LONG, FIFTY, 30)

#: Number of contexts that are swept at once; their arrays fit into the processor's cache.
TOGETHER = 256

Joker = Literal["forced", "free"]


class Points(NamedTuple):
    """The points of each roll in each box: int64, of shape (roll, box) unless stated otherwise."""

    plain: IntArray  # the points of the dice themselves
    # The points of the roll as a joker: five of a kind score the fixed points of a full house and
    # of the straights.
    wild: IntArray
    five: IntArray  # (roll,) the face, from 0, that all five dice show; -1 if the dice differ
    own: IntArray  # (roll,) the upper box of that face as a set; 0 if the dice differ


@cache
def points() -> Points:
    """Return the table of points; it is computed once."""
    counts = dice().counts[KEEPS:]
    total, most = (counts * np.arange(1, FACES + 1)).sum(axis=1), counts.max(axis=1)
    plain = np.zeros((len(counts), len(BOXES)), dtype=np.int64)
    plain[:, :FACES] = counts * np.arange(1, FACES + 1)
    plain[:, THREE], plain[:, FOUR] = total * (most >= 3), total * (most >= 4)
    plain[:, FULL] = HOUSE * ((most == 3) & (counts == 2).any(axis=1))
    for box, length, worth in ((SMALL, 4, SHORT), (LARGE, 5, LONG)):
        runs = [counts[:, f : f + length].all(axis=1) for f in range(FACES - length + 1)]
        plain[:, box] = worth * np.any(runs, axis=0)
    plain[:, YAHTZEE], plain[:, CHANCE] = FIFTY * (most == 5), total
    wild = plain.copy()
    wild[most == 5, FULL : LARGE + 1] = HOUSE, SHORT, LONG
    five = np.where(most == 5, counts.argmax(axis=1), -1)
    own = np.where(five >= 0, 1 << np.maximum(five, 0), 0)
    return Points(*map(frozen, (plain, wild, five, own)))


def read_boxes(text: str) -> int:
    """Return the set of boxes that the keyword ``boxes`` names."""
    known = f"'{ALL}', or names with commas between them, of {', '.join(BOXES)}"
    if not isinstance(text, str):
        raise InputError(f"boxes must be {known}, got {text!r}")
    names = list(BOXES) if text == ALL else text.split(",")
    found = 0
    for name in names:
        if name not in BOXES:
            raise InputError(f"boxes must be {known}, got {name[:50]!r}")
        bit = 1 << BOXES.index(name)
        if found & bit:
            raise InputError(f"boxes must be named once, got {name!r} again")
        found |= bit
    return found


def boxes_in(chosen: int) -> list[int]:
    """List the boxes of a set, in the order of the card."""
    return [box for box in range(len(BOXES)) if chosen >> box & 1]


def names_of(chosen: int) -> str:
    """Return a set of boxes as a value of the keyword ``boxes``."""
    names = [BOXES[box] for box in boxes_in(chosen)]
    return ALL if len(names) == len(BOXES) else ",".join(names)


def upper_totals(filled: Sequence[int]) -> list[int]:
    """List the possible upper points of filled upper boxes; totals above 63 count as 63."""
    totals = {0}
    for box in filled:
        totals = {min(ENOUGH, t + n * (box + 1)) for t in totals for n in range(6)}
    return sorted(totals)


class Taken(NamedTuple):
    """The results of taking a box, arrays of the same shape."""

    contexts: IntArray  # the next one, or the number of contexts if the game is over
    points: IntArray  # all points of the move, the upper bonus included
    upper_bonus: IntArray  # the points of the upper bonus alone


class Lookups(NamedTuple):
    """Tables as functions of indices: of arrays, or of Python's own numbers."""

    # By context (see ``Contexts``).
    still_open: Callable[[Any], Any]
    holds_fifty: Callable[[Any], Any]
    upper: Callable[[Any], Any]
    own: Callable[[Any], Any]  # by roll (see ``Points``)
    # By roll * number of boxes + box (see ``Points``).
    plain: Callable[[Any], Any]
    wild: Callable[[Any], Any]
    firsts: Callable[[Any], Any]  # the first context, by 2 * open boxes + holds fifty
    # What is added to it, by open upper boxes * ``WIDTH`` + upper points.
    ranks: Callable[[Any], Any]


class Contexts:
    """All contexts of a game; ``len`` is their number.

    Args:
        chosen: the set of boxes in play.
        forced: whether a joker must take the upper box of its face if it is open, else a lower box.
        bonus: points of a further Yahtzee; with 0 there are no jokers.

    The array arguments of each method have one shape or are broadcast to one.

    Attributes:
        still_open: set of the open boxes, int64, shape (context,).
        holds_fifty: 1 if a further Yahtzee earns the bonus, else 0, int64, shape (context,).
        upper: upper points, at most 63, int64, shape (context,).
        levels: the first context of each turn, then the number of contexts.
        largest_total: points of the largest total of a game.
    """

    def __init__(self, chosen: int, forced: bool, bonus: int) -> None:
        self._forced, self._bonus = forced, bonus
        self._firsts = np.full((chosen + 1, 2), -1, dtype=np.int64)  # by open boxes, holds fifty?
        self._ranks = np.full((UPPER + 1, WIDTH), -1, dtype=np.int64)  # by open upper boxes
        above = [upper_totals(boxes_in(chosen & UPPER & ~left)) for left in range(UPPER + 1)]
        for left, totals in enumerate(above):
            self._ranks[left, totals] = np.arange(len(totals))
            self._ranks[left, ENOUGH:] = self._ranks[left, ENOUGH]
        subsets = [part for part in range(1, chosen + 1) if part & ~chosen == 0]
        subsets.sort(key=lambda part: (-part.bit_count(), part))
        sheets: list[tuple[int, int, list[int]]] = []
        self.levels: list[int] = []
        count = 0
        for part in subsets:
            turn = chosen.bit_count() - part.bit_count()
            if turn == len(self.levels):
                self.levels.append(count)
            may_hold = bonus > 0 and chosen & ~part & 1 << YAHTZEE
            for holds in range(2 if may_hold else 1):
                totals = above[part & UPPER]
                self._firsts[part, holds] = count
                sheets.append((part, holds, totals))
                count += len(totals)
        self.levels.append(count)
        lengths = [len(totals) for *_, totals in sheets]
        self.still_open, self.holds_fifty = (
            frozen(np.repeat([sheet[i] for sheet in sheets], lengths)) for i in (0, 1)
        )
        self.upper = frozen(np.concatenate([totals for *_, totals in sheets]))
        self._firsts[0] = count  # the end
        tables = self.still_open, self.holds_fifty, self.upper, points().own, points().plain
        every = [*tables, points().wild, self._firsts, self._ranks]
        self._tables = [table.ravel() for table in every]
        boxes = boxes_in(chosen)
        enough = sum(MOST_POINTS[box] for box in boxes if box < FACES) >= ENOUGH
        further = bonus * (len(boxes) - 1) if YAHTZEE in boxes else 0  # a Yahtzee in each turn
        self.largest_total = sum(MOST_POINTS[box] for box in boxes) + UPPER_BONUS * enough + further
        self._arrays = Lookups(*(table.take for table in self._tables))

    @cached_property
    def plain(self) -> Lookups:
        """The tables for Python's own numbers, which ``allowed`` and ``take`` then take."""
        return Lookups(*(table.tolist().__getitem__ for table in self._tables))

    def __len__(self) -> int:
        return len(self.upper)

    def batches(self) -> list[IntArray]:
        """Cut all contexts, turn by turn, into batches that are swept together."""
        return [
            np.arange(first, min(first + TOGETHER, end))
            for begin, end in pairwise(self.levels)
            for first in range(begin, end, TOGETHER)
        ]

    def find(self, still_open: IntArray, holds_fifty: IntArray, upper: IntArray) -> IntArray:
        """Return the number of each context; -1 if no context has these three components."""
        within = (still_open > 0) & (still_open < len(self._firsts))
        known = np.where(within, still_open, 0)
        first = np.where(within, self._firsts[known, holds_fifty], -1)
        rank = self._ranks[known & UPPER, upper]
        return np.where((first < 0) | (rank < 0), -1, first + rank)

    def _is_joker(self, still_open: Any, own: Any) -> Any:
        """Return whether rolls are jokers: five of a kind while the box for a Yahtzee is filled."""
        return (own > 0) & (still_open & 1 << YAHTZEE == 0) & (self._bonus > 0)

    def allowed(self, contexts: Any, rolls: Any, tables: Lookups | None = None) -> Any:
        """Return the set of the boxes that each roll, an index, may take in its context.

        For Python's own numbers ``tables`` are ``plain``.
        """
        tables = tables or self._arrays
        still_open = tables.still_open(contexts)
        if not self._forced:
            return still_open + 0 * rolls
        own = tables.own(rolls)
        upper, lower = still_open & own, still_open & ~UPPER
        held = upper + (upper == 0) * (lower + (lower == 0) * still_open)
        return still_open + self._is_joker(still_open, own) * (held - still_open)

    def take(self, contexts: Any, rolls: Any, boxes: Any, tables: Lookups | None = None) -> Taken:
        """Return the next context and the points after a roll takes an open box.

        Arguments are numbers of contexts, rolls and boxes, and ``tables`` as for ``allowed``.
        """
        tables = tables or self._arrays
        still_open, holds = tables.still_open(contexts), tables.holds_fifty(contexts)
        before, own, entries = tables.upper(contexts), tables.own(rolls), rolls * len(BOXES) + boxes
        plain = tables.plain(entries)
        wild = self._is_joker(still_open, own) & (still_open & own == 0)
        scored = plain + wild * (tables.wild(entries) - plain)
        paid = scored + self._bonus * (holds & (own > 0))
        upper = before + plain * (boxes < FACES)
        upper_bonus = UPPER_BONUS * ((upper >= ENOUGH) & (before < ENOUGH))
        holds = holds | ((plain == FIFTY) & (self._bonus > 0))  # no other box scores fifty
        left = still_open & ~(1 << boxes)
        after = tables.firsts(2 * left + holds)  # the end, if all boxes are filled
        after = after + (left > 0) * tables.ranks((left & UPPER) * WIDTH + upper)
        return Taken(after, paid + upper_bonus, upper_bonus)


def has_box(sets: IntArray, boxes: IntArray) -> BoolArray:
    """Return whether each set contains the box; the arrays are broadcast to one shape."""
    return (sets >> boxes & 1) == 1
