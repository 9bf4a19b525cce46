"""The actions of optimal play in many contexts side by side, and the values of following them.

Of equally good actions the smallest is chosen. Actions that keep dice have smaller numbers than
actions that take a box.
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

#: Actions, one byte each.
Choices: TypeAlias = npt.NDArray[np.uint8]


class _Parts(NamedTuple):
    """The proper parts of each roll, that is the multisets of dice that a player may keep.

    Attributes:
        order: all rolls, sorted by their number of parts, largest first, shape (dice,).
        parts: entry j holds part j of every roll with more than j parts, in the order of ``order``.
    """

    order: IntArray
    parts: list[IntArray]


@cache
def _parts() -> _Parts:
    """Return the table of parts; the parts of a roll are in increasing order."""
    counts = dice().parts.sum(axis=1)
    order = np.argsort(-counts, kind="stable")
    each = np.argsort(~dice().parts[order], axis=1, kind="stable")
    parts = [each[counts[order] > j, j].astype(np.uint8) for j in range(counts.max())]
    return _Parts(frozen(order), parts)


def best_choices(known: Contexts, columns: IntArray, later: Later, tie: float) -> Choices:
    """Compute the actions of optimal play in some contexts.

    Args:
        known: all contexts of the game.
        columns: the contexts to compute, shape (context,).
        later: the optimal values of the contexts after the turn.
        tie: values that differ by at most this number count as equal, in points.

    Returns:
        Actions, uint8, shape (rolls left, dice, context).
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
    """Return the six rolls of five of a kind, and the result of ``boxes_of`` for them.

    Joker rules change the points and the legal boxes of these rolls only.
    """
    wild = np.flatnonzero(points().five >= 0)
    return wild, boxes_of(known, columns, wild[:, None], later, FLOATS)


def followed_turn(
    known: Contexts, columns: IntArray, later: Later, chosen: Choices
) -> tuple[FloatArray, FloatArray]:
    """Compute the values of a turn in which the player takes given actions.

    Args:
        known: all contexts of the game.
        columns: the contexts to compute, shape (context,).
        later: the values of the contexts after the turn.
        chosen: the actions, shape (rolls left, dice, context).

    Returns:
        Values by the number of rolls left, shape (left, dice, context), and before the first roll,
        shape (context,), as from ``turn.folded_turn``.
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
