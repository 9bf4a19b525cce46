"""The variance of what a policy is paid in a game whose moves pay before its end.

There payoffs add up. States do not hold the total so far, so that the law of the total is unknown,
but its variance takes one more sweep backward: by the law of total variance it is the sum of the
variances of the moves (``Block.deviations``). No term is negative, so that floats lose no digits to
differences of large numbers.

That sweep gives W(s), the mean square from s on about a centre C(s): the value of s itself or of
the beginning of its turn. With V(s) the value of a first state s, p(s) its probability, M the mean,

    variance = sum over s of p(s) [W(s) + 2 (V(s) - C(s)) (C(s) - M) + (C(s) - M)^2].
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from typing_extensions import override

from ...core import Arithmetic, Array, Stage, Sweeps, Values
from ...core.positions import legal_in
from ...core.types import Start
from ..policies.kinds import Policy
from . import mdp
from .cycles import solve_block
from .players import Players


def variance(
    law: Sweeps,
    policies: Mapping[int, Policy],
    values: Values,  # those of the policies to the seat of ``start``
    start: Start,  # the law of the seat's first state
    arithmetic: Arithmetic,
    # computes the expected visits of each position, which processes need
    visits: Callable[[], Values],
) -> float | Fraction:
    """Compute the variance of what a seat is paid from its first state on."""
    policy, game = policies[start.seat], law.game
    if game.is_process:
        return mdp.variance(game, policy, values, visits(), arithmetic)
    first = start.seat, start.states
    means, centres = values.at(*first), values.centres(*first)
    fold = policy.fold if arithmetic.rounds and game.num_players == 1 else None
    if fold is not None and (squares := law.folded(fold, values)) is not None:
        found = squares.at(*first)
    else:
        found = _Followers(law, policies, values, start, arithmetic).squares()
    away = centres - arithmetic.mean(start.chances, means)
    each = found + 2 * (means - centres) * away + away * away
    mean = arithmetic.mean(start.chances, each)
    return max(arithmetic.number(0), mean)  # negative by rounding only


class _Followers(Players):
    """Players with fixed policies, who note the mean squares W of the first states."""

    def __init__(
        self,
        law: Sweeps,
        policies: Mapping[int, Policy],
        values: Values,  # those of the policies to the seat of ``start``
        start: Start,  # the law of the seat's first state; the states are in growing order
        arithmetic: Arithmetic,
    ) -> None:
        super().__init__(law, start.seat, policies, arithmetic, partial=True)
        self._found = arithmetic.zeros(len(start.states))
        self._start, self._values = start.states, values

    def squares(self) -> Array:
        """Sweep back; give W of the first states, shape (state,)."""
        spreads = self.law.values(self.seat, self.choose, self.arithmetic)
        for block in reversed(self.law.blocks(self.seat, self.arithmetic)):
            gains = block.deviations(self._values, spreads)
            solve_block(block, gains, self, spreads, self.arithmetic.zeros(len(block.groups)))
        return self._found

    @override
    def _with_illegal(self, stage: Stage, expected: Array) -> Array:
        worst = self.arithmetic.payoff_range(self.game)[0]
        away = worst - self._values.centres(*stage.positions)
        squares = self.arithmetic.scaled(away * away, stage.scale)
        return np.where(legal_in(self.game, stage), expected, squares[:, None])

    @override
    def choose(self, stage: Stage, expected: Array) -> Array:
        decided = super().choose(stage, expected)
        if stage.seat == self.seat:
            places = np.searchsorted(self._start, stage.states)
            known = np.append(self._start, -1)[places] == stage.states
            squares = self.arithmetic.unscaled(decided[known], stage.scale[known])
            self._found[places[known]] = squares
        return decided
