"""The blocks of games whose moves are listed, kept for the games asked for last."""

from functools import lru_cache
from typing import Any

import numpy as np

from .arithmetic import Arithmetic
from .contract import order_of
from .game import Game
from .graphs import split
from .listed import ListedBlock
from .types import IntArray


class ListedBlocks:
    """Makes the blocks of a game whose moves are listed, and keeps them.

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
        self._order = order = order_of(game)
        self._places: Any = np.zeros(order.stages.shape, dtype=np.int32)  # in the blocks
        self.count = int(order.blocks.max()) + 1
        self._stages: list[list[tuple[int, IntArray]]] = [[] for _ in range(self.count)]
        for mover, states in game.stages():
            parts = split(order.blocks[mover, states], self.count)
            for block, part in zip(self._stages, parts, strict=True):
                if len(part):
                    block.append((mover, states[part]))
        self._made: dict[int, ListedBlock] = {}

    def make(self, number: int) -> "ListedBlock":
        """Give a block."""
        if number not in self._made:
            stages, order, places = self._stages[number], self._order, self._places
            self._made[number] = ListedBlock(
                self._game, self._seats, self._arithmetic, stages, order, places
            )
        return self._made[number]


#: Blocks of the games asked for last.
listed_blocks = lru_cache(maxsize=2)(ListedBlocks)
