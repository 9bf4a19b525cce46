"""The losses of PPO and DQN, as they should be computed of a batch, and known mistakes.

With r the new probability of an action divided by the old one, A its advantage, v the critic's
value, R the return and H the entropy of the law over the legal actions, PPO's loss is (Schulman et
al. 2017, *Proximal Policy Optimization Algorithms*, eq. 7 and 9) the mean over the moves of

    - min(r A, clip(r, 1 - c, 1 + c) A) + vf_coef (v - R)^2 - ent_coef H

where some programs take the larger one of (v - R)^2 and (u + clip(v - u, -c, c) - R)^2 for the old
value u,
and DQN's (Mnih et al. 2015, *Human-level control through deep reinforcement learning*) that of
huber(Q(s, a) - y) with constant targets y.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch as th
from torch import Tensor

from ..report import Mistake


class Batch(NamedTuple):
    """A batch of moves, with what the modules say of it before the step."""

    logits: Tensor  # (move, action), with a gradient
    masks: Tensor  # (move, action)
    actions: Tensor  # (move,)
    old: Tensor  # log-probabilities when the actions were drawn, (move,)
    advantages: Tensor  # (move,)
    returns: Tensor  # (move,)
    values: Tensor  # of the critic, with a gradient, (move,)
    old_values: Tensor | None  # of the critic when the actions were drawn, if errors are clipped

    def law(self, masked: bool) -> Tensor:
        """Return logarithms of the probabilities of all actions, or of the legal ones alone."""
        logits = self.logits.masked_fill(~self.masks, -th.inf) if masked else self.logits
        return logits.log_softmax(dim=1)


def ratios(new: Tensor, old: Tensor) -> Tensor:
    """Return new probabilities divided by old ones, of their logarithms."""
    return (new - old).exp()


def pessimistic(ratio: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """Return the smaller one of the objectives with and without clipping."""
    return th.min(ratio * advantages, _clipped(ratio, clip) * advantages)


def _clipped(ratio: Tensor, clip: float) -> Tensor:
    return ratio.clamp(1 - clip, 1 + clip)


@dataclass(frozen=True)
class PolicyLoss:
    """PPO's loss, part by part, so that each part can be exchanged for a mistake."""

    clip: float
    ent_coef: float
    vf_coef: float
    normalised: bool
    policy_coef: float = 1.0
    masked: bool = True
    entropy_masked: bool = True
    entropy_of_legal: bool = False  # of an unmasked law, the terms of legal actions alone
    ratio: Callable[[Tensor, Tensor], Tensor] = ratios
    objective: Callable[[Tensor, Tensor, float], Tensor] = pessimistic
    advantages: Callable[[Batch], Tensor] = lambda moves: moves.advantages
    errors: Callable[[Batch], Tensor] = lambda moves: moves.values - moves.returns
    values_clipped: bool = True
    unbiased: bool = True  # whether the variance of advantages is divided by one move less

    def __call__(self, moves: Batch) -> Tensor:
        """Return the loss of a batch."""
        new = moves.law(self.masked).gather(1, moves.actions[:, None]).squeeze(1)
        advantages = self.advantages(moves)
        if self.normalised:
            spread = advantages.std(correction=int(self.unbiased))
            advantages = (advantages - advantages.mean()) / (spread + 1e-8)
        policy = -self.objective(self.ratio(new, moves.old), advantages, self.clip).mean()
        logs = moves.law(self.masked and self.entropy_masked)
        counted = moves.masks if self.entropy_of_legal else th.isfinite(logs)
        terms = th.where(counted, logs, 0.0) * logs.exp()
        loss: Tensor = self.policy_coef * policy + self.ent_coef * terms.sum(dim=1).mean()
        return loss + self.vf_coef * self._squares(moves).mean()

    def _squares(self, moves: Batch) -> Tensor:
        squares = self.errors(moves) ** 2
        if moves.old_values is None or not self.values_clipped:
            return squares
        change = (moves.values - moves.old_values).clamp(-self.clip, self.clip)
        return th.max(squares, (moves.old_values + change - moves.returns) ** 2)


def policy_mistakes(loss: PolicyLoss) -> list[Mistake]:
    """List the known mistakes of PPO's loss."""
    declared = "False" if loss.normalised else "True"
    normal = "advantages-not-normalised" if loss.normalised else "advantages-normalised"
    recomputed: Callable[[Batch], Tensor] = lambda moves: moves.returns - moves.values  # noqa: E731
    legal = "hold the law to the legal actions in the update, as when the actions were drawn"
    constant = "advantages are constants of the actor's loss: detach them, or use torch.no_grad()"
    return [
        Mistake("entropy-sign", "the loss has minus the entropy", {"ent_coef": -loss.ent_coef}),
        Mistake("policy-sign", "the actor's loss is minus the objective", {"policy_coef": -1.0}),
        Mistake("value-sign", "the critic's errors are minimised", {"vf_coef": -loss.vf_coef}),
        Mistake(
            "ratio-inverted",
            "the new probability is divided by the old one",
            {"ratio": lambda new, old: ratios(old, new)},
        ),
        Mistake(
            "ratio-without-exp",
            "the difference of log-probabilities is the logarithm of the ratio",
            {"ratio": lambda new, old: new - old},
        ),
        Mistake(
            "ratio-always-one",
            "the old log-probabilities are those of the draw, not of the present policy",
            {"ratio": lambda new, _: ratios(new, new.detach())},
        ),
        Mistake(
            "clip-without-minimum",
            "take the smaller one of the objectives with and without clipping: the clipped one "
            "alone has no gradient where the policy has moved too far the wrong way",
            {"objective": lambda ratio, advantages, clip: _clipped(ratio, clip) * advantages},
        ),
        Mistake(
            "clip-missing",
            "clip the ratio in one of the two objectives",
            {"objective": lambda ratio, advantages, _: ratio * advantages},
        ),
        Mistake(
            "maximum-for-minimum",
            "take the smaller one of the two objectives",
            {
                "objective": lambda ratio, advantages, clip: th.max(
                    ratio * advantages, _clipped(ratio, clip) * advantages
                )
            },
        ),
        Mistake("advantages-not-detached", constant, {"advantages": recomputed}),
        Mistake(
            "advantages-not-detached",
            constant,
            {"advantages": lambda moves: moves.advantages + moves.values.detach() - moves.values},
        ),
        Mistake(
            "advantages-recomputed",
            "advantages are those of the rollout, not returns less the present values",
            {"advantages": lambda moves: recomputed(moves).detach()},
        ),
        Mistake(
            "returns-for-advantages",
            "the actor's loss has the advantages, the critic's the returns",
            {"advantages": lambda moves: moves.returns},
        ),
        Mistake(
            normal,
            f"this is no mistake if it is meant: say so by normalised={declared}",
            {"normalised": not loss.normalised},
        ),
        Mistake("mask-missing-in-update", legal, {"masked": False}),
        Mistake("mask-missing-in-update", legal, {"masked": False, "entropy_of_legal": True}),
        Mistake(
            "entropy-unmasked",
            "the entropy is that of the law over the legal actions",
            {"entropy_masked": False},
        ),
        Mistake(
            "values-not-clipped",
            "this is no mistake if it is meant: leave old_values out",
            {"values_clipped": False},
        ),
        Mistake(
            "advantages-broadcast",
            "ratios of shape (move, 1) times advantages of shape (move,) are a square: squeeze "
            "them",
            {"objective": lambda ratio, lead, c: loss.objective(ratio[:, None], lead, c)},
        ),
        Mistake(
            "values-broadcast",
            "values of shape (move, 1) less returns of shape (move,) are a square: squeeze them",
            {"errors": lambda moves: moves.values[:, None] - moves.returns},
        ),
        Mistake(
            "loss-sign",
            "the loss is minimised: the optimizer goes down its gradient",
            {
                "policy_coef": -loss.policy_coef,
                "ent_coef": -loss.ent_coef,
                "vf_coef": -loss.vf_coef,
            },
        ),
    ]


@dataclass(frozen=True)
class ValueLoss:
    """DQN's loss, part by part."""

    huber: bool
    sign: float = 1.0
    values: Callable[[Tensor, Tensor], Tensor] = lambda values, actions: values.gather(
        1, actions[:, None]
    ).squeeze(1)

    def __call__(self, values: Tensor, actions: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of a batch; ``values`` of shape (move, action)."""
        given = self.values(values, actions)
        wanted = targets.expand(len(given), len(targets)) if given.ndim > 1 else targets
        given = given.expand(wanted.shape)
        kind = th.nn.functional.smooth_l1_loss if self.huber else th.nn.functional.mse_loss
        loss: Tensor = self.sign * kind(given, wanted)
        return loss


def value_mistakes(loss: ValueLoss) -> list[Mistake]:
    """List the known mistakes of DQN's loss."""
    other = "mse" if loss.huber else "huber"
    return [
        Mistake("loss-sign", "the loss is minimised", {"sign": -1.0}),
        Mistake(
            "value-of-best-action",
            "the target is that of the action that was taken: gather its value",
            {"values": lambda values, _: values.max(dim=1).values},
        ),
        Mistake(
            "values-broadcast",
            "values of shape (move, 1) less targets of shape (move,) are a square: squeeze them",
            {"values": lambda values, actions: values.gather(1, actions[:, None])},
        ),
        Mistake(
            "other-loss",
            f"this is no mistake if it is meant: say so by loss={other!r}",
            {"huber": not loss.huber},
        ),
    ]
