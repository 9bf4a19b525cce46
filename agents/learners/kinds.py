"""The classes of models that can be scored, their networks, and a check of overridden methods."""

import inspect
from collections.abc import Callable
from typing import Any

import torch as th
from sb3_contrib.ars.policies import ARSPolicy
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from sb3_contrib.qrdqn.policies import QRDQNPolicy
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn

from ...core import InputError
from .grids import Perceptron, flat, perceptron
from .q_learning import QTable

ACTORS = (ActorCriticPolicy, MaskableActorCriticPolicy)
QUANTILES = (QRDQNPolicy,)
GREEDY = (DQNPolicy, QRDQNPolicy, QTable)  # policies that have action values
#: Packages whose methods are known to play by the network.
LIBRARIES = {"exactdice", "sb3_contrib", "stable_baselines3", "torch"}
#: Methods between an observation and an action: an override could play other than by the network.
METHODS = (
    *("predict", "_predict", "forward", "get_distribution", "extract_features", "obs_to_tensor"),
    *("_get_action_dist_from_latent", "set_training_mode"),
)

#: Code that scores any model as a function of observations, an illegal action as a loss.
CURE = (
    "score what predict plays, exactdice.score(exactdice.from_network(lambda seen: "
    "np.eye(env.action_space.n)[model.predict(seen, deterministic=True)[0]], env, masked=False), "
    "env, masked=False)"
)


def check_kind(model: Any, policy: Any) -> None:
    """Refuse recurrent policies, unknown classes of policies, and overridden methods.

    Args:
        model: the model, or its policy.
        policy: the policy.

    Raises:
        ValueError: naming the class, and the method.
    """
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
        if not isinstance(policy, QTable):
            _check_methods(getattr(policy, part, None), ("_predict", "predict"))


def perceptron_of(policy: BasePolicy) -> tuple[Perceptron, Callable[[th.Tensor], th.Tensor]] | None:
    """Return the actor, or the action-value network, of a stable-baselines3 policy as a perceptron.

    Returns:
        The perceptron, and the function from observations to its input; None if the network is no
        perceptron.
    """
    network: Any = policy  # stable-baselines3 declares its parts as tensors or modules
    quantiles = 1
    if isinstance(policy, QUANTILES):
        network = network.quantile_net
        layers, extractor = network.quantile_net, network.features_extractor
        quantiles = network.n_quantiles
    elif isinstance(policy, DQNPolicy):
        network = network.q_net
        layers, extractor = network.q_net, network.features_extractor
    elif isinstance(policy, ACTORS):
        layers = nn.Sequential(network.mlp_extractor.policy_net, network.action_net)
        extractor = network.pi_features_extractor
    else:
        return None
    found = perceptron(list(flat(layers)), quantiles)
    if found is None or type(extractor) is not FlattenExtractor:
        return None
    return found, lambda batch: BasePolicy.extract_features(network, batch, extractor)


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
