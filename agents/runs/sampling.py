"""Estimated scores from sample games, for training in games where an exact score takes minutes.

Each sample game yields the sum of the exact regrets of its moves. By the performance-difference
identity the mean of these sums estimates the agent's regret. Its standard deviation is much smaller
than that of the payoffs, since the sums leave out the luck of the dice.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from ...baselines import Task, random_value, solve
from ...envs import Engine
from ..learners.adapter import ModelPolicy

#: Number of sample games in a score.
GAMES = 2048
#: A normal variable is at least this many standard deviations from its mean in 5 % of cases.
_WIDE = 1.96


@dataclass(frozen=True)
class SampleScore:
    """An estimate of the score of an agent.

    Attributes:
        value: estimate of the expected payoff.
        optimum: expected payoff of optimal play, exact.
        random: expected payoff of uniformly random play, exact.
        margin: half the width of the 95 % confidence interval of ``value`` and of ``regret``.
        moves: mean number of the agent's moves in a game.
    """

    value: float
    optimum: float
    random: float
    margin: float
    moves: float

    @property
    def regret(self) -> float:
        """Estimate of optimum - value."""
        return self.optimum - self.value

    @property
    def normalized(self) -> float:
        """Estimate of (value - random) / (optimum - random); 1 if optimum and random agree."""
        span = self.optimum - self.random
        return (self.value - self.random) / span if span > 0 else 1.0


def sample_score(policy: ModelPolicy, task: Task, seed: tuple[int, ...]) -> SampleScore:
    """Estimate the score of a policy from ``GAMES`` games.

    Args:
        policy: the policy.
        task: game, seat and opponents.
        seed: seeds of the random generator, such as the seed of the run and its present step.
    """
    engine, rng = Engine(task, GAMES, "regret"), np.random.default_rng(seed)
    lanes = np.arange(GAMES)
    engine.reset(lanes, rng)
    lost, moves = np.zeros(GAMES), 0
    while len(lanes):
        states = engine.states[lanes]
        seen = task.game.observe(states, task.seat)
        played = engine.step(lanes, policy(seen, task.game.mask(states)), rng)
        lost[lanes] -= played.rewards
        moves += len(lanes)
        lanes = lanes[~played.over]
    optimum, margin = float(solve(task).value), _WIDE * float(lost.std(ddof=1)) / sqrt(GAMES)
    return SampleScore(
        optimum - float(lost.mean()), optimum, random_value(task), margin, moves / GAMES
    )
