"""DQN and its quantile form that keep to the legal actions.

The DQN of stable-baselines3 and the QRDQN of sb3-contrib have no masks. They can choose illegal
actions at three places: the random actions of warm-up and of epsilon-greedy exploration, the greedy
action, and the maximum over the next state's values in the target. The first is overridden here;
the other two use the network, whose values of illegal actions are -inf. Where all actions are
legal, every float equals that of the original.
"""

from typing import Any, ClassVar

import numpy as np
import torch as th
from sb3_contrib import QRDQN
from sb3_contrib.qrdqn.policies import QRDQNPolicy, QuantileNetwork
from stable_baselines3 import DQN
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.type_aliases import PyTorchObs
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork

from ...core import BoolArray, Game, IntArray
from ...envs import Features, encoding_for


class MaskedNetwork(BasePolicy):
    """Mixin for networks: action values, or their quantiles, are -inf for illegal actions."""

    def __init__(self, game: Game, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.game = game
        self.encoding = encoding_for(self.observation_space, game.observation_sizes)

    def legal(self, observations: Features) -> BoolArray:
        """Return the mask of legal actions at encoded observations, shape (observation, action)."""
        return self.game.mask(self.game.encode(self.encoding.decode(observations)))

    def forward(self, obs: PyTorchObs) -> th.Tensor:
        """Return values of shape (observation, action) or (observation, quantile, action)."""
        assert isinstance(obs, th.Tensor)
        values: th.Tensor = super().forward(obs)
        legal = th.as_tensor(self.legal(obs.cpu().numpy()), device=values.device)
        return values.masked_fill(~(legal if values.dim() == 2 else legal[:, None]), -th.inf)


class MaskedQNetwork(MaskedNetwork, QNetwork):
    """A Q-network whose values of illegal actions are -inf."""


class MaskedQuantileNetwork(MaskedNetwork, QuantileNetwork):
    """A network whose quantiles of illegal actions are -inf."""


class MaskedPolicy(BasePolicy):
    """Mixin for policies on a ``MaskedNetwork``; the game is an argument besides their own."""

    network: ClassVar[type[MaskedNetwork]]
    net_args: dict[str, Any]

    def __init__(self, *args: Any, game: Game, **kwargs: Any) -> None:
        self._game = game
        super().__init__(*args, **kwargs)

    def make_q_net(self) -> Any:
        """Build the network."""
        arguments = self._update_features_extractor(self.net_args, features_extractor=None)
        return self.network(self._game, **arguments).to(self.device)

    make_quantile_net = make_q_net


class MaskedDQNPolicy(MaskedPolicy, DQNPolicy):
    """A DQN policy on ``MaskedQNetwork``; its further argument is the game."""

    network = MaskedQNetwork


class MaskedQRDQNPolicy(MaskedPolicy, QRDQNPolicy):
    """A QRDQN policy on ``MaskedQuantileNetwork``; its further argument is the game."""

    network = MaskedQuantileNetwork


class KeepsToLegal(OffPolicyAlgorithm):
    """Mixin for algorithms that learn action values: they explore legal actions only."""

    exploration_rate: float

    def _setup_model(self) -> None:
        env = self.get_env()
        if env is not None:  # without one, a loaded model has the game in its policy_kwargs
            self.policy_kwargs = {**self.policy_kwargs, "game": env.get_attr("task")[0].game}
        super()._setup_model()

    def _explore(self, observations: Features) -> IntArray:
        """Draw an action for each observation, uniformly among the legal actions."""
        network = next(part for part in self.policy.children() if isinstance(part, MaskedNetwork))
        legal = network.legal(observations)
        rank = self.action_space.np_random.integers(0, legal.sum(axis=-1))
        return (np.cumsum(legal, axis=-1) > rank[..., None]).argmax(axis=-1)

    def _sample_action(
        self, learning_starts: int, action_noise: ActionNoise | None = None, n_envs: int = 1
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


class MaskedDQN(KeepsToLegal, DQN):
    """``DQN`` on environments of this project, exploring and maximising over legal actions only."""

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {"MlpPolicy": MaskedDQNPolicy}


class MaskedQRDQN(KeepsToLegal, QRDQN):
    """``QRDQN`` on environments of this project, exploring and maximising over legal ones only."""

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {"MlpPolicy": MaskedQRDQNPolicy}
