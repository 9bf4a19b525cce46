"""The sweeps of Greed, a die at a time: O(M^3) for all actions of all states.

With W_n(p, o) the rating of a mover who still has n dice in the air,

    W_0(p, o) = 1 - V(o, p)      W_n(p, o) = 1/s * sum over f = 1..s of W_{n-1}(p + f, o)

and W = 0 above M. In the last turn W_0 is the final comparison instead. W_n with n >= 1 is the
value of the action n, and W_{n-1}(p + f, o) is an action value of a state met before on the way
down from p + o = 2M, so that all actions of a state cost O(s) each and the game O(M^3), where
sums over the pmf of the total (``greed``, equation 4) cost O(M^4).

A stage is an anti-diagonal p + o = k. A die that shows f leads to the one f further on, and only
the s of them ahead, here s = 3, are kept:

    p = M | 1 2 3 - - -      x        the stage in hand, p + o = k
          | x 1 2 3 - -      1, 2, 3  p + o = k + 1, ..., k + s: where a die leads, up a column
          | . x 1 2 3 -      -        done and forgotten
          | . . x 1 2 3      .        to come
          | . . . x 1 2
    p = 0 | . . . . x 1
          +------------
      o = 0         o = M

The opponent's score o, which no roll changes, is the index along a diagonal; the player's own is
implied by it. Last turns are swept by rows p = M, ..., 0 in the same way. ``forward`` runs the
other way and keeps the s anti-diagonals behind.

Ratings in the air are those of ``seat`` where it moves, and 1 minus them where the other does, so
that a bust is 0 in both; in a zero-sum game this is the mover's own rating. They are turned into
values to ``seat`` on the way out to ``decide`` and back on the way in.

Every W_n(p, o) is an integer over 2 s^(2M-p-o), which is the scale of exact values.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .arithmetic import Arithmetic, Array, Values
from .game import Decide, IntArray, Stage

if TYPE_CHECKING:
    from .greed import Greed

HALF = Fraction(1, 2)


def backward(game: "Greed", decide: Decide, seats: Sequence[int], arithmetic: Arithmetic) -> Values:
    """Visit the stages last to first (see ``Game.backward_together``)."""
    values = arithmetic.values(len(seats), 2, game.num_states)
    scales = arithmetic.scales(2, game.sides, 2 * game.max_score + 1)
    _last_turns_backward(game, decide, seats, values, scales, arithmetic)
    last_turn = game.num_scores**2
    air = _DiceInTheAir(
        arithmetic.zeros(game.sides, len(seats), 2, game.num_actions, game.num_scores),
        _weights_backward(game, arithmetic),
    )
    for total in range(2 * game.max_score, -1, -1):
        window, states = game.diagonal(total)
        scale = scales[2 * game.max_score - total]
        one = np.full(len(states), scale, dtype=arithmetic.dtype)
        swapped = states[::-1]  # swapping the two scores reverses the order on a diagonal
        rolled = air.land(total, window)[..., :-1, :]  # (seat, mover, dice - 1, state)
        stop = one - _turn(values.numbers[..., swapped + last_turn], seats, one)[:, ::-1]
        ratings = np.concatenate([stop[:, :, None], rolled], axis=2)
        _decide(decide, seats, states, ratings, one, values)
        landed = one - _turn(values.numbers[..., swapped], seats, one)[:, ::-1]
        air.store(total, window, np.concatenate([landed[:, :, None], rolled], axis=2))
    return values.frozen()


def _last_turns_backward(
    game: "Greed",
    decide: Decide,
    seats: Sequence[int],
    values: Values,
    scales: Array,
    arithmetic: Arithmetic,
) -> None:
    """Fill in the values of last turns, in which nothing depends on other decisions."""
    rows = 1 if game.zero_sum else 2  # what is the mover's own rating is the same to both
    air = _DiceInTheAir(
        arithmetic.zeros(game.sides, rows, game.num_actions, game.num_scores),
        _weights_backward(game, arithmetic),
    )
    halves = arithmetic.scaled(HALF, scales)
    other, everyone = np.arange(game.num_scores), slice(0, game.num_scores)
    for own in range(game.max_score, -1, -1):
        states = (game.num_scores + own) * game.num_scores + other
        dice = 2 * game.max_score - own - other
        mine, others = game.final_halves(np.full_like(other, own), other)
        compared = np.array([mine, 2 - others])[:rows] * halves[dice]
        rolled = air.land(own, everyone)[..., :-1, :]  # (seat to move or other, dice - 1, state)
        ratings = np.concatenate([compared[:, None], rolled], axis=1)
        moving = [[ratings[0 if mover == seat else -1] for mover in (0, 1)] for seat in seats]
        _decide(decide, seats, states, np.array(moving), scales[dice], values)
        air.store(own, everyone, ratings)


def _decide(
    decide: Decide,
    seats: Sequence[int],
    states: IntArray,
    ratings: Array,
    one: Array,
    values: Values,
) -> None:
    """Have a stage of each mover decided on its ratings, shape (seat, mover, dice, state)."""
    for mover in (0, 1):
        expected = np.stack(
            [
                numbers[mover] if mover == seat else one - numbers[mover]
                for seat, numbers in zip(seats, ratings, strict=True)
            ]
        )
        stage = Stage(mover, states, one)
        values.put((..., *stage.positions), decide(stage, expected.swapaxes(1, 2)), one)


def _turn(values: Array, seats: Sequence[int], one: Array) -> Array:
    """Turn values to ``seats``, shape (seat, mover, state), into what is in the air."""
    turned = values.copy()
    for row, seat in enumerate(seats):
        turned[row, 1 - seat] = one - turned[row, 1 - seat]
    return turned


def _weights_backward(game: "Greed", arithmetic: Arithmetic) -> Array:
    """Give 1/s for each face; the scale changes by s^f between the steps."""
    scales = arithmetic.scales(game.sides, game.sides, game.sides)
    weights: Array = arithmetic.scaled(Fraction(1, game.sides), scales)
    return weights


def forward(game: "Greed", decide: Decide, start: Array, arithmetic: Arithmetic) -> Array:
    """Visit the stages first to last: the adjoint of ``backward``."""
    mass = start.copy()
    last_turn = game.num_scores**2
    air = _DiceInTheAir(
        arithmetic.zeros(game.sides, 2, game.num_actions, game.num_scores),
        np.full(game.sides, arithmetic.number(Fraction(1, game.sides))),
    )

    def weigh(mover: int, states: IntArray) -> Array:
        one = np.ones(len(states), dtype=arithmetic.dtype)
        return decide(Stage(mover, states, one), mass[mover, states])

    for total in range(2 * game.max_score + 1):
        window, states = game.diagonal(total)
        swapped = states[::-1]
        landed = air.land(total, window)  # (mover, dice before one landed, state)
        mass[:, swapped] += landed[::-1, 1:2].sum(axis=1)  # the last die landed, if any
        weights = np.stack([weigh(mover, states) for mover in (0, 1)])
        mass[:, swapped + last_turn] += weights[::-1, :, 0]
        in_the_air = weights.transpose(0, 2, 1)  # (mover, dice, state)
        in_the_air[:, 1:-1] += landed[:, 2:]
        air.store(total, window, in_the_air)
    for row in np.arange(last_turn, 2 * last_turn).reshape(game.num_scores, -1):
        for mover in (0, 1):
            weigh(mover, row)
    return mass


class _DiceInTheAir:
    """Numbers by (dice in the air, opponent's score) at the last s steps of a sweep.

    A step is a sum of scores or, in the last turn, the mover's score. Backward the numbers are
    ratings, and a die in the air moves a rating from step k + f to step k; forward they are
    probabilities, moved from step k - f to step k.

    Args:
        steps: zeros, shape (step, ..., dice, score); axes for players may precede the dice.
        weights: of each face, shape (face,).
    """

    def __init__(self, steps: Array, weights: Array) -> None:
        self._steps, self._weights = steps, weights

    def land(self, step: int, window: slice) -> Array:
        """Average over the faces of one die that lands: shape (..., dice, score in window)."""
        # Backward, face f has to meet step + f; forward, the weights are all alike.
        weights = np.roll(self._weights, step + 1)
        total: Array = weights[0] * self._steps[0, ..., window]
        for weight, numbers in zip(weights[1:], self._steps[1:], strict=True):
            total += weight * numbers[..., window]
        return total

    def store(self, step: int, window: slice, numbers: Array) -> None:
        """Remember a step's numbers in place of those s steps ago; all others are zero."""
        slot = self._steps[step % len(self._steps)]
        slot[...] = 0
        slot[..., window] = numbers
