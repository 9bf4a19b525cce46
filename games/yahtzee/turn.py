"""The values of one turn in many contexts side by side: arrays of shape (dice, context).

Let U(d, b) be the value of taking box b with the dice d: the points plus the value of the next
context. Let V_r(d) be the value of the dice d with r rolls left. Then

    V_0(d) = fold of U(d, b) over the boxes b          V_r(d) = fold of U(d, b) and of E_r(k)

over the boxes b and the proper parts k of d, where E_r(k) is the mean of V_(r - 1) over the rolls
that complete k (see ``dice``). The fold is the maximum for the best play, and the mean for play
that takes each legal move with the same probability.

The fold over the parts of d is built up face by face. Let F_0(k) = E(k), and for the faces f from
1 to 6

    F_f(k) = F_(f - 1)(k) combined with F_f(k - f), if k has a die of face f,

so that F_6(k) combines E of all parts of k: 1,260 operations instead of one for each of the 4,116
pairs. Sums are taken in this order; maxima do not depend on the order.

Of equally good actions of optimal play the smallest is chosen. Actions that keep dice have smaller
numbers than actions that take a box.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ...core import Array, BoolArray, FloatArray, IntArray, frozen
from ...core.types import Fold
from .card import BOXES, YAHTZEE, Contexts, Taken, has_box, points
from .dice import DICE, FACES, FIRSTS, KEEPS, ROLLS, dice

#: Means over all rolls are integers when they are multiplied by this number.
SCALE = FACES**DICE
#: Actions, one byte each.
Actions: TypeAlias = npt.NDArray[np.uint8]


class Later(NamedTuple):
    """The values of the contexts after a turn, from which the values of boxes follow.

    Attributes:
        values: value of each context before its first roll, shape (context + 1,); the last entry,
            the end of the game, is 0.
        centres: None, or values V of the same shape. With V, a box adds the squared deviation
            (points + V after the turn - V before the turn)^2 instead of its points, and ``values``
            are expected sums of such squares.
    """

    values: Array
    centres: Array | None = None

    def worth(self, columns: IntArray, taken: Taken) -> Array:
        """Return the values of taking boxes, in the shape of ``taken``; contexts broadcast."""
        paid: Array = taken.points
        if self.centres is not None:
            away = self.centres.take(taken.contexts) + taken.points - self.centres.take(columns)
            paid = away * away
        return self.values.take(taken.contexts) + paid


def mean_of_rolls(values: Array) -> Array:
    """Compute the mean, over the rolls that complete each kept multiset, of the values of the dice.

    Values are of shape (dice, context), and means (kept, context); the means of integers are
    integers, multiplied by ``SCALE``.
    """
    means = np.empty((KEEPS, values.shape[1]), dtype=values.dtype)
    larger, more = values, dice().more
    for size in range(DICE - 1, -1, -1):
        own = slice(FIRSTS[size], FIRSTS[size + 1])
        led_to = more[own].T - FIRSTS[size + 1]
        total = larger.take(led_to[0], axis=0)
        for faces in led_to[1:]:
            total += larger.take(faces, axis=0)
        if values.dtype == object:
            larger, means[own] = total, total * FACES**size
        else:
            larger = np.divide(total, FACES, out=means[own])
    return means


@cache
def _additions() -> list[tuple[IntArray, IntArray]]:
    """List pairs of multisets: one with a die of a face, and the same without that die.

    The list goes face by face, and for each face by the increasing count of that face.
    """
    counts, more = dice().counts[:KEEPS], dice().more
    parts = [np.flatnonzero(counts[:, f] == n) for f in range(FACES) for n in range(DICE)]
    return [(more[part, i // DICE], part) for i, part in enumerate(parts)]


class Scores(NamedTuple):
    """The next contexts and the scores of all boxes, without jokers, which ``Turns`` adds.

    A table has one row for each different next context. Each score of an upper box, or of the box
    for a Yahtzee, leads to a context of its own and has a row. Any other box leads to the same
    context whatever it scores, so it has one row.
    """

    boxes: IntArray  # (row, 1) the box of each row
    examples: IntArray  # (row, 1) a roll that leads to the context of the row
    own: list[slice]  # by box, the slice of its rows
    # (score, 1) by box, the points of its different scores, if it has one row; None if it has one
    # row for each score.
    paid: list[IntArray | None]
    # (dice,) by box, the index of each roll's score among the different scores.
    scores: list[IntArray]


@cache
def scores_of_boxes() -> Scores:
    """Return the table of scores; it is computed once."""
    order = np.argsort(points().five >= 0, kind="stable")  # jokers last: never examples
    boxes: list[int] = []
    examples: list[int] = []
    own, paid, all_scores = [], [], []
    for box, plain in enumerate(points().plain.T):
        different, firsts, scores = np.unique(plain[order], return_index=True, return_inverse=True)
        one = box >= FACES and box != YAHTZEE
        rows = order[firsts[:1] if one else firsts].tolist()
        own.append(slice(len(boxes), len(boxes) + len(rows)))
        paid.append(different[:, None] if one else None)
        all_scores.append(scores[np.argsort(order)])
        boxes += [box] * len(rows)
        examples += rows
    return Scores(np.array(boxes)[:, None], np.array(examples)[:, None], own, paid, all_scores)


@cache
def _parts() -> tuple[IntArray, list[npt.NDArray[np.uint8]]]:
    """Return all rolls, sorted by their number of proper parts, largest first, shape (dice,).

    And entry j of the list holds part j of every roll with more than j parts, in this order.
    """
    proper = dice().proper
    order = np.argsort((proper < 0).sum(axis=1), kind="stable")
    some = (column[column >= 0] for column in proper[order].T)
    return frozen(order), [part.astype(np.uint8) for part in some]


class Turns(NamedTuple):
    """The turn in some contexts side by side."""

    known: Contexts  # all contexts of the game
    columns: IntArray  # (context,) the contexts; for ``boxes`` alone of any shape
    later: Later  # the values of the contexts after the turn

    def boxes(self, rolls: IntArray) -> tuple[BoolArray, Array]:
        """Return which boxes rolls may take, jokers included, and the values of taking them.

        Rolls broadcast with the contexts. Both results are of shape (..., box); a value is
        meaningless where the roll may not take the box.
        """
        boxes, columns = np.arange(len(BOXES)), self.columns[..., None]
        legal = has_box(self.known.allowed(self.columns, rolls)[..., None], boxes)
        taken = self.known.take(columns, rolls[..., None], boxes)
        taken = taken._replace(contexts=np.where(legal, taken.contexts, len(self.known)))
        return legal, self.later.worth(columns, taken)

    def _jokers(self) -> tuple[IntArray, BoolArray, FloatArray]:
        """Return the six rolls of five of a kind, and the result of ``boxes`` for them.

        Joker rules change the points and the legal boxes of these rolls only.
        """
        wild = np.flatnonzero(points().five >= 0)
        return wild, *self.boxes(wild[:, None])

    def _plain_boxes(self, closed: float) -> Iterator[tuple[int, FloatArray]]:
        """Yield each box that is open in some contexts, and values of taking it, (dice, context).

        A box that is not open has the value ``closed``. The values are wrong for five of a kind,
        for which ``boxes`` applies the joker rules.
        """
        table, still_open = scores_of_boxes(), self.known.still_open[self.columns]
        every = self.known.take(self.columns, table.examples, table.boxes)
        for box, (own, paid, scores) in enumerate(zip(*table[2:], strict=True)):
            is_open = has_box(still_open, np.array(box))
            if is_open.any():
                after, scored = every.contexts[own], every.points[own] if paid is None else paid
                taken = Taken(after, scored, every.upper_bonus[own])
                worth = np.where(is_open, self.later.worth(self.columns, taken), closed)
                yield box, worth.take(scores, axis=0)

    def folded(self, fold: Fold) -> tuple[FloatArray, FloatArray]:
        """Compute the values of states and of keeping multisets: the best or the mean of actions.

        The former are of shape (rolls left, dice, context), the latter (rolls left after the next
        roll, kept, context).
        """
        combine: Any = np.maximum if fold == "best" else np.add
        neutral = -np.inf if fold == "best" else 0.0
        boxes = np.full((ROLLS, len(self.columns)), neutral)  # those that a roll may take, folded
        for _, worth in self._plain_boxes(neutral):
            combine(boxes, worth, out=boxes)
        count = np.bitwise_count(self.known.still_open[self.columns])
        counts = np.tile(count.astype(np.int64), (ROLLS, 1))  # how many numbers are folded
        wild, legal, worth = self._jokers()
        boxes[wild] = combine.reduce(np.where(legal, worth, neutral), axis=2)
        counts[wild] = legal.sum(axis=2)
        values = np.empty((3, *boxes.shape))
        means = np.empty((2, KEEPS, len(self.columns)))
        values[0] = boxes if fold == "best" else boxes / counts
        if fold == "mean":
            counts += dice().parts.sum(axis=1)[:, None]
        for left in (1, 2):
            means[left - 1] = mean_of_rolls(values[left - 1])
            parts = np.full((KEEPS + ROLLS, len(self.columns)), neutral)  # the proper ones, folded
            parts[:KEEPS] = means[left - 1]
            for wholes, fewer in _additions():
                parts[wholes] = combine(parts.take(wholes, axis=0), parts.take(fewer, axis=0))
            combine(boxes, parts[KEEPS:], out=values[left])
            if fold == "mean":
                values[left] /= counts
        return values, means

    def best_choices(self, tie: float) -> Actions:
        """Compute the actions of optimal play, uint8, shape (rolls left, dice, context).

        Values that differ by ``tie`` points at most count as equal.
        """
        values, every = self.folded("best")
        enough = values - tie
        chosen = np.zeros(values.shape, dtype=np.uint8)
        for box, worth in reversed(list(self._plain_boxes(-np.inf))):
            np.copyto(chosen, np.uint8(KEEPS + box), where=worth >= enough)
        wild, legal, worth = self._jokers()
        good = legal & (worth >= enough[:, wild, :, None])
        chosen[:, wild] = KEEPS + good.argmax(axis=3)  # a multiset that is kept replaces it below
        order, parts = _parts()
        for left in range(1, len(values)):
            means, own, needed = every[left - 1], chosen[left, order], enough[left]
            needed = needed[order]
            for part in reversed(parts):
                some = slice(len(part))
                better = means.take(part, axis=0) >= needed[some]
                np.copyto(own[some], part[:, None], where=better)
            chosen[left, order] = own
        return chosen

    def followed(self, chosen: Actions) -> tuple[FloatArray, FloatArray]:
        """Compute the values of a turn with given actions, both (rolls left, dice, context).

        Before the first roll they are of shape (context,).
        """
        values = np.zeros(chosen.shape)
        for box, worth in self._plain_boxes(-np.inf):
            np.copyto(values, worth, where=chosen == KEEPS + box)
        wild, _, worth = self._jokers()
        boxes = np.maximum(chosen[:, wild], KEEPS).astype(np.int64) - KEEPS
        values[:, wild] = np.take_along_axis(worth[None], boxes[..., None], axis=3)[..., 0]
        for left in range(1, len(values)):
            kept, means = chosen[left] < KEEPS, mean_of_rolls(values[left - 1])
            actions = np.where(kept, chosen[left], 0).astype(np.int64)
            np.copyto(values[left], np.take_along_axis(means, actions, 0), where=kept)
        return values, mean_of_rolls(values[-1])[0]
