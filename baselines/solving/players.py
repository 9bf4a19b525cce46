"""What the players do at each stage of a sweep: what a policy says, or what is best."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ...core import FLOATS, Arithmetic, Array, Game, InputError, IntArray, Stage
from ..policies.kinds import Policy
from .rounding import decision_roundings


def with_illegal(game: Game, stage: Stage, expected: Array, arithmetic: Arithmetic) -> Array:
    """Value illegal actions, (state, action), at the worst payoff, as environments do."""
    worst = arithmetic.scaled(arithmetic.payoff_range(game)[0], stage.scale)
    return np.where(game.mask(stage.states), expected, worst[:, None])


def spread(policy: Policy, states: IntArray, mass: Array, arithmetic: Arithmetic) -> Array:
    """Distribute the mass of each state over its actions: shape (state, action)."""
    weights: Array = mass[:, None] * policy.law(states, arithmetic)
    return weights


def one_hot(actions: IntArray, num_actions: int) -> IntArray:
    """Give 1 to each action, shape (state,), and 0 to all others, shape (state, action)."""
    chosen: IntArray = (np.arange(num_actions) == actions[:, None]).astype(np.int64)
    return chosen


class Players:
    """All players of a game, in sweeps for one of them.

    Args:
        game: the rules.
        seat: whose payoffs are meant.
        policies: fixed policies by seat; the seats left out are free.
        arithmetic: of the values.
        worst: free players choose what is worst for them, not what is best.
        partial: values may leave out some of what is paid, so that they need not be in the range
            of payoffs.

    Attributes:
        choices: what each free player chose last in every state, shape (state,); -1 at first.
        roundings: most roundings of a decision.

    Raises:
        InputError: if two are free in a game that is not zero-sum.
    """

    def __init__(
        self,
        game: Game,
        seat: int,
        policies: Mapping[int, Policy],
        arithmetic: Arithmetic = FLOATS,
        worst: bool = False,
        partial: bool = False,
    ) -> None:
        self.game, self.seat, self.arithmetic = game, seat, arithmetic
        self.free = [other for other in range(game.num_players) if other not in policies]
        if len(self.free) > 1 and not game.zero_sum:
            raise InputError(f"{game.name} is not zero-sum, so at most one player can be free")
        self.choices = {other: np.full(game.num_states, -1) for other in self.free}
        self.roundings = decision_roundings(policies.values())
        self._policies, self._worst, self._partial = policies, worst, partial
        self._range = arithmetic.payoff_range(game)
        self._equal = arithmetic.tie(game) if self.free else 0.0

    def in_floats(self) -> "Players":
        """Give the same players for computation in floats."""
        return Players(self.game, self.seat, self._policies, FLOATS, self._worst, self._partial)

    def within(self, values: Array) -> Array:
        """Move values back into the range of payoffs if rounding has taken them out."""
        if self._partial:
            return values
        inside: Array = self.arithmetic.within(values, *self._range)
        return inside

    def choose(self, stage: Stage, expected: Array) -> Array:
        """Value states when all free players choose."""
        return self._decide(stage, expected, self.free)

    def respond(self, stage: Stage, expected: Array) -> Array:
        """Value states when the other player does what it chose last, and its opponent chooses."""
        return self._decide(stage, expected, [1 - self.seat])

    def weigh(self, stage: Stage, mass: Array) -> Array:
        """Spread the mass of states, (state,), over what all do, (state, action)."""
        mover, states = stage.seat, stage.states
        if mover in self._policies:
            weights = spread(self._policies[mover], states, mass, self.arithmetic)
            return weights * self.game.mask(states)  # illegal moves end the game
        chosen = self.choices[mover][states]
        return mass[:, None] * one_hot(chosen, self.game.num_actions)

    def chosen(self, stages: Sequence[Stage]) -> IntArray:
        """List what the free players chose last in the states of some stages."""
        each = [
            self.choices[stage.seat][stage.states] for stage in stages if stage.seat in self.choices
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *each])

    def _decide(self, stage: Stage, expected: Array, choosing: Collection[int]) -> Array:
        return self.within(self._decided(stage, expected, choosing))

    def _decided(self, stage: Stage, expected: Array, choosing: Collection[int]) -> Array:
        mover, states = stage.seat, stage.states
        if mover in self._policies:
            if mover == self.seat:  # others cannot be unmasked
                expected = with_illegal(self.game, stage, expected, self.arithmetic)
            return self._policies[mover].average(states, expected, self.arithmetic)
        if mover not in choosing:
            chosen: Array = expected[np.arange(len(states)), self.choices[mover][states]]
            return chosen
        low = (mover == self.seat) == self._worst
        mask = self.game.mask(states)
        best, optimal = self.arithmetic.best(-expected if low else expected, mask, self._equal)
        self.choices[mover][states] = optimal.argmax(axis=1)
        return -best if low else best
