"""The sweeps of any game, whose moves are listed one by one.

A block keeps its moves as flat arrays, in the order in which a pass forward meets them, so that
each step of a pass works on slices of them.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from typing_extensions import override

from .arithmetic import Arithmetic
from .blocks import Block, PayoffLaw
from .flat_moves import FlatMoves, list_block
from .game import Game
from .graphs import connected, levels_of
from .listing import batches, law_roundings, list_moves, move_roundings, possible_outcomes
from .sizes import PIECE
from .types import Array, Decide, IntArray, Order, Stage
from .values import Values


class _Step(NamedTuple):
    """Positions of one player that are swept at once, their moves, and the ways of these."""

    stage: Stage
    positions: slice
    moves: slice
    ways: slice


#: Divides the mass of the positions of a step among their moves.
_Divide: TypeAlias = Callable[[_Step, Array], Array]


class ListedBlock(Block):
    """A block whose moves are listed once.

    Positions are numbered in the order of the steps: stages, or where moves lead back all positions
    of a player that can be swept at once.

    Args:
        game: the rules.
        seats: for whom values are computed: one but for ``backward_together``.
        arithmetic: of chances and payoffs.
        stages: player and states of each stage of the block.
        order: of all positions.
        places: the number of each position in its block, shape (player, state); this block's are
            filled in.
    """

    def __init__(
        self,
        game: Game,
        seats: tuple[int, ...],
        arithmetic: Arithmetic,
        stages: Sequence[tuple[int, IntArray]],
        order: Order,
        places: IntArray,
    ) -> None:
        self._game, self._seats, self._arithmetic = game, seats, arithmetic
        self._chances = np.append(arithmetic.zeros(1), possible_outcomes(game, arithmetic).chances)
        sizes = [len(states) for _, states in stages]
        numbers = np.repeat(np.arange(len(stages)), sizes)
        movers = np.repeat([mover for mover, _ in stages], sizes)
        states = np.concatenate([states for _, states in stages])
        places[movers, states] = np.arange(len(states))
        moves = list_block(game, seats, arithmetic, (movers, states), order, places)
        in_cut, keys = order.cut[movers, states], numbers
        if in_cut.any():
            sources, targets = self._connections(moves)
            on = ~in_cut[targets]
            levels = levels_of(len(stages), numbers[sources[on]], numbers[targets[on]])
            keys = levels[numbers] * game.num_players + movers
        in_order = np.argsort(keys, kind="stable")
        self._positions = movers[in_order], states[in_order]
        places[self._positions] = np.arange(len(states))
        self._moves = moves = moves.sorted(in_order, game.num_actions)
        self._in_cut, self._cut = in_cut[in_order], np.flatnonzero(in_cut[in_order])
        self.groups, self.places = connected(*self._connections(moves), self._cut, len(states))
        self._mask = np.zeros((len(states), game.num_actions), dtype=bool)
        self._mask.ravel()[moves.cells] = True
        begins = np.append(np.flatnonzero(np.diff(keys[in_order], prepend=-1)), len(states))
        in_moves = np.searchsorted(moves.cells, begins * game.num_actions)
        self._bounds = np.stack([begins, in_moves, moves.firsts[in_moves]], axis=1)
        blocks = order.blocks[np.divmod(moves.onward.targets, game.num_states)]
        self.successors = np.unique(blocks).tolist()

    def _connections(self, moves: FlatMoves) -> tuple[IntArray, IntArray]:
        """List the positions that each way inside the block leads from and to."""
        sources = np.repeat(moves.cells // self._game.num_actions, np.diff(moves.firsts))
        possible = moves.numbers[0] > 0
        return sources[possible], moves.targets[possible]

    def _stage(self, mover: int, which: Any) -> Stage:
        states, mask = self._positions[1][which], self._mask[which]
        return Stage(mover, states, np.ones(len(states), self._arithmetic.dtype), mask)

    @property
    @override
    def positions(self) -> list[tuple[int, IntArray]]:
        movers, states = self._positions
        return [(mover, states[movers == mover]) for mover in np.unique(movers).tolist()]

    def _steps(self, backward: bool = False) -> Iterator[_Step]:
        """Give the steps of a pass."""
        bounds, movers = self._bounds.tolist(), self._positions[0][self._bounds[:-1, 0]].tolist()
        steps = list(zip(movers, pairwise(bounds), strict=True))
        for mover, (first, last) in reversed(steps) if backward else steps:
            own, moves, ways = map(slice, first, last)
            yield _Step(self._stage(mover, own), own, moves, ways)

    # ------------------------------------------------------------------ backward

    def gains(self, values: Values | None) -> Array:
        """Compute what moves that leave the block are paid and worth, shape (seat, move)."""
        if values is None:
            return np.zeros_like(self._moves.gains)
        gains: Array = self._moves.gains.copy()
        onward = self._moves.onward
        worth = values.at(*np.divmod(onward.targets, self._game.num_states))
        np.add.at(gains[0], onward.moves, self._chances[onward.numbers[0]] * worth)
        return gains

    def at_cut(self, values: Values) -> Array:
        """Pick the values of the positions of the cut."""
        movers, states = self._positions
        return values.at(movers[self._cut], states[self._cut])

    def backward(
        self, decide: Decide, gains: Array, cut: Array, values: Values | None = None
    ) -> Array:
        """Visit the steps last to first."""

        def decide_alone(stage: Stage, expected: Array) -> Array:
            return decide(stage, expected[0])[None]

        found = self._pass(decide_alone, gains, cut)
        if values is not None:
            values.put(self._positions, found[0], 1)
        picked: Array = found[0, self._cut]
        return picked

    def backward_together(self, decide: Decide, values: Sequence[Values]) -> None:
        """Fill in values to several players (see ``Sweeps.backward_together``)."""
        found = self._pass(decide, self._moves.gains, self._cut)
        for row, numbers in zip(found, values, strict=True):
            numbers.put(self._positions, row, 1)

    def _pass(self, decide: Decide, gains: Array, cut: Array) -> Array:
        """Compute the values of all positions, shape (seat, position)."""
        moves, dtype, rows = self._moves, self._arithmetic.dtype, len(self._seats)
        num_actions, chances = self._game.num_actions, self._chances[self._moves.numbers]
        found = np.zeros((rows, len(self._in_cut)), dtype)
        ahead = found.copy() if len(cut) else found  # the values that moves lead to
        ahead[:, self._cut] = cut
        for step in self._steps(backward=True):
            worth = chances[:, step.ways] * ahead.take(moves.targets[step.ways], axis=1)
            begins = moves.firsts[step.moves] - step.ways.start
            table = np.zeros((rows, len(step.stage.states) * num_actions), dtype)
            cells = moves.cells[step.moves] - step.positions.start * num_actions
            table[:, cells] = np.add.reduceat(worth, begins, axis=1) + gains[:, step.moves]
            expected = table.reshape(rows, len(step.stage.states), num_actions)
            decided = found[:, step.positions] = decide(step.stage, expected)
            if len(cut):
                in_cut = self._in_cut[step.positions]
                decided = np.where(in_cut, ahead[:, step.positions], decided)
            ahead[:, step.positions] = decided
        return found

    # ------------------------------------------------------------------ forward

    def returns(self, decide: Decide) -> Array:
        """Find the chances to come to all points of the cut, backward from them."""
        moves, width = self._moves, int(self.places.max(initial=-1)) + 1
        weights = np.repeat(self._weights(decide), np.diff(moves.firsts))
        weights = (weights * self._chances[moves.numbers[0]])[:, None]
        sources = moves.cells // self._game.num_actions
        begins = moves.firsts[np.searchsorted(sources, np.arange(len(self._in_cut)))]
        found = self._arithmetic.zeros(len(self._in_cut), width)
        ahead = found.copy()
        ahead[self._cut, self.places] = self._arithmetic.number(1)
        for step in self._steps(backward=True):
            led = weights[step.ways] * ahead[moves.targets[step.ways]]
            come = np.add.reduceat(led, begins[step.positions] - step.ways.start)
            found[step.positions] = come
            in_cut = self._in_cut[step.positions, None]
            ahead[step.positions] = np.where(in_cut, ahead[step.positions], come)
        chances = self._arithmetic.zeros(int(self.groups.max(initial=-1)) + 1, width, width)
        chances[self.groups, self.places] = found[self._cut]
        return chances

    def arrive(self, decide: Decide, mass: Values) -> Array:
        """Follow the mass that begins in the block."""
        nothing = self._arithmetic.zeros(len(self._cut))
        return self._follow(self._divide(decide), mass[self._positions], nothing)[2]

    def forward(
        self, decide: Decide, mass: Values, returning: Array, law: PayoffLaw | None = None
    ) -> None:
        """Follow the mass that begins in the block and that returns, and then what leaves it."""
        met, flow, _ = self._follow(self._divide(decide), mass[self._positions], returning)
        mass.put(self._positions, met, 1)
        onward = self._moves.onward
        positions = np.divmod(onward.targets, self._game.num_states)
        np.add.at(mass.numbers, positions, flow[onward.moves] * self._chances[onward.numbers[0]])
        if law is not None:
            self._settle(flow, law)

    def _settle(self, flow: Array, law: PayoffLaw) -> None:
        """Add to a law what moves are paid, given the mass of each, shape (move,)."""
        weights = np.zeros(self._mask.shape, self._arithmetic.dtype)
        weights.ravel()[self._moves.cells] = flow
        movers, states = self._positions
        for mover in np.unique(movers).tolist():
            own = np.flatnonzero(movers == mover)
            for batch in batches(self._game, own):
                places = own[batch]
                rows, actions, ways = list_moves(
                    self._game, mover, states[places], self._arithmetic
                )
                over = ways.effect.over[:, self._seats[0]]
                moves = ways.moves[over]
                mass = weights[places[rows[moves]], actions[moves]] * ways.chances[over]
                law.add(ways.effect.payoffs[over, self._seats[0]], mass)

    def _divide(self, decide: Decide) -> _Divide:
        """Give a function that divides mass as ``decide`` does, which is asked once if linear."""
        moves, num_actions = self._moves, self._game.num_actions
        weights = self._weights(decide) if len(self._cut) else None

        def divide(step: _Step, met: Array) -> Array:
            cells = moves.cells[step.moves] - step.positions.start * num_actions
            flow: Array
            if weights is None:
                flow = decide(step.stage, met).ravel()[cells]
            else:
                flow = met[cells // num_actions] * weights[step.moves]
            return flow

        return divide

    def _weights(self, decide: Decide) -> Array:
        """Compute how the players divide a mass of 1 among their moves, shape (move,)."""
        weights = np.zeros(self._mask.shape, self._arithmetic.dtype)
        movers, _ = self._positions
        for mover in np.unique(movers).tolist():
            mine = np.flatnonzero(movers == mover)
            step = max(1, PIECE // self._game.num_actions)
            for own in (mine[first : first + step] for first in range(0, len(mine), step)):
                stage = self._stage(mover, own)
                weights[own] = decide(stage, stage.scale)
        flow: Array = weights.ravel()[self._moves.cells]
        return flow

    def _follow(self, divide: _Divide, begun: Array, cut: Array) -> tuple[Array, Array, Array]:
        """Give the mass of all positions, that of all moves, and what came to the cut."""
        moves, mass, came = self._moves, begun.copy(), np.zeros_like(begun)
        mass[self._cut] += cut
        flow, counts = self._arithmetic.zeros(len(moves.cells)), np.diff(moves.firsts)
        for step in self._steps():
            own = step.positions  # what comes to the cut goes no further
            mass[own] += np.where(self._in_cut[own], 0, came[own])
            flow[step.moves] = divided = divide(step, mass[own])
            led = np.repeat(divided, counts[step.moves])
            np.add.at(
                came,
                moves.targets[step.ways],
                led * self._chances[moves.numbers[0, step.ways]],
            )
        return mass, flow, came[self._cut]

    # ------------------------------------------------------------------ rounding

    def roundings(self, decision: int, stay: float) -> float:
        """Count a move and a decision for each, and one addition of what leaves the block."""
        return (stay + 1) * (move_roundings(self._game) + 1 + decision)

    def forward_roundings(self, decision: int) -> int:
        """Follow the ways: a position adds up all that lead to it, or that lead on from it."""
        moves, num_actions = self._moves, self._game.num_actions
        arrive = np.bincount(moves.targets, minlength=len(self._in_cut))
        sources, _ = self._connections(moves)
        lead_on = np.bincount(sources, minlength=len(self._in_cut))
        each = np.maximum(arrive, lead_on) + decision + 3 + law_roundings(self._game)
        longest = np.zeros_like(each)  # on any way to a position
        for step in self._steps():
            longest[step.positions] += each[step.positions]
            own = longest[moves.cells[step.moves] // num_actions]
            came = np.repeat(own, np.diff(moves.firsts)[step.moves])
            targets = moves.targets[step.ways]
            on = ~self._in_cut[targets]
            np.maximum.at(longest, targets[on], came[on])
        return int(longest.max()) + int(np.bincount(moves.onward.targets).max(initial=0))

    def describe_cut(self, point: int) -> str:
        """Name the position."""
        mover, state = (column[self._cut[point]] for column in self._positions)
        return f"state {state} of player {mover}"
