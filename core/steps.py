"""The steps of a pass over a block whose moves are listed (see ``listed``)."""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .flat_moves import FlatMoves, small, sums
from .types import IntArray, Stage


class Step(NamedTuple):
    """Positions that are swept at once, their moves, and the ways of these.

    Attributes:
        stages: of each player who moves in some of the positions.
        positions: their numbers in the block.
        moves: those of their moves.
        ways: those of the ways.
        cells: place of each move in a table of the step's positions and all actions, (move,).
        begins: first way of each move, among those of the step, (move,).
        entries: first way of each position, among those of the step, (position,).
        targets: where the ways lead, (way,).
    """

    stages: list[tuple[slice, Stage]]
    positions: slice
    moves: slice
    ways: slice
    cells: IntArray
    begins: IntArray
    entries: IntArray
    targets: IntArray


def divided_by_level(
    moves: FlatMoves,
    levels: IntArray,
    stages_in: Callable[[slice], list[tuple[slice, Stage]]],
) -> list[Step]:
    """Divide the positions of a block into steps, one for each level.

    Args:
        moves: of the positions.
        levels: of each position, growing, shape (position,).
        stages_in: gives the stages of some positions in a row (see ``Step.stages``).
    """
    begins = np.append(np.flatnonzero(np.diff(levels, prepend=-1)), len(levels))
    of_positions, of_moves = sums(moves.mask.sum(axis=1)), sums(moves.counts)
    in_moves = of_positions[begins]
    in_ways = of_moves[in_moves]
    lengths, numbers = np.diff(begins), np.diff(in_moves)
    cells = np.flatnonzero(moves.mask)
    cells = small(cells - np.repeat(begins[:-1] * moves.mask.shape[1], numbers))
    first_ways = small(of_moves[:-1] - np.repeat(in_ways[:-1], numbers))
    entries = small(of_moves[of_positions[:-1]] - np.repeat(in_ways[:-1], lengths))
    steps = []
    for first, last in pairwise(np.stack([begins, in_moves, in_ways], axis=1).tolist()):
        own, of_own, ways = map(slice, first, last)
        arrays = cells[of_own], first_ways[of_own], entries[own], moves.targets[ways]
        steps.append(Step(stages_in(own), own, of_own, ways, *arrays))
    return steps
