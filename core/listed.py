"""Blocks of any game with cycles, whose moves are listed one by one, outcome by outcome."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .arithmetic import Arithmetic, Values
from .blocks import Block, Blocks
from .contract import order_of
from .effects import legal_moves, require_moves
from .game import Game
from .listing import law_roundings, move_roundings, outcomes
from .types import Array, BoolArray, Decide, IntArray, Order, Stage

#: Bytes of listed moves that are kept for the next sweep.
KEPT = 2**28


class ListedBlocks(Blocks):
    """The blocks of a game whose moves are listed one by one; as many as fit are kept.

    Args:
        game: the rules.
        seat: for whom the game is not over where it goes on.
        arithmetic: in which chances and payoffs are.

    Raises:
        GameError: if a move leads back other than to the cut of its block, naming it.
    """

    def __init__(self, game: Game, seat: int, arithmetic: Arithmetic) -> None:
        self._game, self._seat, self._arithmetic = game, seat, arithmetic
        order = order_of(game)
        known = np.unique(order.blocks[order.stages >= 0])
        self._order = order._replace(blocks=np.searchsorted(known, order.blocks))  # from 0 on
        self._places = np.full((game.num_players, game.num_states), -1)
        numbers = np.arange(len(known))
        self._stages: list[list[tuple[int, IntArray]]] = [[] for _ in numbers]
        for mover, states in game.stages():
            parts = split(self._order.blocks[mover, states], numbers)
            for block, part in zip(self._stages, parts, strict=True):
                if len(part):
                    block.append((mover, states[part]))
        self._kept: dict[int, ListedBlock] = {}
        self._room = KEPT

    def __len__(self) -> int:
        return len(self._stages)

    def __getitem__(self, number: int) -> "ListedBlock":
        if number in self._kept:
            return self._kept[number]
        stages, order, places = self._stages[number], self._order, self._places
        block = ListedBlock(self._game, self._seat, self._arithmetic, stages, order, places)
        self._room -= block.num_bytes
        if self._room >= 0:
            self._kept[number] = block
        return block


#: Blocks of the games asked for last.
listed_blocks = lru_cache(maxsize=2)(ListedBlocks)


class _Step(NamedTuple):
    """What a pass needs at a stage; pairs and ways are counted from its first."""

    stage: Stage
    positions: IntArray  # (state,) numbers in the block
    pairs: IntArray  # (pair,) numbers in the block
    rows: IntArray  # (pair,) which of the states it is of
    actions: IntArray  # (pair,)
    pair_of: IntArray  # (way,)
    firsts: IntArray  # first way of each pair that has one
    targets: IntArray  # (way,) position in the block that it leads to
    chances: Array  # (way,)
    in_cut: BoolArray  # (state,)


class ListedBlock(Block):
    """A block whose moves are listed once, outcome by outcome.

    A *pair* is a position and a legal action of it, a *way* an outcome of a pair that stays in the
    block. Stages of a player that no way connects are swept as one.

    Attributes:
        positions: player to move and state of each position, both of shape (position,).
    """

    def __init__(
        self,
        game: Game,
        seat: int,
        arithmetic: Arithmetic,
        stages: Sequence[tuple[int, IntArray]],
        order: Order,
        places: IntArray,
    ) -> None:
        self._game, self._seat, self._dtype = game, seat, arithmetic.dtype
        numbers = np.repeat(np.arange(len(stages)), [len(states) for _, states in stages])
        movers = np.array([mover for mover, _ in stages])[numbers]
        self.positions = movers, np.concatenate([states for _, states in stages])
        places[self.positions] = np.arange(len(numbers))
        self._in_cut = order.cut[self.positions]
        self._cut = np.flatnonzero(self._in_cut)
        self._list_pairs()
        self._list_ways(arithmetic, order, places)
        _, seats, after, _ = self._onward
        self.successors = np.unique(order.blocks[seats, after]).tolist()
        sources = self._sources[self._pairs]
        self.groups, self.places = _connected(sources, self._targets, self._cut, len(numbers))
        on = ~self._in_cut[self._targets]
        levels = _levels(len(stages), numbers[sources[on]], numbers[self._targets[on]])
        self._steps = list(self._make_steps(levels[numbers] * game.num_players + movers))
        self.stages = [step.stage for step in self._steps]
        del self._pairs, self._targets, self._chances  # the steps have them

    @property
    def num_bytes(self) -> int:
        """Estimate the memory it takes."""
        return sum(40 * len(step.targets) + 80 * len(step.pairs) for step in self._steps)

    def _list_pairs(self) -> None:
        movers, states = self.positions
        columns = []
        for mover in np.unique(movers):
            where = np.flatnonzero(movers == mover)
            rows, actions = legal_moves(self._game, states[where])
            columns.append((where[rows], actions))
        sources, actions = (np.concatenate(column) for column in zip(*columns, strict=True))
        in_order = np.argsort(sources, kind="stable")
        self._sources, self._actions = sources[in_order], actions[in_order]  # (pair,)

    def _list_ways(self, arithmetic: Arithmetic, order: Order, places: IntArray) -> None:
        """List what may come of each pair: inside the block, in later ones, or the end."""
        movers, states = (column[self._sources] for column in self.positions)
        own_block = order.blocks[movers[0], states[0]]
        self._paid = np.zeros(len(self._sources), dtype=self._dtype)  # (pair,)
        inside, onward = [], []
        for mover in np.unique(movers):
            mine = np.flatnonzero(movers == mover)
            listed = outcomes(self._game, mover, states[mine], self._actions[mine], arithmetic)
            for where, chances, move in listed:
                pairs = mine[where]
                require_moves(self._game, movers[pairs], states[pairs], self._actions[pairs], move)
                over = move.over[:, self._seat]
                np.add.at(self._paid, pairs[over], (chances * move.payoffs[:, self._seat])[over])
                after = np.where(over, 0, move.seats), np.where(over, 0, move.states)
                stays = ~over & (order.blocks[after] == own_block)
                leaves = ~over & ~stays
                inside.append((pairs[stays], places[after][stays], chances[stays]))
                onward.append((pairs[leaves], *(a[leaves] for a in after), chances[leaves]))
        pairs, targets, chances = (np.concatenate(column) for column in zip(*inside, strict=True))
        in_order = np.argsort(pairs, kind="stable")
        self._pairs, self._targets = pairs[in_order], targets[in_order]  # (way,)
        self._chances = chances[in_order]  # (way,)
        self._onward = tuple(np.concatenate(column) for column in zip(*onward, strict=True))

    def _make_steps(self, keys: IntArray) -> Iterator[_Step]:
        """Make a step of all positions of the same key, in growing order."""
        known = np.unique(keys)
        of_pairs, of_ways = keys[self._sources], keys[self._sources[self._pairs]]
        parts = (split(numbers, known) for numbers in (keys, of_pairs, of_ways))
        for positions, pairs, ways in zip(*parts, strict=True):
            movers, states = (column[positions] for column in self.positions)
            pair_of = np.searchsorted(pairs, self._pairs[ways])
            yield _Step(
                stage=Stage(int(movers[0]), states, np.ones(len(states), dtype=self._dtype)),
                positions=positions,
                pairs=pairs,
                rows=np.searchsorted(positions, self._sources[pairs]),
                actions=self._actions[pairs],
                pair_of=pair_of,
                firsts=np.flatnonzero(np.diff(pair_of, prepend=-1)),
                targets=self._targets[ways],
                chances=self._chances[ways],
                in_cut=self._in_cut[positions],
            )

    def gains(self, values: Values | None) -> Array:
        """Give the payoffs and later values that each pair expects, shape (pair,)."""
        if values is None:
            return np.zeros_like(self._paid)
        gains: Array = self._paid.copy()
        pairs, seats, states, chances = self._onward
        np.add.at(gains, pairs, chances * values[seats, states])
        return gains

    def at_cut(self, values: Values) -> Array:
        """Pick the values of the positions of the cut."""
        movers, states = self.positions
        picked: Array = values[movers[self._cut], states[self._cut]]
        return picked

    def backward(
        self, decide: Decide, gains: Array, cut: Array, values: Values | None = None
    ) -> Array:
        """Visit the stages last to first, a sum over the ways of each pair at a time."""
        found = np.zeros(len(self._in_cut), dtype=self._dtype)
        ahead = found.copy()  # what moves lead to: the cut as it is given
        ahead[self._cut] = cut
        for step in reversed(self._steps):
            table = np.zeros((len(step.positions), self._game.num_actions), dtype=self._dtype)
            table[step.rows, step.actions] = gains[step.pairs]
            if len(step.firsts):
                have = step.pair_of[step.firsts]  # the pairs that have ways
                sums = np.add.reduceat(step.chances * ahead[step.targets], step.firsts)
                table[step.rows[have], step.actions[have]] += sums
            decided = found[step.positions] = decide(step.stage, table)
            if step.in_cut.any():
                decided = np.where(step.in_cut, ahead[step.positions], decided)
            ahead[step.positions] = decided
        if values is not None:
            values.put(self.positions, found, 1)
        return found[self._cut]

    def returns(self, decide: Decide) -> Array:
        """Begin at one point of every group at a time."""
        width = int(self.places.max(initial=-1)) + 1
        chances = np.zeros((int(self.groups.max(initial=-1)) + 1, width, width), dtype=self._dtype)
        for place in range(width):
            cut = (self.places == place).astype(np.int64).astype(self._dtype)
            nothing = np.zeros(len(self._in_cut), dtype=self._dtype)
            chances[self.groups, place, self.places] = self._follow(decide, nothing, cut)[2]
        return chances

    def arrive(self, decide: Decide, mass: Array) -> Array:
        """Follow what begins in the block."""
        return self._follow(decide, mass[self.positions], np.zeros(len(self._cut), self._dtype))[2]

    def forward(self, decide: Decide, mass: Array, returning: Array) -> None:
        """Follow what begins in the block and what returns, and then what leaves it."""
        met, weights, _ = self._follow(decide, mass[self.positions], returning)
        mass[self.positions] = met
        pairs, seats, states, chances = self._onward
        np.add.at(mass, (seats, states), weights[pairs] * chances)

    def _follow(self, decide: Decide, begun: Array, cut: Array) -> tuple[Array, Array, Array]:
        """Give the mass of all positions, the weights of all pairs, and what came to the cut."""
        mass, came = begun.copy(), np.zeros_like(begun)
        mass[self._cut] += cut
        weights = np.zeros_like(self._paid)
        for step in self._steps:
            # What comes to the cut goes no further.
            mass[step.positions] += np.where(step.in_cut, 0, came[step.positions])
            table = decide(step.stage, mass[step.positions])
            weights[step.pairs] = own = table[step.rows, step.actions]
            np.add.at(came, step.targets, own[step.pair_of] * step.chances)
        return mass, weights, came[self._cut]

    def roundings(self, decision: int) -> int:
        """Add one addition, of what stays in the block to what leaves it."""
        return move_roundings(self._game) + 1 + decision

    def forward_roundings(self, decision: int) -> int:
        """Follow the ways: a position adds up all that lead to it."""
        _, _, after, _ = self._onward
        most, ways = np.zeros((2, len(self._in_cut)), dtype=np.int64)  # to a position
        for step in self._steps:
            np.add.at(ways, step.targets, 1)
        for step in self._steps:
            most[step.positions] += ways[step.positions] + decision + 2 + law_roundings(self._game)
            on = ~self._in_cut[step.targets]
            came = most[step.positions[step.rows[step.pair_of]]]
            np.maximum.at(most, step.targets[on], came[on])
        return int(most.max()) + int(np.bincount(after).max(initial=0))

    def describe_cut(self, point: int) -> str:
        """Name the position."""
        mover, state = (column[self._cut[point]] for column in self.positions)
        return f"state {state} of player {mover}"


def split(keys: IntArray, known: IntArray) -> list[IntArray]:
    """List the places at which each known key stands, in growing order."""
    in_order = np.argsort(keys, kind="stable")
    return np.split(in_order, np.searchsorted(keys[in_order], known[1:]))


def _levels(count: int, sources: IntArray, targets: IntArray) -> IntArray:
    """Give each of many stages the largest number of moves that lead to it from others."""
    levels = [0] * count
    for move in np.unique(sources * count + targets).tolist():  # in the order of the sources
        source, target = divmod(move, count)
        levels[target] = max(levels[target], levels[source] + 1)
    return np.array(levels)


def _connected(
    sources: IntArray, targets: IntArray, cut: IntArray, count: int
) -> tuple[IntArray, IntArray]:
    """Find which points of a cut moves connect: the group of each, and its number there.

    Args:
        sources: a position for each move.
        targets: another, that it leads to.
        cut: positions of the cut.
        count: number of positions.
    """
    labels = np.arange(count)  # of each position, the smallest that it is known to meet
    while True:
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
