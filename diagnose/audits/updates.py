"""Checks of a gradient step: the gradient of the declared loss, and what the step has changed.

With r the new probability of an action divided by the old one, A its advantage, v the critic's
value, R the return and H the entropy of the law over the legal actions, PPO's loss is (Schulman et
al. 2017, *Proximal Policy Optimization Algorithms*, eq. 7 and 9) the mean over the moves of

    - min(r A, clip(r, 1 - c, 1 + c) A) + vf_coef (v - R)^2 - ent_coef H

where some programs take the larger one of (v - R)^2 and (u + clip(v - u, -c, c) - R)^2 for the old
value u, and DQN's (Mnih et al. 2015, *Human-level control through deep reinforcement learning*)
that of huber(Q(s, a) - y) with constant targets y.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
import torch as th
from torch import Tensor

from ...baselines.policies.tables import as_numbers
from ...core import BoolArray, FloatArray, InputError, IntArray
from ...core.positions import are_legal
from ..gradients import joined, parameters_of, tensors
from ..records import PolicyUpdate, ValueUpdate
from ..report import Mistake, Report, reproducing
from ..view import AgentView, leading_shape, numbers, whole

#: Gradients agree if they differ by no more than this part of their norm.
CLOSE = 1e-3
#: Ratios this near to the border of clipping may be on either side: single precision.
BORDER = 1e-5
#: Parts of PPO's loss, by the names of their weights.
PARTS = {
    "policy_coef": "the objective",
    "ent_coef": "the entropy",
    "vf_coef": "the critic's errors",
}


# ---------------------------------------------------------------------------- losses


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


# ---------------------------------------------------------------------------- checks


def check_update(report: Report, update: PolicyUpdate | ValueUpdate, view: AgentView) -> None:
    """Add to a report whether a gradient step follows the gradient of its loss."""
    shape = leading_shape(update.actions, "actions", 1)
    states = view.states_at(update.observations, "observations", shape)
    actions = whole(update.actions, "actions", shape)
    readable = (states >= 0) & (actions >= 0) & (actions < view.task.game.num_actions)
    legal = np.zeros(shape, dtype=bool)
    legal[readable] = are_legal(view.task.game, states[readable], actions[readable])
    unseen = "move {} of the batch: the agent never sees them before a move"
    report.add("observations", states < 0, unseen.format)
    illegal = "its action is illegal; the arrays of a batch must be in the same order"
    mixed = f"move {{}} of the batch: {illegal}"
    report.add("actions", (states >= 0) & ~legal, mixed.format)
    before, after = (parameters_of(getattr(update, name), name) for name in ("before", "after"))
    if before.keys() != after.keys():
        raise InputError("before and after must have parameters of the same names")
    if report.ok:
        with th.enable_grad():
            _check_gradient(report, update, actions, view.task.game.mask(states))
    _check_step(report, before, after)
    if isinstance(update, ValueUpdate):
        _check_target(report, update)


# ------------------------------------------------------------------------------ gradients


def _check_gradient(
    report: Report, update: PolicyUpdate | ValueUpdate, actions: IntArray, masks: BoolArray
) -> None:
    """Compare the gradient that the step has left with that of the loss, and name the mistake."""
    before, after = parameters_of(update.before, "before"), parameters_of(update.after, "after")
    right: PolicyLoss | ValueLoss
    if isinstance(update, PolicyUpdate):
        vf_coef = 0.0 if update.critic is None else update.vf_coef
        right = PolicyLoss(update.clip, update.ent_coef, vf_coef, update.normalised)
    elif update.loss in ("huber", "mse"):
        right = ValueLoss(update.loss)
    else:
        raise InputError(f'loss must be "huber" or "mse", got {update.loss!r}')
    batch: Any = _batch(update, actions, masks)
    if all(parameter.grad is None for parameter in after.values()):
        raise InputError("after must have the gradients of loss.backward(), got none")

    def gradient(loss: Any) -> FloatArray:
        found = th.autograd.grad(
            loss(batch), list(before.values()), retain_graph=True, allow_unused=True
        )
        if all(part is None for part in found):
            raise InputError("actor and critic must be those of the module before, got others")
        return joined(before, dict(zip(before, found, strict=True)))

    given = joined(after, {key: parameter.grad for key, parameter in after.items()})
    exact = gradient(right)

    def example(_: int) -> str:
        norms = [float(np.linalg.norm(part)) for part in (given, exact)]
        cosine = float((given * exact).sum()) / max(norms[0] * norms[1], 1e-300)
        return (
            f"the cosine of this gradient and that of the loss is {cosine:.4f}, their norms are "
            f"{norms[0]:.4g} and {norms[1]:.4g}"
        )

    factors = (_factor(given, gradient(same)) for same in _alike(right))
    factor = next((each for each in factors if each is not None), None)
    far = np.abs(given - exact)
    wrong = (factor is None) & ((far > CLOSE * np.abs(exact).max()) | (far == far.max()))
    if factor is not None and abs(factor - 1) > CLOSE:
        report.notes.append(f"gradients are those of the loss times {factor:.4g}")
    mistakes: Iterable[Mistake] = value_mistakes(right) if isinstance(right, ValueLoss) else ()
    if isinstance(right, PolicyLoss):
        mistakes = chain(policy_mistakes(right), _weights(right, given, gradient))
    known = reproducing(right, mistakes, lambda loss: _factor(given, gradient(loss)) is not None)
    if report.add("gradient", wrong, example, known) and isinstance(right, PolicyLoss):
        report.notes.extend(_unseen(right, batch, given, gradient))


def _unseen(
    right: PolicyLoss, batch: Batch, given: FloatArray, gradient: Callable[[Any], FloatArray]
) -> Iterator[str]:
    """Say what a right gradient does not show: parts that are too small, and clipping."""
    for key, part in _parts(right, gradient).items():
        weight = abs(getattr(right, key))
        if weight and weight * np.linalg.norm(part) <= 2 * CLOSE * np.linalg.norm(given):
            yield f"the gradient of {PARTS[key]} is too small beside the others to be checked"
    ratio = (batch.log_probs(masked=True) - batch.old).exp()
    if not ((ratio - 1).abs() > right.clip).any():
        yield f"no ratio has left {1 - right.clip:g} to {1 + right.clip:g}: clipping did nothing"


def _batch(
    update: PolicyUpdate | ValueUpdate, actions: IntArray, masks: BoolArray
) -> Batch | ValueBatch:
    """Return the batch of a step, with what the modules say of it before the step."""
    shape, like = actions.shape, next(iter(parameters_of(update.before, "before").values()))
    seen, taken = tensors(update.observations, like), th.as_tensor(actions, device=like.device)

    def constant(name: str) -> Tensor:
        given = as_numbers(getattr(update, name), name)
        given = given.reshape(-1) if given.size == len(actions) else given
        return th.as_tensor(numbers(given, name, shape)).to(like)

    def called(name: str, shape: tuple[int, ...]) -> Tensor:
        found = getattr(update, name)(seen)
        if not isinstance(found, Tensor) or found.numel() != np.prod(shape):
            raise InputError(f"{name} must give a tensor of shape {shape} for observations")
        if not found.requires_grad:
            raise InputError(f"{name} must give a tensor with a gradient, got a detached one")
        return found.reshape(shape)

    if isinstance(update, ValueUpdate):
        return ValueBatch(called("before", masks.shape), taken, constant("targets"))
    none = th.zeros(shape).to(like)
    return Batch(
        logits=called("actor", masks.shape),
        masks=th.as_tensor(masks, device=like.device),
        actions=taken,
        old=constant("log_probs"),
        advantages=constant("advantages"),
        returns=none if update.critic is None else constant("returns"),
        values=none if update.critic is None else called("critic", shape),
        old_values=None if update.old_values is None else constant("old_values"),
    )


def _parts(right: PolicyLoss, gradient: Callable[[Any], FloatArray]) -> dict[str, FloatArray]:
    """Return the gradient of each part of PPO's loss, of the weight 1."""
    nothing: dict[str, Any] = dict.fromkeys(PARTS, 0.0)
    return {key: gradient(replace(right, **nothing | {key: 1.0})) for key in PARTS}


def _weights(
    right: PolicyLoss, given: FloatArray, gradient: Callable[[Any], FloatArray]
) -> Iterator[Mistake]:
    """Fit the weights of entropy and critic."""
    parts = np.array(list(_parts(right, gradient).values()))
    policy, entropy, critic = np.linalg.lstsq(parts.T, given, rcond=None)[0].tolist()
    if policy > 0:
        yield Mistake("ent-coef-wrong", {"ent_coef": entropy / policy})
        yield Mistake("vf-coef-wrong", {"vf_coef": critic / policy})


def _alike(right: Any) -> list[Any]:
    """Return losses that differ from a right one in nothing that matters.

    The border of clipping is moved by less than a rounding, and the variance of advantages is
    divided by the number of moves.
    """
    if not isinstance(right, PolicyLoss):
        return [right]
    spreads = (right, replace(right, unbiased=False)) if right.normalised else (right,)
    borders = (0.0, -BORDER, BORDER)
    return [replace(loss, clip=loss.clip + moved) for loss in spreads for moved in borders]


def _factor(given: FloatArray, wanted: FloatArray) -> float | None:
    """Return the positive factor by which gradients differ; None if they differ otherwise."""
    size = float((wanted**2).sum())
    if not size:
        return None if given.any() else 1.0
    factor = float((given * wanted).sum()) / size
    far = float(np.linalg.norm(given - factor * wanted))
    return factor if factor > 0 and far <= CLOSE * np.linalg.norm(given) else None


# ----------------------------------------------------------------------------- what changes


def _check_step(report: Report, before: dict[str, Tensor], after: dict[str, Tensor]) -> None:
    """Check that the step has changed all parameters that have a gradient."""
    given = {key: each.grad.abs() for key, each in after.items() if each.grad is not None}
    keys = [key for key, gradient in given.items() if gradient.any()]
    old = {key: before[key].detach() for key in keys}
    wanted = np.array([float(given[key].max()) for key in keys])
    moved = np.array([float((after[key].detach() - old[key]).abs().max()) for key in keys])
    left, mistake = moved == 0, Mistake("learning-rate-zero")
    if not left.all():
        # A small step may be lost in the rounding of a large parameter.
        least, rate = moved[~left].min(), (moved / wanted)[~left].min()
        sizes = np.array([float(each.abs().max()) for each in old.values()])
        left &= np.minimum(least, rate * wanted) > 1e-5 * sizes
        mistake = Mistake("parameters-left-out")

    def example(place: int) -> str:
        some = f"{keys[place]} has a gradient and has not changed"
        return "the step has changed nothing" if left.all() else some

    report.add("parameters", left, example, [mistake])


def _check_target(report: Report, update: ValueUpdate) -> None:
    """Check that the target network has been updated if, and only if, this was due."""
    if update.target_before is None or update.target_after is None:
        report.unchecked["target network"] = "target_before and target_after are needed"
        return
    names = ("after", "target_before", "target_after")
    found = [parameters_of(getattr(update, name), name) for name in names]
    online, old, new = (joined(each, each) for each in found)
    if not len(online) == len(old) == len(new):
        raise InputError("target_before and target_after must have the parameters of after")
    apart, close = online - old, 1e-5 * max(np.abs(new).max(), 1e-30)

    def far(tau: float) -> BoolArray:
        far: BoolArray = np.abs(old + tau * apart - new) > close
        return far

    def search() -> Iterator[Mistake]:
        tau = float((apart * (new - old)).sum()) / max(float((apart**2).sum()), 1e-300)
        never = "target-never-updated" if abs(tau) < 1e-3 else "tau-wrong"
        if not far(tau).any():
            yield Mistake(never if update.copied else "target-always-updated", {"tau": tau})

    words = "its parameters are not those that an update gives"
    wrong = far(update.tau if update.copied else 0.0)
    report.add("target network", wrong, words, search())
