"""Networks as policies that exact computation understands: the models of stable-baselines3.

A model is asked about every state at once. What is read from its network has to be what its own
``predict`` does, which is checked on a sample of states: a model of a kind that is not understood
is refused rather than scored wrongly.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import torch as th
from sb3_contrib.ars.policies import ARSPolicy
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from sb3_contrib.qrdqn.policies import QRDQNPolicy
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecEnvWrapper
from stable_baselines3.dqn.policies import DQNPolicy

from ...baselines import Reading, Sight, Task, choose
from ...envs import encoding_of, sight_in_training
from ...games import BoolArray, FloatArray, Game, InputError, IntArray
from .q_learning import QTable
from .vec_env import GameVecEnv

BATCH = 8192  # observations a forward pass
SAMPLE = 256  # states in which the network is compared with the model's own choice
ROUNDING = 1e-4  # of a network's float32 preferences
ACTORS = (ActorCriticPolicy, MaskableActorCriticPolicy)
GREEDY = (DQNPolicy, QRDQNPolicy, QTable)  # policies that have action values
#: Wrappers of vectors that leave the game alone, by class.
HARMLESS = {"VecCheckNan", "VecMonitor", "VecVideoRecorder"}


class ModelPolicy:
    """What a model of stable-baselines3 does in any state, as a callable on (observations, masks).

    Args:
        model: PPO, MaskablePPO, A2C, TRPO, DQN, QRDQN, ARS, QLearning, a subclass of one, or the
            policy of one.
        game: the rules, which have to be those that the model was trained for.
        deterministic: whether it takes its likeliest action; otherwise it draws from its law,
            which with action values is epsilon-greedy with the model's exploration rate.
        masked: whether it is held to the legal actions.
        sight: what the environment shows it. By default that is as in the model's own environment,
            or as its observation space says.
        observations: what its network is given of that (see ``as_policy``). By default that is
            what the model's own ``VecNormalize`` makes of it, if it has one.

    Raises:
        ValueError: if the model's spaces are not those of the game, its policy has a memory, or
            it is of another kind.
    """

    def __init__(
        self,
        model: Any,
        game: Game,
        deterministic: bool = True,
        masked: bool = True,
        sight: Sight | None = None,
        observations: Any = None,
    ) -> None:
        self.policy: Any = model.policy if isinstance(model, BaseAlgorithm) else model
        _check_kind(self.policy)
        self.__name__ = type(model).__name__
        self._predict = model.predict
        self._sight = _sight(model, game, sight)
        self._given = _normaliser(model) if observations is None else change_of(observations)
        self._epsilon = float(getattr(model, "exploration_rate", 0.0))
        self._deterministic = deterministic
        self._masked = masked

    def __call__(self, observations: IntArray, masks: BoolArray) -> npt.NDArray[Any]:
        """Give actions (state,) if deterministic, else probabilities (state, action).

        Raises:
            ValueError: if the network gives no numbers, or the model does something else than
                its network says.
        """
        legal = masks if self._masked else np.ones_like(masks)
        chooses = legal.sum(axis=1) > 1  # where only one action is legal there is nothing to ask
        given: npt.NDArray[Any] = legal.argmax(axis=1)
        if chooses.any():
            chosen = self._choose(observations[chooses], legal[chooses])
            given = given if chosen.ndim == 1 else legal.astype(np.float64)
            given[chooses] = chosen
        return given

    def _choose(self, observations: IntArray, legal: BoolArray) -> npt.NDArray[Any]:
        """Ask the network: actions (state,), or probabilities (state, action)."""
        features = self._features(observations)
        preferences = np.concatenate(list(self._in_batches(features)))
        best = choose(preferences, observations, legal, deterministic=True)
        self._check_predictions(features, preferences, observations)
        if self._deterministic or isinstance(self.policy, ARSPolicy):  # which has no law
            return best
        if not isinstance(self.policy, GREEDY):
            return choose(preferences, observations, legal, deterministic=False)
        greedy = np.arange(legal.shape[1]) == best[:, None]
        uniform = legal / legal.sum(axis=1, keepdims=True)
        mixed: npt.NDArray[Any] = (1 - self._epsilon) * greedy + self._epsilon * uniform
        return mixed

    def _features(self, observations: IntArray) -> npt.NDArray[Any]:
        """Give what the network is given."""
        given: npt.NDArray[Any] = np.asarray(self._given(self._sight.show(observations)))
        return given

    def _in_batches(self, features: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
        """Give the preferences at features, in double precision."""
        was_training = self.policy.training
        self.policy.set_training_mode(False)
        with th.no_grad():
            for start in range(0, len(features), BATCH):
                batch = th.as_tensor(features[start : start + BATCH], device=self.policy.device)
                yield _network(self.policy, batch).double().cpu().numpy()
        self.policy.set_training_mode(was_training)

    def _check_predictions(
        self, features: npt.NDArray[Any], preferences: npt.NDArray[Any], observations: IntArray
    ) -> None:
        """Compare with what the model does when it is asked to play, in a sample of states."""
        rows = np.linspace(0, len(features) - 1, min(SAMPLE, len(features))).astype(np.int64)
        said = preferences[rows]
        done = np.asarray(self._predict(features[rows], deterministic=True)[0], dtype=np.int64)
        largest = said.max(axis=1)
        missing = largest - said[np.arange(len(rows)), done]
        wrong = missing > ROUNDING * (1 + np.abs(largest))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"model must do what its network says, but predict of {self.__name__} takes action "
                f"{done[row]} at observation {observations[rows[row]].tolist()}, where its network "
                f"prefers {said[row].argmax()}: pass a callable on (observations, masks) instead"
            )

    def preferences(self, observations: IntArray) -> th.Tensor:
        """Give logits or action values, shape (observation, action)."""
        return _network(
            self.policy, th.as_tensor(self._features(observations), device=self.policy.device)
        )

    def critic(self, observations: IntArray, masks: BoolArray) -> FloatArray:
        """Give what its network takes states to be worth, shape (observation,), in its rewards.

        Raises:
            ValueError: if the network rates no states and no actions.
        """
        features = self._features(observations)
        if isinstance(self.policy, ARSPolicy):
            raise InputError(f"model must rate what it sees, got {self.__name__}, which does not")
        if isinstance(self.policy, GREEDY):
            rated = np.concatenate(list(self._in_batches(features)))
            best: FloatArray = np.where(masks, rated, -np.inf).max(axis=1)
            return best
        with th.no_grad():
            values = self.policy.predict_values(th.as_tensor(features, device=self.policy.device))
        found: FloatArray = values.double().cpu().numpy().reshape(-1)
        return found

    def with_policy(self, policy: Any) -> "ModelPolicy":
        """Give the same with another network of the same kind."""
        other = copy.copy(self)
        other.policy, other._predict = policy, policy.predict
        return other


def _network(policy: Any, batch: th.Tensor) -> th.Tensor:
    """Give logits or action values, shape (observation, action)."""
    network: Any = policy  # whose parts stable-baselines3 declares as tensors or modules
    result: th.Tensor
    if isinstance(policy, QRDQNPolicy):
        result = network.quantile_net(batch).mean(dim=1)
    elif isinstance(policy, GREEDY):
        result = network.q_net(batch)
    elif isinstance(policy, ARSPolicy):
        result = network.action_net(network.extract_features(batch, network.features_extractor))
    else:
        features = network.extract_features(batch, network.pi_features_extractor)
        result = network.action_net(network.mlp_extractor.forward_actor(features))
    return result


def _check_kind(policy: Any) -> None:
    if isinstance(policy, RecurrentActorCriticPolicy):
        raise InputError(
            f"model must choose by what it sees, and {type(policy).__name__} has a memory: its "
            "state is not a function of the observation, so that it cannot be scored exactly"
        )
    if not isinstance(policy, (*ACTORS, *GREEDY, ARSPolicy)):
        raise InputError(
            "model must have an actor-critic policy, a linear one or action values (PPO, "
            f"MaskablePPO, A2C, TRPO, DQN, QRDQN, ARS), got {type(policy).__name__}: pass a "
            "callable on (observations, masks) instead"
        )


def _sight(model: Any, game: Game, sight: Sight | None) -> Sight:
    """Find out what a model is shown, and check that it fits its spaces."""
    if sight is None or not sight.wrapped:
        own = _own_sight(model, game)
        sight = own if own is not None and own.wrapped else None
    encoding = encoding_of(model.observation_space, game.observation_sizes)
    if sight is None and encoding is not None:
        sight = Sight(encoding.space, encoding.encode, wrapped=False)
    seen, actions = model.observation_space, model.action_space
    if sight is None or sight.space != seen or actions != gym.spaces.Discrete(game.num_actions):
        expected = game.observation_sizes if sight is None else sight.space
        got = " ".join(f"{seen} and {actions}".split())  # large boxes are shown in several lines
        raise InputError(
            f"model must be trained for observations {expected} and {game.num_actions} actions "
            f"({game!r}), got one for {got}"
        )
    return sight


def _own_sight(model: Any, game: Game) -> Sight | None:
    """Give what a model was shown in the environment that it carries, None if it carries none.

    Its wrappers are put into states of the game they were made for, so that it has to be this one.
    """
    env = getattr(model, "env", None)
    while isinstance(env, VecEnvWrapper):
        if type(env).__name__ not in (*HARMLESS, "VecNormalize"):
            raise _not_followed(type(env).__name__)
        env = env.venv
    if not isinstance(env, DummyVecEnv):
        for kind in (gym.ObservationWrapper, gym.ActionWrapper):  # in other processes
            if env is not None and any(env.env_is_wrapped(kind)):
                raise _not_followed(f"an {kind.__name__} in another process")
        return None
    try:
        sight = sight_in_training(env.envs[0])
    except TypeError:  # an environment of others; the spaces will say more
        return None
    trained: Game = env.envs[0].unwrapped.task.game  # type: ignore[attr-defined]
    if sight.wrapped and trained != game:
        raise InputError(
            f"model must be trained in {game!r} if it is shown what wrappers make of it, got "
            f"one of {trained!r}: pass the environment to score it in with the same wrappers"
        )
    return sight


def _not_followed(wrapper: str) -> InputError:
    return InputError(
        "model must be shown states as the game has them, one at a time, and it was trained under "
        f"{wrapper}, which cannot be followed: pass model.policy if it leaves observations alone"
    )


def _normaliser(model: Any) -> Callable[[Any], Any]:
    """Give the normalisation of observations under which a model was trained, if it knows one."""
    known = model.get_vec_normalize_env() if isinstance(model, BaseAlgorithm) else None
    return change_of(known)


def change_of(observations: Any) -> Callable[[Any], Any]:
    """Give what changes observations as a function from a batch to a batch; None changes nothing.

    Raises:
        ValueError: if it is no such thing.
    """
    if observations is None:
        return lambda features: features
    normalize: Callable[[Any], Any] | None = getattr(observations, "normalize_obs", None)
    if normalize is not None:
        return normalize
    if callable(observations):
        function: Callable[[Any], Any] = observations
        return function
    raise InputError(
        "observations must be a VecNormalize or a function from a batch of observations to a "
        f"batch, got {type(observations).__name__}"
    )


def from_model(model: Any, game: Game, reading: Reading) -> ModelPolicy:
    """Convert a model of stable-baselines3, or its policy."""
    return ModelPolicy(
        model, game, reading.deterministic, reading.masked, reading.sight, reading.observations
    )


def look(env: VecEnv) -> tuple[Task, Sight]:
    """Give the task of a vector of stable-baselines3, and what its agent is shown.

    Raises:
        TypeError: if it is no vector of this project.
        ValueError: if a wrapper of it changes the game.
    """
    inner = env
    while isinstance(inner, VecEnvWrapper):
        if type(inner).__name__ not in HARMLESS:
            raise InputError(
                f"env must be scored as it is played, and {type(inner).__name__} changes it: pass "
                "a bare environment, and a VecNormalize as observations="
            )
        inner = inner.venv
    if not isinstance(inner, GameVecEnv):
        raise TypeError(
            f"env must be an exactdice environment, got {type(inner).__name__}: pass one of its "
            "environments, such as env.envs[0]"
        )
    return inner.task, inner.engine.sight
