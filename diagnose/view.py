"""The agent of an environment: its states, its observations of them and its expected rewards."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..baselines import Policy, Task, solve
from ..baselines.solving.occupancy import play
from ..baselines.task import task_and_sight
from ..core import FLOATS, FloatArray, InputError, IntArray
from ..core.positions import states_of
from ..core.presentation import present
from ..core.sweeps import expected_values
from ..envs import RewardMode
from .arrays import called, numbers

#: Number of states whose observations are computed at once.
BATCH = 2**13


class AgentView:
    """The agent of an environment.

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.

    Attributes:
        task: the agent's decision problem.
        sight: how the environment shows its states; None for integers.
        states: the states in which the agent may be to move, in increasing order, shape (state,).
        mode: the reward mode.
        scale: the factor by which rewards are multiplied.
    """

    def __init__(self, env: Any) -> None:
        self.task, self.sight = task_and_sight(env)
        self.states = states_of(self.task.game, self.task.seat)
        inner = getattr(env, "unwrapped", env)
        self.mode: RewardMode = getattr(inner, "reward_mode", "outcome")
        self.scale = float(getattr(inner, "reward_scale", 1.0))

    def observations(self, states: IntArray) -> npt.NDArray[Any]:
        """Return states as the environment shows them, shape (state, ...)."""
        seen = self.task.game.observe(states, self.task.seat)
        return np.asarray(seen if self.sight is None else self.sight.show(seen))

    def occupancy(self, policy: Policy) -> FloatArray:
        """Return the occupancy of each of the agent's states, shape (state,).

        It is a probability, or the expected number of visits in a game with cycles, given that the
        agent gets to move: environments replay all other games.
        """
        met: FloatArray = play(policy, self.task, FLOATS).at(self.task.seat, self.states)
        return met

    def rewards(self, states: IntArray, payoffs: FloatArray) -> FloatArray:
        """Convert expected payoffs after states to expected sums of rewards, shape (state,).

        Rewards of the modes "shaped" and "regret" add up to the payoff less the optimal value of
        the state; rewards may be scaled.
        """
        if self.mode != "outcome":
            payoffs = payoffs - solve(self.task).found.at(self.task.seat, states)
        scaled: FloatArray = payoffs * self.scale
        return scaled

    def estimates(
        self, source: Any, states: IntArray, name: str, shape: tuple[int, ...], legal: Any = True
    ) -> FloatArray:
        """Return the estimates of a function or of an array in some states, shape (state, ...).

        Args:
            source: a function of a batch of observations as ``env`` shows them, a torch module, or
                an array for all states of the game.
            states: shape (state,).
            name: of the argument, for messages.
            shape: of an array for all states of the game.
            legal: which of the estimates must be finite.

        Raises:
            InputError: if the estimates have another shape, or are not finite.
        """
        if callable(source):
            given = np.empty((len(states), *shape[1:]))
            for first in range(0, len(states), BATCH):
                piece = slice(first, first + BATCH)
                seen = self.observations(states[piece])
                given[piece] = called(source, name, seen, (len(seen), *shape[1:]))
        else:
            given = numbers(source, name, shape, finite=False)[states]
        wrong = np.argwhere(~np.isfinite(given) & legal)
        if len(wrong):
            place = tuple(wrong[0].tolist())
            game = self.task.game
            seen = game.observe(states[place[0] : place[0] + 1], self.task.seat)[0]
            words = present(game).describe(seen)
            raise InputError(f"{name} must be finite, got {given[place]} at {words}")
        return given


def paid_by_moves(task: Task, mode: RewardMode, states: IntArray, actions: IntArray) -> FloatArray:
    """Return what a reward mode adds to payoffs, whatever a move leads to, shape (move,).

    "regret" pays Q*(s, a) - V*(s), and no payoffs; "shaped" adds V*(s') - V*(s), with V* 0 at ends.
    """
    if mode == "outcome":
        return np.zeros(len(states))
    found = solve(task).found
    best: FloatArray = found.at(task.seat, states)
    if mode == "shaped":
        return -best
    expected: FloatArray = expected_values(task.game, task.seat, states, actions, found)
    return expected - best


def paid_by_results(task: Task, mode: RewardMode, states: IntArray) -> FloatArray:
    """Return what a reward mode adds to payoffs if a move leads to a state, shape (state,)."""
    if mode != "shaped":
        return np.zeros(len(states))
    potential: FloatArray = solve(task).found.at(task.seat, states)
    return potential
