"""Checks of a gradient step: the gradient that it has left, and what it has changed."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch as th
from torch import Tensor

from ...baselines.law.numbers import as_numbers
from ...core import BoolArray, FloatArray, InputError
from ...core.positions import are_legal
from ...core.words import listed
from ..networks import Parameters, joined, parameters_of
from ..records import PolicyUpdate, Update, ValueUpdate
from ..report import Finding, Mistake, Report
from ..view import AgentView, leading_shape, numbers, whole
from .formula import Formula, Numbers, check_formula, closeness, edited, named, other_lanes
from .losses import CLOSE, HALVES, Left, Loss, PolicyLoss, Shadow, autocast, loss_of, moves_of
from .steps import finite

#: Parameters after a step agree if they differ by no more than this part of the largest change.
STEP_CLOSE = 1e-2
#: Arrays of a batch that are rows of its record.
ROWS = ["observations", "actions", "log_probs", "advantages", "returns", "old_values", "targets"]


def check_update(report: Report, update: Update, view: AgentView) -> None:
    """Add to a report whether a gradient step follows the gradient of its loss."""
    if not _finite(report, update):
        return
    shape = leading_shape(update.actions, "actions", 1)
    states = view.states_at(update.observations, "observations", shape)
    actions = whole(update.actions, "actions", shape)
    readable = (states >= 0) & (actions >= 0) & (actions < view.task.game.num_actions)
    legal = np.zeros(shape, dtype=bool)
    legal[readable] = are_legal(view.task.game, states[readable], actions[readable])
    unseen = "move {} of the batch: the agent never sees them before a move"
    report.add("observations", states < 0, unseen.format)
    illegal = "it was taken without a mask, or the arrays of the batch are in different orders"
    mixed = f"move {{}} of the batch: its action is illegal: {illegal}"
    report.add("actions", (states >= 0) & ~legal, mixed.format)
    before, after = (parameters_of(getattr(update, name), name) for name in ("before", "after"))
    if before.keys() != after.keys():
        raise InputError("before and after must have parameters of the same names")
    right = exact = None
    apart = isinstance(update.max_grad_norm, Sequence)
    size = sum(parameter.numel() for parameter in before.values())
    blocks = [] if apart else [np.ones(size, dtype=bool)]
    if report.ok:
        masks = view.task.game.mask(states)

        def computed(half: th.dtype | None = None) -> Loss:
            with autocast(half, before):
                return loss_of(update, actions, masks, view)

        with th.enable_grad():
            right = computed()
            blocks = _clipped_apart(update, right, before) if apart else blocks
            exact = _check_gradient(report, update, right, computed, before, after, blocks)
    if _check_moved(report, before, after):
        if update.max_grad_norm is not None and len(blocks):
            _check_norm(report, update.max_grad_norm, after, exact, blocks)
        _check_step(report, update, before, after, exact)
    if isinstance(update, ValueUpdate):
        _check_target(report, update)
    _check_rows(report, update, right)


def _finite(report: Report, update: Update) -> bool:
    """Say whether all arrays, parameters and gradients are finite; else add what is not."""
    finite(report, update)
    for name in ("before", "after"):
        for key, parameter in parameters_of(getattr(update, name), name).items():
            report.add_finite(f"{key} of {name}", np.atleast_1d(as_numbers(parameter, key)))
            if name == "after" and parameter.grad is not None:
                array = np.atleast_1d(as_numbers(parameter.grad, key))
                report.add_finite(f"the gradient of {key}", array)
    return report.ok


def _check_gradient(
    report: Report,
    update: Update,
    right: Loss,
    computed: Callable[[th.dtype | None], Loss],  # gives the loss in a precision of autocast
    before: Parameters,
    after: Parameters,
    blocks: list[BoolArray],
) -> FloatArray:
    """Compare the gradient that the step has left with that of the loss, which is returned."""
    if all(parameter.grad is None for parameter in after.values()):
        why = "which a deep copy leaves out"
        raise InputError(f"after must have the gradients of loss.backward(), {why}, got none")
    given = joined(after, {key: each.grad for key, each in after.items()})
    if update.accumulated is not None:
        given = given - joined(after, {key: update.accumulated.get(key) for key in after})
    outputs = [getattr(right, name, given) for name in ("logits", "values")]
    close = closeness(*outputs, *after.values(), **CLOSE)
    left = Left(given, before, close, blocks)
    exact, by = _in_a_precision(report, left, right, computed)
    far = np.abs(given - exact)
    wrong = (by is None) & ((far > left.close * np.abs(exact).max()) | (far == far.max()))
    if by is not None and (np.abs(by - 1) > left.close).any():
        times = " and ".join(f"{each:.4g}" for each in by)
        moves = len(right.actions)  # type: ignore[attr-defined]
        told = ", the number of moves: of a sum" if np.allclose(by, moves, rtol=left.close) else ""
        report.notes.append(f"gradients are those of the loss times {times}{told}")

    norms = [float(np.linalg.norm(part)) for part in (given, exact, far)]
    cosine = float((given * exact).sum()) / max(norms[0] * norms[1], 1e-300)
    words = (
        f"it is off that of the loss by {norms[2] / max(norms[1], 1e-300):.2%} of its norm; "
        f"their cosine is {cosine:.4f}, their norms are {norms[0]:.4g} and {norms[1]:.4g}"
    )

    def search() -> Iterator[Mistake]:
        seen: Any = left
        try:
            seen = Shadow(right, left)
        except RuntimeError:  # of a module whose outputs have no second derivatives
            report.notes.append("the search for a name took long: the module is derived only once")
        quick = replace(left, shadow=None if seen is left else seen)
        explains = lambda loss: quick.factors(loss) is not None  # noqa: E731
        off = getattr(seen, "off", None)
        yield from named(right, seen.given, explains, seen.scaled, right.further(left), off=off)

    if report.add("gradient", wrong, words, search(), groups=_places(before)):
        report.notes.extend(right.unseen(left))
    return exact


def _in_a_precision(
    report: Report, left: Left, right: Loss, computed: Callable[[th.dtype | None], Loss]
) -> tuple[FloatArray, FloatArray | None]:
    """Return the gradient of a loss, and the factors by which it is the one that was left, if any.

    It is that of the precision of autocast, if any, in which it is the one that was left.
    """
    for half, single in HALVES:
        cast = replace(left, half=None if single else half)
        try:
            tried = right if half is None else computed(half)
        except RuntimeError:  # of a module that has no half precision
            continue
        if single:  # of networks under autocast, and of a loss behind it
            names = {"logits", "values"} & vars(tried).keys()
            tried = replace(tried, **{name: getattr(tried, name).float() for name in names})
        factors = (cast.factors(each) for each in tried.equal())
        if (by := next((each for each in factors if each is not None), None)) is not None:
            rounded = f"gradients are those of the loss under autocast to {half}"
            report.notes += [rounded.replace("torch.", "")] * (half is not None)
            return cast.of(tried), by
    return left.of(right), None


def _clipped_apart(update: Update, right: Loss, before: Parameters) -> list[BoolArray]:
    """Return the parameters that were clipped together, each (parameter,)."""
    sizes = [parameter.numel() for parameter in before.values()]
    if isinstance(update.optimizer, Sequence):
        owners = np.repeat(list(_owned(update.optimizer, before).values()), sizes)
        return [owners == number for number in range(len(update.optimizer))]
    values: Any = getattr(right, "values", None)
    if values is None or not values.requires_grad:
        raise InputError("max_grad_norm must be one number, as there is no critic")
    found = th.autograd.grad(
        values.sum(), list(before.values()), retain_graph=True, allow_unused=True
    )
    of_critic = np.repeat([each is not None for each in found], sizes)
    return [~of_critic, of_critic]


def _owned(optimizers: Sequence[Any], before: Parameters) -> dict[str, int]:
    """Return the number of the optimizer that has each parameter, -1 if none has it."""
    known = [
        (number, each)
        for number, optimizer in enumerate(optimizers)
        for group in optimizer.param_groups
        for each in group["params"]
    ]
    owners = {}
    for key, parameter in before.items():
        alike = [place for place, (_, each) in enumerate(known) if th.equal(each, parameter)]
        owners[key] = known.pop(alike[0])[0] if alike else -1
    return owners


def _places(parameters: Parameters) -> dict[str, BoolArray]:
    """Return the entries of joined gradients that belong to a parameter or to a module."""
    sizes = [parameter.numel() for parameter in parameters.values()]
    places = np.repeat(np.array(list(parameters)), sizes)
    groups = {f"the parameter {key}": places == key for key in parameters}
    for part in {key.rpartition(".")[0] for key in parameters}:
        groups[f"the parameters of {part}"] = np.char.startswith(places, f"{part}.")
    return groups


def _check_moved(report: Report, before: Parameters, after: Parameters) -> bool:
    """Check that the step has changed all parameters that have a gradient; say whether it has."""
    given = {key: each.grad for key, each in after.items() if each.grad is not None}
    keys = [key for key, gradient in given.items() if gradient.any()]

    def largest(found: Iterable[Tensor]) -> FloatArray:
        return np.array([float(each.detach().abs().max()) for each in found])

    moved = largest(after[key] - before[key] for key in keys)
    left = moved == 0
    cure = "its learning rate is 0, or too small to count"
    mistake = Mistake(f"learning-rate-zero: {cure}", others=("step-left-out",))
    if not left.all():
        # A small step may be lost in the rounding of a large parameter.
        wanted, sizes = (largest(of[key] for key in keys) for of in (given, before))
        least, rate = moved[~left].min(), (moved / wanted)[~left].min()
        left &= np.minimum(least, rate * wanted) > 1e-5 * sizes
        mistake = Mistake("parameters-left-out: give the optimizer all parameters")

    def example(place: int) -> str:
        some = f"{keys[place]} has a gradient and has not changed"
        return "the step has changed nothing" if left.all() else some

    return report.add("parameters", left, example, [mistake])


@dataclass(frozen=True, kw_only=True)
class Step(Formula):
    """The changes of all parameters, as a copy of the optimizer makes them."""

    gradients: FloatArray = edited("gradients")  # of all parameters, (parameter,)
    learning_rate: float = edited(
        fitted="learning-rate-wrong: the step has the learning rate {:.4g}"
    )
    replay: Callable[[FloatArray, float], FloatArray]

    def __call__(self) -> FloatArray:
        """Compute the changes, shape (parameter,)."""
        return self.replay(self.gradients, self.learning_rate)


def _check_norm(
    report: Report,
    most: float | Sequence[float],
    after: Parameters,
    exact: FloatArray | None,
    blocks: list[BoolArray],
) -> None:
    """Check the norms to which gradients were clipped."""
    given = joined(after, {key: each.grad for key, each in after.items()})
    limits = list(most) if isinstance(most, Sequence) else [most]
    norms = [float(np.linalg.norm(given[block])) for block in blocks]
    if len(limits) != len(norms):
        raise InputError(f"max_grad_norm must have {len(norms)} norms, got {len(limits)}")
    wrong = np.array(norms) > np.array(limits) * (1 + closeness(*after.values(), **CLOSE))
    own = exact is not None and bool(
        np.linalg.norm(given - exact) <= CLOSE["single"] * np.linalg.norm(given)
    )
    cure = "clip the gradients between loss.backward() and optimizer.step()"
    mistakes = [Mistake(f"gradients-not-clipped: {cure}")] * own

    def example(place: int) -> str:
        told = f"the norm of the gradient is {norms[place]:.4g}"
        return f"{told}, and must be at most {limits[place]:g}"

    report.add("gradient norm", wrong, example, mistakes)


def _check_step(
    report: Report, update: Update, before: Parameters, after: Parameters, exact: FloatArray | None
) -> None:
    """Check the step against that of a copy of the optimizer."""
    given = joined(after, {key: each.grad for key, each in after.items()})
    if update.optimizer is None:
        why = "optimizer is needed, a copy from before the step"
        report.unchecked["learning rate"] = f"{why}; learning_rate, if it has a schedule"
        return

    one = update.optimizer
    known_optimizers = list(one) if isinstance(one, Sequence) else [one]
    owners = _owned(known_optimizers, before)
    if not any(owner >= 0 for owner in owners.values()):
        raise InputError("optimizer must be a copy from before the step, got another one")
    owned = np.repeat([owner >= 0 for owner in owners.values()], [*map(th.numel, before.values())])
    if (joined(before, before) != joined(after, after))[~owned].any():
        others = [key for key, owner in owners.items() if owner < 0]
        report.notes.append(
            f"{listed(others)} moved, and the optimizer has not: give a list, if there are several"
        )

    def replay(gradients: FloatArray, rate: float) -> FloatArray:
        optimizers, start, new = copy.deepcopy(known_optimizers), 0, {}
        groups = [group for optimizer in optimizers for group in optimizer.param_groups]
        known = [each for group in groups for each in group["params"]]
        for key, parameter in before.items():
            part = gradients[start : start + parameter.numel()].reshape(parameter.shape)
            start += parameter.numel()
            alike = [th.equal(each, parameter) for each in known]
            new[key] = known.pop(alike.index(True)) if any(alike) else parameter
            if any(alike) and after[key].grad is not None:
                new[key].grad = th.as_tensor(part).to(parameter)
        for group in groups:  # which may have learning rates of their own
            group["lr"] = rate * (group["lr"] / first if first else 1.0)
        for optimizer in optimizers:
            optimizer.step()
        return joined(before, new) - old

    old, new = joined(before, before), joined(after, after)
    declared = update.learning_rate
    first = float(known_optimizers[0].param_groups[0]["lr"])
    rate = first if declared is None else declared
    late = "gradients-clipped-late: clip the gradients before optimizer.step(), not after it"
    alike = [] if exact is None else [Mistake(late, {"gradients": exact})]
    step = Step(gradients=given, learning_rate=float(rate), replay=replay, alike=alike)

    def far(formula: Step) -> BoolArray:
        found = formula()
        least = STEP_CLOSE * np.abs(found).max() + 1e-6 * np.abs(new)  # rounding of parameters
        return owned & ~(np.abs(found - (new - old)) <= least)

    words = f"the step is not that of the optimizer with the learning rate {rate:g}"
    search = named(step, new - old, lambda formula: not far(formula).any())
    report.add("learning rate", far(step), words, search)


def _check_rows(report: Report, update: Update, right: Loss | None) -> None:
    """Check that each array of a batch has the rows of its record, in one order."""
    name, axes = ("rollout", 2) if isinstance(update, PolicyUpdate) else ("source", 1)
    record: Any = getattr(update, name)
    if record is None or update.rows is None:
        report.unchecked["rows"] = f"{name} and rows are needed: the batch is checked by itself"
        return
    recorded = vars(getattr(record, "transitions", record)) | vars(record)
    recorded |= {"old_values": recorded.get("values")}
    shape = leading_shape(recorded["observations"], "observations", axes)
    rows = whole(update.rows, "rows", np.shape(update.actions), int(np.prod(shape)) - 1)
    for name in ROWS:
        source, given = recorded.get(name), getattr(update, name, None)
        if source is None or given is None or isinstance(source, Mapping):
            continue
        kept, batch = as_numbers(source, name), as_numbers(given, name)
        if name == "observations":  # a sum of features stands for each
            weights = np.random.default_rng(0).random(int(np.prod(kept.shape[axes:])))
            kept = kept.reshape(*shape, -1) @ weights
            batch = batch.reshape(len(rows), -1) @ weights
        kept, batch = numbers(kept, name, shape), numbers(batch.ravel(), name, rows.shape)
        alike = [
            Mistake(f"lanes-mixed: {name} {words}", {"numbers": other.ravel()[rows]})
            for words, other in (other_lanes(kept, 0) if axes == 2 else ())
        ]
        if name == "log_probs" and isinstance(right, PolicyLoss):
            cure = "they are those of the module before this step, not of the rollout"
            alike.append(Mistake(f"log-probs-recomputed: {cure}", {"numbers": right.new()}))
        formula = Numbers(numbers=kept.ravel()[rows], check=name, alike=alike)
        check_formula(report, name, formula, batch, close=closeness(source, given))


def check_epoch(report: Report, updates: Sequence[PolicyUpdate], view: AgentView) -> None:
    """Check all updates of an epoch, and that they use each move of the rollout equally often."""
    if len({id(update.after) for update in updates}) < len(updates):
        raise InputError("each update must have an own copy of the module after it, got one twice")
    found: dict[tuple[str, str | None], list[Finding]] = {}
    for number, update in enumerate(updates):
        own = Report()  # a finding of one update must not end the audit of the next one
        check_update(own, update, view)
        for each in own.findings:
            first = replace(each, words=f"update {number}: {each.words}")
            found.setdefault((each.check, each.mistake), []).append(first)
        report.notes += [note for note in own.notes if note not in report.notes]
        report.unchecked |= own.unchecked
        for check, count in own.held.items():
            report.held[check] = report.held.get(check, 0) + count
    for alike in found.values():
        words = f"in {len(alike)} of {len(updates)} updates. {alike[0].words}"
        count, of = (sum(getattr(each, key) for each in alike) for key in ("count", "of"))
        report.findings.append(replace(alike[0], count=count, of=of, words=words))
        report.held.pop(alike[0].check, None)
    rollout = updates[0].rollout
    if rollout is None or any(update.rows is None for update in updates):
        return  # which is said by ``unchecked``
    moves = moves_of(rollout).ravel()
    used = np.concatenate([np.ravel(as_numbers(update.rows, "rows")) for update in updates])
    counts = np.bincount(used.astype(np.int64), minlength=moves.size)
    often = max(int(np.rint(len(used) / moves.sum())), 1)
    wrong = counts != often * moves

    def example(row: int) -> str:
        must = often * moves[row]
        return f"row {row} of the rollout is used {counts[row]} times, and must be {must} times"

    cure = "a permutation of all moves, cut into minibatches,"
    text = f"rows-left-out: {cure} leaves none out"
    if (counts >= often * moves).all():
        text = f"rows-repeated: {cure} repeats none"
    report.add("epoch", wrong, example, [Mistake(text)])


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
        return np.abs(old + tau * apart - new) > close

    def search() -> Iterator[Mistake]:
        tau = float((apart * (new - old)).sum()) / max(float((apart**2).sum()), 1e-300)
        text = f"tau-wrong: it has been updated with tau = {tau:.3g}"
        if not update.copied:
            text = "target-always-updated: it has been updated, and this was not due"
        elif abs(tau) < 1e-3:
            text = "target-never-updated: an update was due and has not taken place"
        if not far(tau).any():
            yield Mistake(text)

    words = "its parameters are not those that an update gives"
    wrong = far(update.tau if update.copied else 0.0)
    report.add("target network", wrong, words, search())
