"""A game that is cut after some moves of one player, as Gymnasium's ``TimeLimit`` cuts it.

The number of moves that the player has made is a part of the state: the positions of the game lie
in layers, and only a move of this player leads from one layer to the next. Where the player would
move once too often, the game is over, and pays it no more than it has got; in a zero-sum game the
other player gets the rest.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from typing_extensions import override

from ...core import (
    FLOATS,
    Arithmetic,
    Array,
    BoolArray,
    Decide,
    Game,
    IntArray,
    Move,
    Presentation,
    Stage,
    Sweeps,
    Values,
    at_least,
    present,
    presents,
    sweeps_for,
    sweeps_of,
)
from ...core.blocks import Block, Blocks, PayoffLaw
from ...core.types import Start
from ...core.words import plural


class CutGame(Game):
    """A game within a limit of moves of one player.

    A state is the number of a state of the whole game plus the number of moves that the player has
    made times ``rows``; observations end with the number of moves.

    Args:
        whole: the game without the limit.
        seat: the player whose moves count.
        limit: the number of these moves, at least 1.

    Attributes:
        rows: number of states of the whole game.
    """

    name = "Cut"

    def __init__(self, whole: Game, seat: int, limit: int) -> None:
        self.whole, self.seat, self.limit = whole, seat, at_least("limit", limit, 1)
        self.rows, self.num_actions = whole.num_states, whole.num_actions
        self.num_players, self.zero_sum = whole.num_players, whole.zero_sum
        self.num_states = self.rows * (limit + 1)
        self.observation_sizes = (*whole.observation_sizes, limit + 1)
        self.observation_names = (*whole.observation_names, "moves")
        self.laws = whole.laws
        low, high = self.exact_range
        self.payoff_range = float(low), float(high)
        # An illegal action pays the worst payoff of the whole game, which a cut game may not reach.
        self.unbounded = low < whole.exact_range[0]
        self.has_cycles = whole.has_cycles  # type: ignore[misc]
        self._stages = whole.stages()
        self._others = np.zeros(self.rows, dtype=bool)  # the states of other players
        for mover, states in self._stages:
            self._others[states] |= mover != seat
        self._blocks = 1
        if self.has_cycles:
            self._blocks += max(int(whole.block(*stage)[0].max()) for stage in self._stages)

    @property
    @override
    def exact_range(self) -> tuple[Fraction, Fraction]:
        low, high = self.whole.exact_range
        worst, best = min(low, Fraction(0)), max(high, Fraction(0))
        if not self.zero_sum:
            return worst, best
        worst = min(worst, low + high - best)
        return worst, low + high - worst

    @override
    def observe(self, states: IntArray, seat: int) -> IntArray:
        moves, rows = np.divmod(states, self.rows)
        return np.append(self.whole.observe(rows, seat), moves[..., None], axis=-1)

    @override
    def encode(self, observations: IntArray) -> IntArray:
        rows, moves = self.whole.encode(observations[..., :-1]), observations[..., -1]
        known = (rows >= 0) & (moves >= 0)
        known &= (moves < self.limit) | ((moves == self.limit) & self._others[rows])
        return np.where(known, rows + moves * self.rows, -1)

    @override
    def mask(self, states: IntArray) -> BoolArray:
        return self.whole.mask(states % self.rows)

    @override
    def initial_law(self) -> tuple[IntArray, Array]:
        return self.whole.initial_law()

    @override
    def exact_laws(self) -> Array:
        return self.whole.exact_laws()

    @override
    def law(self, states: IntArray, actions: IntArray) -> IntArray:
        return self.whole.law(states % self.rows, actions)

    @override
    def advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        return self._advance(self.whole.advance, seats, states, actions, outcomes)

    @override
    def exact_advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        return self._advance(self.whole.exact_advance, seats, states, actions, outcomes)

    def _advance(
        self,
        advance: Callable[..., Move],
        seats: IntArray,
        states: IntArray,
        actions: IntArray,
        outcomes: IntArray,
    ) -> Move:
        moves, rows = np.divmod(states, self.rows)
        move = advance(seats, rows, actions, outcomes)
        moves = moves + (seats == self.seat)
        cut = (move.seats == self.seat) & (moves >= self.limit) & ~move.over[:, self.seat]
        payoffs = move.payoffs.copy()
        if self.zero_sum and cut.any():
            paid = payoffs[cut, 1 - self.seat]
            payoffs[cut, 1 - self.seat] = paid + sum(self.whole.exact_range)
        return Move(move.seats, move.states + moves * self.rows, payoffs, move.over | cut[:, None])

    @override
    def stages(self) -> Sequence[tuple[int, IntArray]]:
        layers = range(self.limit + 1)
        return [
            (seat, states + moves * self.rows)
            for moves in layers
            for seat, states in self._stages
            if seat != self.seat or moves < self.limit
        ]

    @override
    def block(self, seat: int, states: IntArray) -> tuple[IntArray, BoolArray]:
        moves, rows = np.divmod(states, self.rows)
        blocks, cut = self.whole.block(seat, rows)
        return blocks + moves * self._blocks, cut


@presents(CutGame)
class CutPresentation(Presentation[CutGame]):
    """The words of the whole game, with the limit."""

    @property
    @override
    def heading(self) -> str:
        return f"{present(self.game.whole).heading}, within {self.game.limit:,} moves"

    words = title = heading

    @override
    def describe(self, observation: IntArray) -> str:
        whole = present(self.game.whole).describe(observation[:-1])
        return f"{whole}, after {observation[-1]} {plural(observation[-1], 'move')}"

    @override
    def describe_action(self, action: int) -> str:
        return present(self.game.whole).describe_action(action)


@sweeps_for(CutGame)
class CutSweeps(Sweeps):
    """The sweeps of the whole game, one for each number of moves; or listed moves.

    The moves are listed where the whole game has no sweep that decides in all stages.
    """

    game: CutGame

    def __init__(self, game: CutGame) -> None:
        super().__init__(game)
        whole = self._whole = sweeps_of(game.whole)
        swept = not whole.is_listed and all(block.decides_all for block in whole.blocks(0))
        self.is_listed = not swept  # type: ignore[misc]

    @override
    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> Blocks:
        if self.is_listed:
            return super().blocks(seat, arithmetic)
        return Blocks(1, lambda _: CutBlock(self.game, self._whole, seat, arithmetic))


class CutBlock(Block):
    """All layers, each of which is a sweep of the whole game.

    In the sweep of a layer the moves of the player whose moves count are those that lead to the
    layer: they belong to the positions of the layer before. Where these moves stand, the sweep
    needs the numbers of the layer's own positions of this player, which another sweep has found.
    """

    is_swept_whole = True

    def __init__(self, game: CutGame, whole: Sweeps, seat: int, arithmetic: Arithmetic) -> None:
        super().__init__(arithmetic)
        self._game, self._whole, self._seat = game, whole, seat
        (self._block,) = whole.blocks(seat, arithmetic)
        total = 0 if seat == game.seat else sum(game.whole.exact_range)
        self._cut_pays = Fraction(total) if game.zero_sum else Fraction(0)

    def _in_layer(self, stage: Stage, moves: int) -> Stage:
        return stage._replace(states=stage.states + moves * self._game.rows)

    @override
    def backward(
        self, decide: Decide, gains: Any, cut: Array, values: Values | None = None
    ) -> Array:
        game, arithmetic = self._game, self._arithmetic
        found = arithmetic.zeros(game.limit + 1, game.rows)  # values of the counted player's states

        def at(moves: int, stage: Stage, expected: Array) -> Array:
            mine = stage.seat == game.seat
            if not (mine and moves == 0):
                own = self._in_layer(stage, moves - mine)
                decided = decide(own, expected)
                if values is not None:
                    values.put(own.positions, decided, stage.scale)
                if not mine:
                    return decided
                found[moves - 1, stage.states] = decided
            if moves == game.limit:
                return arithmetic.scaled(self._cut_pays, stage.scale)
            return found[moves, stage.states]

        for moves in reversed(range(game.limit + 1)):
            self._block.backward(partial(at, moves), self._block.gains(None), cut)
        return cut

    @override
    def forward(
        self, decide: Decide, mass: Values, returning: Array, law: PayoffLaw | None = None
    ) -> None:
        game, arithmetic = self._game, self._arithmetic
        begun = mass.numbers.copy()

        def at(moves: int, stage: Stage, met: Array) -> Array:
            own = self._in_layer(stage, moves)
            if stage.seat != game.seat:
                mass.put(own.positions, met, 1)
                return decide(own, met)
            if moves == game.limit:
                if law is not None:
                    law.add(np.full(len(met), arithmetic.number(self._cut_pays)), met)
            else:
                mass.put(own.positions, met, 1)
            if moves == 0:
                return arithmetic.zeros(len(met), game.num_actions)
            before = self._in_layer(stage, moves - 1)
            return decide(before, mass[before.positions])

        for moves in range(game.limit + 1):
            own = begun[:, moves * game.rows : (moves + 1) * game.rows]
            starts = [
                Start(seat, states, own[seat, states])
                for seat in range(game.num_players)
                for states in [np.flatnonzero(own[seat])]
            ]
            each = partial(at, moves)
            layer = self._whole.mass(each, starts, arithmetic)
            self._block.forward(each, layer, returning, law)

    @override
    def roundings(self, decision: int, stay: float) -> float:
        """Bound those of all layers."""
        return (self._game.limit + 1) * self._block.roundings(decision, stay)

    @override
    def forward_roundings(self, decision: int) -> int:
        """Bound those of all layers."""
        return (self._game.limit + 1) * self._block.forward_roundings(decision)
