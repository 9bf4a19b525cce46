"""Building environments and models from hyperparameters."""

import ast
import inspect
import math
from typing import Any

import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import LinearSchedule

from ..games import InputError
from .config import TrainConfig, task_from_options
from .dqn import MaskedDQN, MaskedDQNPolicy
from .hyperparameters import Algorithm
from .memory import check_buffers
from .q_learning import QLearning, QTable
from .vec_env import GameVecEnv

MODELS: dict[Algorithm, tuple[Any, Any]] = {
    "ppo": (MaskablePPO, "MlpPolicy"),
    "dqn": (MaskedDQN, MaskedDQNPolicy),
    "qlearning": (QLearning, QTable),
}
#: Hyperparameters that may be schedules, as in rl_zoo3, and those that no model takes.
SCHEDULES = {"learning_rate", "clip_range", "clip_range_vf"}
OURS = {"n_envs", "n_timesteps", "env_kwargs", "callback", "policy"}
#: Hyperparameters from 1 on, and from 0 to 1.
COUNTS = {
    "n_steps",
    "batch_size",
    "n_epochs",
    "buffer_size",
    "train_freq",
    "target_update_interval",
}
FRACTIONS = {
    "gamma",
    "gae_lambda",
    "tau",
    "exploration_fraction",
    "exploration_initial_eps",
    "exploration_final_eps",
    "omega",
}


class FallingEntropy(BaseCallback):
    """Lowers the weight of PPO's entropy bonus linearly to zero in the course of training.

    A small constant weight lets a policy settle on a move before it knows better; a large one
    keeps it from ever settling.
    """

    def _on_training_start(self) -> None:
        self._initial: float = self.model.ent_coef  # type: ignore[attr-defined]

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        remaining = max(0.0, 1 - self.num_timesteps / self.model._total_timesteps)
        self.model.ent_coef = self._initial * remaining  # type: ignore[attr-defined]


CALLBACKS: dict[str, type[BaseCallback]] = {
    "exactdice.agents.models.FallingEntropy": FallingEntropy
}


def make_env(config: TrainConfig) -> GameVecEnv:
    """Build the training environment of a run.

    For DQN payoffs are scaled to a span of 1, as its loss is linear in errors above 1: where
    payoffs differ by 9, as in 421, it would learn something like their medians instead of their
    means, and never take a risk (0.856 of the optimum there, instead of 0.999).

    Raises:
        ValueError: if a keyword of the environment is unknown or out of range.
    """
    keywords = dict(config.hyperparameters["env_kwargs"])
    reward, encoding = keywords.pop("reward"), keywords.pop("encoding", "integer")
    task = task_from_options(config.game, keywords)
    lowest, highest = task.game.payoff_range
    scale = 1 / (highest - lowest) if config.algorithm == "dqn" and highest > lowest else 1.0
    return GameVecEnv(task, config.hyperparameters["n_envs"], reward, encoding, scale)


def make_model(config: TrainConfig, env: GameVecEnv) -> BaseAlgorithm:
    """Build an untrained model for a run.

    Raises:
        ValueError: if a hyperparameter does not fit the model, or the device does not exist.
    """
    options = {name: value for name, value in config.hyperparameters.items() if name not in OURS}
    model, policy = MODELS[config.algorithm]
    defaults = _defaults(model)
    for name, value in options.items():
        if name in SCHEDULES:
            options[name] = _schedule(name, value)
        elif name == "policy_kwargs":
            options[name] = _policy_kwargs(value)
        else:
            _check_number(name, value, defaults.get(name))
    check_buffers(config.algorithm, options, env)
    device = check_device(config.device)
    try:
        built: BaseAlgorithm = model(policy, env, seed=config.seed, device=device, **options)
        return built
    except (TypeError, AssertionError) as error:  # unknown arguments, and values out of range
        raise InputError(f"hyperparameters must fit {model.__name__}: {error}") from None


def _defaults(model: type[BaseAlgorithm]) -> dict[str, Any]:
    """Collect the defaults of a model's arguments, those of its bases included."""
    return {
        name: argument.default
        for kind in reversed(model.__mro__)
        for name, argument in inspect.signature(kind).parameters.items()
    }


def _check_number(name: str, value: Any, default: Any) -> None:
    """Require a number where the default is one: the models notice in the midst of training."""
    if isinstance(default, bool) or not isinstance(default, int | float):
        return
    whole = isinstance(default, int)
    kind = int if whole else int | float
    if isinstance(value, bool) or not isinstance(value, kind) or not math.isfinite(value):
        raise InputError(f"{name} must be a {'whole ' * whole}number, got {value!r}")
    if name in FRACTIONS and not 0 <= value <= 1:
        raise InputError(f"{name} must be from 0 to 1, got {value}")
    if name in COUNTS and value < 1:
        raise InputError(f"{name} must be at least 1, got {value}")


def _schedule(name: str, value: Any) -> float | LinearSchedule:
    """Turn lin_0.003 into a number that falls from 0.003 to zero."""
    try:
        kind, _, number = value.rpartition("_") if isinstance(value, str) else ("", "", value)
        initial = float(number)
        if kind in ("", "lin") and math.isfinite(initial):
            return LinearSchedule(initial, 0.0, 1.0) if kind else initial
    except (TypeError, ValueError):
        pass  # said below
    raise InputError(f"{name} must be a number or such as lin_0.003, got {value!r}")


def _policy_kwargs(value: Any) -> dict[str, Any]:
    """Read a mapping, or a text such as "dict(activation_fn=nn.ReLU, net_arch=[64])".

    rl_zoo3 runs such texts as code; here they are literals and classes of ``torch.nn``.
    """
    if isinstance(value, dict):
        return value
    try:
        call = ast.parse(value, mode="eval").body
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "dict" and not call.args:
            return {str(entry.arg): _literal(entry.value) for entry in call.keywords}
    except (TypeError, ValueError, SyntaxError, AttributeError):
        pass  # said below
    raise InputError(
        'policy_kwargs must be a mapping or such as "dict(activation_fn=nn.ReLU, net_arch=[64])", '
        f"got {value!r}"
    )


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "nn":
        kind = getattr(th.nn, node.attr)
        if isinstance(kind, type) and issubclass(kind, th.nn.Module):
            return kind
    return ast.literal_eval(node)


def make_callbacks(config: TrainConfig) -> list[BaseCallback]:
    """Build the callbacks that the hyperparameters name.

    Raises:
        ValueError: if one is unknown.
    """
    named = config.hyperparameters.get("callback") or []
    callbacks: list[BaseCallback] = []
    for name in named if isinstance(named, list) else [named]:
        if not isinstance(name, str) or name not in CALLBACKS:
            raise InputError(f"callback must be one of {', '.join(CALLBACKS)}, got {name!r}")
        callbacks.append(CALLBACKS[name]())
    return callbacks


def check_device(device: str) -> str:
    """Return the device if a tensor can be put there.

    Raises:
        ValueError: if PyTorch does not know it or does not have it.
    """
    try:
        th.zeros(1, device="cpu" if device == "auto" else device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"device must be one that PyTorch can use, got {device!r}: {reason}"
        ) from None
    return device
