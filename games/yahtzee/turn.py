"""One turn backward, in many contexts side by side: arrays of shape (dice, context).

With U(d, b) the value of taking box b with the dice d, points and the value of the next turn
together, and V_r(d) the value of the dice with r rolls left,

    V_0(d) = fold of U(d, b) over the boxes b          V_r(d) = fold of U(d, b) and of E_r(k)

over the boxes b and the proper parts k of d, where E_r(k) is the mean of V_(r - 1) over the rolls
that complete k (see ``dice``). The fold is the maximum for the best play, and the mean for play
that takes each legal move with the same probability.

The fold over the parts of d is built up face by face. Let F_0(k) = E(k), and for the faces f from
1 to 6

    F_f(k) = F_(f - 1)(k) combined with F_f(k - f), if k has a die of face f,

so that F_6(k) combines E of all parts of k: 1,260 operations instead of one for each of the 4,116
pairs. Sums are taken in this order; maxima do not depend on the order.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...core.arithmetic import FLOATS, Arithmetic
from ...core.types import Array, BoolArray, FloatArray, Fold, IntArray
from .card import BOXES, YAHTZEE, points
from .contexts import Contexts, Taken, has_box
from .dice import DICE, FACES, FIRSTS, KEEPS, ROLLS, dice


class Later(NamedTuple):
    """The worth of the contexts that follow a turn.

    Attributes:
        values: of each context before its first roll, and last 0 for the end of the game, shape
            (context + 1,).
        centres: None, or values V of the same shape: a box is then worth a square, that of V before
            the turn less the points and V after it, and ``values`` are sums of such squares.
    """

    values: Array
    centres: Array | None = None

    def worth(self, columns: IntArray, taken: Taken) -> FloatArray:
        """Give what boxes are worth in floats, in the shape of ``taken``.

        Args:
            columns: the contexts before, whose shape is broadcast.
            taken: what the boxes lead to.
        """
        after: FloatArray = self.values.take(taken.contexts)
        if self.centres is None:
            return after + taken.points
        away = self.centres.take(taken.contexts) + taken.points - self.centres.take(columns)
        return after + away * away

    def whole(self, columns: IntArray, taken: Taken, arithmetic: Arithmetic) -> tuple[Array, int]:
        """Give the same without rounding: integers, and what all are multiplied by."""
        used, places = np.unique(taken.contexts, return_inverse=True)
        places = places.reshape(taken.contexts.shape)
        after, scale = arithmetic.whole(self.values[used])
        if self.centres is None:
            return after[places] + arithmetic.scaled(taken.points, scale), scale
        both = np.concatenate([self.centres[used], self.centres[columns.ravel()]])
        centres, unit = arithmetic.whole(both)
        before = centres[len(used) :].reshape(columns.shape)
        away = centres[: len(used)][places] + arithmetic.scaled(taken.points, unit) - before
        return away * away * scale + after[places] * unit**2, scale * unit**2


def mean_of_rolls(values: Array, whole: bool = False) -> Array:
    """Compute the mean over the rolls that complete each multiset which is kept.

    Args:
        values: of five dice, shape (dice, context).
        whole: whether to leave integers: all means are multiplied by 6^5.

    Returns:
        Means, shape (kept, context).
    """
    means = np.empty((KEEPS, values.shape[1]), dtype=values.dtype)
    larger, more = values, dice().more
    for size in range(DICE - 1, -1, -1):
        own = slice(FIRSTS[size], FIRSTS[size + 1])
        led_to = more[own].T - FIRSTS[size + 1]
        total = larger.take(led_to[0], axis=0)
        for faces in led_to[1:]:
            total += larger.take(faces, axis=0)
        if whole:
            larger, means[own] = total, total * FACES**size
        else:
            larger = np.divide(total, FACES, out=means[own])
    return means


@cache
def _additions() -> list[tuple[IntArray, IntArray]]:
    """List, face by face and by the growing count of the face, multisets and the same less one."""
    counts, more = dice().counts[:KEEPS], dice().more
    parts = [np.flatnonzero(counts[:, f] == n) for f in range(FACES) for n in range(DICE)]
    return [(more[part, i // DICE], part) for i, part in enumerate(parts)]


def folded_parts(means: FloatArray, fold: Fold) -> FloatArray:
    """Give the maximum or the sum of the means of the proper parts, shape (dice, context)."""
    combine: Any = np.maximum if fold == "best" else np.add
    found = np.empty((KEEPS + ROLLS, means.shape[1]))
    found[:KEEPS], found[KEEPS:] = means, _neutral(fold)
    for wholes, parts in _additions():
        found[wholes] = combine(found.take(wholes, axis=0), found.take(parts, axis=0))
    return found[KEEPS:]


def _neutral(fold: Fold) -> float:
    return -np.inf if fold == "best" else 0.0


class Scores(NamedTuple):
    """The different scores of all boxes; jokers are told apart elsewhere.

    A score above leads to a context of its own, and so does that of the box for a Yahtzee. The
    other boxes lead to one context each, whatever they score: one row stands for all their scores.

    Attributes:
        boxes: shape (row, 1).
        examples: dice that lead to the context of the row, shape (row, 1).
        own: the rows of each box.
        paid: by box, the points of its different scores if it has one row, shape (score, 1).
        scores: by box, the score of all dice among the different ones, shape (dice,).
    """

    boxes: IntArray
    examples: IntArray
    own: list[slice]
    paid: list[IntArray | None]
    scores: list[IntArray]


@cache
def scores_of_boxes() -> Scores:
    """Tabulate the different scores."""
    order = np.argsort(points().five >= 0, kind="stable")  # jokers last: no examples of others
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


def worth_of_boxes(
    known: Contexts, columns: IntArray, later: Later, closed: float
) -> Iterator[tuple[int, FloatArray]]:
    """Yield the boxes that are open in any context, and the values of taking them.

    Args:
        known: all contexts.
        columns: the contexts that are meant, shape (context,).
        later: what follows.
        closed: value of a box that is not open.

    Yields:
        The box, and values of shape (dice, context), wrong for dice of a kind (see ``boxes_of``).
    """
    table, still_open = scores_of_boxes(), known.still_open[columns]
    every = known.take(columns, table.examples, table.boxes)
    for box, (own, paid, scores) in enumerate(zip(*table[2:], strict=True)):
        is_open = has_box(still_open, np.array(box))
        if is_open.any():
            after, scored = every.contexts[own], every.points[own] if paid is None else paid
            taken = Taken(after, scored, every.upper_bonus[own])
            worth = np.where(is_open, later.worth(columns, taken), closed)
            yield box, worth.take(scores, axis=0)


def folded_boxes(
    known: Contexts, columns: IntArray, later: Later, fold: Fold
) -> tuple[FloatArray, IntArray]:
    """Fold the values of the boxes that may be taken.

    Args:
        known: all contexts.
        columns: the contexts that are meant, shape (context,).
        later: what follows.
        fold: the fold; for "mean" the sum.

    Returns:
        The maximum or the sum, and the number of the boxes, both of shape (dice, context).
    """
    combine: Any = np.maximum if fold == "best" else np.add
    neutral = _neutral(fold)
    found = np.full((ROLLS, len(columns)), neutral)
    for _, worth in worth_of_boxes(known, columns, later, neutral):
        combine(found, worth, out=found)
    counts = np.tile(np.bitwise_count(known.still_open[columns]).astype(np.int64), (ROLLS, 1))
    wild = np.flatnonzero(points().five >= 0)
    legal, worth, _ = boxes_of(known, columns, wild[:, None], later, FLOATS)
    found[wild] = combine.reduce(np.where(legal, worth, neutral), axis=2)
    counts[wild] = legal.sum(axis=2)
    return found, counts


def boxes_of(
    known: Contexts, columns: IntArray, rolls: IntArray, later: Later, arithmetic: Arithmetic
) -> tuple[BoolArray, Array, int]:
    """Say which boxes some dice may take, and what these are worth.

    Args:
        known: all contexts.
        columns: contexts, of any shape.
        rolls: dice, whose shape is broadcast with that of the contexts.
        later: what follows.
        arithmetic: of the values.

    Returns:
        Whether a box may be taken, and its value, meaningless if not, both of shape (..., box);
        and the factor by which the values are multiplied, 1 in floats.
    """
    boxes = np.arange(len(BOXES))
    legal = has_box(known.allowed(columns, rolls)[..., None], boxes)
    taken = known.take(columns[..., None], rolls[..., None], boxes)
    taken = taken._replace(contexts=np.where(legal, taken.contexts, len(known)))
    if arithmetic.rounds:
        return legal, later.worth(columns[..., None], taken), 1
    return legal, *later.whole(columns[..., None], taken, arithmetic)


def folded_turn(
    known: Contexts, columns: IntArray, later: Later, fold: Fold
) -> tuple[FloatArray, FloatArray]:
    """Compute the values of a turn in some contexts if all decisions are the same fold.

    Returns:
        Values by the number of rolls left, shape (left, dice, context), and before the first roll,
        shape (context,).
    """
    values, _ = folded_decisions(known, columns, later, fold)
    return values, mean_of_rolls(values[-1])[0]


def folded_decisions(
    known: Contexts, columns: IntArray, later: Later, fold: Fold
) -> tuple[FloatArray, FloatArray]:
    """Compute the values of a turn, and those of what may be kept, if all decisions are a fold.

    Returns:
        Values by the number of rolls left, shape (left, dice, context), and by the number of rolls
        left afterwards the means of what may be kept, shape (left, kept, context).
    """
    boxes, counts = folded_boxes(known, columns, later, fold)
    values = np.empty((3, *boxes.shape))
    means = np.empty((2, KEEPS, len(columns)))
    values[0] = boxes if fold == "best" else boxes / counts
    if fold == "mean":
        counts += dice().parts.sum(axis=1)[:, None]
    for left in (1, 2):
        means[left - 1] = mean_of_rolls(values[left - 1])
        parts = folded_parts(means[left - 1], fold)
        if fold == "best":
            np.maximum(boxes, parts, out=values[left])
        else:
            np.divide(boxes + parts, counts, out=values[left])
    return values, means
