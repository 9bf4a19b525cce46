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
from typing import Any, Literal, NamedTuple

import torch as th
from torch import Tensor

from ..report import Mistake


class Batch(NamedTuple):
    """A batch of moves of PPO, with what the modules say of it before the step."""

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

    def log_probs(self, masked: bool) -> Tensor:
        """Return logarithms of the probabilities of the actions that were taken."""
        return self.law(masked).gather(1, self.actions[:, None]).squeeze(1)


class ValueBatch(NamedTuple):
    """A batch of moves of DQN."""

    values: Tensor  # of the network before the step, with a gradient, (move, action)
    actions: Tensor  # (move,)
    targets: Tensor  # (move,)

    def taken(self) -> Tensor:
        """Return the values of the actions that were taken, shape (move, 1)."""
        return self.values.gather(1, self.actions[:, None])


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
        new = moves.log_probs(self.masked)
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
    normal = "advantages-not-normalised" if loss.normalised else "advantages-normalised"
    every_sign = {part: -getattr(loss, part) for part in ("policy_coef", "ent_coef", "vf_coef")}

    def maximum(ratio: Tensor, advantages: Tensor, clip: float) -> Tensor:
        return th.max(ratio * advantages, _clipped(ratio, clip) * advantages)

    def recomputed(moves: Batch) -> Tensor:
        return moves.returns - moves.values

    def with_gradient(moves: Batch) -> Tensor:
        return moves.advantages + moves.values.detach() - moves.values

    edits: list[tuple[str, dict[str, Any]]] = [
        ("entropy-sign", {"ent_coef": -loss.ent_coef}),
        ("policy-sign", {"policy_coef": -1.0}),
        ("value-sign", {"vf_coef": -loss.vf_coef}),
        ("ratio-inverted", {"ratio": lambda new, old: ratios(old, new)}),
        ("ratio-without-exp", {"ratio": lambda new, old: new - old}),
        ("ratio-always-one", {"ratio": lambda new, _: ratios(new, new.detach())}),
        ("clip-without-minimum", {"objective": lambda ratio, lead, c: _clipped(ratio, c) * lead}),
        ("clip-missing", {"objective": lambda ratio, lead, _: ratio * lead}),
        ("maximum-for-minimum", {"objective": maximum}),
        ("advantages-not-detached", {"advantages": recomputed}),
        ("advantages-not-detached", {"advantages": with_gradient}),
        ("advantages-recomputed", {"advantages": lambda moves: recomputed(moves).detach()}),
        ("returns-for-advantages", {"advantages": lambda moves: moves.returns}),
        (normal, {"normalised": not loss.normalised}),
        ("mask-missing-in-update", {"masked": False}),
        ("mask-missing-in-update", {"masked": False, "entropy_of_legal": True}),
        ("entropy-unmasked", {"entropy_masked": False}),
        ("values-not-clipped", {"values_clipped": False}),
        (
            "advantages-broadcast",
            {"objective": lambda ratio, lead, c: loss.objective(ratio[:, None], lead, c)},
        ),
        ("values-broadcast", {"errors": lambda moves: moves.values[:, None] - moves.returns}),
        ("loss-sign", every_sign),
    ]
    return [Mistake(*edit) for edit in edits]


@dataclass(frozen=True)
class ValueLoss:
    """DQN's loss, part by part."""

    kind: Literal["huber", "mse"]
    sign: float = 1.0
    values: Callable[[ValueBatch], Tensor] = lambda moves: moves.taken().squeeze(1)

    def __call__(self, moves: ValueBatch) -> Tensor:
        """Return the loss of a batch."""
        errors = {"huber": th.nn.functional.smooth_l1_loss, "mse": th.nn.functional.mse_loss}
        given, wanted = self.values(moves), moves.targets
        wanted = wanted.expand(len(given), -1) if given.ndim > 1 else wanted
        loss: Tensor = errors[self.kind](given.expand(wanted.shape), wanted)
        return self.sign * loss


def value_mistakes(loss: ValueLoss) -> list[Mistake]:
    """List the known mistakes of DQN's loss."""
    return [
        Mistake("loss-sign", {"sign": -1.0}),
        Mistake("value-of-best-action", {"values": lambda moves: moves.values.max(dim=1).values}),
        Mistake("values-broadcast", {"values": ValueBatch.taken}),
        Mistake("other-loss", {"kind": "mse" if loss.kind == "huber" else "huber"}),
    ]
