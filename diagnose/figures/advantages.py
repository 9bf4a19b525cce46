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
from typing import Any

import numpy as np

from ...baselines import as_policy, occupancy, solve
from ...core import FloatArray
from ...core.positions import legal_moves
from ...core.sweeps import expected_values
from ..arrays import factor
from ..law import MoveLaw
from ..view import AgentView

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
        SizeError: if the moves of the game are too many to be listed.
    """
    check_factors(gamma=gamma, gae_lambda=gae_lambda)  # before the moves are listed
    return AgentMoves(env).gae(policy, values, gamma, gae_lambda)


def check_factors(**factors: float) -> None:
    """Check that factors are from 0 to 1.

    Raises:
        InputError: naming the first factor outside this range.
    """
    for name, number in factors.items():
        factor(number, name)


class AgentMoves:
    """All legal moves of an environment's agent, with their rewards and results.

    To list them takes most of the time of ``gae``; policies and critics may change afterwards.

    Args:
        env: an environment of this project, whose rewards count, or a ``Task``.

    Raises:
        InputError: if the task has no tables.
        SizeError: if the moves of the game are too many to be listed.
    """

    def __init__(self, env: Any) -> None:
        self._env, self._view = env, AgentView(env)
        view = self._view
        task, own, mode = view.task, view.states, view.mode
        self._task, self._own = task, own
        self.rows, self.actions = legal_moves(task.game, own)
        self._law = MoveLaw(task, own[self.rows], self.actions)
        self._after = np.searchsorted(own, self._law.states)  # row of each next state
        self._v = np.zeros(len(own))
        ends = len(self._law.payoffs)
        self._paid = np.append(np.zeros(len(self._after)), self._law.payoffs)
        self._base = np.zeros(len(self.rows))  # what the reward mode adds in each move
        if mode != "outcome":
            found = solve(task).found
            best = found.at(task.seat, own)
            if mode == "regret":
                self._paid[:] = 0
                states = own[self.rows]
                self._base = expected_values(task.game, task.seat, states, self.actions, found)
            else:
                self._paid += np.append(best[self._after], np.zeros(ends))
            self._base = self._base - best[self.rows]
        self._paid, self._base = self._paid * view.scale, self._base * view.scale

    def gae(self, policy: Any, values: Any, gamma: float, gae_lambda: float) -> GaeFigures:
        """Compute bias and noise of advantage estimates; see the function ``gae``."""
        check_factors(gamma=gamma, gae_lambda=gae_lambda)
        shape = (self._task.game.num_states,)
        self._v = self._view.estimates(values, self._own, "values", shape)
        player = as_policy(policy, self._env, deterministic=False)
        chances = player.probabilities(self._own)[self.rows, self.actions]
        mean, square = self.moments(chances, gamma, gae_lambda)
        true = self.advantages(chances, gamma)
        bias, std = mean - true, np.sqrt(np.maximum(square - mean**2, 0))
        met = occupancy(player, self._env)[self._own][self.rows] * chances

        def rms(numbers: FloatArray) -> float:
            return float(np.sqrt((met * numbers**2).sum() / met.sum()))

        between = bias - self._averaged(bias, chances)[self.rows]
        return GaeFigures(self.table(bias), self.table(std), rms(bias), rms(std), rms(between))

    def table(self, numbers: FloatArray) -> FloatArray:
        """Return the numbers of the moves as a table, shape (state, action)."""
        table = np.full((len(self._own) + 1, self._task.game.num_actions), np.nan)
        table[self.rows, self.actions] = numbers
        table[-1] = 0.0
        return table

    def moments(
        self, chances: FloatArray, gamma: float, gae_lambda: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return m and q of the module's docstring for each move."""
        factor, v, mean = gamma * gae_lambda, self._v[self.rows], self._law.mean
        g = self._paid + gamma * self._at_results(self._v)
        offset = self._base - v  # g - v(s), but for what depends on the result
        first, square = mean(g) + offset, mean(g**2) + 2 * offset * mean(g) + offset**2

        def estimate(averages: FloatArray) -> FloatArray:
            estimates: FloatArray = first + factor * mean(self._at_results(averages))
            return estimates

        over_policy = self._mean_over(chances)
        m = self._solved(estimate, over_policy)
        later = self._at_results(self._averaged(m, chances))
        crossed = square + 2 * factor * (mean(g * later) + offset * mean(later))

        def second(averages: FloatArray) -> FloatArray:
            squares: FloatArray = crossed + factor**2 * mean(self._at_results(averages))
            return squares

        return m, self._solved(second, over_policy)

    def advantages(self, chances: FloatArray, gamma: float) -> FloatArray:
        """Return the true advantage of each move under a discount."""
        found = self._solved(self._step(gamma), self._mean_over(chances))
        lead: FloatArray = found - self._averaged(found, chances)[self.rows]
        return lead

    def values(self, policy: Any, gamma: float) -> FloatArray:
        """Return the expected discounted rewards of a policy in each state, shape (state,).

        The discount of a reward is gamma to the power of the agent's moves before it.
        """
        player = as_policy(policy, self._env, deterministic=False)
        chances = player.probabilities(self._own)[self.rows, self.actions]
        return self._averaged(self._solved(self._step(gamma), self._mean_over(chances)), chances)

    def optimal_action_values(self, gamma: float) -> FloatArray:
        """Return the discounted action values of optimal play, shape (state, action).

        Illegal actions have NaN. The last state is the end, with zeros.
        """

        def best(numbers: FloatArray) -> FloatArray:
            values = np.full(len(self._own), -np.inf)
            np.maximum.at(values, self.rows, numbers)
            return values

        return self.table(self._solved(self._step(gamma), best))

    def _step(self, gamma: float) -> Callable[[FloatArray], FloatArray]:
        """Return the function from values of states to those of moves."""
        paid = self._law.mean(self._paid) + self._base

        def step(values: FloatArray) -> FloatArray:
            worth: FloatArray = paid + gamma * self._law.mean(self._at_results(values))
            return worth

        return step

    def _at_results(self, numbers: FloatArray) -> FloatArray:
        """Return the number of each result: the state's number, or 0 at an end of the game."""
        return np.append(numbers[self._after], np.zeros(len(self._law.payoffs)))

    def _averaged(self, numbers: FloatArray, chances: FloatArray) -> FloatArray:
        """Return the mean of the numbers of moves over the policy, one for each state."""
        averages = np.bincount(self.rows, numbers * chances, minlength=len(self._own))
        return averages.astype(np.float64)

    def _mean_over(self, chances: FloatArray) -> Callable[[FloatArray], FloatArray]:
        return lambda numbers: self._averaged(numbers, chances)

    def _solved(
        self,
        step: Callable[[FloatArray], FloatArray],
        of_states: Callable[[FloatArray], FloatArray],
    ) -> FloatArray:
        """Return the fixed point of a recursion on the numbers of moves.

        Args:
            step: maps numbers of states to numbers of moves.
            of_states: maps numbers of moves to numbers of states.
        """
        averages = np.zeros(len(self._own))
        for _ in range(MOST_PASSES):
            numbers = step(averages)
            before, averages = averages, of_states(numbers)
            still = STILL * max(float(np.abs(averages).max()), 1e-300)
            if np.abs(averages - before).max() <= still:
                return numbers
        raise ArithmeticError(f"a recursion must end within {MOST_PASSES} passes, and did not")
