"""Checks of a gradient step: the gradient of the declared loss, and what the step has changed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import torch as th
from torch import Tensor

from ...baselines.policies.tables import as_numbers
from ...core import BoolArray, FloatArray, InputError, IntArray
from ...core.positions import are_legal
from ..arrays import leading_shape, numbers, whole
from ..networks import joined, parameters_of, tensors
from ..records import PolicyUpdate, ValueUpdate
from ..report import Mistake, Report, reproducing
from ..view import AgentView
from .losses import Batch, PolicyLoss, ValueLoss, policy_mistakes, value_mistakes

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


def check_update(report: Report, update: PolicyUpdate | ValueUpdate, view: AgentView) -> None:
    """Add to a report whether a gradient step follows the gradient of its loss."""
    game = view.task.game
    (count,) = leading_shape(update.actions, "actions", 1)[:1]
    states = view.seen.states(update.observations, "observations", (count,))
    actions = whole(update.actions, "actions", (count,))
    readable, legal = states >= 0, np.zeros(count, dtype=bool)
    inside = readable & (actions >= 0) & (actions < game.num_actions)
    legal[inside] = are_legal(game, states[inside], actions[inside])
    for check, wrong, words in (
        ("observations", ~readable, "the agent never sees them before a move"),
        (
            "actions",
            readable & ~legal,
            "its action is illegal; the arrays of a batch must be in the same order",
        ),
    ):
        example = f"move {wrong.argmax()} of the batch: {words}"
        report.add(check, int(wrong.sum()), count, partial(str, example))
    before, after = (parameters_of(getattr(update, name), name) for name in ("before", "after"))
    if before.keys() != after.keys():
        raise InputError("before and after must have parameters of the same names")
    if report.ok:
        masks = game.mask(states)
        with th.enable_grad():
            if isinstance(update, PolicyUpdate):
                _of_policy(report, update, actions, masks)
            else:
                _of_values(report, update, actions, masks)
    _check_step(report, before, after)
    if isinstance(update, ValueUpdate):
        _check_target(report, update)


# ------------------------------------------------------------------------------ gradients


def _of_policy(report: Report, update: PolicyUpdate, actions: IntArray, masks: BoolArray) -> None:
    """Check the gradient of PPO's loss."""
    shape, like = actions.shape, next(iter(parameters_of(update.before, "before").values()))

    def constant(name: str) -> Tensor:
        given = as_numbers(getattr(update, name), name)
        given = given.reshape(-1) if given.size == len(actions) else given
        return th.as_tensor(numbers(given, name, shape)).to(like)

    given, none = tensors(update.observations, like), th.zeros(shape).to(like)
    moves = Batch(
        logits=_called(update.actor, "actor", given, masks.shape),
        masks=th.as_tensor(masks, device=like.device),
        actions=th.as_tensor(actions, device=like.device),
        old=constant("log_probs"),
        advantages=constant("advantages"),
        returns=none if update.critic is None else constant("returns"),
        values=none if update.critic is None else _called(update.critic, "critic", given, shape),
        old_values=None if update.old_values is None else constant("old_values"),
    )
    vf_coef = 0.0 if update.critic is None else update.vf_coef
    right = PolicyLoss(update.clip, update.ent_coef, vf_coef, update.normalised)
    held = _compare(report, update, right, lambda loss: loss(moves), policy_mistakes(right))
    ratio = (moves.law(masked=True).gather(1, moves.actions[:, None]).squeeze(1) - moves.old).exp()
    if held and not ((ratio - 1).abs() > update.clip).any():
        low, high = 1 - update.clip, 1 + update.clip
        report.notes.append(f"no ratio has left {low:g} to {high:g}: clipping did nothing")


def _of_values(report: Report, update: ValueUpdate, actions: IntArray, masks: BoolArray) -> None:
    """Check the gradient of DQN's loss."""
    if update.loss not in ("huber", "mse"):
        raise InputError(f'loss must be "huber" or "mse", got {update.loss!r}')
    like = next(iter(parameters_of(update.before, "before").values()))
    values = _called(update.before, "before", tensors(update.observations, like), masks.shape)
    taken = th.as_tensor(actions, device=like.device)
    targets = th.as_tensor(numbers(update.targets, "targets", actions.shape)).to(like)
    right = ValueLoss(update.loss == "huber")
    mistakes = value_mistakes(right)
    _compare(report, update, right, lambda loss: loss(values, taken, targets), mistakes)


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
    mistakes: list[Mistake],
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
        return joined(before, dict(zip(before, found, strict=True)))

    given = joined(after, {key: parameter.grad for key, parameter in after.items()})
    exact = gradient(right)

    def example() -> str:
        norms = [float(np.linalg.norm(part)) for part in (given, exact)]
        cosine = float((given * exact).sum()) / max(norms[0] * norms[1], 1e-300)
        return (
            f"the cosine of this gradient and that of the loss is {cosine:.4f}, their norms are "
            f"{norms[0]:.4g} and {norms[1]:.4g}"
        )

    factors = (_factor(given, gradient(same)) for same in _alike(right))
    factor = next((each for each in factors if each is not None), None)
    wrong = 0
    if factor is None:
        wrong = max(1, int((np.abs(given - exact) > CLOSE * np.abs(exact).max()).sum()))
    elif abs(factor - 1) > CLOSE:
        report.notes.append(f"gradients are those of the loss times {factor:.4g}")
    fitted = _weights(right, given, gradient) if isinstance(right, PolicyLoss) else ()
    known = reproducing(
        right,
        chain(mistakes, fitted),
        lambda loss: _factor(given, gradient(loss)) is not None,
    )
    held = report.add("gradient", wrong, len(given), example, known)
    if held and isinstance(right, PolicyLoss):
        report.notes.extend(_hidden(right, given, gradient))
    return held


def _weights(
    right: PolicyLoss, given: FloatArray, gradient: Callable[[Any], FloatArray]
) -> Iterator[Mistake]:
    """Fit the weights of entropy and critic."""
    alone = [replace(right, **NOTHING | {key: 1.0}) for key in NOTHING]
    parts = np.array([gradient(part) for part in alone])
    policy, entropy, critic = np.linalg.lstsq(parts.T, given, rcond=None)[0].tolist()
    if policy <= 0:
        return
    for mistake, name, part in (
        ("ent-coef-wrong", "ent_coef", entropy),
        ("vf-coef-wrong", "vf_coef", critic),
    ):
        weight = part / policy
        yield Mistake(mistake, f"the loss has {name} = {weight:.3g}", {name: weight})


def _hidden(
    right: PolicyLoss, given: FloatArray, gradient: Callable[[Any], FloatArray]
) -> Iterator[str]:
    """Name the parts of a loss whose gradients are too small beside the others to be checked."""
    for key, words in PARTS.items():
        weight = getattr(right, key)
        part = gradient(replace(right, **NOTHING | {key: weight}))
        if weight and np.linalg.norm(part) <= 2 * CLOSE * np.linalg.norm(given):
            yield f"the gradient of {words} is too small beside the others to be checked"


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
    left = [key for key, far in moved.items() if not far]
    mistake = Mistake("learning-rate-zero", "its learning rate is 0, or too small to count")
    words = "the step has changed nothing"
    if len(left) < len(moved):
        # A small step may be lost in the rounding of a large parameter.
        least = min((far for far in moved.values() if far), default=0.0)
        rate = min((far / wanted[key] for key, far in moved.items() if far), default=0.0)
        left = [
            key
            for key in left
            if min(least, rate * wanted[key]) > 1e-5 * float(before[key].detach().abs().max())
        ]
        mistake = Mistake("parameters-left-out", "give the optimizer all parameters")
        words = f"{''.join(left[:1])} has a gradient and has not changed"
    report.add("parameters", len(left), len(moved), lambda: words, [mistake])


def _check_target(report: Report, update: ValueUpdate) -> None:
    """Check that the target network has been updated if, and only if, this was due."""
    if update.target_before is None or update.target_after is None:
        report.unchecked["target network"] = "target_before and target_after are needed"
        return
    online, old, new = (
        joined(found, found)
        for found in (
            parameters_of(getattr(update, name), name)
            for name in ("after", "target_before", "target_after")
        )
    )
    if not len(online) == len(old) == len(new):
        raise InputError("target_before and target_after must have the parameters of after")
    apart, close = online - old, 1e-5 * max(np.abs(new).max(), 1e-30)
    wrong = np.abs(old + (update.tau if update.copied else 0.0) * apart - new) > close

    def search() -> Iterator[Mistake]:
        tau = float((apart * (new - old)).sum()) / max(float((apart**2).sum()), 1e-300)
        if not (np.abs(old + tau * apart - new) <= close).all():
            return
        if not update.copied:
            yield Mistake("target-always-updated", "it has been updated, and this was not due")
        elif abs(tau) < 1e-3:
            yield Mistake("target-never-updated", "an update was due and has not taken place")
        else:
            yield Mistake("tau-wrong", f"it has been updated with tau = {tau:.3g}")

    words = "its parameters are not those that an update gives"
    report.add("target network", int(wrong.sum()), len(new), lambda: words, search())
