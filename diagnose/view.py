"""The agent of an environment: its states, its observations of them and its expected rewards."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..baselines import Policy, solve
from ..baselines.solving.occupancy import play
from ..baselines.task import task_and_sight
from ..core import FLOATS, FloatArray, IntArray
from ..core.positions import states_of
from ..envs import RewardMode

#: States whose observations are made at once.
BATCH = 2**13


class AgentView:
    """The agent of an environment.

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.

    Attributes:
        task: the agent's decision problem.
        states: in which the agent may be to move, in growing order, shape (state,).
        scale: factor of the rewards.
    """

    def __init__(self, env: Any) -> None:
        self.task, self._sight = task_and_sight(env)
        self.states = states_of(self.task.game, self.task.seat)
        inner = getattr(env, "unwrapped", env)
        self._mode: RewardMode = getattr(inner, "reward_mode", "outcome")
        self.scale = float(getattr(inner, "reward_scale", 1.0))

    def observations(self, states: IntArray) -> npt.NDArray[Any]:
        """Return states as the environment shows them, shape (state, ...)."""
        seen = self.task.game.observe(states, self.task.seat)
        return np.asarray(seen if self._sight is None else self._sight.show(seen))

    def occupancy(self, policy: Policy) -> FloatArray:
        """Return how often a game meets each of the agent's states, shape (state,).

        It is a probability, or expected visits in a game with cycles, under the condition that the
        agent gets to move: environments replay all other games.
        """
        met: FloatArray = play(policy, self.task, FLOATS).at(self.task.seat, self.states)
        return met

    def rewards(self, states: IntArray, payoffs: FloatArray) -> FloatArray:
        """Turn expected payoffs from states on into expected sums of rewards, shape (state,).

        Rewards of the modes "shaped" and "regret" add up to the payoff less the optimal value of
        the state; rewards may be scaled.
        """
        if self._mode != "outcome":
            payoffs = payoffs - solve(self.task).found.at(self.task.seat, states)
        scaled: FloatArray = payoffs * self.scale
        return scaled
