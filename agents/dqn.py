"""DQN that keeps to the legal actions.

stable-baselines3's DQN has no masks. Illegal actions could come in at three places: the random
actions of warm-up and of epsilon-greedy exploration, the greedy action, and the maximum over the
next state's values in the target. The first is overridden here; the other two ask the network,
which says -inf for illegal actions. With all actions legal every float is as in DQN.
"""

from typing import Any

import numpy as np
import torch as th
from stable_baselines3 import DQN
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.type_aliases import PyTorchObs
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork

from ..envs import Engine, Features
from ..games import BoolArray, IntArray


def legal_actions(engine: Engine, observations: Features) -> BoolArray:
    """Say which actions are legal at encoded observations, shape (observation, action)."""
    return engine.game.mask(engine.game.encode(engine.encoding.decode(observations)))


class MaskedQNetwork(QNetwork):
    """A Q-network whose values of illegal actions are -inf.

    Args:
        engine: what knows the observations and the legal actions.
        kwargs: those of ``QNetwork``.
    """

    def __init__(self, engine: Engine, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.engine = engine

    def forward(self, obs: PyTorchObs) -> th.Tensor:
        """Give the value of each action, shape (observation, action)."""
        assert isinstance(obs, th.Tensor)
        values = super().forward(obs)
        legal = legal_actions(self.engine, obs.cpu().numpy())
        return values.masked_fill(~th.as_tensor(legal, device=values.device), -th.inf)


class MaskedDQNPolicy(DQNPolicy):
    """A DQN policy on ``MaskedQNetwork``.

    Args:
        args: those of ``DQNPolicy``.
        engine: what knows the observations and the legal actions.
        kwargs: those of ``DQNPolicy``.
    """

    def __init__(self, *args: Any, engine: Engine, **kwargs: Any) -> None:
        self._engine = engine
        super().__init__(*args, **kwargs)

    def make_q_net(self) -> MaskedQNetwork:
        """Build the network."""
        net_args = self._update_features_extractor(self.net_args, features_extractor=None)
        return MaskedQNetwork(self._engine, **net_args).to(self.device)


class MaskedDQN(DQN):
    """DQN on a game's environment, exploring and maximising over legal actions only.

    The environment must be a vector of this project; arguments are those of ``DQN``.
    """

    def __init__(self, policy: Any, env: Any, policy_kwargs: Any = None, **kwargs: Any) -> None:
        self.engine: Engine = env.get_attr("engine")[0]
        policy_kwargs = {**(policy_kwargs or {}), "engine": self.engine}
        super().__init__(policy, env, policy_kwargs=policy_kwargs, **kwargs)

    def _explore(self, observations: Features) -> IntArray:
        """Draw a legal action for each observation, all alike."""
        legal = legal_actions(self.engine, observations)
        rank = self.action_space.np_random.integers(0, legal.sum(axis=-1))
        actions: IntArray = (np.cumsum(legal, axis=-1) > rank[..., None]).argmax(axis=-1)
        return actions

    def _sample_action(
        self,
        learning_starts: int,
        action_noise: ActionNoise | None = None,
        n_envs: int = 1,
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.num_timesteps < learning_starts:
            actions = self._explore(np.asarray(self._last_obs))
            return actions, actions
        return super()._sample_action(learning_starts, action_noise, n_envs)

    def predict(
        self,
        observation: Any,
        state: tuple[np.ndarray, ...] | None = None,
        episode_start: np.ndarray | None = None,
        deterministic: bool = False,
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...] | None]:
        """Choose legal actions, greedily or, with the exploration rate, at random."""
        if not deterministic and np.random.rand() < self.exploration_rate:
            return self._explore(np.asarray(observation)), state
        return super().predict(observation, state, episode_start, deterministic=True)
