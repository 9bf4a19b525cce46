"""Losses of gradient steps, with the mistakes that change their gradients.

With r the new probability of an action divided by the old one, A its advantage, v the critic's
value, R the return and H the entropy of the law over the legal actions, PPO's loss is (Schulman et
al. 2017, *Proximal Policy Optimization Algorithms*, eq. 7 and 9) the mean over the moves of

    - min(r A, clip(r, 1 - c, 1 + c) A) + vf_coef (v - R)^2 - ent_coef H

where some programs take the larger one of (v - R)^2 and (u + clip(v - u, -c, c) - R)^2 for the old
value u, and DQN's (Mnih et al. 2015, *Human-level control through deep reinforcement learning*)
that of huber(Q(s, a) - y) with constant targets y, times importance weights if rows were drawn by
priority.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import torch as th
from torch import Tensor
from typing_extensions import override

from ...baselines.law.numbers import as_numbers
from ...core import BoolArray, FloatArray, InputError, IntArray, one_of
from ..networks import Parameters, joined, parameters_of, tensors
from ..records import PolicyUpdate, Rollout, Update, ValueUpdate, each_array
from ..report import Mistake
from ..view import AgentView, flags, leading_shape, numbers
from .formula import Formula, edited

#: Gradients agree if they differ by no more than this part of their norm, by their precision.
CLOSE = {"single": 1e-3, "half": 3e-2}
#: Precisions of autocast, None without it, and whether the loss takes single precision.
HALVES = ((None, False), *product((th.bfloat16, th.float16), (False, True)))
#: Ratios this near to the border of clipping may be on either side: single precision.
BORDER = 1e-5
#: Most borders of clipping that are tried.
BORDERS = 64
#: Parts of PPO's loss, by the names of their weights.
PARTS = {
    "policy_coef": "the objective",
    "ent_coef": "the entropy",
    "vf_coef": "the critic's errors",
}
#: Fields of a loss that the module computes.
OUTPUTS = ("logits", "values")
#: Directions of a shadow for each block, and how much farther off a loss may seem there.
DIRECTIONS, SLACK = 8, 5.0
#: Losses of action values and of a critic.
KINDS = ("huber", "mse")
#: Usual borders of clipping.
USUAL = (0.1, 0.2, 0.3, 0.05, 0.15, 0.25, 0.4, 0.5)
#: Mistakes with several edits.
_CLIP = "clip-wrong: the ratio is clipped at 1 - and + {:.3g}: declare it, if meant"
_APART = "or both norms as max_grad_norm, if actor and critic were clipped apart"
_DETACH = "advantages-not-detached: advantages are constants of the actor's loss: detach them"
_MASK = "mask-missing-in-update: hold the law to the legal actions, as when actions were drawn"
_OTHER = "other-loss: this is no mistake if it is meant: say so by loss, or value_loss of a critic"
_HALF = (
    'other-loss: this is no mistake if it is meant: say so by value_loss="half", or "huber" if no '
    "error is above 1"
)
_BEST = "value-of-best-action: the target is that of the action that was taken: gather its value"
_BROADCAST = "values-broadcast: values (move, 1) less numbers (move,) are a square: squeeze them"
_SIGN = "loss-sign: the loss is minimised: the optimizer goes down its gradient"


def autocast(half: th.dtype | None, parameters: Parameters) -> AbstractContextManager[Any]:
    """Return a context in which torch computes in half precision, if one is given."""
    device = next(iter(parameters.values())).device.type
    return th.autocast(device, half) if half else nullcontext()


@dataclass(frozen=True)
class Left:
    """The gradient that a step has left, against those of losses."""

    given: FloatArray  # joined to one vector, (parameter,)
    parameters: Parameters  # of the module before the step, by name
    close: float  # the part of the norm by which gradients that agree may differ
    blocks: Sequence[BoolArray]  # parts that were clipped apart, each (parameter,); one is all
    half: th.dtype | None = None  # to which autocast rounds what is computed; None without it
    shadow: "Shadow | None" = None  # rules most losses out at once

    def of(self, loss: Any) -> FloatArray:
        """Return the gradient of a loss; zeros if it is no number somewhere."""
        with autocast(self.half, self.parameters):
            total = loss()
        known = list(self.parameters.values())
        if not total.requires_grad:  # of an edit that leaves all gradients out
            return np.zeros_like(self.given)
        found = th.autograd.grad(total, known, retain_graph=True, allow_unused=True)
        if all(part is None for part in found):
            raise InputError("actor and critic must be those of the module before, got others")
        whole = joined(self.parameters, dict(zip(self.parameters, found, strict=True)))
        return whole if np.isfinite(whole).all() else np.zeros_like(whole)

    def factors(self, loss: Any) -> FloatArray | None:
        """Return the positive factors by which the gradient is that of a loss, in each block.

        None says that it is not.
        """
        if self.shadow is not None and self.shadow.off(loss)[0] > SLACK * self.close:
            return None
        factors, scaled = _fitted(self.of(loss), self.given, self.blocks)
        far = float(np.linalg.norm(self.given - scaled))
        right = far <= self.close * np.linalg.norm(self.given) and (factors > 0).all()
        return factors if right else None

    def scaled(self, loss: Any) -> FloatArray:
        """Return the gradient of a loss times the factors that fit best."""
        return _fitted(self.of(loss), self.given, self.blocks)[1]


def _fitted(
    wanted: FloatArray, given: FloatArray, blocks: Sequence[Any]
) -> tuple[FloatArray, FloatArray]:
    """Return the factors of a gradient that fit best, (block,), and the gradient times them."""
    factors, scaled = np.ones(len(blocks)), wanted.copy()
    for number, block in enumerate(blocks):
        if size := float((wanted[block] ** 2).sum()):
            factors[number] = float((wanted[block] * given[block]).sum()) / size
        scaled[block] *= factors[number]
    return factors, scaled


class Shadow:
    """Gradients in a few random directions of the parameters, as ``Left`` in all of them.

    A module's outputs y turn a direction u into J u, which is computed once; then the gradient of a
    loss L has the component u dL/dw = J u dL/dy, without a way back through the module.
    """

    def __init__(self, loss: Any, left: Left) -> None:
        outputs = [getattr(loss, key, None) for key in OUTPUTS]
        self._outputs = [each for each in outputs if each is not None and each.requires_grad]
        known, size = list(left.parameters.values()), DIRECTIONS
        self._blocks = [slice(n * size, (n + 1) * size) for n in range(len(left.blocks))]
        weights = [th.zeros_like(each, requires_grad=True) for each in self._outputs]
        back = th.autograd.grad(
            self._outputs, known, weights, create_graph=True, materialize_grads=True
        )
        rng, ends = np.random.default_rng(0), np.cumsum([each.numel() for each in known])[:-1]
        random = [
            rng.normal(size=len(block)) * block for block in left.blocks for _ in range(DIRECTIONS)
        ]
        self.given = np.array([each @ left.given for each in random])
        self._seen = []  # J u of each direction and output
        for each in random:
            parts = zip(np.split(each, ends), known, strict=True)
            u = [th.as_tensor(part).to(like).reshape(like.shape) for part, like in parts]
            self._seen.append(th.autograd.grad(back, weights, u, retain_graph=True))

    def off(self, loss: Any) -> FloatArray:
        """Return how far the gradient of a loss is off, as a part: with factors, and as it is.

        It is 0 if the gradient has further ways to the parameters.
        """
        fields = ((key, each) for key, each in vars(loss).items() if isinstance(each, Tensor))
        if any(each.requires_grad and key not in OUTPUTS for key, each in fields):
            return np.zeros(2)
        wanted = self._components(loss)
        both = np.stack([_fitted(wanted, self.given, self._blocks)[1], wanted])
        far = np.linalg.norm(self.given - both, axis=1) / np.linalg.norm(self.given)
        return np.nan_to_num(far, nan=1.0)

    def scaled(self, loss: Any) -> FloatArray:
        """Return the components of the gradient of a loss, times factors that fit best."""
        return _fitted(self._components(loss), self.given, self._blocks)[1]

    def _components(self, loss: Any) -> FloatArray:
        total = loss()
        if not total.requires_grad:
            return np.zeros_like(self.given)
        found = th.autograd.grad(total, self._outputs, retain_graph=True, materialize_grads=True)
        pairs = (zip(found, each, strict=True) for each in self._seen)
        return np.array([sum(float((part * u).sum()) for part, u in each) for each in pairs])


@dataclass(frozen=True, kw_only=True)
class Loss(Formula):
    """A declared loss of a batch, with what the modules say of it before the step."""

    def equal(self) -> Iterable["Loss"]:
        """Yield the losses that differ from this one in nothing that matters."""
        return [self]

    def parts(self, left: Left) -> dict[str, FloatArray]:
        """Return the gradient of each part of the loss, of the weight 1."""
        return {"weight": left.of(self)}

    def further(self, left: Left) -> Iterable[Mistake]:
        """Yield mistakes that are fitted to a gradient in ways of their own."""
        return ()

    def unseen(self, left: Left) -> Iterable[str]:
        """Say what a right gradient does not show."""
        return ()


@dataclass(frozen=True, kw_only=True)
class PolicyLoss(Loss):
    """PPO's loss of a batch."""

    logits: Tensor = edited("logits")  # (move, action), with a gradient
    masks: Tensor = edited("masks")  # (move, action)
    actions: Tensor = edited("actions")  # (move,)
    log_probs: Tensor = edited("log_probs")  # when the actions were drawn, (move,)
    advantages: Tensor = edited(  # (move,)
        "advantages",
        returns="returns-for-advantages: the actor's loss has the advantages, the critic's the "
        "returns",
    )
    returns: Tensor = edited("returns")  # (move,)
    values: Tensor = edited("values")  # of the critic, with a gradient, (move,)
    old_values: Tensor | None = edited("old_values")  # of the rollout, if errors are clipped
    clip: float = edited(fitted=_CLIP)
    ent_coef: float = edited(
        negated="entropy-sign: the loss has minus the entropy",
        fitted="ent-coef-wrong: the loss has ent_coef = {:.3g}: declare it, if meant",
    )
    vf_coef: float = edited(
        negated="value-sign: the critic's errors are minimised",
        fitted=f"vf-coef-wrong: the loss has vf_coef = {{:.3g}}: declare it, if meant, {_APART}",
    )
    policy_coef: float = edited(
        default=1.0,
        negated="policy-sign: the actor's loss is minus the objective",
        fitted="policy-coef-wrong: the objective has the weight {:.3g}",
    )
    sign: float = edited(default=1.0, negated=_SIGN)
    centre: float = edited(default=0.0, fitted="advantages-shifted")  # taken from the advantages
    #: Weights of the mean of the old logarithm less the new one, and of that of r - 1 - log r.
    kl_coef: float = edited(default=0.0, fitted="kl-coef-wrong: the loss has kl_coef = {:.3g}")
    kl3_coef: float = edited(default=0.0, fitted="kl3-coef-wrong: the loss has kl3_coef = {:.3g}")
    normalised: str = edited(
        yes="advantages-normalised: this is no mistake if it is meant: say so by normalised=True",
        no="advantages-not-normalised: this is no mistake if it is meant: say so by normalised="
        "False",
        spread="advantages-divided-by-their-deviation",
        clipped="advantages-clipped",
    )
    ratio: str = edited(
        default="exp",
        inverted="ratio-inverted: the new probability is divided by the old one",
        log="ratio-without-exp: the difference of log-probabilities is the logarithm of the ratio",
        one="ratio-always-one: the old log-probabilities are those of the draw, not of this policy",
    )
    objective: str | Callable[[Tensor, Tensor], Tensor] = edited(
        default="min",
        min="clipped-objective: the objective is PPO's, and not the one that is declared",
        clipped="clip-without-minimum: take the smaller one of the objectives with and without "
        "clipping: the clipped one alone has no gradient where the policy has moved too far the "
        "wrong way",
        unclipped="clip-missing: clip the ratio in one of the two objectives",
        max="maximum-for-minimum: take the smaller one of the two objectives",
        above="clip-of-large-ratios-alone",
        below="clip-of-small-ratios-alone",
        broadcast="advantages-broadcast: ratios (move, 1) times advantages (move,) are a square: "
        "squeeze them",
    )
    source: str = edited(
        default="given",
        attached=_DETACH,
        recomputed_attached=_DETACH,
        recomputed="advantages-recomputed: advantages are the rollout's, not returns less the "
        "present values",
    )
    entropy: str = edited(
        default="law",
        taken="log-probs-for-the-entropy",
        negated="entropy-sign+log-probs-for-the-entropy",
    )
    law: str = edited(
        default="masked",
        all=_MASK,
        all_of_legal=_MASK,
        entropy="entropy-unmasked: the entropy is that of the law over the legal actions",
    )
    value_clip: str = edited(
        default="old",
        no="values-not-clipped: this is no mistake if it is meant: leave old_values out",
        present="values-clipped-around-the-present-ones",
        flat="values-clipped-without-a-gradient",
    )
    value_loss: str | Callable[[Tensor], Tensor] = edited(
        default="mse", half=_HALF, mse=_OTHER, huber=_OTHER
    )
    broadcast: bool = edited(default=False, added=_BROADCAST)
    biased: bool = False  # whether the variance of advantages is divided by the number of moves

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
        if self.entropy != "law":
            minus_entropy = new.mean() * (1 if self.entropy == "taken" else -1)
        gap = new - self.log_probs
        drift = self.kl_coef * -gap.mean() + self.kl3_coef * (gap.exp() - 1 - gap).mean()
        actor = self.policy_coef * policy + self.ent_coef * minus_entropy + drift
        loss: Tensor = self.sign * (actor + self.vf_coef * self._errors().mean())
        return loss

    def new(self) -> FloatArray:
        """Return logarithms of the present probabilities of the actions, shape (move,)."""
        logs = self.logits.detach().masked_fill(~self.masks, -th.inf).log_softmax(dim=1)
        return logs.gather(1, self.actions[:, None])[:, 0].cpu().double().numpy()

    def changes(self) -> FloatArray:
        """Return how far each ratio is from 1, shape (move,)."""
        old: FloatArray = self.log_probs.cpu().double().numpy()
        return np.abs(np.exp(self.new() - old) - 1)

    @override
    def equal(self) -> Iterator[Loss]:
        """Move the border by less than a rounding; divide the variance by the number of moves."""
        for biased in (False, True)[: 1 + (self.normalised == "yes")]:
            for moved in (0.0, -BORDER, BORDER):
                yield replace(self, clip=self.clip + moved, biased=biased)

    @override
    def parts(self, left: Left) -> dict[str, FloatArray]:
        """Return the gradient of each part of the loss, of the weight 1."""
        nothing: dict[str, Any] = dict.fromkeys(PARTS, 0.0)
        return {key: left.of(replace(self, **nothing | {key: 1.0})) for key in PARTS}

    @override
    def further(self, left: Left) -> Iterator[Mistake]:
        """Clip at usual borders and between the ratios; fit both weights together."""
        changes = np.unique(self.changes())
        between = (changes[1:] + changes[:-1]) / 2
        between = between[:: max(1, len(between) // BORDERS)]
        for clip in (*USUAL, *between.tolist()):
            yield Mistake(_CLIP.format(clip), {"clip": clip})
        parts = np.array(list(self.parts(left).values()))
        policy, entropy, critic = np.linalg.lstsq(parts.T, left.given, rcond=None)[0].tolist()
        if policy > 0:
            fitted = {"ent_coef": entropy / policy, "vf_coef": critic / policy}
            told = " and ".join(f"{key} = {weight:.3g}" for key, weight in fitted.items())
            cure = f"the loss has {told}: declare them, if they are meant, {_APART}"
            yield Mistake(f"ent-coef-wrong+vf-coef-wrong: {cure}", fitted)

    @override
    def unseen(self, left: Left) -> Iterator[str]:
        """Say which parts are too small to be checked, and whether clipping did nothing."""
        small = 2 * left.close * np.linalg.norm(left.of(self))
        for key, part in self.parts(left).items():
            weight = abs(getattr(self, key))
            if weight and weight * np.linalg.norm(part) <= small:
                yield f"the gradient of {PARTS[key]} is too small beside the others to be checked"
        if not (self.changes() > self.clip).any():
            yield f"no ratio has left {1 - self.clip:g} to {1 + self.clip:g}: clipping did nothing"

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
        if not isinstance(self.objective, str):
            return self.objective(ratio, advantages)
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


def _sized(errors: Tensor, kind: str | Callable[[Tensor], Tensor]) -> Tensor:
    if not isinstance(kind, str):
        return kind(errors)
    if kind == "huber":
        return th.nn.functional.smooth_l1_loss(errors, th.zeros_like(errors), reduction="none")
    squares = (errors.clamp(-1, 1) if kind == "clipped" else errors) ** 2
    return squares / 2 if kind == "half" else squares


@dataclass(frozen=True, kw_only=True)
class ValueLoss(Loss):
    """DQN's loss of a batch."""

    values: Tensor = edited("values")  # of the network before the step, with a gradient
    masks: Tensor = edited("masks")  # legal actions, (move, action), as the values
    actions: Tensor = edited("actions")  # (move,)
    targets: Tensor = edited("targets")  # (move,)
    weights: Tensor = edited("weights")  # importance weights, (move,)
    kind: str | Callable[[Tensor], Tensor] = edited(
        huber=_OTHER, mse=_OTHER, clipped="errors-clipped-in-the-square"
    )
    sign: float = edited(default=1.0, negated=_SIGN)
    taken: str = edited(
        default="action",
        best=_BEST,
        best_legal=_BEST,
        broadcast=_BROADCAST,
        all="values-of-other-actions-towards-0",
    )

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


def loss_of(update: Update, actions: IntArray, masks: BoolArray, view: AgentView) -> Loss:
    """Return the declared loss of a step, with what the modules say of its batch before it."""
    shape, like = actions.shape, next(iter(parameters_of(update.before, "before").values()))
    seen, taken = tensors(update.observations, like), th.as_tensor(actions, device=like.device)
    legal = th.as_tensor(masks, device=like.device)

    def constant(name: str) -> Tensor:
        given = as_numbers(getattr(update, name), name)
        given = given.reshape(-1) if given.size == len(actions) else given
        kind = getattr(getattr(update, name), "dtype", None)
        kind = kind if isinstance(kind, th.dtype) and kind.itemsize == 2 else th.float32
        return th.as_tensor(numbers(given, name, shape)).to(like).to(kind)

    def called(name: str, shape: tuple[int, ...]) -> Tensor:
        found = getattr(update, name)(seen)
        count, each = getattr(found, "numel", int)(), max(1, int(np.prod(shape)))
        if name == "before" and count > each and count % each == 0:
            raise InputError(
                f"before must give one value for each action, got {count // each}: a law of "
                "returns, as of QR-DQN and C51, has no ValueUpdate"
            )
        if not isinstance(found, Tensor) or count != each:
            raise InputError(f"{name} must give a tensor of shape {shape} for observations")
        if not found.requires_grad:
            raise InputError(f"{name} must give a tensor with a gradient, got a detached one")
        return found.reshape(shape)

    if isinstance(update, ValueUpdate):
        targets = constant("targets")
        ones = th.ones_like(targets)
        weights = ones if update.weights is None else constant("weights")
        values = called("before", masks.shape)
        alike = [Mistake("weights-left-out", {"weights": ones})]
        if update.source is not None and update.rows is not None:
            attached = targets + _attached(update, targets, view)
            cure = "targets are constants of the loss: detach them"
            alike.append(Mistake(f"targets-not-detached: {cure}", {"targets": attached}))
        return ValueLoss(
            values=values,
            masks=legal,
            actions=taken,
            targets=targets,
            weights=weights,
            kind=update.loss if callable(update.loss) else one_of("loss", update.loss, KINDS),
            alike=alike,
        )
    none, loss = th.zeros(shape).to(like), update.value_loss
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
        objective=update.objective or "min",
        value_loss=loss if callable(loss) else one_of("value_loss", loss, (*KINDS, "half")),
    )


def _by_rollout(update: PolicyUpdate, advantages: Tensor) -> Tensor:
    """Normalise advantages by those of all moves of the rollout, if the update says so."""
    rollout = update.rollout
    if not isinstance(update.normalised, str):
        return advantages
    if update.normalised != "rollout" or rollout is None or rollout.advantages is None:
        raise InputError('normalised must be True, False or "rollout" beside one with advantages')
    moves = moves_of(rollout)
    found = numbers(rollout.advantages, "advantages", moves.shape)[moves]
    return (advantages - found.mean()) / (found.std() + 1e-8)


def moves_of(rollout: Rollout) -> BoolArray:
    """Return which rows of a rollout are moves, shape (time, lane)."""
    shape = leading_shape(rollout.observations, "observations", 2)
    return flags(rollout.used, "used", shape, missing=True)


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
