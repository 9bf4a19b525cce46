"""Which stages and which points of a cut moves connect."""

import numpy as np

from .types import IntArray


def split(keys: IntArray, count: int) -> list[IntArray]:
    """List the places at which each of the keys 0 to ``count`` - 1 stands, in growing order."""
    in_order = np.argsort(keys, kind="stable")
    return np.split(in_order, np.searchsorted(keys[in_order], np.arange(1, count)))


def levels_of(count: int, sources: IntArray, targets: IntArray) -> IntArray:
    """Give each of many stages the largest number of moves that lead to it from others."""
    levels = [0] * count
    for move in np.unique(sources * count + targets).tolist():  # in the order of the sources
        source, target = divmod(move, count)
        levels[target] = max(levels[target], levels[source] + 1)
    return np.array(levels)


def connected(
    sources: IntArray, targets: IntArray, cut: IntArray, count: int
) -> tuple[IntArray, IntArray]:
    """Find which points of a cut moves connect: the group of each, and its number there.

    Args:
        sources: a position for each move.
        targets: another, that it leads to.
        cut: positions of the cut.
        count: number of positions.
    """
    labels = np.arange(count)  # of each position, the smallest that it is known to meet
    while len(cut):
        least = np.minimum(labels[sources], labels[targets])
        smaller = labels.copy()
        np.minimum.at(smaller, sources, least)
        np.minimum.at(smaller, targets, least)
        smaller = smaller[smaller]
        if np.array_equal(labels, smaller):
            break
        labels = smaller
    _, groups = np.unique(labels[cut], return_inverse=True)
    in_order = np.argsort(groups, kind="stable")
    places = np.empty_like(groups)
    places[in_order] = np.arange(len(groups)) - np.searchsorted(groups[in_order], groups[in_order])
    return groups, places
