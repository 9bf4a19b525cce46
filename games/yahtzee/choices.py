"""The choices of the best play in many contexts side by side, and what these choices lead to.

Of equally good actions the smallest is chosen: what is kept comes before the boxes, each in the
order of its numbers.
"""

from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ...core.arithmetic import FLOATS
from ...core.types import BoolArray, FloatArray, IntArray, frozen
from .card import points
from .contexts import Contexts
from .dice import KEEPS, dice
from .turn import Later, boxes_of, folded_decisions, mean_of_rolls, worth_of_boxes

#: Actions in one byte each.
Choices: TypeAlias = npt.NDArray[np.uint8]


class _Parts(NamedTuple):
    """The proper parts of each roll: rolls of many parts come first.

    Attributes:
        order: the rolls, shape (dice,).
        parts: the j-th part of each roll that has so many parts, in this order.
    """

    order: IntArray
    parts: list[IntArray]


@cache
def _parts() -> _Parts:
    """List the parts of each roll in growing order."""
    counts = dice().parts.sum(axis=1)
    order = np.argsort(-counts, kind="stable")
    each = np.argsort(~dice().parts[order], axis=1, kind="stable")
    parts = [each[counts[order] > j, j].astype(np.uint8) for j in range(counts.max())]
    return _Parts(frozen(order), parts)


def best_choices(known: Contexts, columns: IntArray, later: Later, tie: float) -> Choices:
    """Find the actions of the best play.

    Args:
        known: all contexts.
        columns: the contexts that are meant, shape (context,).
        later: what follows, of the best play.
        tie: values that differ by no more are equal.

    Returns:
        Actions, shape (rolls left, dice, context).
    """
    values, every = folded_decisions(known, columns, later, "best")
    enough = values - tie
    chosen = np.zeros(values.shape, dtype=np.uint8)
    for box, worth in reversed(list(worth_of_boxes(known, columns, later, -np.inf))):
        np.copyto(chosen, np.uint8(KEEPS + box), where=worth >= enough)
    wild, (legal, worth, _) = _jokers(known, columns, later)
    good = legal & (worth >= enough[:, wild, :, None])
    chosen[:, wild] = KEEPS + good.argmax(axis=3)  # a multiset that is kept replaces it below
    order, parts = _parts()
    for left in range(1, len(values)):
        means, own, needed = every[left - 1], chosen[left, order], enough[left]
        needed = needed[order]
        for part in reversed(parts):
            some = slice(len(part))
            np.copyto(own[some], part[:, None], where=means.take(part, axis=0) >= needed[some])
        chosen[left, order] = own
    return chosen


def _jokers(
    known: Contexts, columns: IntArray, later: Later
) -> tuple[IntArray, tuple[BoolArray, FloatArray, int]]:
    """Give the six rolls of a kind, whose points and boxes differ, and the values of boxes."""
    wild = np.flatnonzero(points().five >= 0)
    return wild, boxes_of(known, columns, wild[:, None], later, FLOATS)


def followed_turn(
    known: Contexts, columns: IntArray, later: Later, chosen: Choices
) -> tuple[FloatArray, FloatArray]:
    """Compute the values of a turn in which choices are followed.

    Args:
        known: all contexts.
        columns: the contexts, shape (context,).
        later: what follows.
        chosen: the actions, shape (rolls left, dice, context).

    Returns:
        As ``turn.folded_turn``.
    """
    values = np.zeros(chosen.shape)
    for box, worth in worth_of_boxes(known, columns, later, -np.inf):
        np.copyto(values, worth, where=chosen == KEEPS + box)
    wild, (_, worth, _) = _jokers(known, columns, later)
    boxes = np.maximum(chosen[:, wild], KEEPS).astype(np.int64) - KEEPS
    values[:, wild] = np.take_along_axis(worth[None], boxes[..., None], axis=3)[..., 0]
    for left in range(1, len(values)):
        kept = chosen[left] < KEEPS
        means, actions = mean_of_rolls(values[left - 1]), np.where(kept, chosen[left], 0)
        np.copyto(values[left], np.take_along_axis(means, actions.astype(np.int64), 0), where=kept)
    return values, mean_of_rolls(values[-1])[0]
