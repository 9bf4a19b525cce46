"""What the players do at each stage of a sweep: what a policy says, or what is best.

Numbers may have rows in front, which sweeps carry side by side.
"""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..games import Array, BoolArray, Decide, Game, InputError, IntArray, Stage
from ..games.arithmetic import EXACT, FLOATS, Arithmetic
from .policies import Policy

#: Float values of actions that differ by no more of the span of payoffs are equal. Errors of a
#: sweep are near 1e-15 of the largest payoff; the closest unequal actions of the default Greed are
#: 3.5e-13 apart.
TIE = 1e-13
#: Payoffs must differ by this part of their size at least, or rounding hides what they differ by.
SMALLEST_SPAN = Fraction(1, 10**6)


def tie(game: Game) -> float:
    """Give the difference up to which float values in a game are equal: ``TIE`` of the span.

    Where payoffs are far larger than their span, rounding errors grow with their size.

    Raises:
        InputError: if the span is lost in that rounding.
    """
    low, high = game.exact_range
    span, size = high - low, max(abs(low), abs(high))
    if 0 < span < SMALLEST_SPAN * size:
        raise InputError(
            f"payoffs must differ by more than {float(SMALLEST_SPAN)} of their size, got "
            f"{float(low)!r} to {float(high)!r}: subtract the smallest from all, or compute exactly"
        )
    return TIE * float(max(span, size / 8))


def maximize(expected: Array, mask: BoolArray, equal: float) -> tuple[Array, BoolArray]:
    """Give the largest legal entry of each row, and which entries are as large.

    Args:
        expected: numbers, shape (state, action).
        mask: which are legal, of the same shape.
        equal: floats that differ by no more are equal (see ``tie``).
    """
    best: Array
    if expected.dtype == object:  # comparing takes time, so only legal entries are
        rows, actions = np.nonzero(mask)
        numbers = expected[rows, actions]
        best = np.maximum.reduceat(numbers, np.searchsorted(rows, np.arange(len(mask))))
        optimal = np.zeros_like(mask)
        optimal[rows, actions] = numbers == best[rows]
        return best, optimal
    legal = np.where(mask, expected, -np.inf)
    best = legal.max(axis=1) + 0.0  # of 0.0 and -0.0 processors take either: make it 0.0
    return best, legal >= (best - equal)[:, None]


def with_illegal(game: Game, states: IntArray, expected: Array) -> Array:
    """Value illegal actions (state, action) at the worst payoff, as the environments do."""
    worst: Array = np.full(len(states), game.payoff_range[0])
    if expected.dtype == object:
        worst = game.denominators(states) * game.exact_range[0]
    return np.where(game.mask(states), expected, worst[:, None])


def spread(policy: Policy, states: IntArray, mass: Array) -> Array:
    """Distribute the mass of each state, (..., state), over its actions: (..., state, action)."""
    exact = mass.dtype == object
    law = policy.exact_probabilities(states) if exact else policy.probabilities(states)
    weights: Array = mass[..., None] * law
    return weights


class Players:
    """All players of a game, in sweeps for one of them.

    Args:
        game: the rules.
        seat: whose payoffs are meant.
        policies: fixed policies by seat; the seats left out are free.
        arithmetic: of the values.
        worst: free players choose what is worst for them, not what is best.

    Attributes:
        choices: what each free player chose last in every state, shape (state,); -1 at first.

    Raises:
        InputError: if two are free in a game that is not zero-sum.
    """

    def __init__(
        self,
        game: Game,
        seat: int,
        policies: Mapping[int, Policy],
        arithmetic: Arithmetic,
        worst: bool = False,
    ) -> None:
        self.game, self.seat, self.arithmetic = game, seat, arithmetic
        self.free = [other for other in range(game.num_players) if other not in policies]
        if len(self.free) > 1 and not game.zero_sum:
            raise InputError(f"{game.name} is not zero-sum, so at most one player can be free")
        self.choices = {other: np.full(game.num_states, -1) for other in self.free}
        self._policies, self._worst = policies, worst
        self._equal = 0.0 if arithmetic is EXACT or not self.free else tie(game)

    def choose(self, stage: Stage, expected: Array) -> Array:
        """Value states when the free players choose."""
        return self._decide(stage, expected, self.free)

    def follow(self, choosing: Collection[int] = ()) -> Decide:
        """Value states when only some of the free players choose, and the others as they did."""
        return lambda stage, expected: self._decide(stage, expected, choosing)

    def chosen(self, stages: Sequence[Stage]) -> IntArray:
        """List what the free players chose last in the states of some stages."""
        each = [self.choices[mover][states] for mover, states in stages if mover in self.choices]
        return np.concatenate([np.empty(0, dtype=np.int64), *each])

    def in_floats(self) -> "Players":
        """Give the same players for computation in floats."""
        return Players(self.game, self.seat, self._policies, FLOATS, self._worst)

    def _decide(self, stage: Stage, expected: Array, choosing: Collection[int]) -> Array:
        mover, states = stage
        if mover in self._policies:
            if mover == self.seat:  # others cannot be unmasked
                expected = with_illegal(self.game, states, expected)
            return self._policies[mover].expectation(states, expected)
        if mover not in choosing:
            chosen: Array = expected[..., np.arange(len(states)), self.choices[mover][states]]
            return chosen
        sign = 1 if (mover == self.seat) != self._worst else -1
        best, optimal = maximize(sign * expected, self.game.mask(states), self._equal)
        self.choices[mover][states] = optimal.argmax(axis=1)
        return sign * best
