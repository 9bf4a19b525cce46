"""A gradient against the truth: the losses that it may be of, and the weights of their parts.

The graph of a loss shows which kind it is: a policy gradient where logarithms of probabilities are
gathered, DQN's where action values are. Weights of its parts are fitted by least squares, so that
nothing need be declared; a gradient that no choice of weights gives is wrong, and the edits of
``diagnose.audits`` name the mistake.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch as th
from torch.autograd.graph import GradientEdge

from ...core import FloatArray
from ..audits.formula import closeness, named
from ..audits.losses import CLOSE, PARTS, Left, Loss, PolicyLoss, ValueLoss
from ..report import Mistake, Report
from .calls import Call, Calls, Draw
from .graph import LossGraph

#: Logarithms of probabilities below this one are of illegal actions.
ILLEGAL = -1e6
#: A part of a loss has a sign to speak of if without it the gradient fits worse by this factor,
#: and by this share of its norm.
TOLD, SMALL = 50.0, 5e-5
#: Mistakes by the part of a loss whose weight is negative.
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
#: Errors that are too small to be divided by.
TINY = 1e-6
#: Calls of a network of which each may have the batch of a loss.
FEW = 4
#: Searches without an end after which none is made.
LATE = 2
#: Why a gradient is not checked.
FORM = "its loss has a form that is not known here"


@dataclass(frozen=True)
class Batch:
    """What a loss was computed from, tensors of shape (row, ...)."""

    graph: LossGraph
    entered: th.Tensor | None  # what networks were given
    actions: th.Tensor  # (row,), zeros of a loss of values alone
    network: int | None = None  # the number of the network that gave the values or action values
    values: th.Tensor | None = None  # of a critic, with a gradient, (row,)
    logits: th.Tensor | None = None  # of a law, with a gradient, (row, action)
    log_probs: th.Tensor | None = None  # of the actions, with a gradient, (row,)
    action_values: th.Tensor | None = None  # with a gradient, (row, action)
    best: bool = False  # whether the actions are the best ones, in place of those of the rows
    others: tuple[th.Tensor, ...] = ()  # further results of the network, with a gradient
    #: Whether logarithms of probabilities are multiplied by values that learn.
    attached: bool = False
    draws: tuple[Draw, ...] = ()

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.actions)

    @cached_property
    def ratio(self) -> tuple[th.Tensor, bool] | None:
        """PPO's ratios, (row,), and whether they are those of old to new probabilities."""
        if self.log_probs is None:
            return None
        probabilities = self.log_probs.detach().exp()
        return next(iter(self.graph.ratios(self.draws[0].node, probabilities)), None)

    @cached_property
    def clips(self) -> list[float]:
        """How far from 1 ratios are clipped."""
        clamped = self.graph.clamped(self.count)
        return [high - 1 for _, low, high in clamped if abs(low + high - 2) < 1e-6 and high > 1]

    @cached_property
    def factor(self) -> th.Tensor | None:
        """The constants by which ratios or logarithms are multiplied: advantages, (row,)."""
        found = next(iter(self.graph.factors(self.count)), None)
        return self.slopes if found is None and self.ratio is None else found

    @cached_property
    def slopes(self) -> th.Tensor | None:
        """The factors of log-probabilities in a loss that is minus the mean of products, (row,).

        They are None if the loss does not depend on log-probabilities.
        """
        if not self.draws:
            return None
        found = self.graph.slopes([GradientEdge(draw.node, 0) for draw in self.draws])
        scaled = [each * draw.scale for each, draw in zip(found, self.draws, strict=True)]
        joined = th.cat([each.reshape(-1) for each in scaled])
        return -len(joined) * joined if joined.any() else None

    def weighted(self, targets: th.Tensor) -> th.Tensor | None:
        """Return the weights of the rows in a loss of action values, (row,), of one sign."""
        assert self.action_values is not None
        at = self.actions[:, None]
        slopes = self.graph.slopes([self.action_values])[0].gather(1, at).squeeze(1)
        errors = self.action_values.detach().gather(1, at).squeeze(1) - targets
        found = th.where(errors.abs() > TINY, slopes / errors, 0.0)
        one_sign = (found >= 0).all() or (found <= 0).all()
        return found.abs() / found.abs().max() if one_sign and found.any() else None

    @classmethod
    def of(cls, graph: LossGraph, calls: Calls, actions: int) -> "Batch | None":
        """Find the batch of a loss among the calls before it; None if there is none."""
        draws = [draw for draw in calls.all_of("draws") if draw.node in graph.nodes]
        seen = [call for call in calls.all_of("seen") if graph.has(call.output)]
        tables = [call for call in reversed(seen) if _is_table(call.output, actions)]
        draws = draws or [*filter(None, (graph.drawn(call.output) for call in tables))][:1]
        if draws:
            return cls._of_policy(graph, calls, draws, seen)
        for find in (graph.actions, graph.bests):
            for call in tables:
                values, taken = call.output, find(call.output)
                if taken is not None and taken.max() < actions:
                    same = [each.output for each in seen if each.module is call.module]
                    same = [each for each in same if each.shape == values.shape]
                    return cls(
                        graph,
                        _entered(calls, [(values.grad_fn, values)]),
                        taken,
                        id(call.module),
                        action_values=values,
                        best=find == graph.bests,
                        others=tuple(each for each in same if each is not values),
                    )
        return cls._of_critic(graph, calls, seen) if actions else None

    @classmethod
    def _of_critic(cls, graph: LossGraph, calls: Calls, seen: list[Call]) -> "Batch | None":
        """Find the batch of a loss of values alone."""
        for module in dict.fromkeys(id(call.module) for call in reversed(seen)):
            same = [call.output for call in seen if id(call.module) == module]
            same = [each for each in same if each.numel() == len(each)]
            single = [[each] for each in same] if len(same) <= FEW else []  # else one a move
            for own in [*single, same] if same else []:
                values = th.cat([each.reshape(-1) for each in own])
                if graph.wanted(values) is not None or graph.outer(values):
                    entered = _entered(calls, [(each.grad_fn, each) for each in own])
                    none = th.zeros(len(values), dtype=th.long, device=values.device)
                    return cls(graph, entered, none, module, values)
        return None

    @classmethod
    def _of_policy(
        cls, graph: LossGraph, calls: Calls, draws: list[Draw], seen: list[Call]
    ) -> "Batch":
        taken = th.cat([draw.actions.reshape(-1) for draw in draws]).long()
        entered = _entered(calls, [(draw.node, draw.log_probs) for draw in draws])
        logits = th.cat([draw.logits.reshape(-1, draw.logits.shape[-1]) for draw in draws])
        logs = th.cat([draw.log_probs.reshape(-1) for draw in draws])
        network, values, same = None, None, list[th.Tensor]()
        laws = {id(draw.log_probs) for draw in draws}
        seen = [call for call in seen if id(call.output) not in laws]
        for module in dict.fromkeys(id(call.module) for call in reversed(seen)):
            same = [call.output for call in seen if id(call.module) == module]
            own = [each.reshape(-1) for each in same]
            own = [each for each in [*own, th.cat(own)] if len(each) == len(taken)]
            if own:
                network = module
                values = next((each for each in own if graph.wanted(each) is not None), own[0])
                break
        nodes = {each.grad_fn for each in same} if network else set()
        attached = graph.multiplied(draws[0].node, nodes)
        given = network, values, logits, logs
        return cls(graph, entered, taken, *given, attached=attached, draws=tuple(draws))


def _is_table(output: th.Tensor, actions: int) -> bool:
    """Whether an output has a number for each action, (row, action)."""
    return output.dim() == 2 and output.shape[1] == actions


def _entered(calls: Calls, outputs: list[tuple[Any, th.Tensor]]) -> th.Tensor | None:
    """Return what has entered the first layers above the nodes of outputs, in turn, (row, ...)."""
    found = []
    for node, output in outputs:
        rows = calls.rows_above(node)
        if rows is not None and len(rows) == (len(output) if output.dim() else 1):
            found.append(rows)
    same = {each.shape[1:] for each in found}
    return th.cat(found) if len(found) == len(outputs) and len(same) == 1 else None


class Weights(NamedTuple):
    """Weights of the parts of a loss by which a gradient is their sum, by name."""

    of: dict[str, float]
    fit: bool  # whether the gradient is this sum
    told: dict[str, float]  # the weights of parts without which the gradient would fit far worse


class Gradient:
    """The gradient of a loss, for comparison with those of other losses of the same graph."""

    def __init__(self, parameters: list[th.Tensor], before: Mapping[th.Tensor, th.Tensor]) -> None:
        given = []
        for parameter in parameters:
            old = before.get(parameter)
            found = th.zeros_like(parameter) if parameter.grad is None else parameter.grad
            given.append((found if old is None else found - old).detach().double().cpu().ravel())
        vector = th.cat(given).numpy()
        by_name = {str(number): each for number, each in enumerate(parameters)}
        close = closeness(*parameters, **CLOSE)
        self.left = Left(vector, by_name, close, [np.ones(len(vector), dtype=bool)])
        self.norm = float(np.linalg.norm(vector))

    def fitted(self, loss: Any) -> Weights:
        """Fit the weights of the parts of a loss."""
        names, parts = ["weight"], [loss]
        if isinstance(loss, PolicyLoss):
            names, none = [*PARTS], dict.fromkeys(PARTS, 0.0)
            parts = [replace(loss, **none | {name: 1.0}, sign=1.0) for name in names]  # type: ignore[arg-type]
        columns = np.array([self.left.of(part) for part in parts])
        sizes = np.linalg.norm(columns, axis=1)
        there = sizes > 1e-9 * max(sizes.max(), 1e-300)
        scaled = columns[there] / sizes[there, None]
        found, far = np.zeros(len(parts)), self.norm
        found[there], far = _least(scaled, self.left.given)
        told = {}
        for number, part in enumerate(np.flatnonzero(there).tolist()):
            without = _least(np.delete(scaled, number, axis=0), self.left.given)[1]
            found[part] /= sizes[part]
            if without > max(TOLD * far, SMALL * self.norm):
                told[names[part]] = float(found[part])
        fits = bool(far <= self.left.close * self.norm)
        return Weights(dict(zip(names, found.tolist(), strict=True)), fits, told)

    def mistake(self, losses: list[Loss], seconds: float) -> Mistake | None:
        """Return the known mistake of one of some losses that has the gradient; None if none has.

        Raises:
            TimeoutError: if none is found in some seconds of processor time.
        """
        end = time.process_time() + seconds

        def reproduces(other: Any) -> bool:
            if time.process_time() > end:
                raise TimeoutError
            weights = self.fitted(other)
            return weights.fit and next(iter(weights.of.values())) > 0

        given = self.left.given, reproduces, self.left.scaled
        for loss in sorted(losses, key=lambda loss: getattr(loss, "old_values", None) is None):
            found = next(named(loss, *given, single=True), None)
            clips = getattr(loss, "objective", "min") == "min"  # else it may be any other one
            if found and found.name in MISTAKES and (clips or "objective" not in found.changes):
                return found
        return None


def _least(columns: FloatArray, given: FloatArray) -> tuple[FloatArray, float]:
    """Return the weights of vectors whose sum is nearest to a vector, and how far it is."""
    if not len(columns):
        return np.zeros(0), float(np.linalg.norm(given))
    found: FloatArray = np.linalg.lstsq(columns.T, given, rcond=None)[0].astype(np.float64)
    return found, float(np.linalg.norm(given - found @ columns))


def right_losses(
    batch: Batch, targets: th.Tensor | None, advantages: th.Tensor, huber: bool = False
) -> list[Loss]:
    """Return the losses of right programs that a batch may have.

    Args:
        batch: the batch.
        targets: what the critic, or action values, were driven to, (row,); None if unknown.
        advantages: as they stand in the loss, (row,).
        huber: whether the errors of values are Huber's, as the graph of the loss shows.
    """
    kinds = ("huber", "mse") if huber else ("mse", "huber")
    if batch.action_values is not None:
        assert targets is not None
        base = ValueLoss(
            values=batch.action_values,
            masks=th.ones_like(batch.action_values, dtype=th.bool),
            actions=batch.actions,
            targets=targets,
            weights=th.ones_like(targets),
            kind=kinds[0],
        )
        weights = batch.weighted(targets)
        further = [] if weights is None else [replace(base, kind="mse", weights=weights)]
        return [base, replace(base, kind=kinds[1]), *further]
    none = th.zeros_like(advantages)
    logits = none[:, None] if batch.logits is None else batch.logits
    ratio, clips = batch.ratio, batch.clips
    old: th.Tensor = none if batch.log_probs is None else batch.log_probs.detach()
    if ratio is not None:
        old = old + ratio[0].log() * (1 if ratio[1] else -1)
    policy = PolicyLoss(
        logits=logits,
        masks=logits.detach() > ILLEGAL,
        actions=batch.actions,
        log_probs=old,
        advantages=advantages,
        returns=none if targets is None else targets,
        values=none if batch.values is None or targets is None else batch.values,
        old_values=None,
        clip=clips[0] if clips else 0.2,
        ent_coef=0.0,
        vf_coef=0.0,
        normalised="no",
        objective="min" if clips else "unclipped",
    )
    clamped = batch.graph.clamped(batch.count)
    changes = [change for change, low, high in clamped if abs(low + high) < 1e-6 and high > 0]
    found: list[Loss] = []
    for kind in kinds:
        found.append(replace(policy, value_loss=kind))
        if batch.values is not None:
            olds = [batch.values.detach() - change for change in changes]
            found += [replace(policy, old_values=old, value_loss=kind) for old in olds]
    return found


def check_form(report: Report, batch: Batch, turned: bool | None) -> None:
    """Check the form of PPO's objective, which few gradients tell as long as no ratio is clipped.

    ``turned`` says whether the loss has minus the advantages; None if it is not known.
    """
    if batch.ratio is None:
        return
    choices, mistake = batch.graph.choices(batch.draws[0].node, batch.count), None
    if batch.ratio[1]:
        mistake = INVERTED
    elif batch.clips and not choices:
        mistake = (
            "clip-without-minimum: take the smaller one of the objectives with and without clipping"
        )
    elif batch.clips and turned is not None and choices == ["Minimum" if turned else "Maximum"]:
        mistake = "maximum-for-minimum: take the smaller one of the two objectives"
    if not batch.clips:
        report.notes.append("the ratio is not clipped, as that of PPO is")
    wrong = np.array([mistake is not None])
    report.add("form", wrong, "the ratio of PPO", [Mistake(mistake or "")])


@dataclass
class Blame:
    """The mistakes that gradients of a run are of.

    A mistake is WRONG if two gradients are of it, and none speaks against it. A gradient of an
    unknown form speaks against all but negative weights: a program may have a loss of its own.
    """

    #: How often each mistake was met, and what was found first, and where.
    found: dict[str, list[Any]] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)  # mistakes that a gradient speaks against
    unknown: bool = False  # whether a gradient is of an unknown form
    late: int = 0  # number of searches without an end
    seconds: float = 3.0  # that the next search may take

    def add(
        self, report: Report, gradient: Gradient, losses: list[Loss], where: str, signed: bool
    ) -> dict[str, float]:
        """Find of which loss a gradient is; return the weights of its parts that are known.

        Args:
            report: gets the check.
            gradient: the gradient.
            losses: the losses of right programs.
            where: file and line of the program.
            signed: whether the sign of the advantages is known.
        """
        for weights in map(gradient.fitted, losses):
            if weights.fit:
                if report.ok:
                    report.held["gradient"] = 1
                for name, weight in weights.told.items():
                    if signed or name != "policy_coef":
                        self.weigh(name, weight, where)
                return weights.told
        try:
            found = gradient.mistake(losses, self.seconds) if self.seconds else None
            self.unknown |= found is None and self.seconds > 0
            self.seconds *= found is not None
        except TimeoutError:
            found, self.late = None, self.late + 1
            self.seconds *= self.late < LATE
        if found is None:
            report.unchecked["gradient"] = FORM
        else:
            words = "the gradient is not that of the loss, whatever the weights of its parts are"
            self._blame(found, True, words, where)
            self.seconds *= self.found[found.name][0] < 3
        return {}

    def weigh(self, name: str, weight: float, where: str) -> None:
        """Take in the weight of a part of a loss."""
        words = f"the weight of this part of the loss is {weight:.3g}"
        self._blame(Mistake(SIGNS[name]), weight < 0, words, where)

    def _blame(self, mistake: Mistake, wrong: bool, words: str, where: str) -> None:
        if not wrong:
            self.cleared.add(mistake.name)
            return
        report = Report()
        report.add("gradient", np.ones(1, dtype=bool), words, [mistake])
        self.found.setdefault(mistake.name, [0, report.findings[0], where])[0] += 1

    def end(self) -> Iterator[tuple[Report, str]]:
        """Yield a report, and a place, for each mistake."""
        signs = {text.partition(":")[0] for text in SIGNS.values()}
        if "ratio-inverted" in self.found:
            self.cleared.add("policy-sign")
        for name, (count, finding, where) in self.found.items():
            if count > 1 and name not in self.cleared and (name in signs or not self.unknown):
                yield Report([finding]), where
            elif name not in signs:
                yield Report(unchecked={"gradient": FORM}), where
