"""Graphs of nodes 0, 1, ... and edges from ``sources`` to ``targets``, each of shape (edge,)."""

from math import inf
from typing import Any

import numpy as np

from ...core import IntArray
from ...core.block_moves import in_a_row, sums
from ...core.errors import needing
from ...core.positions import pieces
from ...core.types import Order


def strong_components(sources: IntArray, targets: IntArray, count: int) -> IntArray:
    """Give the strongly connected component of each node, (node,), of a graph of edges, (edge,).

    Edges between components lead to smaller numbers.
    """
    csgraph, graph = _graph(sources, targets, count)
    parts: IntArray = csgraph.connected_components(graph, connection="strong")[1]
    return parts


def search(first: IntArray, sources: IntArray, targets: IntArray, count: int) -> IntArray:
    """Search a graph of ``count`` nodes and edges of shape (edge,), from the ``first`` nodes on.

    It goes breadth first, and gives the node from which each node was reached, ``count`` for the
    nodes to begin with, and a negative number for those that are not reached, shape (node,).
    """
    new = np.ones(count, dtype=bool)
    new[first] = False
    new = new[targets]  # edges to the nodes to begin with tell nothing
    sources = np.append(sources[new], np.full(len(first), count))
    csgraph, graph = _graph(sources, np.append(targets[new], first), count + 1)
    before: IntArray = csgraph.breadth_first_order(graph, count)[1][:-1]
    return before


def _graph(sources: IntArray, targets: IntArray, count: int) -> tuple[Any, Any]:
    """Make a graph for SciPy's algorithms."""
    with needing("a law without a limit of moves", "scipy"):
        from scipy.sparse import coo_array, csgraph
    shape = count, count
    return csgraph, coo_array((np.ones(len(sources)), (sources, targets)), shape).tocsr()


def order_of_cycles(sources: IntArray, targets: IntArray, count: int) -> Order:
    """Order nodes so that edges lead to later stages, or to the cut of their block."""
    parts = strong_components(sources, targets, count)
    inside = parts[sources] == parts[targets]
    blocks = _levels(parts[sources[~inside]], parts[targets[~inside]], count)[parts]
    cut = np.zeros(count, dtype=bool)
    cut[targets[inside & (targets <= sources)]] = True
    ahead = inside & ~cut[targets]
    within = _levels(sources[ahead], targets[ahead], count)
    _, stages = np.unique(blocks * np.int64(count) + within, return_inverse=True)
    return Order(stages, blocks, cut)


def levels_of(firsts: IntArray, targets: IntArray, most: float = inf) -> tuple[IntArray, bool]:
    """Give the length of the longest way to each node of a graph, up to ``most``, (node,).

    The edges of each node stand in a row from its ``first`` one on, (node + 1,), and lead to the
    targets, (edge,), or nowhere, -1. The second result says whether all are found: the graph has no
    cycle then.
    """
    waiting = np.zeros(len(firsts), dtype=np.int64)  # for so many nodes before
    for piece in pieces(len(targets), 2**20):
        waiting += np.bincount(targets[piece] + 1, minlength=len(firsts))
    waiting, count = waiting[1:], len(firsts) - 1
    levels, level = np.zeros(count, dtype=np.int64), 0
    ready = np.flatnonzero(waiting == 0)
    while len(ready) and level <= most:
        levels[ready] = level
        after, times = np.unique(targets[in_a_row(firsts, ready)], return_counts=True)
        after, times = after[after >= 0], times[after >= 0]
        waiting[after] -= times
        ready, level = after[waiting[after] == 0], level + 1
    return levels, not waiting.any()


def _levels(sources: IntArray, targets: IntArray, count: int) -> IntArray:
    """Give the length of the longest way to each node of a graph without cycles, (node,)."""
    order = np.argsort(sources, kind="stable")
    return levels_of(sums(np.bincount(sources, minlength=count)), targets[order])[0]


def split_by(numbers: IntArray) -> list[IntArray]:
    """Divide indices by their numbers, which are 0, 1, ... without a gap."""
    return np.split(np.argsort(numbers, kind="stable"), np.cumsum(np.bincount(numbers))[:-1])
