"""A gradient against the truth: the losses that it may be of, and the constants in them.

The graph of a loss shows which kind it is: a policy gradient where logarithms of probabilities are
gathered, DQN's where action values are. Weights of its parts are fitted by least squares, so that
nothing need be declared; a gradient that no choice of weights gives is wrong, and the edits of
``diagnose.audits`` name the mistake.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch as th

from ...core import BoolArray, FloatArray
from ..audits.formula import closeness, named
from ..audits.losses import CLOSE, Left, Loss, PolicyLoss, ValueLoss
from ..report import Mistake, Report
from .calls import Call, Calls, Draw
from .graph import LossGraph

#: Logarithms of probabilities below this one are of illegal actions.
ILLEGAL = -1e6
#: A part of a loss has a sign to speak of if without it the gradient fits worse by this factor,
#: and by this share of its norm.
TOLD, SMALL = 50.0, 5e-5


@dataclass(frozen=True)
class Batch:
    """What a loss was computed from, tensors of shape (row, ...)."""

    graph: LossGraph
    entered: th.Tensor | None  # what networks were given
    actions: th.Tensor  # (row,)
    logits: th.Tensor | None = None  # of a law, with a gradient, (row, action)
    log_probs: th.Tensor | None = None  # of the actions, with a gradient, (row,)
    values: th.Tensor | None = None  # of a critic, with a gradient, (row,)
    critic: int | None = None  # the number of the critic
    action_values: th.Tensor | None = None  # with a gradient, (row, action)
    network: int | None = None  # the number of the network that gave the action values
    nodes: tuple[Any, Any] = (None, None)  # of the graph: of the logarithms, and of the values
    best: bool = False  # whether the actions are the best ones, in place of those of the rows
    others: tuple[th.Tensor, ...] = ()  # its further values in the loss, (row, action)

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.actions)

    @property
    def attached(self) -> bool:
        """Whether logarithms of probabilities are multiplied by what values have a gradient in."""
        log_prob, values = self.nodes
        return any(self.graph.multiplied(log_prob, value) for value in values or ())

    @classmethod
    def of(cls, graph: LossGraph, calls: Calls, actions: int) -> "Batch | None":
        """Find the batch of a loss among the calls before it; None if there is none."""
        draws = [draw for draw in calls.all_of("draws") if graph.has(draw.log_probs)]
        seen = [call for call in calls.all_of("seen") if graph.has(call.output)]
        if draws:
            return cls._of_policy(graph, calls, draws, seen)
        for call in reversed(seen):
            if call.output.dim() == 2 and call.output.shape[1] == actions:
                count = len(call.output)
                taken = graph.actions(count)
                best = taken is None
                taken = graph.bests(call.output) if taken is None else taken
                if taken is not None and taken.max() < actions:
                    same = [each for each in seen if each.module is call.module]
                    same = [each for each in same if each.output.shape == call.output.shape]
                    time = next(n for n, each in enumerate(same) if each is call)
                    entered = calls.entered(count, learned=True, time=time)
                    others = [each.output for each in same if each is not call]
                    own: Any = {"action_values": call.output, "network": id(call.module)}
                    own["best"] = best
                    own["others"] = tuple(others)
                    return cls(graph, entered, taken, **own)
        return None

    @classmethod
    def _of_policy(
        cls, graph: LossGraph, calls: Calls, draws: list[Draw], seen: list[Call]
    ) -> "Batch":
        taken = th.cat([draw.actions.reshape(-1) for draw in draws]).long()
        count = len(taken)
        logits = th.cat([draw.logits.reshape(-1, draw.logits.shape[-1]) for draw in draws])
        logs = th.cat([draw.log_probs.reshape(-1) for draw in draws])
        values, critic, node = None, None, None
        for module in dict.fromkeys(id(call.module) for call in reversed(seen)):
            same = [call.output for call in seen if id(call.module) == module]
            own = [each.reshape(-1) for each in same]
            whole = [each for each in own if len(each) == count]
            if sum(map(len, own)) == count or len(whole) > 1:
                told = [each for each in whole if graph.wanted(each) is not None]
                values, critic = (told or [th.cat(own)])[0] if len(own) > 1 else own[0], module
                if len(values) != count:
                    values = whole[0]
                node = tuple(each.grad_fn for each in same)
                break
        entered = calls.entered(count, learned=True)
        nodes = draws[0].log_probs.grad_fn, node
        return cls(graph, entered, taken, logits, logs, values, critic, nodes=nodes)


class Gradient:
    """The gradient of a loss, for comparison with those of other losses of the same graph."""

    def __init__(self, parameters: list[th.Tensor], before: list[th.Tensor | None]) -> None:
        named_ = {str(number): each for number, each in enumerate(parameters)}
        given = []
        for parameter, old in zip(parameters, before, strict=True):
            found = th.zeros_like(parameter) if parameter.grad is None else parameter.grad
            given.append((found if old is None else found - old).detach().double().cpu().ravel())
        vector = th.cat(given).numpy()
        close = closeness(*parameters, **CLOSE)
        self.left = Left(vector, named_, close, [np.ones(len(vector), dtype=bool)])
        self.norm = float(np.linalg.norm(vector))
        self.late = False  # whether the time for a search for a mistake was too short

    def fitted(self, parts: list[Any]) -> "Weights":
        """Fit the weights of some losses by which the gradient is their sum."""
        columns = np.array([self.left.of(part) for part in parts])
        sizes = np.linalg.norm(columns, axis=1)
        there = sizes > 1e-9 * max(sizes.max(), 1e-300)
        found, far = np.zeros(len(parts)), self.norm
        told = np.zeros(len(parts), dtype=bool)
        scaled = columns / np.maximum(sizes[:, None], 1e-300)
        if there.any():
            found[there], far = _least(scaled[there], self.left.given)
        for number in np.flatnonzero(there):
            others = scaled[there & (np.arange(len(parts)) != number)]
            _, without = _least(others, self.left.given)
            told[number] = without > max(TOLD * far, SMALL * self.norm)
        fits = bool(far <= self.left.close * self.norm)
        found[there] /= sizes[there]
        return Weights(found, fits, told)


def _least(columns: FloatArray, given: FloatArray) -> tuple[FloatArray, float]:
    """Return the weights of vectors whose sum is nearest to a vector, and how far it is."""
    if not len(columns):
        return np.zeros(0), float(np.linalg.norm(given))
    found: FloatArray = np.linalg.lstsq(columns.T, given, rcond=None)[0].astype(np.float64)
    return found, float(np.linalg.norm(given - found @ columns))


class Weights(NamedTuple):
    """Weights of losses by which a gradient is their sum, (loss,)."""

    of: FloatArray
    fit: bool  # whether the gradient is this sum
    told: BoolArray  # whether without a summand the gradient would fit far worse, (loss,)


#: Mistakes by the weight that is negative.
SIGNS = {
    "policy_coef": "policy-sign: the actor's loss is minus the objective",
    "ent_coef": "entropy-sign: the loss has minus the entropy",
    "vf_coef": "value-sign: the critic's errors are minimised",
    "weight": "loss-sign: the loss is minimised: the optimizer goes down its gradient",
}
#: The mistake of an old probability divided by the new one.
INVERTED = "ratio-inverted: the new probability is divided by the old one"
#: Mistakes of a loss that nobody means; other edits, such as another border, may be meant.
MISTAKES = {
    "ratio-inverted",
    "ratio-without-exp",
    "clip-without-minimum",
    "maximum-for-minimum",
    "advantages-not-detached",
    "advantages-broadcast",
    "targets-not-detached",
    "values-broadcast",
    "value-of-best-action",
    "values-of-other-actions-towards-0",
    "mask-missing-in-update",
    "loss-sign",
    "lanes-mixed",
}
#: Searches without an end after which none is made.
LATE = 2
#: The weights of the parts of PPO's loss.
WEIGHTS = ("policy_coef", "ent_coef", "vf_coef")


@dataclass(frozen=True)
class Fit:
    """A loss that has the gradient, up to the weights of its parts."""

    loss: Loss
    weights: Weights

    @property
    def named(self) -> dict[str, float]:
        """The weights by name."""
        names = WEIGHTS if isinstance(self.loss, PolicyLoss) else ("weight",)
        return dict(zip(names, self.weights.of.tolist(), strict=True))


def _parts(loss: Any) -> list[Any]:
    if not isinstance(loss, PolicyLoss):
        return [loss]
    nothing: dict[str, Any] = dict.fromkeys(WEIGHTS, 0.0)
    return [replace(loss, **nothing | {key: 1.0}, sign=1.0) for key in WEIGHTS]


def fit(gradient: Gradient, losses: Iterator[Loss]) -> Fit | None:
    """Return the first of some losses that has the gradient, up to weights of its parts."""
    for loss in losses:
        weights = gradient.fitted(_parts(loss))
        if weights.fit:
            return Fit(loss, weights)
    return None


def right_losses(
    batch: Batch, targets: th.Tensor | None, advantages: th.Tensor, huber: bool = False
) -> Iterator[Loss]:
    """Yield the losses of right programs that a batch may have.

    Args:
        batch: the batch.
        targets: what the critic, or action values, were driven to, (row,); None if unknown.
        advantages: as they stand in the loss, (row,).
        huber: whether the errors of values are Huber's, as the graph of the loss shows.
    """
    if batch.action_values is not None:
        assert targets is not None
        ones = th.ones_like(targets)
        legal = th.ones_like(batch.action_values, dtype=th.bool)
        for kind in ("mse", "huber")[:: -1 if huber else 1]:
            yield ValueLoss(
                values=batch.action_values,
                masks=legal,
                actions=batch.actions,
                targets=targets,
                weights=ones,
                kind=kind,
            )
        return
    assert batch.logits is not None
    assert batch.log_probs is not None
    none = th.zeros_like(advantages)
    values = none if batch.values is None or targets is None else batch.values
    borders = batch.graph.borders(batch.count)
    old: th.Tensor = batch.log_probs.detach()
    ratios = batch.graph.ratios(batch.count)
    clips = [high - 1 for low, high in borders if abs(low + high - 2) < 1e-6 and high > 1]
    if ratios:
        logs, turned = ratios[0][0].log(), ratios[0][1]
        old = old + logs if turned else old - logs
    value_clips = [high for low, high in borders if abs(low + high) < 1e-6 and high > 0]
    base = PolicyLoss(
        logits=batch.logits,
        masks=batch.logits.detach() > ILLEGAL,
        actions=batch.actions,
        log_probs=old,
        advantages=advantages,
        returns=none if targets is None else targets,
        values=values,
        old_values=None,
        clip=clips[0] if clips else 0.2,
        ent_coef=0.0,
        vf_coef=0.0,
        normalised="no",
        objective="min" if clips else "unclipped",
    )
    for kind in ("mse", "huber")[:: -1 if huber else 1]:
        yield replace(base, value_loss=kind)
        if value_clips and batch.values is not None:
            gaps = batch.values.detach()
            for node in batch.graph.named("Clamp"):
                change = node.tensor("self", batch.count)
                if change is not None and node.kept.get("max") in value_clips:
                    yield replace(base, old_values=gaps - change, value_loss=kind)


def check_gradient(
    report: Report,
    gradient: Gradient,
    losses: list[Loss],
    seconds: float = 0.0,
    alike: tuple[Mistake, ...] = (),
) -> Fit | Mistake | None:
    """Check that a gradient is that of a right loss; return this loss, or the mistake.

    A gradient of another loss may be WRONG only if a known mistake has it: a program may have a
    loss that is not known here.

    Args:
        report: gets the check.
        gradient: the gradient.
        losses: the losses of right programs.
        seconds: the time that the search for a mistake may take.
        alike: further mistakes that the gradient may be of.
    """
    found = fit(gradient, iter(losses))
    if found is None:
        edited = [replace(loss, alike=alike) for loss in losses]
        mistake = _mistake(gradient, edited, seconds) if seconds else None
        if mistake is None:
            report.unchecked["gradient"] = "its loss has a form that is not known here"
        return mistake
    if report.ok:
        report.held["gradient"] = report.held.get("gradient", 0) + 1
    return found


@dataclass
class Named:
    """The mistakes that gradients of a run are of.

    A mistake is WRONG if two gradients are of it, and none is of a form that is not known.
    """

    found: dict[str, tuple[int, Mistake, str]] = field(default_factory=dict)  # number and place
    other: bool = False  # whether a gradient is of another form
    seconds: float = 3.0  # that the next search may take
    late: int = 0  # number of searches without an end

    def add(self, found: Fit | Mistake | None, where: str, late: bool) -> None:
        """Keep what a gradient is of; ``late`` says that the search has come to no end."""
        if late:
            self.late += 1
            self.seconds *= self.late < LATE
        elif found is None:
            self.other |= self.seconds > 0
            self.seconds = 0.0
        elif isinstance(found, Mistake):
            count, mistake, place = self.found.get(found.name, (0, found, where))
            self.found[found.name] = count + 1, mistake, place
            self.seconds *= count < 2

    def end(self) -> Iterator[tuple[Report, str]]:
        """Yield a report, and a place, for each mistake."""
        for count, mistake, place in self.found.values():
            report = Report()
            words = "the gradient is not that of the loss, whatever the weights of its parts are"
            if count > 1 and not self.other:
                report.add("gradient", np.ones(1, dtype=bool), words, [mistake])
            else:
                report.unchecked["gradient"] = "its loss has a form that is not known here"
            yield report, place


@dataclass
class Signs:
    """The signs of the weights of parts of a loss, over a run."""

    counts: dict[str, list[int]] = field(default_factory=dict)  # of positive and negative ones
    examples: dict[str, tuple[float, str]] = field(default_factory=dict)  # weight and place
    inverted: bool = False  # whether the old probability is divided by the new one

    def add(self, found: Fit, signed: bool, inverted: bool, where: str) -> None:
        """Count the signs of a gradient; ``signed``: whether that of the advantages is known."""
        self.inverted |= inverted
        for (name, weight), known in zip(found.named.items(), found.weights.told, strict=True):
            if known and (signed or name != "policy_coef"):
                self.counts.setdefault(name, [0, 0])[int(weight < 0)] += 1
                if weight < 0:
                    self.examples.setdefault(name, (weight, where))

    def end(self) -> Iterator[tuple[Report, str]]:
        """Yield a report, and a place, for each part whose weight was negative all the time."""
        for name, (_, negative) in self.counts.items():
            if negative and not self.counts[name][0]:
                weight, where = self.examples[name]
                words = f"the weight of this part of the loss is {weight:.3g}"
                inverted = self.inverted and name == "policy_coef"
                report = Report()
                mistake = Mistake(INVERTED if inverted else SIGNS[name])
                report.add("gradient", np.ones(1, dtype=bool), words, [mistake])
                yield report, where


def check_form(report: Report, batch: Batch, turned: bool | None) -> None:
    """Check the form of PPO's objective, which few gradients tell as long as no ratio is clipped.

    ``turned`` says whether the loss has minus the advantages; None if it is not known.
    """
    ratios, borders = batch.graph.ratios(batch.count), batch.graph.borders(batch.count)
    if not ratios:
        return
    words, mistakes = "the ratio of PPO", []
    choices = batch.graph.choices(batch.count)
    clips = [low for low, high in borders if abs(low + high - 2) < 1e-6 and high > 1]
    if ratios[0][1]:
        mistakes.append(INVERTED)
    elif clips and not choices:
        mistakes.append(
            "clip-without-minimum: take the smaller one of the objectives with and without clipping"
        )
    elif clips and turned is not None and choices in (["Minimum"], ["Maximum"]):
        wrong = (choices == ["Maximum"]) != turned
        text = "maximum-for-minimum: take the smaller one of the two objectives"
        mistakes += [text] * wrong
    report.add("form", np.array([bool(mistakes)]), words, map(Mistake, mistakes))


class _Pairs(Exception):  # noqa: N818
    """All single edits have been tried."""


class _Late(Exception):  # noqa: N818
    """The time for a search is over."""


def _mistake(gradient: Gradient, losses: list[Loss], seconds: float) -> Mistake | None:
    """Return the known mistake that has a gradient; None if none is found in time."""
    end = time.process_time() + seconds

    def reproduces(other: Any) -> bool:
        if time.process_time() > end:
            raise _Late
        if len([key for key, each in vars(other).items() if each is not vars(tried[0])[key]]) > 1:
            raise _Pairs  # of which none has a name here
        weights = gradient.fitted(_parts(other))
        return weights.fit and bool(weights.of[0] > 0)

    tried: list[Any] = losses[:1]
    given, scaled = gradient.left.given, gradient.left.scaled
    try:
        for loss in sorted(losses, key=lambda loss: getattr(loss, "old_values", None) is None):
            tried[0] = loss
            try:
                mistake = next(named(loss, given, reproduces, scaled), None)
            except _Pairs:
                continue
            clips = getattr(loss, "objective", "min") == "min"  # else no edit of it is a mistake
            if (
                mistake
                and mistake.name in MISTAKES
                and (clips or "objective" not in mistake.changes)
            ):
                return mistake
    except _Late:
        gradient.late = True
    return None
