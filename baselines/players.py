"""What the players do at each stage of a sweep: what a policy says, or what is best.

Numbers may have rows in front, which sweeps carry side by side.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ..games import FLOATS, Arithmetic, Array, Decide, Game, InputError, IntArray, Stage
from .policies import Policy


def with_illegal(game: Game, stage: Stage, expected: Array, arithmetic: Arithmetic) -> Array:
    """Value illegal actions, (..., state, action), at the worst payoff, as environments do."""
    worst = arithmetic.scaled(arithmetic.payoff_range(game)[0], stage.scale)
    return np.where(game.mask(stage.states), expected, worst[:, None])


def spread(policy: Policy, states: IntArray, mass: Array, arithmetic: Arithmetic) -> Array:
    """Distribute the mass of each state, (..., state), over its actions: (..., state, action)."""
    weights: Array = mass[..., None] * policy.law(states, arithmetic)
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
        arithmetic: Arithmetic = FLOATS,
        worst: bool = False,
    ) -> None:
        self.game, self.seat, self.arithmetic = game, seat, arithmetic
        self.free = [other for other in range(game.num_players) if other not in policies]
        if len(self.free) > 1 and not game.zero_sum:
            raise InputError(f"{game.name} is not zero-sum, so at most one player can be free")
        self.choices = {other: np.full(game.num_states, -1) for other in self.free}
        self._policies, self._worst = policies, worst
        self._equal = arithmetic.tie(game) if self.free else 0.0

    def in_floats(self) -> "Players":
        """Give the same players for computation in floats."""
        return Players(self.game, self.seat, self._policies, FLOATS, self._worst)

    def choose(self, stage: Stage, expected: Array) -> Array:
        """Value states when all free players choose."""
        return self._decide(stage, expected, self.free)

    def follow(self, choosing: Collection[int] = ()) -> Decide:
        """Value states when only some of the free players choose, and the others as they did."""
        return lambda stage, expected: self._decide(stage, expected, choosing)

    def chosen(self, stages: Sequence[Stage]) -> IntArray:
        """List what the free players chose last in the states of some stages."""
        each = [
            self.choices[stage.seat][stage.states] for stage in stages if stage.seat in self.choices
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *each])

    def _decide(self, stage: Stage, expected: Array, choosing: Collection[int]) -> Array:
        mover, states = stage.seat, stage.states
        if mover in self._policies:
            if mover == self.seat:  # others cannot be unmasked
                expected = with_illegal(self.game, stage, expected, self.arithmetic)
            return self._policies[mover].average(states, expected, self.arithmetic)
        if mover not in choosing:
            chosen: Array = expected[..., np.arange(len(states)), self.choices[mover][states]]
            return chosen
        sign = 1 if (mover == self.seat) != self._worst else -1
        mask = self.game.mask(states)
        best, optimal = self.arithmetic.best(sign * expected, mask, self._equal)
        self.choices[mover][states] = optimal.argmax(axis=1)
        return sign * best
