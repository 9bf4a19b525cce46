"""Games with cycles: blocks of positions, each swept once the values of its cut are known.

Positions fall into *blocks*, and no move leads to an earlier one. Inside a block moves may lead in
circles, all of which pass the block's *cut*, such as the beginnings of turns. Cut there, a block is
like a game without cycles: given values of the cut, one pass backward gives the value of every
position, those of the cut included, which must come out as they were put in. Forward, one pass
follows the mass that enters the block until it leaves or returns to the cut.

Both passes are affine in what is given at the cut, so that a few passes with unit vectors tell what
it must be (``baselines.cycles``). Parts of a block that no move connects form *groups*; one pass
carries a unit vector of every group at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from .arithmetic import Arithmetic
from .checks import Order, order_of, require_later
from .game import Array, Decide, Game, IntArray, Stage


class Block(ABC):
    """Positions of a game for one player, ready to be swept; rows are swept side by side.

    Attributes:
        stages: its positions, first to last; arrays of one number a position follow their order.
        groups: group of each point of the cut, shape (cut,).
        places: its number in its group, of the same shape.
    """

    stages: Sequence[Stage]
    groups: IntArray
    places: IntArray

    @abstractmethod
    def gains(self, values: Array) -> Array:
        """Give what moves are worth that leave the block, in the form that ``backward`` takes.

        Args:
            values: of later blocks, shape (player to move, state).
        """

    @abstractmethod
    def backward(self, decide: Decide, gains: Array | None, cut: Array) -> tuple[Array, Array]:
        """Visit the stages last to first with the expected value of every action.

        Args:
            decide: takes a stage and expected values, shape (row, state, action), meaningless for
                illegal actions; gives the values of the states, shape (row, state).
            gains: of moves that leave the block, the same in all rows; None for nothing.
            cut: values of the cut where moves lead to it, shape (row, cut).

        Returns:
            Values of the positions, shape (row, position), and again of the cut, (row, cut).
        """

    @abstractmethod
    def forward(self, decide: Decide, start: Array, cut: Array) -> tuple[Array, Array]:
        """Visit the stages first to last, moving mass along until it leaves or comes to the cut.

        Args:
            decide: takes a stage and the mass of its states, shape (row, state); gives the weights
                of its actions, shape (row, state, action).
            start: mass that does not come from this block, shape (row, position).
            cut: mass that does, at the cut, shape (row, cut).

        Returns:
            All mass, shape (row, position), and what came to the cut, shape (row, cut).
        """

    @abstractmethod
    def leave(self, decide: Decide, met: Array, mass: Array) -> None:
        """Add what leaves the block to the mass of later ones.

        Args:
            decide: as in ``forward``.
            met: mass of the positions, shape (position,).
            mass: shape (player to move, state), which grows.
        """

    @abstractmethod
    def at_cut(self, values: Array) -> Array:
        """Pick the values of the cut, shape (cut,), from those of all positions."""

    @abstractmethod
    def describe_cut(self, point: int) -> str:
        """Name a point of the cut, for the author of the game."""


#: Makes a block when it is its turn: together they may be large.
MakeBlock: TypeAlias = Callable[[], Block]


def listed_blocks(game: Game, seat: int, arithmetic: Arithmetic) -> list[MakeBlock]:
    """Give the blocks of a game, first to last, whose moves are listed one by one.

    Args:
        game: the rules.
        seat: for whom the game is not over where it goes on.
        arithmetic: in which chances and payoffs are.

    Raises:
        GameError: if a move leads back other than to the cut of its block, naming it.
    """
    order = order_of(game)
    places = np.full((game.num_players, game.num_states), -1)
    numbers = np.unique(order.blocks[order.stages >= 0])
    stages: list[list[Stage]] = [[] for _ in numbers]
    for mover, states in game.stages():
        blocks = order.blocks[mover, states]
        in_order = np.argsort(blocks, kind="stable")
        parts = np.split(states[in_order], np.searchsorted(blocks[in_order], numbers[1:]))
        for block, part in zip(stages, parts, strict=True):
            if len(part):
                block.append(Stage(mover, part))
    return [partial(ListedBlock, game, seat, arithmetic, block, order, places) for block in stages]


class _Step(NamedTuple):
    """Where the numbers of a stage are."""

    stage: Stage
    positions: slice
    pairs: slice
    ways: slice
    runs: slice
    in_cut: IntArray  # which of the positions are in the cut
    row: IntArray  # (pair,) which of them the pair is of


class ListedBlock(Block):
    """A block whose moves are listed once, outcome by outcome.

    A *pair* is a position and a legal action of it, a *way* an outcome of a pair that stays in the
    block. Pairs follow the order of their positions, ways that of their pairs; a *run* is all ways
    of a pair.
    """

    def __init__(
        self,
        game: Game,
        seat: int,
        arithmetic: Arithmetic,
        stages: Sequence[Stage],
        order: Order,
        places: IntArray,
    ) -> None:
        self.stages = stages
        self._game, self._seat, self._dtype = game, seat, arithmetic.dtype
        firsts = np.append(0, np.cumsum([len(stage.states) for stage in stages]))
        for stage, first in zip(stages, firsts[:-1].tolist(), strict=True):
            places[stage.seat, stage.states] = np.arange(first, first + len(stage.states))
        self._movers = np.repeat([stage.seat for stage in stages], np.diff(firsts))  # (position,)
        self._states = np.concatenate([stage.states for stage in stages])
        self._list_pairs()
        self._list_ways(arithmetic, order, places)
        self._cut = np.flatnonzero(order.cut[self._movers, self._states])
        self.groups, self.places = self._group()
        self._steps = list(self._make_steps(firsts.tolist()))

    def _list_pairs(self) -> None:
        columns = []
        for mover in np.unique(self._movers):
            where = np.flatnonzero(self._movers == mover)
            rows, actions = np.nonzero(self._game.mask(self._states[where]))
            columns.append((where[rows], actions))
        positions, actions = (np.concatenate(column) for column in zip(*columns, strict=True))
        in_order = np.argsort(positions, kind="stable")
        self._positions, self._actions = positions[in_order], actions[in_order]  # (pair,)

    def _list_ways(self, arithmetic: Arithmetic, order: Order, places: IntArray) -> None:
        """List what may come of each pair: inside the block, in later ones, or the end."""
        own_block = order.blocks[self._movers[0], self._states[0]]
        self._paid = np.zeros(len(self._positions), dtype=self._dtype)  # (pair,)
        inside, outside = [], []
        movers, states = self._movers[self._positions], self._states[self._positions]
        for mover in np.unique(movers):
            mine = np.flatnonzero(movers == mover)
            listed = self._game.outcomes(mover, states[mine], self._actions[mine], arithmetic)
            for where, chances, move in listed:
                pairs = mine[where]
                require_later(order, movers[pairs], states[pairs], self._actions[pairs], move)
                over = move.over[:, self._seat]
                np.add.at(self._paid, pairs[over], (chances * move.payoffs[:, self._seat])[over])
                after = np.where(over, 0, move.seats), np.where(over, 0, move.states)
                stays = ~over & (order.blocks[after] == own_block)
                leaves = ~over & ~stays
                inside.append((pairs[stays], places[after][stays], chances[stays]))
                outside.append((pairs[leaves], *(a[leaves] for a in after), chances[leaves]))
        pairs, targets, chances = (np.concatenate(column) for column in zip(*inside, strict=True))
        in_order = np.argsort(pairs, kind="stable")
        self._way_pairs, self._targets = pairs[in_order], targets[in_order]  # (way,)
        self._chances = chances[in_order]  # (way,)
        self._onward = tuple(np.concatenate(column) for column in zip(*outside, strict=True))

    def _group(self) -> tuple[IntArray, IntArray]:
        """Find which points of the cut moves connect: the group of each, and its number there."""
        labels = np.arange(len(self._states))  # of each position, the smallest it is known to meet
        sources = self._positions[self._way_pairs]
        while True:
            before = labels
            least = np.minimum(labels[sources], labels[self._targets])
            labels = labels.copy()
            np.minimum.at(labels, sources, least)
            np.minimum.at(labels, self._targets, least)
            labels = labels[labels]
            if np.array_equal(labels, before):
                break
        _, groups = np.unique(labels[self._cut], return_inverse=True)
        in_order = np.argsort(groups, kind="stable")
        places = np.empty_like(groups)
        firsts = np.searchsorted(groups[in_order], groups[in_order])
        places[in_order] = np.arange(len(groups)) - firsts
        return groups, places

    def _make_steps(self, firsts: list[int]) -> Iterator[_Step]:
        pairs = np.searchsorted(self._positions, firsts).tolist()
        ways = np.searchsorted(self._way_pairs, pairs).tolist()
        self._run_starts = np.flatnonzero(np.diff(self._way_pairs, prepend=-1))  # (run,)
        runs = np.searchsorted(self._run_starts, ways).tolist()
        cuts = np.searchsorted(self._cut, firsts).tolist()
        for number, stage in enumerate(self.stages):
            positions, own, there, sums, cut = (
                slice(bounds[number], bounds[number + 1])
                for bounds in (firsts, pairs, ways, runs, cuts)
            )
            in_cut = self._cut[cut] - positions.start
            row = self._positions[own] - positions.start
            yield _Step(stage, positions, own, there, sums, in_cut, row)

    def gains(self, values: Array) -> Array:
        """Give the payoffs and later values that each pair expects, shape (pair,)."""
        gains: Array = self._paid.copy()
        pairs, seats, states, chances = self._onward
        np.add.at(gains, pairs, chances * values[seats, states])
        return gains

    def backward(self, decide: Decide, gains: Array | None, cut: Array) -> tuple[Array, Array]:
        """Visit the stages last to first, a sum over the ways of each pair at a time."""
        rows = len(cut)
        values = np.zeros((rows, len(self._states)), dtype=self._dtype)
        ahead = values.copy()  # what moves lead to: the cut as it is given
        ahead[:, self._cut] = cut
        for step in reversed(self._steps):
            expected = np.zeros((rows, step.pairs.stop - step.pairs.start), dtype=self._dtype)
            if gains is not None:
                expected += gains[step.pairs]
            if step.runs.stop > step.runs.start:
                terms = self._chances[step.ways] * ahead[:, self._targets[step.ways]]
                starts = self._run_starts[step.runs]
                of_pairs = self._way_pairs[starts] - step.pairs.start
                expected[:, of_pairs] += np.add.reduceat(terms, starts - step.ways.start, axis=1)
            values[:, step.positions] = decide(step.stage, self._spread(step, expected))
            known = ahead[:, step.positions][:, step.in_cut]
            ahead[:, step.positions] = values[:, step.positions]
            ahead[:, step.positions.start + step.in_cut] = known
        return values, values[:, self._cut]

    def _spread(self, step: _Step, numbers: Array) -> Array:
        """Put numbers of pairs, shape (row, pair), where states and actions are."""
        table = np.zeros(
            (len(numbers), len(step.stage.states), self._game.num_actions), dtype=self._dtype
        )
        table[:, step.row, self._actions[step.pairs]] = numbers
        return table

    def forward(self, decide: Decide, start: Array, cut: Array) -> tuple[Array, Array]:
        """Visit the stages first to last, along the ways of each pair."""
        mass = start.copy()
        mass[:, self._cut] += cut
        came = np.zeros_like(mass)
        for step in self._steps:
            here = came[:, step.positions].copy()
            here[:, step.in_cut] = 0  # what comes to the cut goes no further
            mass[:, step.positions] += here
            weights = self._weights(step, decide, mass[:, step.positions])
            moved = weights[:, self._way_pairs[step.ways] - step.pairs.start]
            moved = moved * self._chances[step.ways]
            for row in range(len(mass)):
                np.add.at(came[row], self._targets[step.ways], moved[row])
        return mass, came[:, self._cut]

    def _weights(self, step: _Step, decide: Decide, mass: Array) -> Array:
        """Give the weight of each pair, shape (row, pair)."""
        weights: Array = decide(step.stage, mass)[:, step.row, self._actions[step.pairs]]
        return weights

    def leave(self, decide: Decide, met: Array, mass: Array) -> None:
        """Follow the ways that lead to later blocks."""
        weights = np.concatenate(
            [self._weights(step, decide, met[None, step.positions])[0] for step in self._steps]
        )
        pairs, seats, states, chances = self._onward
        np.add.at(mass, (seats, states), weights[pairs] * chances)

    def at_cut(self, values: Array) -> Array:
        """Pick the values of the positions of the cut."""
        picked: Array = values[self._movers[self._cut], self._states[self._cut]]
        return picked

    def describe_cut(self, point: int) -> str:
        """Name the position."""
        where = self._cut[point]
        return f"state {self._states[where]} of player {self._movers[where]}"
