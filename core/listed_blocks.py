"""The blocks of games whose moves are listed, kept for the games asked for last."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .arithmetic import Arithmetic
from .contract import order_of
from .flat_moves import FlatMoves, joined, list_flat
from .game import Game
from .graphs import levels_of
from .listed import ListedBlock
from .types import IntArray


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
        GameError: if a move breaks a rule, naming it.
    """

    def __init__(self, game: Game, seats: tuple[int, ...], arithmetic: Arithmetic) -> None:
        self._game, self._seats, self._arithmetic = game, seats, arithmetic
        self._order = order_of(game)
        self._places: Any = np.full(self._order.stages.size, -1, dtype=np.int32)
        self._made: dict[int, ListedBlock] = {}
        stages, blocks, cut = (table.ravel() for table in self._order)
        self._levels, connections = np.arange(stages.max() + 1), set[int]()
        depths = np.full(blocks.max() + 1, -1)  # the most moves on from a block to another
        listed = []
        for number, positions in reversed(list(enumerate(self._positions()))):
            moves = list_flat(game, seats, arithmetic, positions)
            listed.append((positions, moves))
            goes_on = moves.numbers.any(axis=0)
            reached = blocks.take(moves.targets)
            others = np.flatnonzero(np.bincount(reached[goes_on]))
            depths[number] = 1 + depths[others].max(initial=-1)
            on = np.flatnonzero(goes_on & (reached == number))
            on = on[~cut[moves.targets[on]]]
            sources, targets = positions[moves.sources()[on]], moves.targets[on]
            pairs = stages.take(sources) * len(self._levels) + stages.take(targets)
            connections.update(np.unique(pairs).tolist())
        if game.has_cycles:
            self._levels = levels_of(len(self._levels), connections)
        self.count = int(depths.max()) + 1
        self._numbers = self.count - 1 - depths  # of each of the game's blocks, among those made
        self._parts: Any = [[] for _ in range(self.count)]
        for number, part in zip(self._numbers[::-1].tolist(), listed, strict=True):
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
