"""The sweeps of any game, whose moves are listed one by one.

A block keeps its moves as flat arrays, in the order in which a pass forward meets them, so that
each step of a pass works on slices of them (see ``block_moves``). The blocks of the games asked for
last are kept.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from typing_extensions import override

from .arithmetic import Arithmetic, Values
from .block_moves import BlockMoves, Step, divided_by_level, joined, list_from, small
from .blocks import Block, PayoffLaw, for_one
from .contract import order_of
from .game import Game
from .moves import (
    Ways,
    batches,
    law_roundings,
    list_moves,
    move_roundings,
    possible_outcomes,
    require_totals,
    worth_of,
)
from .sizes import PIECE, check_memory
from .types import Array, BoolArray, Decide, IntArray, Stage

#: Bytes of an outcome of a move and its share of the rest, while a block is made of them.
WAY = 50


def connected(
    sources: IntArray, targets: IntArray, cut: IntArray, count: int
) -> tuple[IntArray, IntArray]:
    """Find the connected components of a cut's positions, under moves from sources to targets.

    Each position of the cut has the number of its component, and its index there.
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


class ListedBlock(Block):
    """A block whose moves are listed once.

    A point of the cut has two numbers: that of its position, from which its moves lead, and another
    after those of all positions, to which moves lead back.

    Args:
        seats: for whom values are computed: one but for ``backward_together``.
        positions: seat * num_states + state of each position, by level and seat.
        levels: of each position; inside the block moves lead to later ones, or to the cut.
        moves: of the positions.
        places: -1 for each position of the game, shape (player * state,), to work with.
    """

    def __init__(
        self,
        game: Game,
        seats: tuple[int, ...],
        arithmetic: Arithmetic,
        positions: IntArray,
        levels: IntArray,
        moves: BlockMoves,
        places: IntArray,
    ) -> None:
        self._game, self._seats, self._arithmetic = game, seats, arithmetic
        self._chances = np.append(arithmetic.zeros(1), possible_outcomes(game, arithmetic).chances)
        self._positions = small(positions // game.num_states), positions % game.num_states
        count, self._cut = len(positions), np.flatnonzero(order_of(game).cut.ravel()[positions])
        places[positions] = np.arange(count)
        places[positions[self._cut]] = count + np.arange(len(self._cut))
        self._moves, self.onward = moves.divided(places)
        self.pays_early = moves.pays_early
        places[positions] = -1
        self.groups, self.places = connected(*self._connections(), self._cut, count)
        self._ones = np.broadcast_to(np.ones(1, arithmetic.dtype), count)
        self._steps = divided_by_level(self._moves, levels, self._stages_in)

    def _connections(self) -> tuple[IntArray, IntArray]:
        """List the positions that each way inside the block leads from and to."""
        possible = self._moves.numbers[0] > 0
        numbers = np.append(np.arange(len(self._positions[0])), self._cut)
        return self._moves.sources()[possible], numbers[self._moves.targets[possible]]

    def _stages_in(self, own: slice) -> list[tuple[slice, Stage]]:
        """List the players who move in some positions in a row: in which of them, and the stage."""
        movers = self._positions[0][own]
        bounds = np.searchsorted(movers, np.arange(self._game.num_players + 1)).tolist()
        return [
            (slice(first, last), self._stage(mover, slice(own.start + first, own.start + last)))
            for mover, (first, last) in enumerate(pairwise(bounds))
            if first < last
        ]

    def _stage(self, mover: int, which: Any) -> Stage:
        states = self._positions[1][which]
        return Stage(mover, states, self._ones[: len(states)], self._moves.mask[which])

    @property
    @override
    def positions(self) -> list[tuple[int, IntArray]]:
        _, states = self._positions
        return [(mover, states[mine]) for mover, mine in self._of_players()]

    def _of_players(self) -> list[tuple[int, IntArray]]:
        """List the players and the numbers of their positions."""
        movers, _ = self._positions
        each = [(mover, np.flatnonzero(movers == mover)) for mover in range(self._game.num_players)]
        return [(mover, mine) for mover, mine in each if len(mine)]

    @property
    def _after(self) -> tuple[IntArray, ...]:
        """Index the positions to which moves leave the block, arrays of shape (way,)."""
        shape = self._game.num_players, self._game.num_states
        return np.unravel_index(self.onward.targets, shape)

    # ------------------------------------------------------------------ backward

    def gains(self, values: Values | None) -> Array:
        """Compute what moves that leave the block are paid and worth, shape (seat, move)."""
        if values is None:
            return np.zeros_like(self._moves.gains)
        return self._with_later(self._moves.gains.copy(), values)

    def _with_later(self, gains: Array, values: Values) -> Array:
        """Add to gains, (seat, move), the worth of the positions to which moves leave the block."""
        worth = self._chances[self.onward.numbers[0]] * values.at(*self._after)
        np.add.at(gains[0], self.onward.moves, worth)
        return gains

    def deviations(self, values: Values, spreads: Values) -> Array:
        """List the moves anew, and add up the squared deviations of their ways, (seat, move)."""
        squares = self._arithmetic.zeros(*self._moves.mask.shape)
        for mover, own, actions, ways in self._listed_anew(np.ones_like(self._moves.ends)):
            before = values.at(mover, self._positions[1][own])
            away = worth_of(ways, self._seats[0], values) - before[ways.moves]
            at = own[ways.moves], actions[ways.moves]
            np.add.at(squares, at, ways.chances * away * away)
        return self._with_later(squares[self._moves.mask][None], spreads)

    def at_cut(self, values: Values) -> Array:
        """Pick the values of the positions of the cut."""
        movers, states = self._positions
        return values.at(movers[self._cut], states[self._cut])

    def backward(
        self, decide: Decide, gains: Array, cut: Array, values: Values | None = None
    ) -> Array:
        """Visit the steps last to first."""
        found = self._pass(for_one(decide), gains, cut)
        if values is not None:
            values.put(self._positions, found[0], 1)
        return found[0, self._cut]

    def backward_together(self, decide: Decide, values: Sequence[Values]) -> None:
        """Fill in values to several players (see ``Sweeps.backward_together``)."""
        found = self._pass(decide, self._moves.gains, self._arithmetic.zeros(0))
        for row, numbers in zip(found, values, strict=True):
            numbers.put(self._positions, row, 1)

    def _pass(self, decide: Decide, gains: Array, cut: Array) -> Array:
        """Compute the values of all positions, shape (seat, position)."""
        rows, count, num_actions = len(self._seats), len(self._moves.mask), self._game.num_actions
        chances = self._chances[self._moves.numbers]
        ahead = self._arithmetic.zeros(rows, count + len(cut))
        ahead[:, count:] = cut
        for step in reversed(self._steps):
            worth = chances[:, step.ways] * ahead.take(step.targets, axis=1)
            size = step.positions.stop - step.positions.start
            table = self._arithmetic.zeros(rows, size * num_actions)
            table[:, step.cells] = (
                np.add.reduceat(worth, step.begins, axis=1) + gains[:, step.moves]
            )
            expected = table.reshape(rows, size, num_actions)
            decided = ahead[:, step.positions]
            for own, stage in step.stages:
                decided[:, own] = decide(stage, expected[:, own])
        return ahead[:, :count]

    # ------------------------------------------------------------------ forward

    def returns(self, decide: Decide) -> Array:
        """Find the chances to come to all points of the cut, backward from them."""
        moves, count = self._moves, len(self._moves.mask)
        width = int(self.places.max(initial=-1)) + 1
        weights = np.repeat(self._weights(decide), moves.counts) * self._chances[moves.numbers[0]]
        ahead = self._arithmetic.zeros(count + len(self._cut), width)
        ahead[count + np.arange(len(self._cut)), self.places] = self._arithmetic.number(1)
        for step in reversed(self._steps):
            led = weights[step.ways, None] * ahead.take(step.targets, axis=0)
            ahead[step.positions] = np.add.reduceat(led, step.entries)
        chances = self._arithmetic.zeros(int(self.groups.max(initial=-1)) + 1, width, width)
        chances[self.groups, self.places] = ahead[self._cut]
        return chances

    def arrive(self, decide: Decide, mass: Values) -> Array:
        """Follow the mass that begins in the block."""
        nothing = self._arithmetic.zeros(len(self._cut))
        return self._follow(decide, mass[self._positions], nothing)[2]

    def forward(
        self, decide: Decide, mass: Values, returning: Array, law: PayoffLaw | None = None
    ) -> None:
        """Follow the mass that begins in the block and that returns, and then what leaves it."""
        met, flow, _ = self._follow(decide, mass[self._positions], returning)
        mass.put(self._positions, met, 1)
        led = flow[self.onward.moves] * self._chances[self.onward.numbers[0]]
        np.add.at(mass.numbers, self._after, led)
        if law is not None:
            self._settle(flow, law)

    def _settle(self, flow: Array, law: PayoffLaw) -> None:
        """List the moves anew, and add the payoffs of those that end the game, by their flow."""
        weights = np.zeros(self._moves.mask.shape, self._arithmetic.dtype)
        weights[self._moves.mask] = flow
        for _, own, actions, ways in self._listed_anew(self._moves.ends):
            over = ways.effect.over[:, self._seats[0]]
            moves = ways.moves[over]
            mass = weights[own[moves], actions[moves]] * ways.chances[over]
            law.add(ways.effect.payoffs[over, self._seats[0]], mass)

    def _listed_anew(self, which: BoolArray) -> Iterator[tuple[int, IntArray, IntArray, Ways]]:
        """List the moves of some positions anew: player, position, action, and their ways."""
        for mover, mine in self._of_players():
            mine = mine[which[mine]]
            for own in (mine[batch] for batch in batches(self._game, mine)):
                states = self._positions[1][own]
                rows, actions, ways = list_moves(self._game, mover, states, self._arithmetic)
                yield mover, own[rows], actions, ways

    def _each_move(self, step: Step, numbers: Array) -> Array:
        """Repeat a number of each position of a step for each of its moves."""
        return np.repeat(numbers, self._moves.mask[step.positions].sum(axis=1))

    def _weights(self, decide: Decide) -> Array:
        """Compute how the players divide a mass of 1 among their moves, shape (move,)."""
        weights = np.zeros(self._moves.mask.shape, self._arithmetic.dtype)
        for mover, mine in self._of_players():
            step = max(1, PIECE // self._game.num_actions)
            for own in (mine[first : first + step] for first in range(0, len(mine), step)):
                stage = self._stage(mover, own)
                weights[own] = decide(stage, stage.scale)
        return weights[self._moves.mask]

    def _follow(self, decide: Decide, begun: Array, cut: Array) -> tuple[Array, Array, Array]:
        """Give the mass of all positions, that of all moves, and what came to the cut.

        A block with a cut is followed several times, so that decisions, which are linear, are asked
        for once.
        """
        weights = self._weights(decide) if len(self._cut) else None
        moves, mass = self._moves, begun.copy()
        mass[self._cut] += cut
        came = self._arithmetic.zeros(len(mass) + len(cut))
        flow = self._arithmetic.zeros(len(moves.counts))
        for step in self._steps:
            mass[step.positions] += came[step.positions]
            met = mass[step.positions]
            if weights is None:
                each = [decide(stage, met[own]) for own, stage in step.stages]
                divided = np.concatenate(each).ravel()[step.cells]
            else:
                divided = self._each_move(step, met) * weights[step.moves]
            flow[step.moves] = divided
            led = np.repeat(divided, moves.counts[step.moves])
            np.add.at(came, step.targets, led * self._chances[moves.numbers[0, step.ways]])
        return mass, flow, came[len(mass) :]

    # ------------------------------------------------------------------ rounding

    def roundings(self, decision: int, stay: float) -> float:
        """Count a move and a decision for each, and one addition of what leaves the block."""
        return (stay + 1) * (move_roundings(self._game, self.pays_early) + 1 + decision)

    def forward_roundings(self, decision: int) -> int:
        """Follow the ways: a position adds up all that lead to it, or that lead on from it."""
        moves, count = self._moves, len(self._moves.mask)
        sources, targets = self._connections()
        arrive, lead_on = (np.bincount(at, minlength=count) for at in (targets, sources))
        each = np.maximum(arrive, lead_on) + decision + 3 + law_roundings(self._game)
        longest = np.zeros(count + len(self._cut), dtype=np.int64)  # on any way to a position
        for step in self._steps:
            longest[step.positions] += each[step.positions]
            own = self._each_move(step, longest[step.positions])
            np.maximum.at(longest, step.targets, np.repeat(own, moves.counts[step.moves]))
        return int(longest[:count].max()) + int(np.bincount(self.onward.targets).max(initial=0))

    def describe_cut(self, point: int) -> str:
        """Name the position."""
        mover, state = (column[self._cut[point]] for column in self._positions)
        return f"state {state} of player {mover}"


#: Positions, and their moves.
_Part: TypeAlias = tuple[IntArray, BlockMoves]


class ListedBlocks:
    """Makes the blocks of a game whose moves are listed, checks the moves, and keeps the blocks.

    Blocks of the game from which the longest way to a last block is as long do not lead to one
    another: together they are one block, as few long steps are swept faster than many short ones.
    Without cycles the game is one block.
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

    def _list(self, positions: IntArray) -> BlockMoves:
        """List the moves of positions, by growing seat, if there is room for them."""
        game, listed = self._game, []
        movers, states = np.divmod(positions, game.num_states)
        for mover in range(game.num_players):
            own = states[movers == mover]
            for batch in batches(game, own):
                moves = list_from(game, self._seats, self._arithmetic, mover, own[batch])
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
        levels = [0] * count
        for pair in sorted(pairs):  # in the order of the sources
            source, target = divmod(pair, count)
            levels[target] = max(levels[target], levels[source] + 1)
        return np.array(levels)

    def make(self, number: int) -> ListedBlock:
        """Give a block: some of the game's blocks as one."""
        if number in self._made:
            return self._made[number]
        parts, self._parts[number] = self._parts[number], None
        positions, moves = zip(*parts, strict=True)
        together = np.concatenate(positions)
        levels = self._levels[self._order.stages.ravel()[together]]
        in_order = np.lexsort((together // self._game.num_states, levels))
        self._made[number] = block = ListedBlock(
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
