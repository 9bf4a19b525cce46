"""Networks as policies that exact computation understands."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch as th
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.dqn.policies import DQNPolicy

from ..envs import encoding_of
from ..games import Array, BoolArray, Game, InputError, IntArray
from .q_learning import QTable

BATCH = 8192  # observations a forward pass
GREEDY = (DQNPolicy, QTable)  # policies that have action values
KINDS = (*GREEDY, ActorCriticPolicy, MaskableActorCriticPolicy)


class ModelPolicy:
    """What a stable-baselines3 model does at any observations.

    Args:
        model: PPO, MaskablePPO, A2C, DQN, QLearning or a subclass of one.
        game: the rules, which have to be those that the model was trained for.
        deterministic: whether it takes its likeliest action; otherwise it draws from its law,
            which with action values is epsilon-greedy with the model's exploration rate.
        masked: whether it is held to the legal actions.

    Raises:
        ValueError: if the model's spaces are not those of the game.
        TypeError: if the model is of another kind.
    """

    def __init__(
        self, model: BaseAlgorithm, game: Game, deterministic: bool = True, masked: bool = True
    ) -> None:
        encoding = encoding_of(model.observation_space, game.observation_sizes)
        actions = getattr(model.action_space, "n", None)
        if encoding is None or actions != game.num_actions:
            raise InputError(
                f"model must be trained for observations {game.observation_sizes} and "
                f"{game.num_actions} actions ({game!r}), got one for {model.observation_space} "
                f"and {model.action_space}"
            )
        if not isinstance(model.policy, KINDS):
            raise TypeError(
                f"model must have an actor-critic policy or action values, got {model.policy!r}"
            )
        self.policy: Any = model.policy
        self._encoding = encoding
        self._epsilon = float(getattr(model, "exploration_rate", 0.0))
        self._deterministic = deterministic
        self._masked = masked

    def __call__(self, observations: IntArray, masks: BoolArray) -> Array:
        """Give actions (state,) if deterministic, else probabilities (state, action).

        Raises:
            ValueError: if the network gives NaN.
        """
        legal = masks if self._masked else np.ones_like(masks)
        preferences = np.concatenate(list(self._in_batches(observations)))
        if np.isnan(preferences).any():
            state = int(np.argmax(np.isnan(preferences).any(axis=1)))
            raise InputError(
                f"model must give numbers, got NaN at observation {observations[state].tolist()}"
            )
        preferences = np.where(legal, preferences, -np.inf)
        best: IntArray = preferences.argmax(axis=1)
        if self._deterministic:
            return best
        if isinstance(self.policy, GREEDY):
            greedy = np.arange(masks.shape[1]) == best[:, None]
            uniform = legal / legal.sum(axis=1, keepdims=True)
            mixed: Array = (1 - self._epsilon) * greedy + self._epsilon * uniform
            return mixed
        weights = np.exp(preferences - preferences.max(axis=1, keepdims=True))
        probabilities: Array = weights / weights.sum(axis=1, keepdims=True)
        return probabilities

    def _in_batches(self, observations: IntArray) -> Iterator[Array]:
        """Give the preferences at observations, in double precision."""
        was_training = self.policy.training
        self.policy.set_training_mode(False)
        with th.no_grad():
            for start in range(0, len(observations), BATCH):
                batch = self.preferences(observations[start : start + BATCH])
                yield batch.double().cpu().numpy()
        self.policy.set_training_mode(was_training)

    def preferences(self, observations: IntArray) -> th.Tensor:
        """Give logits or action values, shape (observation, action)."""
        features = self._encoding.encode(observations)
        return _network(self.policy, th.as_tensor(features, device=self.policy.device))

    def with_policy(self, policy: Any) -> "ModelPolicy":
        """Give the same with another network of the same kind."""
        other = copy.copy(self)
        other.policy = policy
        return other


def _network(policy: Any, batch: th.Tensor) -> th.Tensor:
    if isinstance(policy, GREEDY):
        values: th.Tensor = policy.q_net(batch)
        return values
    features = policy.extract_features(batch, policy.pi_features_extractor)
    logits: th.Tensor = policy.action_net(policy.mlp_extractor.forward_actor(features))
    return logits
