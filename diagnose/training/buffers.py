"""The buffers of stable-baselines3 models: their audits, and the gradient of an actor's loss."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch as th
from stable_baselines3.common.buffers import DictReplayBuffer, ReplayBuffer, RolloutBuffer
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.preprocessing import preprocess_obs
from stable_baselines3.common.torch_layers import MlpExtractor
from stable_baselines3.common.utils import obs_as_tensor
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

from ...core import InputError
from ..audits.audit import audit
from ..figures.gradients import gradient
from ..records import Rollout, Transitions
from ..report import Report
from .model import GRADIENT, NORMALISED, Columns, Diagnosed

#: Approximate number of steps in one audit, which takes whole lanes or rows of a buffer.
AUDITED = 2048
#: Smallest number of steps in an audit: fewer steps fit too many known mistakes.
LEAST = 64


def audit_buffer(diagnosed: Diagnosed, seen: Mapping[str, Any]) -> Report:
    """Audit the latest steps in a model's buffer, before its update.

    Args:
        diagnosed: the model and its environment.
        seen: the local variables of the model's loop: ``new_obs`` and ``dones`` of the last step.

    Raises:
        InputError: if the buffer holds too few steps, is of an unknown kind, or cannot be read.
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
        raise InputError(f"an audit needs a buffer of {LEAST} steps, got {steps}")


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


# -------------------------------------------------------------------------- gradients


class _Actor(nn.Module):
    """The part of a policy that turns observations into logits."""

    def __init__(self, policy: ActorCriticPolicy) -> None:
        super().__init__()
        self._space = policy.observation_space
        self.features = policy.pi_features_extractor
        self.hidden, self.last = policy.mlp_extractor.policy_net, policy.action_net

    def forward(self, observations: th.Tensor) -> th.Tensor:
        """Return logits, shape (observation, action)."""
        seen = preprocess_obs(observations, self._space)
        logits: th.Tensor = self.last(self.hidden(self.features(seen)))
        return logits


def gradient_column(diagnosed: Diagnosed) -> Columns:
    """Compute the cosine of the gradient that the first update begins with, before the update.

    The loss is minus the mean over the buffer of r A, with the ratio r = 1 of the first step and
    the advantages A as the algorithm takes them, normalised or not. All parameters stay as they
    are, and no random number is drawn.
    """
    columns = Columns()

    def compute() -> tuple[float]:
        actor = _Actor(diagnosed.model.policy)
        exact = gradient(diagnosed.env, actor)
        return (exact.compare(_of_buffer(diagnosed.model, actor)).cosine,)

    columns.take(GRADIENT, compute, _reason(diagnosed))
    return columns


def _reason(diagnosed: Diagnosed) -> str | None:
    """Return the reason why a model has no such gradient; None if it has one."""
    model = diagnosed.model
    if not diagnosed.is_actor:
        return "the model has no actor"
    if diagnosed.normalised:
        return NORMALISED
    if diagnosed.gamma != 1:
        return f"the exact gradient has no discount: gamma must be 1, got {diagnosed.gamma:g}"
    if not diagnosed.masked:
        return "the model is not held to the legal actions in training"
    if not isinstance(getattr(model, "rollout_buffer", None), RolloutBuffer):
        return "the model has no rollout buffer"
    if not isinstance(getattr(model.policy, "mlp_extractor", None), MlpExtractor):
        return "the policy has networks of its own"
    if isinstance(model.rollout_buffer.observations, dict):
        return "observations are dictionaries"
    return None


def _of_buffer(model: Any, actor: nn.Module) -> dict[str, th.Tensor]:
    """Return the gradient of the actor's loss on the whole buffer, by the names of parameters."""
    buffer, policy = model.rollout_buffer, model.policy

    def flat(array: Any) -> th.Tensor:
        rows, lanes = buffer.rewards.shape
        return th.as_tensor(array.reshape(rows * lanes, -1), device=model.device)

    advantages = flat(buffer.advantages).ravel()
    if getattr(model, "normalize_advantage", False):
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    seen = flat(buffer.observations).reshape(-1, *policy.observation_space.shape)
    actions = flat(buffer.actions).ravel().long()
    masks = {"action_masks": flat(buffer.action_masks)}
    with th.enable_grad():
        _, logs, _ = policy.evaluate_actions(seen, actions, **masks)
        loss = -(advantages * (logs - logs.detach()).exp()).mean()
        names, parameters = zip(*actor.named_parameters(), strict=True)
        found = th.autograd.grad(loss, parameters)
    return dict(zip(names, found, strict=True))
