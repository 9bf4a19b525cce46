"""Levels and connected components of the graph of moves."""

import numpy as np

from .types import IntArray


def split(keys: IntArray, count: int) -> list[IntArray]:
    """Return the indices of each of the keys 0 to ``count`` - 1, in growing order."""
    in_order = np.argsort(keys, kind="stable")
    return np.split(in_order, np.searchsorted(keys[in_order], np.arange(1, count)))


def levels_of(count: int, sources: IntArray, targets: IntArray) -> IntArray:
    """Return the level of each stage: the length of the longest path of moves that ends there.

    Args:
        count: number of stages.
        sources: stage from which each move leads, shape (move,).
        targets: a later stage, to which the move leads, shape (move,).
    """
    levels = [0] * count
    for move in np.unique(sources * count + targets).tolist():  # in the order of the sources
        source, target = divmod(move, count)
        levels[target] = max(levels[target], levels[source] + 1)
    return np.array(levels)


def connected(
    sources: IntArray, targets: IntArray, cut: IntArray, count: int
) -> tuple[IntArray, IntArray]:
    """Find the connected components of the positions of a cut.

    Args:
        sources: position from which each move leads, shape (move,).
        targets: position to which it leads, shape (move,).
        cut: positions of the cut.
        count: number of positions.

    Returns:
        The component of each position of the cut, and its index within the component.
    """
    labels = np.arange(count)  # of each position: the smallest position found in its component
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
