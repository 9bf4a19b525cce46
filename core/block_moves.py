"""The moves of many positions as flat arrays: what a block is swept with (see ``listed``)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .arithmetic import Arithmetic
from .game import Game
from .moves import list_moves
from .types import Array, BoolArray, IntArray, Stage


class Onward(NamedTuple):
    """Ways that leave a block."""

    moves: IntArray  # (way,) number of the move
    targets: IntArray  # (way,) position that follows: seat * num_states + state
    numbers: IntArray  # (seat, way) number of the chance; 0 if the game is over for the seat


@dataclass(frozen=True)
class BlockMoves:
    """The legal moves of some positions, by position and action, and the ways on from them.

    Each move has a way: one after which the game never goes on has a way of probability 0.
    """

    mask: BoolArray  # (position, action) which moves are legal
    counts: IntArray  # (move,) number of ways of each move
    targets: IntArray  # (way,) position that a way leads to, seat * num_states + state
    # (seat, way) number of its chance; 0, for no chance, if the game is over for the seat.
    numbers: IntArray
    gains: Array  # (seat, move) expected payoffs of the moves
    ends: BoolArray  # (position,) positions where a move may end the game for one of the seats
    pays_early: bool  # whether a move pays one of the seats for which the game goes on

    def sources(self) -> IntArray:
        """Give the number of the position that each way leads from, shape (way,)."""
        positions, _ = np.nonzero(self.mask)
        return np.repeat(positions, self.counts)

    def in_order(self, positions: IntArray) -> "BlockMoves":
        """Take the positions in another order, given as their old numbers."""
        moves = in_a_row(sums(self.mask.sum(axis=1)), positions)
        ways = in_a_row(sums(self.counts), moves)
        return BlockMoves(
            self.mask[positions],
            self.counts[moves],
            self.targets[ways],
            self.numbers[:, ways],
            self.gains[:, moves],
            self.ends[positions],
            self.pays_early,
        )

    def divided(self, places: IntArray) -> tuple["BlockMoves", Onward]:
        """Divide the ways into those inside a block, which lead to ``places`` there, and others.

        The place of a position outside is -1.
        """
        targets, goes_on = places[self.targets], self.numbers.any(axis=0)
        inside = goes_on & (targets >= 0)
        leave = np.flatnonzero(goes_on & ~inside)
        moves = np.repeat(np.arange(len(self.counts)), self.counts)[leave]
        onward = Onward(small(moves), self.targets[leave], self.numbers[:, leave])
        return replace(self, targets=targets).only(inside), onward

    def only(self, which: BoolArray) -> "BlockMoves":
        """Keep some ways; a move that has none of them keeps one, of probability 0."""
        firsts = sums(self.counts)[:-1]
        keeps = which.copy()
        keeps[firsts] = True
        kept = np.flatnonzero(keeps)
        return replace(
            self,
            counts=small(np.add.reduceat(keeps, firsts, dtype=np.int64)),
            targets=small(np.where(which, self.targets, 0).take(kept)),
            numbers=np.where(which, self.numbers, 0).take(kept, axis=1),
        )


def list_from(
    game: Game, seats: tuple[int, ...], arithmetic: Arithmetic, mover: int, states: IntArray
) -> BlockMoves:
    """List the moves of one player from some states, with the payoffs of ``seats``."""
    rows, actions, ways = list_moves(game, mover, states, arithmetic)
    mask = np.zeros((len(states), game.num_actions), dtype=bool)
    mask[rows, actions] = True
    effect, over = ways.effect, ways.effect.over[:, seats].T  # (seat, way)
    gains = arithmetic.zeros(len(seats), len(rows))
    ends, pays_early = np.zeros(len(states), dtype=bool), False
    ends[rows[ways.moves[over.any(axis=0)]]] = True
    for row, (seat, ended) in enumerate(zip(seats, over, strict=True)):
        pays = effect.payoffs[:, seat].astype(bool)
        np.add.at(gains[row], ways.moves[pays], ways.chances[pays] * effect.payoffs[pays, seat])
        pays_early = pays_early or bool((pays & ~ended).any())
    kind = np.min_scalar_type(game.laws.size)
    numbers: Any = np.where(over, 0, 1 + ways.entries).astype(kind)
    after = effect.seats * game.num_states + effect.states
    moves = BlockMoves(mask, np.bincount(ways.moves), after, numbers, gains, ends, pays_early)
    return moves.only(numbers.any(axis=0))


def joined(parts: Sequence[BlockMoves]) -> BlockMoves:
    """Give the moves of many positions, in a row."""
    return BlockMoves(
        np.concatenate([part.mask for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.targets for part in parts]),
        np.concatenate([part.numbers for part in parts], axis=1),
        np.concatenate([part.gains for part in parts], axis=1),
        np.concatenate([part.ends for part in parts]),
        any(part.pays_early for part in parts),
    )


class Step(NamedTuple):
    """Positions that are swept at once, their moves, and the ways of these."""

    stages: list[tuple[slice, Stage]]  # of each player who moves in some of the positions
    positions: slice  # their numbers in the block
    moves: slice  # those of their moves
    ways: slice  # those of the ways
    # (move,) place of each move in a table of the step's positions and all actions.
    cells: IntArray
    begins: IntArray  # (move,) first way of each move, among those of the step
    entries: IntArray  # (position,) first way of each position, among those of the step
    targets: IntArray  # (way,) where the ways lead


def divided_by_level(
    moves: BlockMoves, levels: IntArray, stages_in: Callable[[slice], list[tuple[slice, Stage]]]
) -> list[Step]:
    """Divide the positions of a block, whose levels grow, into steps, one for each level.

    ``stages_in`` gives the stages of some positions in a row.
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


def in_a_row(firsts: IntArray, chosen: IntArray) -> IntArray:
    """Give the places of the entries of chosen groups in a row, given the sums of all counts."""
    begins = firsts[chosen]
    counts = firsts[chosen + 1] - begins
    if (counts == 1).all():
        return begins
    places: IntArray = np.repeat(begins - sums(counts)[:-1], counts)
    return places + np.arange(len(places))


def small(numbers: IntArray) -> Any:
    """Give whole numbers, none of them negative, in as few bytes as they need."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def index_type(count: int) -> Any:
    """Give a signed type of at least 32 bits for the numbers from -1 to a count."""
    return np.promote_types(np.int32, np.min_scalar_type(~count))


def sums(counts: IntArray) -> IntArray:
    """Give the sum of the counts before each and, last, that of all."""
    return np.append(0, np.cumsum(counts, dtype=np.int64))
