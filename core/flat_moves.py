"""The moves of many positions as flat arrays: what a block is swept with (see ``listed``)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .arithmetic import Arithmetic
from .game import Game
from .listing import batches, list_moves
from .types import Array, IntArray, Order


class Ways(NamedTuple):
    """Ways of some moves on which the game goes on, by growing number of the move."""

    moves: IntArray  # (way,) number of the move
    targets: IntArray  # (way,) position in the block, or outside seat * num_states + state
    numbers: IntArray  # (seat, way) number of the chance; 0 if the game is over for the seat


@dataclass(frozen=True)
class FlatMoves:
    """The legal moves of the positions of a block.

    Moves are numbered by position and action. Each has a way inside the block: one that never
    stays in it has a way of probability 0 to position 0.

    Attributes:
        cells: position * num_actions + action of each move, shape (move,).
        firsts: first way of each move inside the block and, last, their number, (move + 1,).
        targets: position that a way leads to, shape (way,).
        numbers: of its chance, shape (seat, way); 0, for no chance, if the game is over for the
            seat.
        onward: ways that leave the block.
        gains: expected payoffs of the ways that end the game, shape (seat, move).
    """

    cells: IntArray
    firsts: IntArray
    targets: IntArray
    numbers: IntArray
    onward: Ways
    gains: Array

    def sorted(self, in_order: IntArray, num_actions: int) -> "FlatMoves":
        """Number the positions in another order, given as their old numbers."""
        places = _inverse(in_order)
        sources, actions = np.divmod(self.cells, num_actions)
        cells = places[sources] * num_actions + actions
        by_cell = np.argsort(cells)
        of_ways = _inverse(by_cell)[np.repeat(np.arange(len(cells)), np.diff(self.firsts))]
        by_move = np.argsort(of_ways, kind="stable")
        firsts = np.append(0, np.cumsum(np.diff(self.firsts)[by_cell]))
        onward = self.onward._replace(moves=_small(_inverse(by_cell)[self.onward.moves]))
        return FlatMoves(
            _small(cells[by_cell]),
            _small(firsts),
            _small(places[self.targets[by_move]]),
            self.numbers[:, by_move],
            onward,
            self.gains[:, by_cell],
        )


def list_block(
    game: Game,
    seats: tuple[int, ...],
    arithmetic: Arithmetic,
    positions: tuple[IntArray, IntArray],
    order: Order,
    places: IntArray,
) -> FlatMoves:
    """List the moves of the positions of a block.

    Args:
        game: the rules.
        seats: for whom the game may go on.
        arithmetic: of payoffs.
        positions: player and state of each position.
        order: of all positions.
        places: number of each position in its block, shape (player, state).

    Raises:
        GameError: if a move breaks a rule, naming it.
    """
    movers, states = positions
    block, kind = order.blocks[movers[0], states[0]], np.min_scalar_type(game.laws.size)
    cells, inside, onward, gains, count = [], [], [], [], 0
    for mover in np.unique(movers).tolist():
        mine = np.flatnonzero(movers == mover)
        for batch in batches(game, mine):
            own = mine[batch]
            rows, actions, ways = list_moves(game, mover, states[own], arithmetic)
            over = ways.effect.over[:, seats].T  # (seat, way)
            paid = arithmetic.zeros(len(seats), len(rows))
            for row, ends in enumerate(over):
                worth = ways.chances[ends] * ways.effect.payoffs[ends, seats[row]]
                np.add.at(paid[row], ways.moves[ends], worth)
            numbers = np.where(over, 0, 1 + ways.entries).astype(kind)
            on = ~over.all(axis=0)
            seat, state = (np.where(on, at, 0) for at in (ways.effect.seats, ways.effect.states))
            stays = on & (order.blocks[seat, state] == block)
            leaves = on & ~stays
            after = seat * game.num_states + state
            cells.append((own[rows] * game.num_actions + actions,))
            gains.append((paid,))
            inside.append(_ways(count + ways.moves, places[seat, state], numbers, stays))
            onward.append(_ways(count + ways.moves, after, numbers, leaves))
            count += len(rows)
    (all_cells,), (all_gains,) = _joined(cells), _joined(gains)
    moves, targets, numbers = _with_ways_of_nothing(Ways(*_joined(inside)), count)
    firsts = np.searchsorted(moves, np.arange(count + 1))
    return FlatMoves(all_cells, firsts, targets, numbers, Ways(*_joined(onward)), all_gains)


def _ways(moves: IntArray, targets: IntArray, numbers: IntArray, which: Array) -> Ways:
    return Ways(_small(moves[which]), _small(targets[which]), numbers[:, which])


def _with_ways_of_nothing(ways: Ways, count: int) -> Ways:
    """Give each of so many moves that has no way one of probability 0."""
    lacking = np.flatnonzero(np.bincount(ways.moves, minlength=count) == 0)
    moves, targets = np.append(ways.moves, lacking), np.append(ways.targets, 0 * lacking)
    nothing = np.zeros((len(ways.numbers), len(lacking)), dtype=ways.numbers.dtype)
    numbers = np.append(ways.numbers, nothing, axis=1)
    by_move = np.argsort(moves, kind="stable")
    return Ways(moves[by_move], targets[by_move], numbers[:, by_move])


def _joined(batches: Sequence[Sequence[Array]]) -> Iterator[Any]:
    """Join the batches of each column, along the last axis."""
    return (np.concatenate(column, axis=-1) for column in zip(*batches, strict=True))


def _inverse(in_order: IntArray) -> IntArray:
    """Give the place of each number in an order of them."""
    places = np.empty_like(in_order)
    places[in_order] = np.arange(len(in_order))
    return places


def _small(numbers: IntArray) -> Any:
    """Give whole numbers in four bytes each if they fit."""
    return numbers.astype(np.int32 if numbers.max(initial=0) < 2**31 else np.int64)
