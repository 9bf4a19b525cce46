"""The exact bias and the exact noise of generalised advantage estimation, before any run.

Let P(k | s, a) be the law of the result k of a move: a state s' of the agent, or an end; r the
reward of the move, and v the critic, 0 at ends. The estimate of a move is (see ``estimates``)

    A^(s, a) = g - v(s) + gamma lambda A^(s', a')       g = r + gamma v(s')

with a' drawn from the policy pi, and without the last term at ends. So its mean m and its second
moment q obey two linear recursions, with M(s) = sum over a of pi(a | s) m(s, a), and Q(s) likewise:

    m(s, a) = E[g + gamma lambda M] - v(s)
    q(s, a) = E[(g - v(s))^2 + 2 gamma lambda (g - v(s)) M + (gamma lambda)^2 Q]

where E is the mean over k, and M and Q are 0 at ends. The bias is m less the true advantage under
the same gamma; the standard deviation is the root of q - m^2. With lambda = 1 and gamma = 1 the
bias is V(s) - v(s) for every action: the critic is a baseline, which no gradient feels.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ..baselines import Policy, as_policy, occupancy, prepare
from ..core import FloatArray, SizeError
from ..core.positions import legal_moves
from ..envs import Engine
from ..envs.law import MoveLaw
from .view import AgentView, factor

#: Maps numbers of moves to numbers of states, such as their means over a policy.
OfStates: TypeAlias = Callable[[FloatArray], FloatArray]
#: A recursion ends when no number changes by more than this part of the largest number.
STILL = 1e-14
#: Largest number of passes of a recursion; a game without cycles needs at most one per stage.
MOST_PASSES = 100_000


@dataclass(frozen=True)
class GaeFigures:
    """Bias and noise of advantage estimates, arrays (state, action) in the order of ``sparse_P``.

    The last state is the end, with zeros; illegal actions have NaN.

    Attributes:
        bias: mean of the estimate less the true advantage under the same gamma.
        std: standard deviation of the estimate.
        rms_bias: root of the mean square of the bias, over the moves that the policy makes.
        rms_std: root of the mean square of the standard deviation, over the same moves.
        rms_bias_between_actions: root of the mean square of the bias less its mean over the policy
            in each state; only this part of the bias changes a gradient.
    """

    bias: FloatArray = field(repr=False)
    std: FloatArray = field(repr=False)
    rms_bias: float
    rms_std: float
    rms_bias_between_actions: float


def gae(
    env: Any, policy: Any, values: Any, gamma: float = 1.0, gae_lambda: float = 0.95
) -> GaeFigures:
    """Compute bias and noise of generalised advantage estimates of whole games.

    Args:
        env: an environment of this project, whose reward mode and scale count, or a ``Task``.
        policy: the policy that plays, in any form that ``as_policy`` accepts. Models draw from
            their law.
        values: the critic: a function of a batch of observations as ``env`` shows them, or an
            array by state, shape (state,).
        gamma: discount.
        gae_lambda: the lambda of the estimates.

    Raises:
        InputError: if gamma or lambda is not from 0 to 1, or the critic gives another shape.
        SizeError: if the moves of the game are too many to be listed, or games of the policy last
            too long without a discount.
    """
    return AgentMoves(env).gae(policy, values, gamma, gae_lambda)


class AgentMoves:
    """All legal moves of an environment's agent, with their rewards and results.

    To list them takes most of the time of ``gae``; policies and critics may change afterwards.
    """

    def __init__(self, env: Any) -> None:
        self._env, self._view = env, AgentView(env)
        mode, scale = self._view.mode, self._view.scale
        task, own = self._task, self._own = self._view.task, self._view.states
        self._rows, self._actions = legal_moves(task.game, own)
        states = own[self._rows]
        self._law = MoveLaw(prepare(task), states, self._actions)
        self._after = np.searchsorted(own, self._law.states)  # row of each next state
        paid = self._law.paid * (mode != "regret")
        engine, after = Engine(task, 1, mode, tables=False), self._law.states
        nothing, at_end = np.zeros(len(states)), np.ones(len(states), dtype=bool)
        self._base = engine.rewards(states, self._actions, nothing, states, at_end) * scale
        potential = np.zeros(len(after))
        if mode == "shaped":  # a move to a state adds its value, which a move from it takes away
            potential = -engine.rewards(after, after, potential, after, potential == 0)
        paid[: len(after)] += potential
        self._paid = paid * scale
        self._expected = self._law.mean(self._paid) + self._base

    def gae(self, policy: Any, values: Any, gamma: float, gae_lambda: float) -> GaeFigures:
        """Compute bias and noise of advantage estimates; see the function ``gae``."""
        gamma, gae_lambda = factor(gamma, "gamma"), factor(gae_lambda, "gae_lambda")
        v = self._view.estimates(values, self._own, "values", (self._task.game.num_states,))
        player, chances, averaged = self._played(policy)
        mean, square = self._moments(v, gamma, gae_lambda, averaged)
        true = self._solved(self._expected, gamma, averaged)
        true -= averaged(true)[self._rows]
        bias, std = mean - true, np.sqrt(np.maximum(square - mean**2, 0))
        met = occupancy(player, self._env)[self._own][self._rows] * chances

        def rms(numbers: FloatArray) -> float:
            return float(np.sqrt((met * numbers**2).sum() / met.sum()))

        between = bias - averaged(bias)[self._rows]
        return GaeFigures(self._table(bias), self._table(std), rms(bias), rms(std), rms(between))

    def _table(self, numbers: FloatArray) -> FloatArray:
        """Return the numbers of the moves as a table, shape (state, action)."""
        table = np.full((len(self._own) + 1, self._task.game.num_actions), np.nan)
        table[self._rows, self._actions] = numbers
        table[-1] = 0.0
        return table

    def _moments(
        self, v: FloatArray, gamma: float, gae_lambda: float, averaged: OfStates
    ) -> tuple[FloatArray, FloatArray]:
        """Return m and q of the module's docstring for each move."""
        factor, mean = gamma * gae_lambda, self._law.mean
        g = self._paid + gamma * self._at_results(v)
        offset = self._base - v[self._rows]  # g - v(s), but for what depends on the result
        first, square = mean(g) + offset, mean(g**2) + 2 * offset * mean(g) + offset**2
        m = self._solved(first, factor, averaged)
        later = self._at_results(averaged(m))
        crossed = square + 2 * factor * (mean(g * later) + offset * mean(later))
        return m, self._solved(crossed, factor**2, averaged)

    def values(self, policy: Any, gamma: float) -> FloatArray:
        """Return the expected discounted rewards of a policy in each state, shape (state,).

        The discount of a reward is gamma to the power of the agent's moves before it.
        """
        averaged = self._played(policy)[2]
        return averaged(self._solved(self._expected, gamma, averaged))

    def optimal_action_values(self, gamma: float) -> FloatArray:
        """Return discounted action values of optimal play (state, action), as in ``GaeFigures``."""

        def best(numbers: FloatArray) -> FloatArray:
            values = np.full(len(self._own), -np.inf)
            np.maximum.at(values, self._rows, numbers)
            return values

        return self._table(self._solved(self._expected, gamma, best))

    def _played(self, policy: Any) -> tuple[Policy, FloatArray, OfStates]:
        """Return a policy, its probability of each move, and the means over it of numbers."""
        player = as_policy(policy, self._env, deterministic=False)
        chances = player.probabilities(self._own)[self._rows, self._actions]

        def averaged(numbers: FloatArray) -> FloatArray:
            averages = np.bincount(self._rows, numbers * chances, minlength=len(self._own))
            return averages.astype(np.float64)

        return player, chances, averaged

    def _at_results(self, numbers: FloatArray) -> FloatArray:
        """Return the number of each result: the state's number, or 0 at an end of the game."""
        return np.append(numbers[self._after], np.zeros(len(self._law.payoffs)))

    def _solved(self, paid: FloatArray, discount: float, of_states: OfStates) -> FloatArray:
        """Return the fixed point x = paid + discount E[M(x)] of numbers x of moves."""
        averages = np.zeros(len(self._own))
        for _ in range(MOST_PASSES):
            numbers = paid + discount * self._law.mean(self._at_results(averages))
            before, averages = averages, of_states(numbers)
            still = STILL * max(float(np.abs(averages).max()), 1e-300)
            if np.abs(averages - before).max() <= still:
                return numbers
        raise SizeError(
            f"games of this policy are too long: sums with the discount {discount:g} are not found "
            f"within {MOST_PASSES:,} passes: give a gamma below 1, or a horizon"
        )
