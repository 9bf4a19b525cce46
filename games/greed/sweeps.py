"""The sweeps of Greed, a die at a time: O(M^3) for all actions of all states.

With W_n(p, o) the rating of a mover who still has n dice in the air,

    W_0(p, o) = 1 - V(o, p)      W_n(p, o) = 1/s * sum over f = 1..s of W_{n-1}(p + f, o)

and W = 0 above M, as a bust pays the mover 0 (``endings.BUST``). In the last
turn W_0 is the final comparison instead. W_n with n >= 1 is the value of the action n, and
W_{n-1}(p + f, o) is an action value of a state swept before, as p + o falls from 2M. So each action
of a state costs O(s) and the game O(M^3); sums over the law of the total (equation 4) cost O(M^4).

A stage is an anti-diagonal p + o = k. A die that shows f leads to the anti-diagonal k + f, so that
only the next s anti-diagonals are kept, here s = 3:

    p = M | 1 2 3 - - -      x        the present stage, p + o = k
          | x 1 2 3 - -      1, 2, 3  p + o = k + 1, ..., k + s: a die leads there, up a column
          | . x 1 2 3 -      -        swept and dropped
          | . . x 1 2 3      .        not swept yet
          | . . . x 1 2
    p = 0 | . . . . x 1
          +------------
      o = 0         o = M

The other player's score o, which no roll changes, is the index along an anti-diagonal; p = k - o.
Last turns are swept by rows p = M, ..., 0 in the same way. ``forward`` sweeps in the opposite order
and keeps the s anti-diagonals before the present one.

The rating of dice in the air is the value to ``seat`` if ``seat`` moves; if the other player moves,
it is the payoff of a bust to ``seat`` minus the value to ``seat``. So a bust has rating 0 in both
cases. In a zero-sum game the rating is the value to the mover. ``decide`` takes and gives values to
``seat``.

Every W_n(p, o) is an integer divided by 2 s^(2M-p-o), in the last turn by 2 s^(M-p). These
denominators are the scales of exact values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from typing_extensions import override

from ...core import (
    FLOATS,
    Arithmetic,
    Array,
    Decide,
    IntArray,
    Moves,
    Stage,
    Sweeps,
    Values,
    frozen,
    sweeps_for,
)
from ...core.blocks import Block, Blocks, PayoffLaw, for_one
from ...core.game import once_a_game
from .game import Greed

HALF = Fraction(1, 2)


@sweeps_for(Greed)
class GreedSweeps(Sweeps):
    """Sweeps in O(M^3), a die at a time, and the moves and ends of games as tables."""

    game: Greed
    is_listed = False

    def moves(self, seat: int, player: int) -> Moves:
        """List all moves; those that differ by the number of dice alone share a row of totals."""
        game = self.game
        scores = np.arange(game.num_scores)
        totals = np.arange(game.num_scores + game.laws.shape[1])  # own score and a sum
        theirs, first = scores[:, None], (1 - seat) * game.num_states
        later = (
            first + theirs * len(scores) + np.minimum(totals, game.max_score)
        )  # (other's score, total)
        paid = game.final_halves(totals, theirs)[int(player != seat)] / 2  # if the game ends
        bust = np.broadcast_to(totals > game.max_score, later.shape)
        after = first + (len(scores) + theirs) * len(scores) + scores  # the other's last turn
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
        _Backward(self.game, decide, values, arithmetic).sweep()

    @override
    def backward_mirrored(self, decide: Decide, arithmetic: Arithmetic = FLOATS) -> Values | None:
        """Visit the stages of player 0 alone, whose values are also player 1's if zero-sum."""
        if not self.game.zero_sum:
            return None
        values = self.values(0, decide, arithmetic)
        _Backward(self.game, for_one(decide), {0: values}, arithmetic, movers=[0]).sweep()
        return values.frozen()


class GreedBlock(Block):
    """The whole game, swept in O(M^3), a die at a time, with values to ``seat``."""

    is_swept_whole = decides_all = True

    def __init__(self, game: Greed, seat: int, arithmetic: Arithmetic) -> None:
        super().__init__(arithmetic)
        self._game, self._seat = game, seat

    @override
    def backward(
        self, decide: Decide, gains: None, cut: Array, values: Values | None = None
    ) -> Array:
        if values is None:
            values = self._arithmetic.values(2, self._game.num_states)
        sought = {self._seat: values}
        _Backward(self._game, for_one(decide), sought, self._arithmetic).sweep()
        return cut

    @override
    def forward(
        self, decide: Decide, mass: Values, returning: Array, law: PayoffLaw | None = None
    ) -> None:
        game, arithmetic, met = self._game, self._arithmetic, mass.numbers
        last_turn = game.num_scores**2
        air = _DiceInTheAir(game, arithmetic, (2,), arithmetic.number(Fraction(1, game.sides)), 1)

        def divide(mover: int, states: IntArray) -> Array:
            stage = Stage(mover, states, np.ones(len(states), dtype=arithmetic.dtype))
            weights = decide(stage, met[mover, states])
            if law is not None and weights.any():
                pairs, actions, payoffs, chances = self.settled(stage)
                law.add(payoffs, weights[pairs, actions] * chances)
            return weights

        for total in range(2 * game.max_score + 1):
            window, states = game.diagonal(total)
            swapped = states[::-1]
            landed = air.land(window, 0)  # (mover, state, dice before one landed)
            met[:, swapped] += landed[::-1, :, 1:2].sum(axis=2)  # the last die landed, if any
            weights = np.stack([divide(mover, states) for mover in (0, 1)])  # (mover, state, dice)
            met[:, swapped + last_turn] += weights[::-1, :, 0]
            weights[..., 1:-1] += landed[..., 2:]
            air.store(total, window, weights)
        for row in np.arange(last_turn, 2 * last_turn).reshape(game.num_scores, -1):
            for mover in (0, 1):
                divide(mover, row)

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

        A die that busts has no position in the recursion, so that these ends are found apart. Each
        way has its place in the stage, the action, the payoff and its probability.
        """
        game, arithmetic = self._game, self._arithmetic
        own, other, last = game.scores(stage.states)
        ends, needed, bust = (last == 1)[:, None], other - own, game.max_score + 1 - own
        below, beyond = map(_chances, _cumulative(game, arithmetic), (needed, bust))
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
        below, beyond = _cumulative(self._game, self._arithmetic)
        low, high = _chances(below, first), _chances(below, after)
        more, most = _chances(beyond, after), _chances(beyond, first)
        return np.where(high <= most, high - low, most - more)


def _chances(table: Array, totals: IntArray) -> Array:
    """Look totals up in a table of shape (dice, total); gives shape (total, dice)."""
    return table[:, np.clip(totals, 0, table.shape[1] - 1)].T


@once_a_game
def _cumulative(game: Greed, arithmetic: Arithmetic) -> tuple[Array, Array]:
    """Return the chances of sums below each total, and of at least it, shape (dice, total)."""
    laws = arithmetic.laws(game)
    nothing = np.zeros_like(laws[:, :1])
    below = np.concatenate([nothing, np.cumsum(laws, axis=1)], axis=1)
    beyond = np.concatenate([np.cumsum(laws[:, ::-1], axis=1)[:, ::-1], nothing], axis=1)
    return frozen(below), frozen(beyond)


@dataclass(frozen=True)
class _Backward:
    """A sweep that visits the stages last to first (see ``Sweeps.backward_together``)."""

    game: Greed  # the rules
    decide: Decide  # as for ``Sweeps.backward_together``
    values: Mapping[int, Values]  # by player whose values are computed; they are filled in
    arithmetic: Arithmetic  # of the values
    # The players whose stages are visited; with player 0 alone, the values of player 1's stages are
    # 1 minus the values of player 0's.
    movers: Sequence[int] = (0, 1)

    def _last_turns(self) -> None:
        """Compute the values of last turns."""
        game = self.game
        rows = 1 if game.zero_sum else 2  # the rating is the same for both seats if zero-sum
        air = self._dice_in_the_air(rows)
        other = np.arange(game.num_scores)
        for own in range(game.max_score, -1, -1):
            states = (game.num_scores + own) * game.num_scores + other
            one = self._one(game.max_score - own, states)
            # All scores below the mover's have the same ratings: the mover wins unless it is bust.
            window = slice(max(own - 1, 0), game.num_scores)
            air.copy(own, window.start)
            ratings = air.land(window, 1)  # (seat to move or other, state in window, dice)
            mine, others = game.final_halves(np.full_like(other, own), other)
            halves = np.array([mine, game.endings.bust.other - others])[:rows]
            compared = halves * self.arithmetic.scaled(HALF, one)
            ratings[..., 0] = compared[:, window]
            air.store(own, window, ratings)
            ratings = ratings[:, np.maximum(other - window.start, 0)]  # of all states
            for mover in self.movers:
                rated = [ratings[0 if mover == seat else -1] for seat in self.values]
                self._decide(mover, states, rated, one)

    def sweep(self) -> None:
        """Compute the values of all positions: of last turns, then by falling sums of scores."""
        self._last_turns()
        game, last_turn = self.game, self.game.num_scores**2
        air = self._dice_in_the_air(len(self.values), len(self.movers))
        for total in range(2 * game.max_score, -1, -1):
            window, states = game.diagonal(total)
            swapped = states[::-1]  # swapping the two scores reverses the order on a diagonal
            one = self._one(2 * game.max_score - total, states)
            ratings = air.land(window, 1)  # (seat, mover, state, dice)
            ratings[..., 0] = self._passed(swapped + last_turn, one)
            for column, mover in enumerate(self.movers):
                self._decide(mover, states, ratings[:, column], one)
            ratings[..., 0] = self._passed(swapped, one)
            air.store(total, window, ratings)

    def _dice_in_the_air(self, *rows: int) -> "_DiceInTheAir":
        """Make an empty store of ratings, whose scale grows by a ``ratio`` with each step."""
        ratio = 1 if self.arithmetic.rounds else self.game.sides
        weight = self.arithmetic.scaled(Fraction(1, self.game.sides), ratio)
        return _DiceInTheAir(self.game, self.arithmetic, rows, weight, ratio)

    def _one(self, points: int, states: IntArray) -> Array:
        """Return the scale of states in which ``points`` more points can be scored."""
        one = 1 if self.arithmetic.rounds else 2 * self.game.sides**points
        return np.full(len(states), one, dtype=self.arithmetic.dtype)

    def _decide(
        self, mover: int, states: IntArray, ratings: Array | list[Array], one: Array
    ) -> None:
        """Call ``decide`` with the ratings, (state, dice), of each seat; store the values."""
        bust = self._bust(one)[:, None]
        expected = [
            numbers if mover == seat else bust - numbers
            for seat, numbers in zip(self.values, ratings, strict=True)
        ]
        together = np.stack(expected) if len(expected) > 1 else expected[0][None]
        decided = self.decide(Stage(mover, states, one), together)
        for numbers, values in zip(decided, self.values.values(), strict=True):
            values.put((mover, states), numbers, one)
            if len(self.movers) == 1:
                values.put((1 - mover, states), one - numbers, one)

    def _passed(self, states: IntArray, one: Array) -> Array:
        """Rate the ends of turns after which the other is in ``states``: (seat, mover, state)."""
        bust, rated = self._bust(one), []
        for seat, values in self.values.items():
            later = [values.at_stage(Stage(1 - mover, states, one)) for mover in self.movers]
            rated.append(
                [
                    one - (one - worth) if mover == seat else bust - worth
                    for mover, worth in zip(self.movers, later, strict=True)
                ]
            )
        return np.array(rated)

    def _bust(self, one: Array) -> Array:
        """Return the payoff of a bust to the player who is not the mover."""
        return self.arithmetic.scaled(Fraction(self.game.endings.bust.other, 2), one)


class _DiceInTheAir:
    """The numbers by (other player's score, dice in the air) of the last s steps of a sweep.

    A step is a sum of scores or, in the last turn, the mover's score. Backward the numbers are
    ratings, and a die in the air moves a rating from step k + f to step k; forward they are
    probabilities, moved from step k - f to step k.

    ``rows`` are the sizes of further axes, for players, before these two; ``weight`` is the factor
    of the number that a die with one point moves, ``ratio`` that for each further point.
    """

    def __init__(
        self, game: Greed, arithmetic: Arithmetic, rows: tuple[int, ...], weight: Any, ratio: Any
    ) -> None:
        shape = *rows, game.num_scores, game.num_actions
        self._steps = arithmetic.zeros(game.sides, *shape)  # multiplied by ``weight``
        self._landed = arithmetic.zeros(*rows, game.num_scores * game.num_actions + 1)
        self._weight, self._ratio = weight, ratio
        # From step to step the sum over the faces gains one term and loses one. Floats are summed
        # again at each step, as differences of floats lose digits.
        self._sum = None if arithmetic.rounds else arithmetic.zeros(*shape)

    def land(self, window: slice, dice: int) -> Array:
        """Average over the faces of one die that lands: (..., score in window, dice).

        The average over n dice in the air becomes the entry of n + ``dice``, which is 0 or 1; with
        1, the entry of no dice is meaningless. The next call overwrites the array.
        """
        *rows, _, num_dice = self._steps.shape[1:]
        shape = *rows, window.stop - window.start, num_dice
        size = shape[-2] * num_dice
        landed = self._landed[..., dice : size + dice].reshape(shape)
        if self._sum is None:
            np.add.reduce(self._steps[..., window, :], axis=0, out=landed)
        else:
            landed[...] = self._sum[..., window, :]
        return self._landed[..., :size].reshape(shape)

    def store(self, step: int, window: slice, numbers: Array) -> None:
        """Store the numbers of a step in place of the numbers s steps ago.

        Outside the window numbers are zero, or no later window includes them.
        """
        slot = self._steps[step % len(self._steps)][..., window, :]
        if self._sum is None:
            np.multiply(numbers, self._weight, out=slot)
            return
        total = self._sum[..., window, :]
        total -= self._ratio ** (len(self._steps) - 1) * slot
        total *= self._ratio
        slot[...] = numbers if self._weight == 1 else self._weight * numbers
        total += slot

    def copy(self, score: int, target: int) -> None:
        """Copy the numbers of one score to another score."""
        for numbers in (self._steps,) if self._sum is None else (self._steps, self._sum):
            numbers[..., target, :] = numbers[..., score, :]
