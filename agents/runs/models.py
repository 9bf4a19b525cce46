"""Environments, models and callbacks, built from the options of a run."""

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch as th
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.utils import LinearSchedule
from torch.distributions import Distribution

from ...baselines import Task
from ...core import InputError
from ...core.sizes import check_array, check_memory
from ...core.words import first_line, one_line
from ..algorithms import ALGORITHMS, Algorithm
from ..learners.self_play import SelfPlay
from ..learners.vec_env import GameVecEnv
from .config import RunError, TrainConfig
from .hyperparameters import OURS, Hyperparameters, read_network
from .options import task_from_options

RUNAWAY = 1e6  # weights of networks that learn are far smaller


class DivergedError(RunError):
    """The weights of a network have left all bounds."""


@contextmanager
def learning(model: BaseAlgorithm) -> Iterator[None]:
    """Let a model learn, without torch's checks of every law, a tenth of PPO's time."""
    checks = Distribution._validate_args
    Distribution.set_default_validate_args(False)
    try:
        yield
    except (ValueError, RuntimeError):
        if all(weight.abs().max() < RUNAWAY for weight in model.policy.parameters()):
            raise
        raise DivergedError(
            f"hyperparameters must keep the weights below {RUNAWAY:g}, which they left within "
            f"{model.num_timesteps:,} steps: lower learning_rate or max_grad_norm"
        ) from None
    finally:
        Distribution.set_default_validate_args(checks)


class _EndedError(Exception):
    """A callback has ended training."""


class _Ending(CallbackList):
    """Callbacks of which any can end training; ARS of sb3-contrib ignores what they return."""

    def _on_step(self) -> bool:
        if not super()._on_step():
            raise _EndedError
        return True


def learn(
    model: BaseAlgorithm, moves: int, callbacks: Sequence[BaseCallback], **options: Any
) -> None:
    """Let a model learn for so many moves, or until a callback ends it."""
    ending = _Ending(list(callbacks))
    try:
        model.learn(moves, callback=ending, **options)
    except _EndedError:
        ending.on_training_end()


def build(config: TrainConfig) -> tuple[Task, BaseAlgorithm, list[BaseCallback]]:
    """Build the task, the model and the callbacks of a run; nothing is written."""
    wanted = {"wandb": config.wandb, "tensorboard": config.tensorboard or config.wandb}
    for library, given in wanted.items():
        if given and importlib.util.find_spec(library) is None:
            raise InputError(
                f"{library} needs a library that is not installed: pip install {library}"
            )
    env = make_env(config)
    model = make_model(config, env)
    callbacks = make_callbacks(config)
    if config.self_play and config.rollouts_vary:
        callbacks.append(SelfPlay(env.task.game))
    return env.task, model, callbacks


def _check_buffers(algorithm: Algorithm, options: Hyperparameters, env: GameVecEnv) -> None:
    """Refuse buffers and tables that would take more memory than the limit."""
    game, space = env.task.game, env.observation_space
    components = int(np.prod(space.shape or 1))
    if algorithm.learns_from == "rollouts":  # single precision; some arrays twice
        numbers = 2 * components + 8 + 2 * game.num_actions
        check_memory("n_steps", options.n_steps, 4.0 * numbers * env.num_envs)
    elif algorithm.learns_from == "replay":  # a move: two observations and four numbers
        each = 2.0 * components * np.dtype(space.dtype).itemsize + 20
        check_memory("buffer_size", options.buffer_size, each)
        check_memory("batch_size", options.batch_size, each)
        if options.n_steps > 1:  # indices, rewards and ends of the n_steps of each move of a batch
            check_memory("n_steps", options.n_steps, 28.0 * options.batch_size)
    elif algorithm.learns_from == "tables":  # values and visits
        check_array("Q-learning's tables", game, 2, game.num_states, game.num_actions)


class FallingEntropy(BaseCallback):
    """Lowers the weight of the entropy bonus linearly to zero in the course of training.

    With a small constant weight a policy becomes deterministic before its values are accurate; with
    a large constant weight it stays random.
    """

    def _on_training_start(self) -> None:
        self._initial: float = self.model.ent_coef  # type: ignore[attr-defined]

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        remaining = max(0.0, 1 - self.num_timesteps / self.model._total_timesteps)
        self.model.ent_coef = self._initial * remaining  # type: ignore[attr-defined]


def make_env(config: TrainConfig) -> GameVecEnv:
    """Build the training environment of a run; the DQN family has payoffs scaled to a span of 1.

    The Huber loss, which this family learns action values by, is linear in errors above 1. Where
    payoffs differ by 9, as in 421, DQN would learn something like their medians instead of their
    means, and never take a risk (0.856 of the optimum there, instead of 0.999).
    """
    keywords = dict(config.hyperparameters.env_kwargs)
    reward, encoding = keywords.pop("reward"), keywords.pop("encoding", "integer")
    task = task_from_options(config.game, keywords)
    lowest, highest = task.game.payoff_range
    is_scaled = ALGORITHMS[config.algorithm].learns_from == "replay" and highest > lowest
    scale = 1 / (highest - lowest) if is_scaled else 1.0
    return GameVecEnv(task, config.hyperparameters.n_envs, reward, encoding, scale)


def make_model(config: TrainConfig, env: GameVecEnv) -> BaseAlgorithm:
    """Build an untrained model for a run."""
    algorithm = ALGORITHMS[config.algorithm]
    model = algorithm.load(config.self_play)
    _check_buffers(algorithm, config.hyperparameters, env)
    device = config.device
    try:
        th.zeros(1, device="cpu" if device == "auto" else device).item()  # there and back
    except Exception as error:  # each kind of device raises its own errors
        raise InputError(
            f"device must be one that PyTorch can use, got {device!r}: {first_line(error)}"
        ) from None
    if algorithm.learns_from in ("tables", "model") and device not in ("cpu", "auto"):
        raise InputError(f"device must be cpu for a table, got {device!r}")
    policy = next(iter(model.policy_aliases))  # a table, or the "MlpPolicy" of a network
    try:
        built: BaseAlgorithm = model(
            policy, env, seed=config.seed, device=device, **_arguments(config)
        )
    except InputError:
        raise
    except Exception as error:  # classes of torch.nn and optimisers raise various errors
        reason = one_line(error)
        raise InputError(f"hyperparameters must fit {model.__name__}: {reason}") from error
    optimizer = getattr(built.policy, "optimizer", None)
    if isinstance(optimizer, th.optim.Adam):  # in one call of torch, an eighth of PPO's time
        for group in optimizer.param_groups:
            group["fused"] = True
    return built


def _arguments(config: TrainConfig) -> dict[str, Any]:
    """Convert hyperparameters to arguments of a model: lin_0.003 to a schedule, for example."""
    options = {n: value for n, value in vars(config.hyperparameters).items() if n not in OURS}
    for name, value in options.items():
        if isinstance(value, str) and value.startswith("lin_"):
            options[name] = LinearSchedule(float(value.removeprefix("lin_")), 0.0, 1.0)
    if "policy_kwargs" in options:
        network = read_network(options["policy_kwargs"])
        for name, module in (("activation_fn", th.nn), ("optimizer_class", th.optim)):
            if name in network:
                network[name] = getattr(module, network[name])
        options["policy_kwargs"] = network
    return options


def make_callbacks(config: TrainConfig) -> list[BaseCallback]:
    """Build the callbacks that the hyperparameters name."""
    named = getattr(config.hyperparameters, "callback", None) or []
    return [FallingEntropy() for _ in ([named] if isinstance(named, str) else named)]
