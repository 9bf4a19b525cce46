"""Many games at once, with the vector API of stable-baselines3."""

import time
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from ...baselines import Task
from ...core import BoolArray
from ...envs import EncodingName, Engine, Features, RewardMode
from ...envs.api.vector import check_actions


class GameVecEnv(VecEnv):
    """The engine of the environments as a stable-baselines3 ``VecEnv``.

    A lane whose game ends starts a new game within the same step. With the same seed it plays the
    same games as ``GameVectorEnv`` with the autoreset mode SAME_STEP.

    Args:
        task: the game, the agent's seat and the other players' policies.
        num_envs: number of games (lanes).
        reward: the reward mode.
        encoding: encoding of the observations.
        reward_scale: factor of the rewards; the statistics of episodes are not scaled.
    """

    def __init__(
        self,
        task: Task,
        num_envs: int,
        reward: RewardMode = "outcome",
        encoding: EncodingName = "integer",
        reward_scale: float = 1.0,
    ) -> None:
        self.task = task
        self.reward_mode = reward
        self.reward_scale = reward_scale
        self.engine = Engine(task, num_envs, reward, encoding)
        self.render_mode = None
        super().__init__(num_envs, *self.engine.spaces())
        self.rng, _ = seeding.np_random(None)
        self._lanes, self._nobody = np.arange(num_envs), np.zeros(num_envs, dtype=bool)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, dtype=np.int64)
        self._actions = np.zeros(num_envs, dtype=np.int64)
        self._started = time.time()

    def face(self, task: Task) -> Features:
        """Start new games with another seat or other opponents; return the first observations."""
        self.task = task
        encoding = self.engine.encoding.name
        self.engine = Engine(task, self.num_envs, self.reward_mode, encoding, tables=False)
        return self.reset()

    def reset(self) -> Features:
        """Start new games in all lanes; a seed passed to ``seed`` before is used once."""
        if self._seeds[0] is not None:
            self.rng, _ = seeding.np_random(self._seeds[0])
        self._reset_seeds()
        self.engine.lanes.start(self._lanes, self.rng)
        self._returns[:], self._lengths[:] = 0.0, 0
        return self.engine.lanes.observations()

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions, shape (num_envs,)."""
        self._actions = check_actions(actions, self.num_envs, self.task.game.num_actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Make one move in every game."""
        outcome = self.engine.step(self._lanes, self._actions, self.rng, self._nobody)
        self._returns += outcome.rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(outcome.over)
        if len(ended):
            last, elapsed = self.engine.lanes.observations(), time.time() - self._started
            for lane in ended.tolist():
                total, length = float(self._returns[lane]), int(self._lengths[lane])
                infos[lane] = {
                    "terminal_observation": last[lane],
                    "TimeLimit.truncated": False,
                    "episode": {"r": total, "l": length, "t": elapsed},
                    "outcome": float(outcome.payoffs[lane]),
                }
                if outcome.illegal[lane]:
                    infos[lane]["illegal_action"] = True
            self.engine.lanes.start(ended, self.rng)
            self._returns[ended], self._lengths[ended] = 0.0, 0
        rewards = (outcome.rewards * self.reward_scale).astype(np.float32)
        return self.engine.lanes.observations(), rewards, outcome.over, infos

    def action_masks(self) -> BoolArray:
        """Return the mask of legal actions, shape (num_envs, action)."""
        return self.engine.lanes.masks()

    def close(self) -> None:
        """Do nothing, as there are no resources to release."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute, which all lanes share, once for each lane."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Raise an AttributeError, as the lanes share their attributes."""
        raise AttributeError(f"{attr_name} cannot be set: all games share one engine")

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call ``action_masks``, the only method of a lane."""
        if method_name != "action_masks":
            raise AttributeError(f"{method_name} must be 'action_masks', the only method of a game")
        return list(self.action_masks()[[*self._get_indices(indices)]])

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Return True for ``Monitor``, whose statistics the infos hold, and False for the rest."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]


def games_of(model: BaseAlgorithm) -> GameVecEnv:
    """Return the games that a model trains in."""
    assert isinstance(model.env, GameVecEnv)
    return model.env
