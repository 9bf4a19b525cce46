"""Audits of the buffers of stable-baselines3 models."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch as th
from stable_baselines3.common.buffers import (
    DictReplayBuffer,
    ReplayBuffer,
    RolloutBuffer,
)
from stable_baselines3.common.utils import obs_as_tensor
from stable_baselines3.common.vec_env import VecNormalize

from ...core import InputError
from ..audits.audit import audit
from ..records import Rollout, Transitions
from ..report import Report
from .diagnosed import Diagnosed

#: Approximate number of steps in one audit, which takes whole lanes or rows of a buffer.
AUDITED = 2048
#: Smallest number of steps in an audit: fewer steps fit too many known mistakes.
LEAST = 64


class TooShortError(InputError):
    """A buffer holds too few steps for an audit."""


def audit_buffer(diagnosed: Diagnosed, seen: Mapping[str, Any]) -> Report:
    """Audit the latest steps in a model's buffer, before its update.

    Args:
        diagnosed: the model and its environment.
        seen: the local variables of the model's loop: ``new_obs`` and ``dones`` of the last step.

    Raises:
        TooShortError: if the buffer holds too few steps.
        InputError: if the buffer is of an unknown kind, or cannot be read.
    """
    model = diagnosed.model
    normaliser = model.get_vec_normalize_env()
    buffer = getattr(model, "rollout_buffer", None)
    if isinstance(buffer, RolloutBuffer):
        if isinstance(normaliser, VecNormalize):
            raise InputError("the rollout buffer holds numbers that VecNormalize has changed")
        return _audit_rollout(diagnosed, buffer, seen)
    buffer = getattr(model, "replay_buffer", None)
    if not isinstance(buffer, ReplayBuffer) or buffer.optimize_memory_usage:
        raise InputError("the model has no rollout or replay buffer that keeps next observations")
    return audit(diagnosed.env, _transitions(buffer))


def _audit_rollout(diagnosed: Diagnosed, buffer: Any, seen: Mapping[str, Any]) -> Report:
    """Audit the first lanes of a rollout."""
    model = diagnosed.model
    rows, lanes = buffer.rewards.shape
    _check_length(rows * lanes)
    lanes = min(lanes, max(1, AUDITED // rows))
    with th.no_grad():
        last = model.policy.predict_values(obs_as_tensor(seen["new_obs"], model.device))
    ends = np.concatenate([buffer.episode_starts[1:], np.asarray(seen["dones"])[None]])
    rollout = Rollout(
        observations=_cut(buffer.observations, np.s_[:, :lanes]),
        actions=buffer.actions[:, :lanes],
        rewards=buffer.rewards[:, :lanes],
        terminated=ends[:, :lanes],
        values=buffer.values[:, :lanes],
        last_values=last.cpu().numpy().ravel()[:lanes],
        log_probs=buffer.log_probs[:, :lanes],
        advantages=buffer.advantages[:, :lanes],
        returns=buffer.returns[:, :lanes],
        gamma=model.gamma,
        gae_lambda=model.gae_lambda,
    )
    # A masked model as it is, so that a softmax over all actions can be named.
    policy = model if diagnosed.masked else diagnosed.player()
    return audit(diagnosed.env, rollout, policy, lambda given: _values(model, given))


def _values(model: Any, observations: Any) -> Any:
    """Return the critic's values of recorded observations, shape (observation,)."""
    with th.no_grad():
        return model.policy.predict_values(obs_as_tensor(observations, model.device)).ravel()


def _check_length(steps: int) -> None:
    if steps < LEAST:
        raise TooShortError(f"an audit needs a buffer of {LEAST} steps, got {steps}")


def _transitions(buffer: ReplayBuffer) -> Transitions:
    """Return the newest rows of a replay buffer, each transition once."""
    filled = buffer.buffer_size if buffer.full else buffer.pos
    lanes = buffer.rewards.shape[1]
    _check_length(filled * lanes)
    rows = min(filled, max(1, AUDITED // lanes))
    newest = (buffer.pos - 1 - np.arange(rows)[::-1]) % buffer.buffer_size

    def flat(array: Any) -> Any:
        if isinstance(buffer, DictReplayBuffer) and isinstance(array, dict):
            return {key: flat(entry) for key, entry in array.items()}
        return array[newest].reshape(rows * lanes, *array.shape[2:])

    return Transitions(
        observations=flat(buffer.observations),
        actions=flat(buffer.actions),
        rewards=flat(buffer.rewards),
        next_observations=flat(buffer.next_observations),
        terminated=flat(buffer.dones * (1 - buffer.timeouts)),
    )


def _cut(observations: Any, part: Any) -> Any:
    if isinstance(observations, dict):
        return {key: entry[part] for key, entry in observations.items()}
    return observations[part]
