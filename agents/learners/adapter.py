"""Models of stable-baselines3 as policies for exact computation.

The adapter evaluates the network of a model on the observations of all states. In a sample of
states it compares the resulting actions with the model's ``predict``. It refuses a model of an
unknown class, or with a ``predict`` of its own, rather than score it wrongly.

What a network is given, after wrappers and normalisation, is read from the training environment
that a model holds. A policy alone holds none, and looks the same with and without them, so that it
is taken only with the argument ``observations``, which says it.
"""

import copy
import inspect
from contextlib import suppress
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import torch as th
from sb3_contrib.ars.policies import ARSPolicy
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from sb3_contrib.qrdqn.policies import QRDQNPolicy
from stable_baselines3.common import vec_env
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.vec_env import is_vecenv_wrapped
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn

from ...baselines import LawGame, NetworkPolicy, Reading, Sight, Task, choose
from ...baselines.policies.networks import ROUNDING
from ...baselines.policies.observations import sight_of
from ...core import Array, BoolArray, FloatArray, Game, InputError, IntArray
from ...core.positions import pieces
from ...envs import Opaque, encoding_of, inspect_training, not_followed
from ...envs.api.given import has_law
from ...envs.api.wrappers import inspect_env
from .networks import Change, Perceptron, PerceptronPolicy, change_of, normalisers, perceptron
from .q_learning import ValueTable
from .vec_env import GameVecEnv

BATCH = 8192  # number of observations in a forward pass
SAMPLE = 256  # number of states in which the network is compared with the model's ``predict``
ACTORS = (ActorCriticPolicy, MaskableActorCriticPolicy)
GREEDY = (DQNPolicy, QRDQNPolicy, ValueTable)  # policies that have action values
#: Packages whose methods are known to play by the network.
LIBRARIES = {"exactdice", "sb3_contrib", "stable_baselines3", "torch"}
#: Methods between an observation and an action: an override could play other than by the network.
METHODS = (
    *("predict", "_predict", "forward", "get_distribution", "extract_features", "obs_to_tensor"),
    *("_get_action_dist_from_latent", "set_training_mode"),
)

#: Wrappers of vector environments that change neither observations nor actions.
HARMLESS = {vec_env.VecCheckNan, vec_env.VecMonitor, vec_env.VecVideoRecorder}

#: Code that scores any model as a function of observations, an illegal action as a loss.
CURE = (
    "score what predict plays, exactdice.score(exactdice.from_network(lambda seen: "
    "np.eye(env.action_space.n)[model.predict(seen, deterministic=True)[0]], env, masked=False), "
    "env, masked=False)"
)


class ModelPolicy(PerceptronPolicy):
    """The policy of a stable-baselines3 model, as a callable on (observations, masks).

    The model is a PPO, MaskablePPO, A2C, TRPO, DQN, QRDQN, ARS, QLearning, of a subclass of one of
    these, or the policy of such a model. A law of action values is epsilon-greedy with the model's
    exploration rate. Without ``reading.sight`` the observations are those of the model's own
    environment or of its observation space; without ``reading.observations`` its own
    ``VecNormalize`` is applied, if it has one.
    """

    def __init__(self, model: Any, game: Game, reading: Reading = Reading()) -> None:  # noqa: B008
        super().__init__(type(model).__name__, reading.deterministic, reading.masked)
        policy = model.policy if isinstance(model, BaseAlgorithm) else model
        self.policy: Any = getattr(policy, "_orig_mod", policy)  # unwraps that of torch.compile
        check_kind(model, self.policy)
        self._model = model
        self._sight, self._given = shown_to(model, game, reading.sight, reading.observations)
        self._epsilon = float(getattr(model, "exploration_rate", 0.0))

    def prefer(self, observations: IntArray, num_actions: int) -> Array:
        """Compute the network's outputs in double precision, shape (observation, action)."""
        was_training = self.policy.training
        self.policy.set_training_mode(False)
        seen = self._input(observations)
        with th.no_grad():
            parts = [
                _network(self.policy, seen[piece]).double().cpu()
                for piece in pieces(len(seen), BATCH)
            ]
        self.policy.set_training_mode(was_training)
        preferences: Array = th.cat(parts).numpy()
        everything = np.ones((len(observations), num_actions), dtype=bool)
        choose(preferences, observations, everything, deterministic=True)  # refuses NaN
        return preferences

    def follow(self, preferences: Array, observations: IntArray, legal: BoolArray) -> Array:
        """Return actions (observation,), or probabilities (observation, action)."""
        if not isinstance(self.policy, (ARSPolicy, *GREEDY)):
            return super().follow(preferences, observations, legal)
        best = choose(preferences, observations, legal, deterministic=True)
        if self._deterministic or isinstance(self.policy, ARSPolicy):  # always deterministic
            return best
        greedy = np.arange(legal.shape[1]) == best[:, None]
        uniform = legal / legal.sum(axis=1, keepdims=True)
        return (1 - self._epsilon) * greedy + self._epsilon * uniform

    def _perceptron(self) -> Perceptron | None:
        """Return the actor, or the action-value network; None if it is no perceptron."""
        owner: Any = self.policy
        if isinstance(owner, (DQNPolicy, QRDQNPolicy)):
            name = "q_net" if isinstance(owner, DQNPolicy) else "quantile_net"
            owner = getattr(owner, name)
            layers, extractor = getattr(owner, name), owner.features_extractor
        elif isinstance(owner, ACTORS) and hasattr(owner.mlp_extractor, "policy_net"):
            layers = nn.Sequential(owner.mlp_extractor.policy_net, owner.action_net)
            extractor = owner.pi_features_extractor
        else:
            return None
        if type(extractor) is not FlattenExtractor:
            return None

        def features(observations: IntArray) -> th.Tensor:
            return BasePolicy.extract_features(owner, self._input(observations), extractor)

        return perceptron(layers, features, getattr(owner, "n_quantiles", 1))

    def _input(self, observations: IntArray) -> th.Tensor:
        seen = np.asarray(self._given(self._sight.show(observations)))
        return th.as_tensor(seen, device=self.policy.device)

    def confirm(self, preferences: Array, observations: IntArray) -> None:
        """Compare preferences, and a law, with those of the model's methods in some states."""
        rows = np.linspace(0, len(observations) - 1, min(SAMPLE, len(observations)), dtype=np.int64)
        said, observations = preferences[rows], observations[rows]
        seen = self._input(observations)
        done, _ = self._model.predict(seen.cpu().numpy(), deterministic=True)
        largest = said.max(axis=1)
        missing = largest - said[np.arange(len(rows)), np.asarray(done, dtype=np.int64)]
        wrong = missing > ROUNDING * (1 + np.abs(largest))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"model must play by its network, but predict of {self.__name__} takes action "
                f"{done[row]} at observation {observations[row].tolist()}, where its network "
                f"prefers {said[row].argmax()}: {CURE}"
            )
        if self._deterministic or not isinstance(self.policy, ACTORS):
            return
        with th.no_grad():
            drawn: Any = self.policy.get_distribution(seen).distribution
            law = drawn.probs.double().cpu().numpy()
        expected = choose(said, observations, np.ones(said.shape, dtype=bool), deterministic=False)
        off = np.abs(law - expected).max(axis=1)
        if not (off <= ROUNDING).all():
            row = int(np.argmax(off))
            raise InputError(
                f"model must play by its network, but get_distribution of {self.__name__} is "
                f"off by {off[row]:.3g} at observation {observations[row].tolist()}: {CURE}"
            )

    def preferences(self, observations: IntArray) -> th.Tensor:
        """Return logits or action values with gradients, shape (observation, action)."""
        return _network(self.policy, self._input(observations))

    def critic(self, observations: IntArray, masks: BoolArray) -> FloatArray:
        """Estimate the value of states in rewards by the network, shape (observation,)."""
        if isinstance(self.policy, ARSPolicy):
            raise InputError(f"model must have values, got {self.__name__}, which has none")
        if isinstance(self.policy, GREEDY):
            rated = self.prefer(observations, masks.shape[1])
            return np.where(masks, rated, -np.inf).max(axis=1)
        with th.no_grad():
            values = self.policy.predict_values(self._input(observations))
        return values.double().cpu().numpy().reshape(-1)

    def kept(self) -> NetworkPolicy:
        """Return a copy of the network and of its normalisation, which training does not change."""
        with suppress(Exception):  # a part of a model may raise anything when it is copied
            other = self.with_policy(copied(self.policy))
            other._given = copy.deepcopy(self._given)
            if isinstance(self._model, BaseAlgorithm):
                other._model = copy.copy(self._model)
                other._model.policy = other.policy
            return other
        return self

    def with_policy(self, policy: Any) -> "ModelPolicy":
        """Return a copy with another network of the same kind."""
        other = copy.copy(self)
        other.policy = other._model = policy
        return other


def check_kind(model: Any, policy: Any) -> None:
    """Refuse recurrent policies, unknown classes of policies, and overridden methods."""
    if isinstance(policy, RecurrentActorCriticPolicy):
        raise InputError(
            f"model must choose by the observation alone, and {type(policy).__name__} has a "
            "memory: its state is not a function of the observation, so that it cannot be scored "
            "exactly"
        )
    if not isinstance(policy, (*ACTORS, *GREEDY, ARSPolicy)):
        raise InputError(
            "model must have an actor-critic policy, a linear one or action values (PPO, "
            f"MaskablePPO, A2C, TRPO, DQN, QRDQN, ARS), got {type(policy).__name__}: {CURE}"
        )
    _check_methods(model, ("predict",))
    _check_methods(policy, METHODS)
    for part in ("q_net", "quantile_net"):
        _check_methods(getattr(policy, part, None), ("_predict", "predict"))


def _check_methods(thing: Any, names: tuple[str, ...]) -> None:
    """Refuse an object of which a method is not defined in one of ``LIBRARIES``."""
    for name in names:
        method = inspect.getattr_static(thing, name, None)
        module = getattr(method, "__module__", None) or "stable_baselines3"
        if method is not None and module.partition(".")[0] not in LIBRARIES:
            raise InputError(
                f"model must play by its network, and {type(thing).__name__} has a {name} of its "
                f"own, which may do something else: {CURE}"
            )


def copied(policy: Any) -> Any:
    """Return a deep copy of a model's policy, even directly after a training step.

    An actor's distribution keeps the last outputs of the network with their gradients, and PyTorch
    cannot deep-copy such tensors. The copy shares them, since the next call replaces them.
    """
    last = getattr(policy, "action_dist", None)
    return copy.deepcopy(policy, {} if last is None else {id(last): copy.copy(last)})


def _network(policy: Any, batch: th.Tensor) -> th.Tensor:
    """Return logits or action values, shape (observation, action)."""
    network: Any = policy  # stable-baselines3 declares its parts as tensors or modules
    if isinstance(policy, QRDQNPolicy):
        return network.quantile_net(batch).mean(dim=1)
    if isinstance(policy, GREEDY):
        return network.q_net(batch)
    if isinstance(policy, ARSPolicy):
        return network.action_net(network.extract_features(batch, network.features_extractor))
    # The extractor of the actor may differ from that of the critic.
    features = BasePolicy.extract_features(network, batch, network.pi_features_extractor)
    return network.action_net(network.mlp_extractor.forward_actor(features))


def task_and_sight(env: vec_env.VecEnv | Monitor) -> tuple[Task, Sight]:
    """Return the task and the observations of a ``VecEnv`` or of a monitored environment."""
    if isinstance(env, Monitor):
        return inspect_env(env)
    inner = env
    while isinstance(inner, vec_env.VecEnvWrapper):
        if type(inner) not in HARMLESS:
            raise InputError(
                f"env must be scored as it is played, and {type(inner).__name__} changes it: pass "
                "a bare environment, and a VecNormalize as observations="
            )
        inner = inner.venv
    if isinstance(inner, vec_env.DummyVecEnv) and has_law(inner.envs[0].unwrapped):  # all are alike
        return inspect_env(inner.envs[0])
    if not isinstance(inner, GameVecEnv):
        raise TypeError(
            f"env must be an exactdice environment, got {type(inner).__name__}: pass one of its "
            "environments, such as env.envs[0]"
        )
    return inner.task, inner.engine.encoding.sight


def shown_to(
    model: Any,  # or its policy
    game: Game,  # in which it is scored
    sight: Sight | None,  # of the environment in which it is scored; None if it is not known
    observations: Any,  # turns these into the network's input; by default its own ``VecNormalize``
) -> tuple[Sight, Change]:
    """Find the observations of an environment, and the function to the input of a network."""
    if not isinstance(model, BaseAlgorithm) and observations is None:
        raise InputError(
            f"observations must be given for {type(model).__name__}, a policy without its model, "
            "which does not say what its network is given: pass the model, or observations=, a "
            "VecNormalize or a function, lambda seen: seen if it was trained without"
        )
    env, seen = getattr(model, "env", None), model.observation_space
    try:
        own = sight if sight is not None and sight.wrapped else _own_sight(env, model, game)
    except InputError:
        if sight is None or not callable(observations):
            raise
        own = Sight(seen, sight.show, wrapped=True)  # the user's function follows the wrapper
    change = change_of(env if observations is None and normalisers(env) else observations)
    if sight is not None and _leads_to(seen, sight, game, observations):
        own = Sight(seen, sight.show, wrapped=True)
    own, actions = own or _bare_sight(seen, game), model.action_space
    if own is not None and env is not None and is_vecenv_wrapped(env, vec_env.VecTransposeImage):
        own = Sight(seen, partial(_channels_first, own.show), wrapped=True)
    if own is None or own.space != seen or actions != gym.spaces.Discrete(game.num_actions):
        expected = game.observation_sizes if own is None else own.space
        got = " ".join(f"{seen} and {actions}".split())  # large boxes are shown in several lines
        raise InputError(
            f"model must be trained for observations {expected} and {game.num_actions} actions "
            f"({game!r}), got one for {got}: pass observations=, a function to those of the model"
        )
    return own, change


def _channels_first(show: Change, observations: IntArray) -> Array:
    """Show images as ``VecTransposeImage`` does."""
    return np.moveaxis(show(observations), -1, 1)


def _leads_to(space: gym.Space[Any], sight: Sight, game: Game, observations: Any) -> bool:
    """Return whether a user's function leads from the space of an environment to another one."""
    if sight.space == space or not callable(observations) or hasattr(observations, "normalize_obs"):
        return False
    shown = sight.show(np.zeros((1, len(game.observation_sizes)), dtype=np.int64))
    return np.asarray(observations(shown)).shape[1:] == space.shape


def _bare_sight(space: gym.Space[Any], game: Game) -> Sight | None:
    """Return how an environment without wrappers shows a game in a space; None if none does."""
    if isinstance(game, LawGame) and space == gym.spaces.Discrete(game.rows):
        return sight_of(game, space)
    encoding = encoding_of(space, game.observation_sizes)
    return None if encoding is None else Sight(encoding.space, encoding.encode, wrapped=False)


def _own_sight(env: vec_env.VecEnv | None, model: Any, game: Game) -> Sight | None:
    """Return the observations that the wrappers of training show; None without wrappers."""
    while isinstance(env, vec_env.VecEnvWrapper):
        if type(env) not in (*HARMLESS, vec_env.VecNormalize):
            raise not_followed(type(env).__name__)
        env = env.venv
    if env is None or isinstance(env, GameVecEnv):
        return None
    ours = isinstance(env, vec_env.DummyVecEnv)
    if not ours and _bare_sight(model.observation_space, game) is None:
        return None  # ``shown_to`` compares the spaces, with a better message
    if type(env) is vec_env.SubprocVecEnv:
        _check_other_processes(env)
        return None
    if type(env) is not vec_env.DummyVecEnv:
        raise not_followed(f"a {type(env).__name__}")
    return _common_sight(env, model, game)


def _common_sight(env: vec_env.DummyVecEnv, model: Any, game: Game) -> Sight | None:
    """Return the observations of the environments of a vector; None if they have no wrappers.

    The wrappers compute observations from states of the game of training, which must be ``game``.
    """
    try:
        tasks, sights = zip(*map(inspect_training, env.envs), strict=True)
    except TypeError:  # not an environment of this project
        if _bare_sight(model.observation_space, game) is None:
            return None  # ``shown_to`` compares the spaces, with a better message
        raise not_followed(f"an environment {type(env.envs[0].unwrapped).__name__}") from None
    if not any(sight.wrapped for sight in sights):
        return None
    if not all(sight.wrapped for sight in sights):
        raise not_followed("wrappers in some of its environments")
    trained: Any = tasks[0].game
    same = trained == game
    if has_law(env.envs[0].unwrapped) and isinstance(game, LawGame):  # shows no moves so far
        same = trained.rows == game.rows
    if not same:
        raise InputError(
            f"model must be trained in {game!r}, as wrappers make its observations, got a model "
            f"trained in {trained!r}: pass the environment to score it in with the same wrappers"
        )
    return sights[0]


def _check_other_processes(env: vec_env.SubprocVecEnv) -> None:
    """Check that environments in other processes are unwrapped ones of this project."""
    try:
        if env.closed:
            raise EOFError
        law = env.has_attr("P") and any(map(env.has_attr, ("initial_state_distrib", "isd")))
        ours = env.has_attr("go_to") or law
        bare = ours and not any(env.env_is_wrapped(Opaque))  # type: ignore[arg-type]
    except (EOFError, OSError):  # the other process has ended
        raise InputError(
            "model must have open environments, which give its observations, and its SubprocVecEnv "
            "is closed: score it before that, or load it without an environment"
        ) from None
    if not bare:
        raise not_followed("a wrapper in another process")
