"""The variance of what a policy is paid in a game.

If moves pay at the end alone, the law of payoffs tells it. Where payoffs add up, states do not hold
the total so far, so that its law is unknown, but its variance takes one more sweep backward: by the
law of total variance it is the sum of the variances of the moves (``Block.deviations``). No term is
negative, so that floats lose no digits to differences of large numbers.

That sweep gives W(s), the mean square from s on about a centre C(s): the value of s itself or of
the beginning of its turn. With V(s) the value of a first state s, p(s) its probability, M the mean,

    variance = sum over s of p(s) [W(s) + 2 (V(s) - C(s)) (C(s) - M) + (C(s) - M)^2].
"""

from fractions import Fraction
from typing import Any

import numpy as np
from typing_extensions import override

from ...core import Arithmetic, Array, Stage, Values
from ...core.positions import legal_in
from ...core.sweeps import sweeps_of
from ...core.types import Start
from ..policies.kinds import Policy
from ..task import Task, first_law, policies_against
from . import kept
from .cycles import solve_block
from .players import Players


def variance_of_law(law: dict[Any, Any], arithmetic: Arithmetic) -> float | Fraction:
    """Compute the variance of a law of payoffs."""
    payoffs, chances = (np.array(list(part), arithmetic.dtype) for part in (law, law.values()))
    away = payoffs - arithmetic.mean(chances, payoffs)
    variance: float | Fraction = arithmetic.mean(chances, away * away)
    return variance


def variance_of_sum(
    policy: Policy, task: Task, values: Values, arithmetic: Arithmetic
) -> float | Fraction:
    """Compute the variance of what a policy is paid from the agent's first move on.

    Args:
        policy: the agent's policy.
        task: game, seat and opponents.
        values: of the policy.
        arithmetic: of the values.
    """
    start = first_law(task, arithmetic).start
    found = _folded_squares(policy, task, values, start)
    if found is None:
        found = _squares(policy, task, values, arithmetic, start)
    means = values.at(start.seat, start.states)
    centres = values.centres(start.seat, start.states)
    away = centres - arithmetic.mean(start.chances, means)
    squares = found + 2 * (means - centres) * away + away * away
    mean = arithmetic.mean(start.chances, squares)
    variance: float | Fraction = max(arithmetic.number(0), mean)  # negative by rounding only
    return variance


def _folded_squares(policy: Policy, task: Task, values: Values, start: Start) -> Array | None:
    """Give W of the first states by a sweep that folds values; None if there is none."""
    if task.game.num_players > 1 or policy.fold is None:
        return None
    squares = kept.folded_squares(task.game, policy.fold, values)
    return None if squares is None else squares.at(start.seat, start.states)


def _squares(
    policy: Policy, task: Task, values: Values, arithmetic: Arithmetic, start: Start
) -> Array:
    """Compute W of the first states, shape (state,)."""
    followers = _Followers(policy, task, values, arithmetic, start)
    sweeps = sweeps_of(task.game)
    spreads = sweeps.values(task.seat, followers.choose, arithmetic)
    for block in reversed(sweeps.blocks(task.seat, arithmetic)):
        gains = block.deviations(values, spreads)
        solve_block(block, gains, followers, spreads, arithmetic.zeros(len(block.groups)))
    return followers.found


class _Followers(Players):
    """Players with fixed policies, who note the mean squares of the agent's first states.

    Args:
        policy: the agent's policy.
        task: game, seat and opponents.
        values: of the policy.
        arithmetic: of the values.
        start: the agent's first states, in growing order.

    Attributes:
        found: mean square of each first state, shape (state,).
    """

    def __init__(
        self, policy: Policy, task: Task, values: Values, arithmetic: Arithmetic, start: Start
    ) -> None:
        policies = {**policies_against(task, arithmetic), task.seat: policy}
        super().__init__(task.game, task.seat, policies, arithmetic, partial=True)
        self.found = arithmetic.zeros(len(start.states))
        self._start, self._values = start.states, values

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
            self.found[places[known]] = squares
        return decided
