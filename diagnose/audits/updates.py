"""Checks of a gradient step: the gradient of the declared loss, and what the step has changed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch as th
from torch import Tensor, nn

from ...baselines import Task
from ...baselines.policies.tables import as_numbers
from ...core import BoolArray, FloatArray, InputError
from ...core.positions import are_legal
from ..arrays import leading_shape, numbers, whole
from ..records import PolicyUpdate, ValueUpdate
from ..report import Finding, Report, told
from .losses import Batch, Known, PolicyLoss, ValueLoss, policy_mistakes, value_mistakes
from .seen import Seen

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
NOTHING: dict[str, Any] = dict.fromkeys(PARTS, 0.0)


def check_target(report: Report, update: ValueUpdate) -> None:
    """Check that the target network has been updated if, and only if, this was due."""
    if update.target_before is None or update.target_after is None:
        report.unchecked["target network"] = "target_before and target_after are needed"
        return
    online, old, new = (
        flat(found, found)
        for found in (
            parameters_of(getattr(update, name), name)
            for name in ("after", "target_before", "target_after")
        )
    )
    if not len(online) == len(old) == len(new):
        raise InputError("target_before and target_after must have the parameters of after")
    tau = update.tau if update.copied else 0.0
    wrong = np.abs(old + tau * (online - old) - new) > 1e-5 * max(np.abs(new).max(), 1e-30)
    if not wrong.any():
        report.held["target network"] = len(new)
        return
    apart = online - old
    found = float((apart * (new - old)).sum()) / max(float((apart**2).sum()), 1e-300)
    explained = np.allclose(old + found * apart, new, rtol=0, atol=1e-5 * np.abs(new).max())
    mistake, words = None, "its parameters are not those that an update gives"
    if explained and update.copied and abs(found) < 1e-3:
        mistake, words = "target-never-updated", "an update was due and has not taken place"
    elif explained and update.copied:
        mistake, words = "tau-wrong", f"it has been updated with tau = {found:.3g}"
    elif explained:
        mistake, words = "target-always-updated", "it has been updated, and this was not due"
    report.findings.append(Finding("target network", mistake, int(wrong.sum()), len(new), words))


def parameters_of(module: Any, name: str) -> dict[str, Tensor]:
    """Return the parameters of a module that are learnt, by name.

    Raises:
        InputError: if it is no torch module.
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"{name} must be a torch module, got a {type(module).__name__}")
    return {key: given for key, given in module.named_parameters() if given.requires_grad}


def flat(parameters: dict[str, Tensor], found: Mapping[str, Tensor | None]) -> FloatArray:
    """Join gradients to one vector; no gradient is 0."""
    parts = []
    for key, parameter in parameters.items():
        part = found[key]
        part = th.zeros_like(parameter) if part is None else part
        parts.append(part.detach().cpu().double().numpy().ravel())
    return np.concatenate(parts)


def check_update(
    report: Report, update: PolicyUpdate | ValueUpdate, task: Task, seen: Seen
) -> None:
    """Add to a report whether a step follows the gradient of its loss.

    Args:
        report: of the audit.
        update: the step.
        task: the agent's decision problem.
        seen: the agent's observations.

    Raises:
        InputError: if an array has another shape, or a module is none or of other parameters.
    """
    (count,) = leading_shape(update.actions, "actions", 1)[:1]
    states = seen.states(update.observations, "observations", (count,))
    actions = whole(update.actions, "actions", (count,))
    readable, legal = states >= 0, np.zeros(count, dtype=bool)
    inside = readable & (actions >= 0) & (actions < task.game.num_actions)
    legal[inside] = are_legal(task.game, states[inside], actions[inside])
    _count(report, "observations", ~readable, "the agent never sees them before a move")
    words = "its action is illegal: are the arrays of this batch in the same order?"
    _count(report, "actions", readable & ~legal, words)
    before, after = (parameters_of(getattr(update, name), name) for name in ("before", "after"))
    if before.keys() != after.keys():
        raise InputError("before and after must have parameters of the same names")
    if report.ok:
        with th.enable_grad():
            if isinstance(update, PolicyUpdate):
                _of_policy(report, update, task.game.mask(states))
            else:
                _of_values(report, update, task.game.mask(states))
    _check_step(report, before, after)
    if isinstance(update, ValueUpdate):
        check_target(report, update)


def _count(report: Report, check: str, wrong: BoolArray, words: str) -> None:
    if wrong.any():
        words = f"move {wrong.argmax()} of the batch: {words}"
        report.findings.append(Finding(check, None, int(wrong.sum()), wrong.size, words))
    else:
        report.held[check] = wrong.size


# ------------------------------------------------------------------------------ gradients


def _of_policy(report: Report, update: PolicyUpdate, masks: BoolArray) -> None:
    """Check the gradient of PPO's loss."""
    shape, like = masks.shape[:1], next(iter(parameters_of(update.before, "before").values()))

    def constant(name: str) -> Tensor:
        given = as_numbers(getattr(update, name), name)
        return th.as_tensor(
            numbers(given.reshape(-1) if given.size == shape[0] else given, name, shape)
        ).to(like)

    given = _tensors(update.observations, like)
    logits = _called(update.actor, "actor", given, masks.shape)
    none = th.zeros(shape).to(like)
    values = none if update.critic is None else _called(update.critic, "critic", given, shape)
    moves = Batch(
        logits,
        th.as_tensor(masks, device=like.device),
        th.as_tensor(whole(update.actions, "actions", shape), device=like.device),
        constant("log_probs"),
        constant("advantages"),
        none if update.critic is None else constant("returns"),
        values,
        None if update.old_values is None else constant("old_values"),
    )
    vf_coef = 0.0 if update.critic is None else update.vf_coef
    right = PolicyLoss(update.clip, update.ent_coef, vf_coef, update.normalised)
    held = _compare(report, update, right, lambda loss: loss(moves), policy_mistakes(right))
    new = logits.masked_fill(~moves.masks, -th.inf).log_softmax(dim=1)
    ratio = (new.gather(1, moves.actions[:, None]).squeeze(1) - moves.old).exp()
    if held and not ((ratio - 1).abs() > update.clip).any():
        low, high = 1 - update.clip, 1 + update.clip
        report.notes.append(f"no ratio has left {low:g} to {high:g}: clipping did nothing")


def _of_values(report: Report, update: ValueUpdate, masks: BoolArray) -> None:
    """Check the gradient of DQN's loss."""
    if update.loss not in ("huber", "mse"):
        raise InputError(f'loss must be "huber" or "mse", got {update.loss!r}')
    like = next(iter(parameters_of(update.before, "before").values()))
    values = _called(update.before, "before", _tensors(update.observations, like), masks.shape)
    shape = masks.shape[:1]
    actions = th.as_tensor(whole(update.actions, "actions", shape), device=like.device)
    targets = th.as_tensor(numbers(update.targets, "targets", shape)).to(like)
    right = ValueLoss(update.loss == "huber")
    _compare(
        report, update, right, lambda loss: loss(values, actions, targets), value_mistakes(right)
    )


def _tensors(given: Any, like: Tensor) -> Any:
    """Turn observations into tensors of the dtype and device of a module."""
    if isinstance(given, Mapping):
        return {key: _tensors(entry, like) for key, entry in given.items()}
    return th.as_tensor(as_numbers(given, "observations")).to(like)


def _called(function: Any, name: str, given: Any, shape: tuple[int, ...]) -> Tensor:
    """Call a module with a batch, and check what it gives."""
    found = function(given)
    if not isinstance(found, Tensor) or found.numel() != np.prod(shape):
        raise InputError(f"{name} must give a tensor of shape {shape} for observations")
    if not found.requires_grad:
        raise InputError(f"{name} must give a tensor with a gradient, got a detached one")
    return found.reshape(shape)


def _compare(
    report: Report,
    update: PolicyUpdate | ValueUpdate,
    right: Any,
    value: Callable[[Any], Tensor],
    mistakes: list[Known],
) -> bool:
    """Compare the gradient that the step has left with that of the loss, and name the mistake."""
    before, after = parameters_of(update.before, "before"), parameters_of(update.after, "after")
    if all(parameter.grad is None for parameter in after.values()):
        raise InputError("after must have the gradients of loss.backward(), got none")

    def gradient(loss: Any) -> FloatArray:
        found = th.autograd.grad(
            value(loss), list(before.values()), retain_graph=True, allow_unused=True
        )
        if all(part is None for part in found):
            raise InputError("actor and critic must be those of the module before, got others")
        return flat(before, dict(zip(before, found, strict=True)))

    given = flat(after, {key: parameter.grad for key, parameter in after.items()})
    exact = gradient(right)
    for same in _alike(right):
        factor = _factor(given, gradient(same))
        if factor is not None:
            report.held["gradient"] = len(given)
            if abs(factor - 1) > CLOSE:
                report.notes.append(f"gradients are those of the loss times {factor:.4g}")
            if isinstance(right, PolicyLoss):
                report.notes.extend(_hidden(right, given, gradient))
            return True
    mistake, cure = next(_explained(right, given, exact, gradient, mistakes), (None, ""))
    norms = [float(np.linalg.norm(part)) for part in (given, exact)]
    cosine = float((given * exact).sum()) / max(norms[0] * norms[1], 1e-300)
    example = (
        f"the cosine of this gradient and that of the loss is {cosine:.4f}, their norms are "
        f"{norms[0]:.4g} and {norms[1]:.4g}"
    )
    wrong = int((np.abs(given - exact) > CLOSE * np.abs(exact).max()).sum())
    report.findings.append(Finding("gradient", mistake, wrong, len(given), told(example, cure)))
    return False


def _explained(
    right: Any,
    given: FloatArray,
    exact: FloatArray,
    gradient: Callable[[Any], FloatArray],
    mistakes: list[Known],
) -> Iterator[tuple[str, str]]:
    """List the known mistakes that reproduce a gradient."""
    for name, cure, changes in mistakes:
        if _factor(given, gradient(replace(right, **changes))) is not None:
            yield name, cure
    if isinstance(right, PolicyLoss):
        if _factor(-given, exact) is not None:
            yield "loss-sign", "the loss is minimised: the optimizer goes down its gradient"
        yield from _weights(right, given, gradient)


def _weights(
    right: PolicyLoss, given: FloatArray, gradient: Callable[[Any], FloatArray]
) -> Iterator[tuple[str, str]]:
    """Fit the weights of entropy and critic."""
    parts = np.array([gradient(_weighted(right, NOTHING | {key: 1.0})) for key in NOTHING])
    policy, entropy, critic = np.linalg.lstsq(parts.T, given, rcond=None)[0].tolist()
    if policy <= 0:
        return
    for mistake, name, part in (
        ("ent-coef-wrong", "ent_coef", entropy),
        ("vf-coef-wrong", "vf_coef", critic),
    ):
        weight = part / policy
        if _factor(given, gradient(_weighted(right, {name: weight}))) is not None:
            yield mistake, f"the loss has {name} = {weight:.3g}"


def _hidden(
    right: PolicyLoss, given: FloatArray, gradient: Callable[[Any], FloatArray]
) -> Iterator[str]:
    """Name the parts of a loss whose gradients are too small beside the others to be checked."""
    for key, words in PARTS.items():
        weight = getattr(right, key)
        part = gradient(_weighted(right, NOTHING | {key: weight}))
        if weight and np.linalg.norm(part) <= 2 * CLOSE * np.linalg.norm(given):
            yield f"the gradient of {words} is too small beside the others to be checked"


def _weighted(right: PolicyLoss, weights: dict[str, Any]) -> PolicyLoss:
    return replace(right, **weights)


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
    wanted = {
        key: float(given.grad.abs().max())
        for key, given in after.items()
        if given.grad is not None and given.grad.any()
    }
    moved = {key: float((after[key] - before[key]).detach().abs().max()) for key in wanted}
    still = [key for key, far in moved.items() if not far]
    if still and len(still) == len(moved):
        words = "the step has changed nothing. Its learning rate is 0, or too small to count"
        report.findings.append(
            Finding("parameters", "learning-rate-zero", len(still), len(still), words)
        )
        return
    # A small step may be lost in the rounding of a large parameter.
    least = min((far for far in moved.values() if far), default=0.0)
    rate = min((far / wanted[key] for key, far in moved.items() if far), default=0.0)
    left = [
        key
        for key in still
        if min(least, rate * wanted[key]) > 1e-5 * float(before[key].detach().abs().max())
    ]
    if left:
        words = f"{left[0]} has a gradient and has not changed. Give the optimizer all parameters"
        report.findings.append(
            Finding("parameters", "parameters-left-out", len(left), len(moved), words)
        )
    else:
        report.held["parameters"] = len(moved)
