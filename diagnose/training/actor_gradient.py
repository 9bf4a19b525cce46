"""The gradient of an actor's loss on a rollout against the exact gradient of the return."""

from typing import Any

import torch as th
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.preprocessing import preprocess_obs
from stable_baselines3.common.torch_layers import MlpExtractor
from torch import nn

from ..figures.gradients import gradient
from .columns import GRADIENT, NORMALISED, Columns
from .diagnosed import Diagnosed


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
    columns, reason = Columns(), _reason(diagnosed)
    if reason is not None:
        columns.leave_out(GRADIENT, reason)
        return columns

    def compute() -> tuple[float]:
        actor = _Actor(diagnosed.model.policy)
        exact = gradient(diagnosed.env, actor)
        return (exact.compare(_of_buffer(diagnosed.model, actor)).cosine,)

    columns.take(GRADIENT, compute)
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
