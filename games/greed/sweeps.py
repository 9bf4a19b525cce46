"""The sweeps of Greed: values and mass by the recursion, moves and ends of games as tables."""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np
from typing_extensions import override

from ...core.arithmetic import FLOATS, Arithmetic, Values
from ...core.blocks import Blocks, PayoffLaw, WholeGame
from ...core.moves import Moves
from ...core.sweeps import Sweeps, sweeps_for
from ...core.types import Array, Decide, IntArray, Stage, frozen
from .game import Greed
from .recursion import backward, forward


@sweeps_for(Greed)
class GreedSweeps(Sweeps):
    """Sweeps in O(M^3), a die at a time, and the moves and ends of games as tables."""

    game: Greed
    is_listed = False

    def moves(self, seat: int, player: int) -> Moves:
        """List all moves; those that differ by the number of dice alone share a row of totals."""
        game = self.game
        scores, limit = np.arange(game.num_scores), game.max_score
        totals = np.arange(game.num_scores + game.laws.shape[1])  # own score and a sum
        theirs, reached = scores[:, None], np.minimum(totals, limit)
        seen = [np.broadcast_to(score, (len(scores), len(totals))) for score in (theirs, reached)]
        later = (1 - seat) * game.num_states + game.encode(np.stack([*seen, 0 * seen[0]], axis=-1))
        paid = game.final_halves(totals, theirs)[int(player != seat)] / 2  # if the game ends
        bust = np.broadcast_to(game.is_bust(totals), later.shape)  # (other's score, total)
        stopped = np.stack(np.broadcast_arrays(theirs, scores, 1), axis=-1)  # as the other sees it
        after = (1 - seat) * game.num_states + game.encode(stopped)
        leads_to = np.concatenate([later.ravel(), after.ravel(), np.zeros(paid.size, np.int64)])
        over = np.concatenate([bust.ravel(), np.repeat([False, True], [after.size, paid.size])])
        payoffs = np.concatenate([paid.ravel(), np.zeros(after.size), paid.ravel()])
        own, other, last = game.scores(np.arange(game.num_states))
        row = other * len(totals) + own
        rolls = np.where(last, later.size + after.size + row, row)
        firsts = np.repeat(rolls[:, None], game.num_actions, axis=1)
        firsts[last == 0, 0] = (later.size + other * len(scores) + own)[last == 0]
        laws = np.where(game.mask(np.arange(game.num_states)), np.arange(game.num_actions), -1)
        return Moves(
            laws, firsts, np.where(over, -1, leads_to), np.flatnonzero(over), payoffs[over]
        )

    @override
    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> Blocks:
        return Blocks(1, lambda _: GreedBlock(self.game, seat, arithmetic))

    @override
    def backward_together(
        self, decide: Decide, values: Mapping[int, Values], arithmetic: Arithmetic = FLOATS
    ) -> None:
        backward(self.game, decide, values, arithmetic)

    @override
    def backward_mirrored(self, decide: Decide, arithmetic: Arithmetic = FLOATS) -> Values | None:
        """Visit the stages of player 0 alone, whose values are also player 1's if zero-sum."""
        if not self.game.zero_sum:
            return None
        values = self.values(0, decide, arithmetic)
        backward(self.game, _for_one(decide), {0: values}, arithmetic, movers=[0])
        return values.frozen()


class GreedBlock(WholeGame):
    """The whole game, swept in O(M^3), a die at a time.

    Args:
        game: the rules.
        seat: for whom values are computed.
        arithmetic: of values and mass.
    """

    def __init__(self, game: Greed, seat: int, arithmetic: Arithmetic) -> None:
        super().__init__(arithmetic)
        self._game, self._seat = game, seat

    @override
    def backward(
        self, decide: Decide, gains: None, cut: Array, values: Values | None = None
    ) -> Array:
        if values is None:
            values = self._arithmetic.values(2, self._game.num_states)
        backward(self._game, _for_one(decide), {self._seat: values}, self._arithmetic)
        return cut

    @override
    def forward(
        self, decide: Decide, mass: Values, returning: Array, law: PayoffLaw | None = None
    ) -> None:
        def divide(stage: Stage, met: Array) -> Array:
            weights = decide(stage, met)
            if law is not None and met.any():
                pairs, actions, payoffs, chances = self.settled(stage)
                law.add(payoffs, weights[pairs, actions] * chances)
            return weights

        forward(self._game, divide, mass.numbers, self._arithmetic)

    @override
    def roundings(self, decision: int, stay: float) -> int:
        """Bound the roundings on the longest way to the end, and in one more move.

        Each die shows at least one point, and each turn but the last two scores at least one, which
        bounds the numbers of dice and of turns. A die adds the roundings of a weight, of the
        product and of each addition; a turn adds those of a decision and of three differences
        from 1.
        """
        game = self._game
        most = 2 * game.max_score + 2  # dice; also turns
        # Each die adds one sum of the dice before it for each face, and divides the total.
        chance = game.num_actions * (game.sides + 1)
        move = 1 + chance + int(game.laws.shape[1])
        return most * (game.sides + 1) + (most + 2) * (decision + 3) + move

    @override
    def forward_roundings(self, decision: int) -> int:
        """Bound them by those of a backward pass."""
        return self.roundings(decision, 0.0)

    def settled(self, stage: Stage) -> tuple[IntArray, IntArray, Array, Array]:
        """List how moves of a stage end the game, by the laws of the sums.

        A die that busts has no position in the recursion, so that these ends are found apart.

        Returns:
            For each way its place in the stage, the action, the payoff and its probability.
        """
        game, arithmetic = self._game, self._arithmetic
        own, other, last = game.scores(stage.states)
        ends, needed, bust = (last == 1)[:, None], other - own, game.max_score + 1 - own
        below = _chances(_below(game, arithmetic), needed)
        beyond = _chances(_beyond(game, arithmetic), bust)
        lower = np.where(ends, below, 0)
        equal = np.where(ends, self._between(needed, needed + 1), 0)
        higher = np.where(ends, self._between(needed + 1, bust), 0)
        chances = [beyond, lower, equal, higher]  # by ending
        halves = [end.mover if stage.seat == self._seat else end.other for end in game.endings]
        if halves[0] == halves[1]:  # a bust and a lower score pay the same: one result
            chances, halves = [lower + beyond, equal, higher], halves[1:]
        legal = game.mask(stage.states)
        ways = [np.nonzero(legal & (chance > 0)) for chance in chances]
        payoffs = [arithmetic.number(Fraction(half, 2)) for half in halves]
        return (
            np.concatenate([pairs for pairs, _ in ways]),
            np.concatenate([actions for _, actions in ways]),
            np.repeat(payoffs, [len(pairs) for pairs, _ in ways]),
            np.concatenate([chance[way] for chance, way in zip(chances, ways, strict=True)]),
        )

    def _between(self, first: IntArray, after: IntArray) -> Array:
        """Give the chance of a sum from ``first`` to ``after`` - 1, shape (total, dice).

        It is the difference of two cumulative chances, counted from the nearer end of the law,
        where they are small. So small chances keep their digits, and impossible ones are 0.
        """
        below, beyond = (table(self._game, self._arithmetic) for table in (_below, _beyond))
        low, high = _chances(below, first), _chances(below, after)
        more, most = _chances(beyond, after), _chances(beyond, first)
        between: Array = np.where(high <= most, high - low, most - more)
        return between


def _for_one(decide: Decide) -> Decide:
    """Decide for one player as for several, whose axis comes first."""
    return lambda stage, expected: decide(stage, expected[0])[None]


def _chances(table: Array, totals: IntArray) -> Array:
    """Look totals up in a table of shape (dice, total); gives shape (total, dice)."""
    chances: Array = table[:, np.clip(totals, 0, table.shape[1] - 1)].T
    return chances


@lru_cache(maxsize=4)
def _beyond(game: Greed, arithmetic: Arithmetic) -> Array:
    """Return the chances of sums of at least each total, shape (dice, total); the last is 0."""
    sums = np.cumsum(arithmetic.laws(game)[:, ::-1], axis=1)[:, ::-1]
    return frozen(np.concatenate([sums, np.zeros_like(sums[:, :1])], axis=1))


@lru_cache(maxsize=4)
def _below(game: Greed, arithmetic: Arithmetic) -> Array:
    """Return the chances of sums below each total, shape (dice, total); the last is 1."""
    sums = np.cumsum(arithmetic.laws(game), axis=1)
    return frozen(np.concatenate([np.zeros_like(sums[:, :1]), sums], axis=1))
