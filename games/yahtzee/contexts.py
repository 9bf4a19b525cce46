"""The contexts of a turn: open boxes, upper points, and whether the box for a Yahtzee holds 50.

Contexts are numbered turn by turn, starting with the empty card, so taking a box always leads to a
context with a larger number. The number after the last context stands for the end of the game.
"""

from typing import NamedTuple

import numpy as np

from ...core.types import BoolArray, IntArray, frozen
from .card import (
    BOXES,
    ENOUGH,
    FIFTY,
    UPPER,
    UPPER_BONUS,
    YAHTZEE,
    Scoring,
    boxes_in,
    points,
    upper_totals,
)
from .dice import FACES


class Taken(NamedTuple):
    """The results of taking a box, arrays of the same shape."""

    contexts: IntArray  # the next one, or the number of contexts if the game is over
    points: IntArray  # all points of the move, the upper bonus included
    upper_bonus: IntArray  # the points of the upper bonus alone


class Contexts:
    """All contexts of a game; ``len`` is their number.

    Args:
        chosen: the set of boxes in play.
        scoring: the points of rolls.

    Attributes:
        still_open: set of the open boxes, int64, shape (context,).
        holds_fifty: 1 if a further Yahtzee earns the bonus, else 0, int64, shape (context,).
        upper: upper points, at most 63, int64, shape (context,).
        levels: the first context of each turn, then the number of contexts.
    """

    def __init__(self, chosen: int, scoring: Scoring) -> None:
        self._scoring = scoring
        self._firsts = np.full((chosen + 1, 2), -1, dtype=np.int64)  # by open boxes, holds fifty?
        self._ranks = np.full((UPPER + 1, ENOUGH + 1), -1, dtype=np.int64)  # by open upper boxes
        above = [upper_totals(boxes_in(chosen & UPPER & ~left)) for left in range(UPPER + 1)]
        for left, totals in enumerate(above):
            self._ranks[left, totals] = np.arange(len(totals))
        subsets = [part for part in range(1, chosen + 1) if part & ~chosen == 0]
        subsets.sort(key=lambda part: (-part.bit_count(), part))
        sheets: list[tuple[int, int, list[int]]] = []
        self.levels: list[int] = []
        count = 0
        for part in subsets:
            turn = chosen.bit_count() - part.bit_count()
            if turn == len(self.levels):
                self.levels.append(count)
            may_hold = scoring.bonus > 0 and chosen & ~part & 1 << YAHTZEE
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

    def __len__(self) -> int:
        return len(self.upper)

    def find(self, still_open: IntArray, holds_fifty: IntArray, upper: IntArray) -> IntArray:
        """Return the number of each context; -1 if no context has these three components."""
        within = (still_open > 0) & (still_open < len(self._firsts))
        known = np.where(within, still_open, 0)
        first = np.where(within, self._firsts[known, holds_fifty], -1)
        rank = self._ranks[known & UPPER, upper]
        return np.where((first < 0) | (rank < 0), -1, first + rank)

    def allowed(self, contexts: IntArray, rolls: IntArray) -> IntArray:
        """Return the set of the boxes that each roll may take in its context."""
        return self._scoring.allowed(self.still_open.take(contexts), rolls)

    def take(self, contexts: IntArray, rolls: IntArray, boxes: IntArray) -> Taken:
        """Return the next context and the points after taking a box.

        The arguments have one shape or are broadcast to one.

        Args:
            contexts: contexts before the move.
            rolls: the dice, as indices of rolls.
            boxes: the open boxes to take.
        """
        still_open, holds = self.still_open.take(contexts), self.holds_fifty.take(contexts)
        before = self.upper.take(contexts)
        paid = self._scoring.paid(still_open, holds, rolls, boxes)
        plain = points().plain.take(rolls * len(BOXES) + boxes)
        upper = np.minimum(before + plain * (boxes < FACES), ENOUGH)
        upper_bonus = UPPER_BONUS * ((upper == ENOUGH) & (before < ENOUGH))
        holds = holds | ((plain == FIFTY) & (self._scoring.bonus > 0))  # no other box scores fifty
        left = still_open & ~(1 << boxes)
        firsts = self._firsts.take(2 * left + holds)
        after = firsts + self._ranks.take((left & UPPER) * (ENOUGH + 1) + upper)
        after = np.minimum(after, len(self))  # all boxes filled: the end
        return Taken(after, paid + upper_bonus, upper_bonus)


def has_box(sets: IntArray, boxes: IntArray) -> BoolArray:
    """Return whether each set contains the box; the arrays are broadcast to one shape."""
    has: BoolArray = (sets >> boxes & 1) == 1
    return has
