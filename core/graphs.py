"""Levels of stages, and which points of a cut moves connect."""

from collections.abc import Iterable

import numpy as np

from .types import IntArray


def levels_of(count: int, moves: Iterable[int]) -> IntArray:
    """Give each of many stages the largest number of moves that lead to it from others.

    Args:
        count: number of stages.
        moves: source * count + target of each move, which leads to a later stage.
    """
    levels = [0] * count
    for move in sorted(moves):  # in the order of the sources
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
    labels = np.arange(count)  # of each position, the smallest that it is known to meet
    while len(sources) and len(cut):
        roots = np.arange(count)
        np.minimum.at(roots, np.maximum(sources, targets), np.minimum(sources, targets))
        while not np.array_equal(roots, roots[roots]):
            roots = roots[roots]
        labels, sources, targets = roots[labels], roots[sources], roots[targets]
        apart = sources != targets
        sources, targets = sources[apart], targets[apart]
    _, groups = np.unique(labels[cut], return_inverse=True)
    in_order = np.argsort(groups, kind="stable")
    places = np.empty_like(groups)
    places[in_order] = np.arange(len(groups)) - np.searchsorted(groups[in_order], groups[in_order])
    return groups, places
