"""Checks of a gradient step: the gradient of the declared loss, and what the step has changed.

With r the new probability of an action divided by the old one, A its advantage, v the critic's
value, R the return and H the entropy of the law over the legal actions, PPO's loss is (Schulman et
al. 2017, *Proximal Policy Optimization Algorithms*, eq. 7 and 9) the mean over the moves of

    - min(r A, clip(r, 1 - c, 1 + c) A) + vf_coef (v - R)^2 - ent_coef H

where some programs take the larger one of (v - R)^2 and (u + clip(v - u, -c, c) - R)^2 for the old
value u, and DQN's (Mnih et al. 2015, *Human-level control through deep reinforcement learning*)
that of huber(Q(s, a) - y) with constant targets y, times importance weights if rows were drawn by
priority.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain
from typing import Any, ClassVar, TypeAlias

import numpy as np
import torch as th
from torch import Tensor

from ...baselines.law.numbers import as_numbers
from ...core import BoolArray, FloatArray, InputError, IntArray
from ...core.positions import are_legal
from ..gradients import Parameters, joined, parameters_of, tensors
from ..records import PolicyUpdate, Rollout, Targets, Update, ValueUpdate
from ..report import SWAPPED, Finding, Formula, Mistake, Report, named, options, reproducing
from ..view import AgentView, each_array, flags, leading_shape, numbers, whole
from .estimates import Numbers, compare
from .steps import closeness

#: Gradients agree if they differ by no more than this part of their norm; of half precision.
CLOSE, HALF_CLOSE = 1e-3, 3e-2
#: Parameters after a step agree if they differ by no more than this part of the largest change.
STEP_CLOSE = 1e-2
#: Ratios this near to the border of clipping may be on either side: single precision.
BORDER = 1e-5
#: Most borders of clipping that are tried.
BORDERS = 64
#: Arrays of a batch that are rows of its record.
ROWS = ["observations", "actions", "log_probs", "advantages", "returns", "old_values", "targets"]
#: Parts of PPO's loss, by the names of their weights.
PARTS = {
    "policy_coef": "the objective",
    "ent_coef": "the entropy",
    "vf_coef": "the critic's errors",
}


# ---------------------------------------------------------------------------- losses


@dataclass(frozen=True)
class PolicyLoss(Formula):
    """PPO's loss of a batch, with what the modules say of it before the step."""

    logits: Tensor  # (move, action), with a gradient
    masks: Tensor  # (move, action)
    actions: Tensor  # (move,)
    log_probs: Tensor  # when the actions were drawn, (move,)
    advantages: Tensor  # (move,)
    returns: Tensor  # (move,)
    values: Tensor  # of the critic, with a gradient, (move,)
    old_values: Tensor | None  # of the critic when the actions were drawn, if errors are clipped
    clip: float
    ent_coef: float
    vf_coef: float
    normalised: str = options(
        yes="advantages normalised",
        no="advantages not normalised",
        spread="advantages divided by their deviation",
        clipped="advantages clipped",
    )
    policy_coef: float = 1.0
    centre: float = 0.0  # taken from the advantages
    kl_coef: float = 0.0  # weight of the mean of the old logarithm less the new one
    kl3_coef: float = 0.0  # weight of the mean of r - 1 - log r
    ratio: str = options(
        exp="ratio right",
        inverted="ratio inverted",
        log="ratio without exp",
        one="ratio always one",
    )
    objective: str = options(
        min="minimum of the objectives",
        clipped="clip without minimum",
        unclipped="clip missing",
        max="maximum for minimum",
        above="clip of large ratios alone",
        below="clip of small ratios alone",
        broadcast="advantages broadcast",
    )
    source: str = options(
        given="advantages of the rollout",
        attached="advantages not detached",
        recomputed_attached="advantages not detached",
        recomputed="advantages recomputed",
    )
    law: str = options(
        masked="law of the legal actions",
        all="mask missing in update",
        all_of_legal="mask missing in update",
        entropy="entropy unmasked",
    )
    value_clip: str = options(
        old="values clipped",
        no="values not clipped",
        present="values clipped around the present ones",
        flat="values clipped without a gradient",
    )
    value_loss: str = options(mse="squares of values", huber="Huber errors of values")
    broadcast: bool = False
    biased: bool = False  # whether the variance of advantages is divided by the number of moves
    names: ClassVar[Mapping[str, str]] = {
        "broadcast-added": "values-broadcast",
        "centre-wrong": "advantages-shifted",
        "Huber-errors-of-values": "other-loss",
        "squares-of-values": "other-loss",
    }

    def __call__(self) -> Tensor:
        """Return the loss."""
        masks = self.masks | (self.law in ("all", "all_of_legal"))
        logs = self.logits.masked_fill(~masks, -th.inf).log_softmax(dim=1)
        new = logs.gather(1, self.actions[:, None]).squeeze(1)
        advantages = self._advantages()
        change = {"inverted": -1.0, "one": 1.0}.get(self.ratio, 1.0) * (
            new - (new.detach() if self.ratio == "one" else self.log_probs)
        )
        ratio = change if self.ratio == "log" else change.exp()
        policy = -self._objective(ratio, advantages - self.centre).mean()
        if self.law == "entropy":
            logs = self.logits.log_softmax(dim=1)
        counted = self.masks if self.law == "all_of_legal" else th.isfinite(logs)
        minus_entropy = (th.where(counted, logs, 0.0) * logs.exp()).sum(dim=1).mean()
        gap = new - self.log_probs
        drift = self.kl_coef * -gap.mean() + self.kl3_coef * (gap.exp() - 1 - gap).mean()
        loss: Tensor = self.policy_coef * policy + self.ent_coef * minus_entropy + drift
        return loss + self.vf_coef * self._errors().mean()

    def new(self) -> FloatArray:
        """Return logarithms of the present probabilities of the actions, shape (move,)."""
        logs = self.logits.detach().masked_fill(~self.masks, -th.inf).log_softmax(dim=1)
        return logs.gather(1, self.actions[:, None])[:, 0].cpu().double().numpy()

    def changes(self) -> FloatArray:
        """Return how far each ratio is from 1, shape (move,)."""
        old: FloatArray = self.log_probs.cpu().double().numpy()
        return np.abs(np.exp(self.new() - old) - 1)

    def _advantages(self) -> Tensor:
        given, recomputed = self.advantages, self.returns - self.values
        if self.source != "given":
            attached = given + self.values.detach() - self.values
            given = attached if self.source == "attached" else recomputed
            given = given.detach() if self.source == "recomputed" else given
        if self.normalised == "no":
            return given
        if self.normalised == "clipped":
            return given.clamp(-1.0, 1.0)
        spread = given.std(correction=int(not self.biased)) + 1e-8
        return (given - given.mean() * (self.normalised == "yes")) / spread

    def _objective(self, ratio: Tensor, advantages: Tensor) -> Tensor:
        if self.objective == "broadcast":
            ratio = ratio[:, None]
        low = 1 - self.clip if self.objective != "above" else -th.inf
        high = 1 + self.clip if self.objective != "below" else th.inf
        plain, clipped = ratio * advantages, ratio.clamp(low, high) * advantages
        if self.objective in ("clipped", "unclipped"):
            return clipped if self.objective == "clipped" else plain
        return th.max(plain, clipped) if self.objective == "max" else th.min(plain, clipped)

    def _errors(self) -> Tensor:
        values = self.values[:, None] if self.broadcast else self.values
        errors = _sized(values - self.returns, self.value_loss)
        if self.old_values is None or self.value_clip == "no":
            return errors
        old = self.values.detach() if self.value_clip == "present" else self.old_values
        change = self.values - old
        near = old + (change.detach() if self.value_clip == "flat" else change).clamp(
            -self.clip, self.clip
        )
        return th.max(errors, _sized(near - self.returns, self.value_loss))


def _sized(errors: Tensor, kind: str) -> Tensor:
    """Return how much each error counts."""
    if kind == "huber":
        return th.nn.functional.smooth_l1_loss(errors, th.zeros_like(errors), reduction="none")
    return (errors.clamp(-1, 1) if kind == "clipped" else errors) ** 2


@dataclass(frozen=True)
class ValueLoss(Formula):
    """DQN's loss of a batch."""

    values: Tensor  # of the network before the step, with a gradient, (move, action)
    masks: Tensor  # legal actions, (move, action)
    actions: Tensor  # (move,)
    targets: Tensor  # (move,)
    weights: Tensor  # importance weights, (move,)
    kind: str = options(
        huber="Huber errors for squares",
        mse="squares for Huber errors",
        clipped="errors clipped in the square",
    )
    sign: float = 1.0
    taken: str = options(
        action="value of the action",
        best="value of best action",
        best_legal="value of best action",
        broadcast="values broadcast",
        all="values of other actions towards 0",
    )
    names: ClassVar[Mapping[str, str]] = {
        "Huber-errors-for-squares": "other-loss",
        "squares-for-Huber-errors": "other-loss",
        "ones-for-weights": "weights-left-out",
        "attached-targets-for-targets": "targets-not-detached",
    }

    def __call__(self) -> Tensor:
        """Return the loss."""
        taken = self.values.gather(1, self.actions[:, None])
        values, wanted = taken.squeeze(1), self.targets
        if self.taken in ("best", "best_legal"):
            legal = self.masks | (self.taken == "best")
            values = self.values.masked_fill(~legal, -th.inf).max(dim=1).values
        elif self.taken == "broadcast":
            values = taken
        elif self.taken == "all":
            values = self.values
            wanted = th.zeros_like(values).scatter(1, self.actions[:, None], wanted[:, None])
        errors, weights = values - wanted, self.weights
        weights = weights[:, None] if self.taken == "all" else weights
        return (self.sign * weights * _sized(errors, self.kind)).mean()


#: A declared loss.
Loss: TypeAlias = PolicyLoss | ValueLoss

# ---------------------------------------------------------------------------- checks


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
    if report.ok:
        with th.enable_grad():
            right = _loss(update, actions, view.task.game.mask(states), view)
            exact = _check_gradient(report, update, right, before, after)
    if _check_moved(report, before, after):
        _check_step(report, update, before, after, exact)
    if isinstance(update, ValueUpdate):
        _check_target(report, update)
    new = {"recomputed log_probs": right.new()} if isinstance(right, PolicyLoss) else {}
    _check_rows(report, update, new)


def _finite(report: Report, update: Update) -> bool:
    """Say whether all arrays, parameters and gradients are finite; else add what is not."""
    given = {each.name: getattr(update, each.name) for each in fields(update)}
    arrays = {
        name: each
        for name, each in given.items()
        if not isinstance(each, Mapping | Rollout | Targets)
        and not callable(each)
        and np.ndim(each)
    }
    for name in ("before", "after"):
        for key, parameter in parameters_of(given[name], name).items():
            arrays[f"{key} of {name}"] = parameter
            if name == "after" and parameter.grad is not None:
                arrays[f"the gradient of {key}"] = parameter.grad
    for name, array in arrays.items():
        report.add_finite(name, np.atleast_1d(as_numbers(array, name)))
    return report.ok


# ------------------------------------------------------------------------------ gradients


@dataclass(frozen=True)
class Left:
    """The gradient that a step has left, against those of losses.

    Gradients are joined to one vector, shape (parameter,).
    """

    given: FloatArray
    parameters: Parameters  # of the module before the step, by name
    close: float  # the part of the norm by which gradients that agree may differ

    def of(self, loss: Any) -> FloatArray:
        """Return the gradient of a loss; zeros if it is no number somewhere."""
        total, known = loss(), list(self.parameters.values())
        if not total.requires_grad:  # of an edit that leaves all gradients out
            return np.zeros_like(self.given)
        found = th.autograd.grad(total, known, retain_graph=True, allow_unused=True)
        if all(part is None for part in found):
            raise InputError("actor and critic must be those of the module before, got others")
        whole = joined(self.parameters, dict(zip(self.parameters, found, strict=True)))
        return whole if np.isfinite(whole).all() else np.zeros_like(whole)

    def factor(self, loss: Any) -> float | None:
        """Return the positive factor by which the gradient is that of a loss; None if it is not."""
        wanted = self.of(loss)
        size = float((wanted**2).sum())
        if not size:
            return None if self.given.any() else 1.0
        factor = float((self.given * wanted).sum()) / size
        far = float(np.linalg.norm(self.given - factor * wanted))
        return factor if factor > 0 and far <= self.close * np.linalg.norm(self.given) else None

    def agrees(self, loss: Any) -> bool:
        """Say whether the gradient is that of a loss, times a positive factor."""
        return self.factor(loss) is not None

    def scaled(self, loss: Any) -> FloatArray:
        """Return the gradient of a loss times the factor that fits best."""
        found = self.of(loss)
        return found * float((found * self.given).sum()) / max(float((found**2).sum()), 1e-300)


def _check_gradient(
    report: Report, update: Update, right: Loss, before: Parameters, after: Parameters
) -> FloatArray:
    """Compare the gradient that the step has left with that of the loss, and name the mistake.

    Returns:
        The gradient of the declared loss.
    """
    if all(parameter.grad is None for parameter in after.values()):
        why = "which a deep copy leaves out"
        raise InputError(f"after must have the gradients of loss.backward(), {why}, got none")
    given = joined(after, {key: each.grad for key, each in after.items()})
    if update.accumulated is not None:
        given = given - joined(after, {key: update.accumulated.get(key) for key in after})
    outputs = (getattr(right, "logits", right.values), right.values, *after.values())
    half = min(each.dtype.itemsize for each in outputs) <= 2
    left = Left(given, before, HALF_CLOSE if half else CLOSE)
    exact, factors = left.of(right), map(left.factor, _alike(right))
    by = next((each for each in factors if each is not None), None)
    far = np.abs(given - exact)
    wrong = (by is None) & ((far > left.close * np.abs(exact).max()) | (far == far.max()))
    if by is not None and abs(by - 1) > left.close:
        report.notes.append(f"gradients are those of the loss times {by:.4g}")

    def search() -> Iterator[Mistake]:
        yield from named(right, given, left.agrees, left.scaled, _signs(right))
        if isinstance(right, PolicyLoss):
            others = chain(_borders(right), _weights(right, left))
            yield from reproducing(right, others, left.agrees)

    norms = [float(np.linalg.norm(part)) for part in (given, exact, far)]
    cosine = float((given * exact).sum()) / max(norms[0] * norms[1], 1e-300)
    words = (
        f"it is off that of the loss by {norms[2] / max(norms[1], 1e-300):.2%} of its norm; "
        f"their cosine is {cosine:.4f}, their norms are {norms[0]:.4g} and {norms[1]:.4g}"
    )
    right_one = report.add("gradient", wrong, words, search(), groups=_places(before))
    if right_one and isinstance(right, PolicyLoss):
        report.notes.extend(_unseen(right, left))
    return exact


def _places(parameters: Parameters) -> dict[str, BoolArray]:
    """Return the entries of joined gradients that belong to a parameter or to a module."""
    sizes = [parameter.numel() for parameter in parameters.values()]
    places = np.repeat(np.array(list(parameters)), sizes)
    groups = {f"the parameter {key}": places == key for key in parameters}
    for part in {key.rpartition(".")[0] for key in parameters}:
        groups[f"the parameters of {part}"] = np.char.startswith(places, f"{part}.")
    return groups


def _unseen(right: PolicyLoss, left: Left) -> Iterator[str]:
    """Say what a right gradient does not show: parts that are too small, and clipping."""
    for key, part in _parts(right, left).items():
        weight = abs(getattr(right, key))
        if weight and weight * np.linalg.norm(part) <= 2 * CLOSE * np.linalg.norm(left.given):
            yield f"the gradient of {PARTS[key]} is too small beside the others to be checked"
    if not (right.changes() > right.clip).any():
        yield f"no ratio has left {1 - right.clip:g} to {1 + right.clip:g}: clipping did nothing"


def _loss(update: Update, actions: IntArray, masks: BoolArray, view: AgentView) -> Loss:
    """Return the declared loss of a step, with what the modules say of its batch before it."""
    shape, like = actions.shape, next(iter(parameters_of(update.before, "before").values()))
    seen, taken = tensors(update.observations, like), th.as_tensor(actions, device=like.device)
    legal = th.as_tensor(masks, device=like.device)

    def constant(name: str) -> Tensor:
        given = as_numbers(getattr(update, name), name)
        given = given.reshape(-1) if given.size == len(actions) else given
        return th.as_tensor(numbers(given, name, shape)).to(like).float()

    def called(name: str, shape: tuple[int, ...]) -> Tensor:
        found = getattr(update, name)(seen)
        if not isinstance(found, Tensor) or found.numel() != np.prod(shape):
            raise InputError(f"{name} must give a tensor of shape {shape} for observations")
        if not found.requires_grad:
            raise InputError(f"{name} must give a tensor with a gradient, got a detached one")
        return found.reshape(shape)

    if isinstance(update, ValueUpdate):
        if update.loss not in ("huber", "mse"):
            raise InputError(f'loss must be "huber" or "mse", got {update.loss!r}')
        targets = constant("targets")
        ones = th.ones_like(targets)
        weights = ones if update.weights is None else constant("weights")
        values = called("before", masks.shape)
        alike: Any = {"weights": {"ones": ones}}
        if update.source is not None and update.rows is not None:
            alike["targets"] = {"attached targets": targets + _attached(update, targets, view)}
        given = values, legal, taken, targets, weights, update.loss
        return ValueLoss(*given, alike=partial(dict, alike))
    if update.value_loss not in ("mse", "huber"):
        raise InputError(f'value_loss must be "mse" or "huber", got {update.value_loss!r}')
    none = th.zeros(shape).to(like)
    return PolicyLoss(
        logits=called("actor", masks.shape),
        masks=legal,
        actions=taken,
        log_probs=constant("log_probs"),
        advantages=_by_rollout(update, constant("advantages")),
        returns=none if update.critic is None else constant("returns"),
        values=none if update.critic is None else called("critic", shape),
        old_values=None if update.old_values is None else constant("old_values"),
        clip=float(update.clip),
        ent_coef=float(update.ent_coef),
        vf_coef=0.0 if update.critic is None else float(update.vf_coef),
        normalised="yes" if update.normalised and update.normalised != "rollout" else "no",
        value_loss=update.value_loss,
    )


def _by_rollout(update: PolicyUpdate, advantages: Tensor) -> Tensor:
    """Normalise advantages by those of all moves of the rollout, if the update says so."""
    rollout = update.rollout
    if not isinstance(update.normalised, str):
        return advantages
    if update.normalised != "rollout" or rollout is None or rollout.advantages is None:
        raise InputError('normalised must be True, False or "rollout" beside one with advantages')
    moves = _moves_of(rollout)
    found = numbers(rollout.advantages, "advantages", moves.shape)[moves]
    return (advantages - found.mean()) / (found.std() + 1e-8)


def _moves_of(rollout: Rollout) -> BoolArray:
    """Return which rows of a rollout are moves, shape (time, lane)."""
    shape = leading_shape(rollout.observations, "observations", 2)
    return np.ones(shape, bool) if rollout.used is None else flags(rollout.used, "used", shape)


def _attached(update: ValueUpdate, like: Tensor, view: AgentView) -> Tensor:
    """Return zeros with the gradient that targets of the network itself would have."""
    assert update.source is not None
    moves, rows = update.source.transitions, as_numbers(update.rows, "rows").astype(np.int64)
    seen = each_array(
        moves.next_observations, lambda array: as_numbers(array, "next_observations")[rows]
    )
    ended = th.as_tensor(as_numbers(moves.terminated, "terminated")[rows].astype(bool))
    states = view.states_at(seen, "next_observations", rows.shape)
    masks = th.as_tensor(view.task.game.mask(np.maximum(states, 0)), device=like.device)
    powers = np.broadcast_to(as_numbers(moves.n_steps, "n_steps"), ended.shape)
    discounts = th.as_tensor(update.source.gamma**powers).to(like) * ~ended.to(like.device)
    later = update.before(tensors(seen, like)).masked_fill(~masks, -th.inf).max(dim=1).values
    return discounts * (later - later.detach())


def _parts(right: PolicyLoss, left: Left) -> dict[str, FloatArray]:
    """Return the gradient of each part of PPO's loss, of the weight 1."""
    nothing: dict[str, Any] = dict.fromkeys(PARTS, 0.0)
    return {key: left.of(replace(right, **nothing | {key: 1.0})) for key in PARTS}


def _signs(right: Loss) -> Iterator[Mistake]:
    """Change the signs of parts of a loss."""
    if isinstance(right, ValueLoss):
        yield Mistake("loss-sign", {"sign": -1.0})
        return
    signs = {part: -getattr(right, part) for part in PARTS}
    for name, part in (("policy", "policy_coef"), ("entropy", "ent_coef"), ("value", "vf_coef")):
        yield Mistake(f"{name}-sign", {part: signs[part]})
    yield Mistake("loss-sign", signs)


def _borders(right: PolicyLoss) -> Iterator[Mistake]:
    """Clip ratios at other borders: usual ones, and those between the ratios of the batch."""
    usual = [0.1, 0.2, 0.3, 0.05, 0.15, 0.25, 0.4, 0.5]
    changes = np.unique(right.changes())
    between = (changes[1:] + changes[:-1]) / 2
    between = between[:: max(1, len(between) // BORDERS)]
    for clip in (*usual, *between.tolist()):
        yield Mistake("clip-wrong", {"clip": clip})


def _weights(right: PolicyLoss, left: Left) -> Iterator[Mistake]:
    """Fit the weights of entropy and critic together."""
    parts = np.array(list(_parts(right, left).values()))
    policy, entropy, critic = np.linalg.lstsq(parts.T, left.given, rcond=None)[0].tolist()
    if policy > 0:
        fitted = {"ent_coef": entropy / policy, "vf_coef": critic / policy}
        told = {
            "edit": f"ent_coef = {fitted['ent_coef']:.3g} and vf_coef = {fitted['vf_coef']:.3g}: "
            "declare them in PolicyUpdate, if they are meant"
        }
        yield Mistake("ent-coef-wrong+vf-coef-wrong", fitted, told)


def _alike(right: Any) -> list[Any]:
    """Return losses that differ from a right one in nothing that matters.

    The border of clipping is moved by less than a rounding, and the variance of advantages is
    divided by the number of moves.
    """
    if not isinstance(right, PolicyLoss):
        return [right]
    spreads = (right, replace(right, biased=True)) if right.normalised == "yes" else (right,)
    borders = (0.0, -BORDER, BORDER)
    return [replace(loss, clip=loss.clip + moved) for loss in spreads for moved in borders]


# ----------------------------------------------------------------------------- what changes


def _check_moved(report: Report, before: Parameters, after: Parameters) -> bool:
    """Check that the step has changed all parameters that have a gradient; say whether it has."""
    given = {key: each.grad for key, each in after.items() if each.grad is not None}
    keys = [key for key, gradient in given.items() if gradient.any()]

    def largest(found: Iterable[Tensor]) -> FloatArray:
        return np.array([float(each.detach().abs().max()) for each in found])

    moved = largest(after[key] - before[key] for key in keys)
    left = moved == 0
    mistake = Mistake("learning-rate-zero", others=("step-left-out",))
    if not left.all():
        # A small step may be lost in the rounding of a large parameter.
        wanted, sizes = (largest(of[key] for key in keys) for of in (given, before))
        least, rate = moved[~left].min(), (moved / wanted)[~left].min()
        left &= np.minimum(least, rate * wanted) > 1e-5 * sizes
        mistake = Mistake("parameters-left-out")

    def example(place: int) -> str:
        some = f"{keys[place]} has a gradient and has not changed"
        return "the step has changed nothing" if left.all() else some

    return report.add("parameters", left, example, [mistake])


@dataclass(frozen=True)
class Step(Formula):
    """The changes of all parameters, as a copy of the optimizer makes them."""

    gradients: FloatArray  # of all parameters, (parameter,)
    learning_rate: float
    replay: Callable[[FloatArray, float], FloatArray]
    names: ClassVar[Mapping[str, str]] = {
        "gradients-of-the-loss-for-gradients": "gradients-clipped-late"
    }

    def __call__(self) -> FloatArray:
        """Compute the changes, shape (parameter,)."""
        return self.replay(self.gradients, self.learning_rate)


def _check_step(
    report: Report, update: Update, before: Parameters, after: Parameters, exact: FloatArray | None
) -> None:
    """Check the norm of the gradient, and the step against that of a copy of the optimizer."""
    given = joined(after, {key: each.grad for key, each in after.items()})
    norm, most = float(np.linalg.norm(given)), update.max_grad_norm
    if most is not None:
        words = f"the norm of the gradient is {norm:.4g}, and must be at most {most:g}"
        half = min(each.dtype.itemsize for each in after.values()) <= 2
        wrong = np.array([norm > most * (1 + (HALF_CLOSE if half else CLOSE))])
        own = exact is not None and float(np.linalg.norm(given - exact)) <= CLOSE * norm
        report.add("gradient norm", wrong, words, [Mistake("gradients-not-clipped")] * own)
    if update.optimizer is None:
        why = "optimizer is needed, a copy from before the step"
        report.unchecked["learning rate"] = f"{why}; learning_rate, if it has a schedule"
        return

    def replay(gradients: FloatArray, rate: float) -> FloatArray:
        optimizer, start, new = copy.deepcopy(update.optimizer), 0, {}
        known = [each for group in optimizer.param_groups for each in group["params"]]
        for key, parameter in before.items():
            part = gradients[start : start + parameter.numel()].reshape(parameter.shape)
            start += parameter.numel()
            alike = [th.equal(each, parameter) for each in known]
            new[key] = known.pop(alike.index(True)) if any(alike) else parameter
            if any(alike) and after[key].grad is not None:
                new[key].grad = th.as_tensor(part).to(parameter)
        if all(new[key] is parameter for key, parameter in before.items()):
            raise InputError("optimizer must be a copy from before the step, got another one")
        for group in optimizer.param_groups:  # which may have learning rates of their own
            group["lr"] = rate * (group["lr"] / first if first else 1.0)
        optimizer.step()
        return joined(before, new) - old

    old, new = joined(before, before), joined(after, after)
    declared = update.learning_rate
    first = float(update.optimizer.param_groups[0]["lr"])
    rate = first if declared is None else declared
    alike = {} if exact is None else {"gradients": {"gradients of the loss": exact}}
    step = Step(given, float(rate), replay, alike=partial(dict, alike))

    def far(formula: Step) -> BoolArray:
        found = formula()
        least = STEP_CLOSE * np.abs(found).max() + 1e-6 * np.abs(new)  # rounding of parameters
        return ~(np.abs(found - (new - old)) <= least)

    words = f"the step is not that of the optimizer with the learning rate {rate:g}"
    search = named(step, new - old, lambda formula: not far(formula).any())
    report.add("learning rate", far(step), words, search)


def _check_rows(report: Report, update: Update, others: Mapping[str, FloatArray]) -> None:
    """Check that each array of a batch has the rows of its record, in one order.

    ``others`` are numbers that programs take for the recorded ``log_probs``, by words.
    """
    name, axes = ("rollout", 2) if isinstance(update, PolicyUpdate) else ("source", 1)
    record: Any = getattr(update, name)
    if record is None or update.rows is None:
        report.unchecked["rows"] = f"{name} and rows are needed: the batch is checked by itself"
        return
    recorded = vars(getattr(record, "transitions", record)) | vars(record)
    recorded |= {"old_values": recorded.get("values")}
    shape = leading_shape(recorded["observations"], "observations", axes)
    rows, most = whole(update.rows, "rows", np.shape(update.actions)), int(np.prod(shape)) - 1
    if rows.min() < 0 or rows.max() > most:
        raise InputError(f"rows must be from 0 to {most}, got {rows.min()} to {rows.max()}")
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
        alike: dict[str, Any] = {SWAPPED: kept.T.ravel()[rows]}
        alike[f"reshaped, {SWAPPED}"] = kept.reshape(shape[::-1]).T.ravel()[rows]
        alike |= others if name == "log_probs" else {}
        right = Numbers(kept.ravel()[rows], alike=partial(dict, numbers=alike))
        compare(report, name, right, batch, close=closeness(source, given))


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
    moves = _moves_of(rollout).ravel()
    used = np.concatenate([np.ravel(as_numbers(update.rows, "rows")) for update in updates])
    counts = np.bincount(used.astype(np.int64), minlength=moves.size)
    often = max(int(np.rint(len(used) / moves.sum())), 1)
    wrong = counts != often * moves

    def example(row: int) -> str:
        must = often * moves[row]
        return f"row {row} of the rollout is used {counts[row]} times, and must be {must} times"

    name = "rows-repeated" if (counts >= often * moves).all() else "rows-left-out"
    report.add("epoch", wrong, example, [Mistake(name)])


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
        never = "target-never-updated" if abs(tau) < 1e-3 else "tau-wrong"
        if not far(tau).any():
            yield Mistake(never if update.copied else "target-always-updated", {"tau": tau})

    words = "its parameters are not those that an update gives"
    wrong = far(update.tau if update.copied else 0.0)
    report.add("target network", wrong, words, search())
