"""The blocks of games whose moves are listed, kept for the games asked for last."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from .arithmetic import Arithmetic
from .contract import order_of
from .flat_moves import FlatMoves, joined, list_flat
from .game import Game
from .graphs import levels_of
from .listed import ListedBlock
from .sizes import check_memory
from .totals import require_totals
from .types import IntArray

#: Bytes of an outcome of a move and its share of the rest, while a block is made of them.
WAY = 50
#: Positions, and their moves.
_Part: TypeAlias = tuple[IntArray, FlatMoves]


class ListedBlocks:
    """Makes the blocks of a game whose moves are listed, and keeps them.

    Blocks of the game from which the longest way to a last block is as long do not lead to one
    another: together they are one block, as few long steps are swept faster than many short ones.

    Args:
        game: the rules.
        seats: for whom values are computed.
        arithmetic: of chances and payoffs.

    Attributes:
        count: number of blocks; one if the game has no cycles.

    Raises:
        GameError: if a move breaks a rule, naming it, or if payoffs add up to a total outside
            ``payoff_range``.
        SizeError: if there are too many moves.
    """

    def __init__(self, game: Game, seats: tuple[int, ...], arithmetic: Arithmetic) -> None:
        self._game, self._seats, self._arithmetic = game, seats, arithmetic
        self._order, self._ways = order_of(game), 0  # ways that are listed so far
        self._places: Any = np.full(self._order.stages.size, -1, dtype=np.int32)
        self._made: dict[int, ListedBlock] = {}
        listed = [(positions, self._list(positions)) for positions in self._positions()]
        if any(moves.pays_early for _, moves in listed):
            for seat in seats:
                require_totals(game, seat, arithmetic)
        depths = self._depths(listed)
        self._levels = self._levels_in(listed)
        self.count = int(depths.max()) + 1
        self._numbers = self.count - 1 - depths  # of each of the game's blocks, among those made
        self._parts: Any = [[] for _ in range(self.count)]
        for number, part in zip(self._numbers.tolist(), listed, strict=True):
            self._parts[number].append(part)

    def _positions(self) -> list[IntArray]:
        """List the positions of each of the game's blocks, by player and stage."""
        stages, blocks, _ = (table.ravel() for table in self._order)
        known = np.flatnonzero(stages >= 0)
        movers = known // self._game.num_states
        keys = (blocks[known] * self._game.num_players + movers) * (stages.max() + 1)
        in_order = np.argsort(keys + stages[known], kind="stable")
        bounds = np.cumsum(np.bincount(blocks[known]))[:-1]
        return np.split(known[in_order], bounds)

    def _list(self, positions: IntArray) -> FlatMoves:
        """List the moves of some positions.

        Raises:
            SizeError: if there are too many, with those listed before.
        """
        listed = []
        for moves in list_flat(self._game, self._seats, self._arithmetic, positions):
            self._ways += len(moves.targets)
            check_memory("listed outcomes of moves", self._ways, WAY)
            listed.append(moves)
        return joined(listed)

    def _depths(self, listed: list[_Part]) -> IntArray:
        """Give the most moves to other blocks that lead on from each of the game's blocks."""
        blocks, depths = self._order.blocks.ravel(), np.full(len(listed), -1)
        for number in reversed(range(len(listed))):
            _, moves = listed[number]
            reached = blocks.take(moves.targets[moves.numbers.any(axis=0)])
            others = np.flatnonzero(np.bincount(reached))
            depths[number] = 1 + depths[others].max(initial=-1)
        return depths

    def _levels_in(self, listed: list[_Part]) -> IntArray:
        """Give the level of each stage, at which its positions are swept: without cycles, its own.

        Moves inside a block lead to later levels, or to the cut.
        """
        stages, blocks, cut = (table.ravel() for table in self._order)
        count, pairs = int(stages.max()) + 1, set[int]()
        if not self._game.has_cycles:
            return np.arange(count)
        for number, (positions, moves) in enumerate(listed):
            on = moves.numbers.any(axis=0) & (blocks.take(moves.targets) == number)
            inside = np.flatnonzero(on & ~cut.take(moves.targets))
            sources = stages.take(positions[moves.sources()[inside]])
            targets = stages.take(moves.targets[inside])
            pairs.update(np.unique(sources * np.int64(count) + targets).tolist())
        return levels_of(count, pairs)

    def make(self, number: int) -> ListedBlock:
        """Give a block."""
        if number not in self._made:
            parts, self._parts[number] = self._parts[number], None
            self._made[number] = self._joined(number, *zip(*parts, strict=True))
        return self._made[number]

    def _joined(
        self, number: int, positions: Sequence[IntArray], moves: Sequence[FlatMoves]
    ) -> ListedBlock:
        """Make one block of some of the game's blocks."""
        together = np.concatenate(positions)
        levels = self._levels[self._order.stages.ravel()[together]]
        in_order = np.lexsort((together // self._game.num_states, levels))
        block = ListedBlock(
            self._game,
            self._seats,
            self._arithmetic,
            together[in_order],
            levels[in_order],
            joined(moves).in_order(in_order),
            self._places,
        )
        reached = self._numbers[self._order.blocks.ravel().take(block.onward.targets)]
        block.successors = np.flatnonzero(np.bincount(reached)).tolist()
        return block


#: Blocks of the games asked for last.
listed_blocks = lru_cache(maxsize=2)(ListedBlocks)
