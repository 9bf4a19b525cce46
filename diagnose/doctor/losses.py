"""A gradient against the truth: the losses that it may be of, and the weights of their parts.

The graph of a loss shows which kind it is: a policy gradient where logarithms of probabilities are
gathered, DQN's where action values are. Weights of its parts are fitted by least squares, so that
nothing need be declared; a gradient that no choice of weights gives is wrong, and the edits of
``diagnose.audits`` name the mistake.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch as th
from torch.autograd.graph import GradientEdge

from ...core import FloatArray
from ..audits.formula import closeness, known_as, named
from ..audits.losses import CLOSE, PARTS, Left, Loss, PolicyLoss, ValueLoss
from ..report import Mistake, Report
from .calls import Call, Calls, Draw, parameters_above
from .graph import LossGraph

#: Logarithms of probabilities below this one are of illegal actions.
ILLEGAL = -1e6
#: A part of a loss has a sign to speak of if without it the gradient fits worse by this factor,
#: and by this share of its norm.
TOLD, SMALL = 50.0, 5e-5
#: Mistakes by the part of a loss whose weight is negative.
SIGNS = {name: known_as(PolicyLoss, name, "negated") for name in PARTS}
SIGNS |= {"weight": known_as(ValueLoss, "sign", "negated")}
#: Mistakes of a loss that nobody means; other edits, such as another border, may be meant.
MISTAKES = {
    "ratio-inverted", "ratio-without-exp", "clip-without-minimum", "maximum-for-minimum",
    "advantages-not-detached", "advantages-broadcast", "targets-not-detached", "values-broadcast",
    "value-of-best-action", "values-of-other-actions-towards-0", "mask-missing-in-update",
    "loss-sign", "lanes-mixed",
}  # fmt: skip
#: Errors that are too small to be divided by.
TINY = 1e-6
#: Calls of a network of which each may have the batch of a loss.
FEW = 4
#: Seconds of processor time of a search.
SECONDS = 3.0
#: Why a gradient is not checked.
FORM = "its loss has a form that is not known here"
_NO_MINIMUM = Mistake(
    "clip-without-minimum: take the smaller one of the objectives with and without clipping"
)


@dataclass(frozen=True)
class Batch:
    """What a loss was computed from, tensors of shape (row, ...)."""

    graph: LossGraph
    entered: th.Tensor | None  # what networks were given
    actions: th.Tensor  # (row,), zeros of a loss of values alone
    network: th.nn.Module | None = None  # that gave the values or action values
    values: th.Tensor | None = None  # of a critic, with a gradient, (row,)
    logits: th.Tensor | None = None  # of a law, with a gradient, (row, action)
    log_probs: th.Tensor | None = None  # of the actions, with a gradient, (row,)
    action_values: th.Tensor | None = None  # with a gradient, (row, action)
    best: bool = False  # whether the actions are the best ones, in place of those of the rows
    others: Sequence[th.Tensor] = ()  # further results of the network, with a gradient
    #: Whether logarithms of probabilities are multiplied by values that learn.
    attached: bool = False
    draws: Sequence[Draw] = ()

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.actions)

    @cached_property
    def parameters(self) -> list[th.Tensor]:
        """The parameters of which the gradient is compared: a target network has others."""
        table = self.action_values
        return self.graph.parameters if table is None else parameters_above(table)

    @cached_property
    def ratio(self) -> tuple[th.Tensor, bool] | None:
        """PPO's ratios, (row,), and whether they are those of old to new probabilities."""
        if self.log_probs is None:
            return None
        return self.graph.ratio(self.draws[0].node, self.log_probs.detach().exp())

    @property
    def inverted(self) -> bool:
        """Whether old probabilities are divided by new ones."""
        return self.ratio is not None and self.ratio[1]

    @cached_property
    def old_log_probs(self) -> th.Tensor | None:
        """The logarithms of the lower numbers of the ratios, or of the present ones, (row,)."""
        new = None if self.log_probs is None else self.log_probs.detach()
        if new is None or self.ratio is None:
            return new
        return new + self.ratio[0].log() * (1 if self.inverted else -1)

    @cached_property
    def clips(self) -> list[float]:
        """How far from 1 ratios are clipped."""
        clamped = self.graph.clamped(self.count)
        return [high - 1 for _, low, high in clamped if abs(low + high - 2) < 1e-6 and high > 1]

    @cached_property
    def factor(self) -> th.Tensor | None:
        """The constants by which ratios or logarithms are multiplied: advantages, (row,)."""
        found = self.graph.factor(self.count)
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

    @property
    def taken(self) -> th.Tensor:
        """The values of the actions, (row,), with a gradient."""
        assert self.action_values is not None
        return self._of_actions(self.action_values)

    @cached_property
    def wanted(self) -> tuple[th.Tensor, str] | None:
        """The targets of the values, (row,), and the kind of error, "mse" or "huber"."""
        if self.action_values is None:
            return None if self.values is None else self.graph.wanted(self.values)
        if found := self.graph.wanted(self.taken):
            return found
        found = self.graph.wanted(self.action_values)  # of all actions
        return found and (self._of_actions(found[0].reshape(self.action_values.shape)), found[1])

    def weights(self, targets: th.Tensor) -> th.Tensor | None:
        """Return the weights of the rows in a loss of action values, (row,), of one sign."""
        assert self.action_values is not None
        slopes = self._of_actions(self.graph.slopes([self.action_values])[0])
        errors = self.taken.detach() - targets
        found = th.where(errors.abs() > TINY, slopes / errors, 0.0)
        one_sign = (found >= 0).all() or (found <= 0).all()
        return found.abs() / found.abs().max() if one_sign and found.any() else None

    def _of_actions(self, table: th.Tensor) -> th.Tensor:
        """Return the numbers of the actions, (row,), from those of all actions."""
        return table.gather(1, self.actions[:, None]).squeeze(1)

    @classmethod
    def of(cls, graph: LossGraph, calls: Calls, actions: int) -> "Batch | None":
        """Find the batch of a loss among the calls before it; None if there is none."""
        seen = [call for call in calls.seen(Call, kept=True) if graph.has(call.output)]
        tables = [call for call in reversed(seen) if call.output.shape[1:] == (actions,)]
        draws = [draw for draw in calls.seen(Draw, kept=True) if draw.node in graph.nodes]
        draws = draws or [*filter(None, (graph.drawn(call.output) for call in tables))][:1]
        if draws:
            return cls._of_policy(graph, calls, draws, seen)
        for find, call in product((graph.actions, graph.bests), tables):
            table, taken = call.output, find(call.output)
            if taken is not None and taken.max() < actions:
                same = [each.output for each in seen if each.module is call.module]
                return cls(
                    graph,
                    _entered(calls, [table]),
                    taken,
                    call.module,
                    action_values=table,
                    best=find == graph.bests,
                    others=[e for e in same if e.shape == table.shape and e is not table],
                )
        return cls._of_critic(graph, calls, seen) if actions else None

    @classmethod
    def _of_critic(cls, graph: LossGraph, calls: Calls, seen: list[Call]) -> "Batch | None":
        """Find the batch of a loss of values alone."""
        for module, outputs in _outputs(seen).items():
            same = [each for each in outputs if each.numel() == len(each)]
            single = [[each] for each in same] if len(same) <= FEW else []  # else one a move
            for own in [*single, same] if same else []:
                values = th.cat([each.reshape(-1) for each in own])
                if graph.wanted(values) is not None or graph.outer(values):
                    none = th.zeros(len(values), dtype=th.long, device=values.device)
                    return cls(graph, _entered(calls, own), none, module, values)
        return None

    @classmethod
    def _of_policy(
        cls, graph: LossGraph, calls: Calls, draws: list[Draw], seen: list[Call]
    ) -> "Batch":
        """Find the batch of a loss of a law, and the values that it may have."""
        taken = th.cat([draw.actions.reshape(-1) for draw in draws]).long()
        network, values, nodes = None, None, set[Any]()
        laws = {id(draw.log_probs) for draw in draws}
        for module, outputs in _outputs([e for e in seen if id(e.output) not in laws]).items():
            flat = [each.reshape(-1) for each in outputs]
            own = [each for each in (*flat, th.cat(flat)) if len(each) == len(taken)]
            if own:
                network, nodes = module, {each.grad_fn for each in outputs}
                values = next((each for each in own if graph.wanted(each) is not None), own[0])
                break
        return cls(
            graph,
            _entered(calls, [draw.log_probs for draw in draws]),
            taken,
            network,
            values,
            logits=th.cat([draw.logits.reshape(-1, draw.logits.shape[-1]) for draw in draws]),
            log_probs=th.cat([draw.log_probs.reshape(-1) for draw in draws]),
            attached=graph.multiplied(draws[0].node, nodes),
            draws=draws,
        )


def _outputs(seen: list[Call]) -> dict[th.nn.Module, list[th.Tensor]]:
    """Return the outputs of each module, that of the last call first."""
    found: dict[th.nn.Module, list[th.Tensor]] = {call.module: [] for call in reversed(seen)}
    for call in seen:
        found[call.module].append(call.output)
    return found


def _entered(calls: Calls, outputs: list[th.Tensor]) -> th.Tensor | None:
    """Return what has entered the first layers above some outputs, in turn, (row, ...)."""
    found = []
    for output in outputs:
        rows = calls.rows_above(output.grad_fn)
        if rows is None or len(rows) != (len(output) if output.dim() else 1):
            return None
        found.append(rows)
    return th.cat(found) if len({rows.shape[1:] for rows in found}) == 1 else None


class Weights(NamedTuple):
    """Weights of the parts of a loss, by which a gradient is their sum."""

    ahead: bool  # whether that of the first part is positive
    told: dict[str, float]  # by name, those without which the gradient would fit far worse


def gradient_of(batch: Batch) -> Left:
    """Return the gradient of the loss of a batch, for comparison with those of other losses."""
    given, before = [], batch.graph.before
    for each in batch.parameters:
        own = th.zeros_like(each) if each.grad is None else each.grad
        given.append((own - before.get(each, 0)).detach().double().cpu().ravel())
    vector = th.cat(given).numpy()
    by_name = {str(number): each for number, each in enumerate(batch.parameters)}
    whole = [np.ones(len(vector), dtype=bool)]
    return Left(vector, by_name, closeness(*batch.parameters, **CLOSE), whole)


def fitted(gradient: Left, loss: Any) -> Weights | None:
    """Fit the weights of the parts of a loss; None if no weights give the gradient."""
    parts, norm = loss.parts(gradient), float(np.linalg.norm(gradient.given))
    sizes = {name: float(np.linalg.norm(part)) for name, part in parts.items()}
    least = 1e-9 * max(*sizes.values(), 1e-300)
    units = {name: part / sizes[name] for name, part in parts.items() if sizes[name] > least}
    weights, far = _least(units, gradient.given)
    if not far <= gradient.close * norm:  # it may be no number
        return None
    told = {}
    for name, weight in weights.items():
        others = {other: unit for other, unit in units.items() if other != name}
        if _least(others, gradient.given)[1] > max(TOLD * far, SMALL * norm):
            told[name] = weight / sizes[name]
    return Weights(weights.get(next(iter(parts)), 0.0) > 0, told)


def _least(units: Mapping[str, FloatArray], given: FloatArray) -> tuple[dict[str, float], float]:
    """Return the weights of vectors whose sum is nearest to a vector, and how far it is."""
    if not units:
        return {}, float(np.linalg.norm(given))
    columns = np.stack([*units.values()], axis=1)
    found = np.linalg.lstsq(columns, given, rcond=None)[0]
    far = float(np.linalg.norm(given - columns @ found))
    return dict(zip(units, found.tolist(), strict=True)), far


def mistake_of(gradient: Left, losses: Sequence[Loss]) -> Mistake | None:
    """Return the known mistake of one of some losses that has a gradient; None if none has.

    Raises:
        TimeoutError: if none is found in ``SECONDS``.
    """
    end = time.process_time() + SECONDS

    def reproduces(other: Any) -> bool:
        if time.process_time() > end:
            raise TimeoutError
        weights = fitted(gradient, other)
        return weights is not None and weights.ahead

    for loss in sorted(losses, key=lambda loss: getattr(loss, "old_values", None) is None):
        edits = named(loss, gradient.given, reproduces, gradient.scaled, single=True)
        found = next(edits, None)
        clips = getattr(loss, "objective", "min") == "min"  # else it may be any other one
        if found and found.name in MISTAKES and (clips or "objective" not in found.changes):
            return found
    return None


def value_losses(
    batch: Batch, targets: th.Tensor, kind: str, alike: list[Mistake]
) -> list[ValueLoss]:
    """Return the losses of action values that a right program may have, the likeliest first."""
    assert batch.action_values is not None
    base = ValueLoss(
        values=batch.action_values,
        masks=th.ones_like(batch.action_values, dtype=th.bool),
        actions=batch.actions,
        targets=targets,
        weights=th.ones_like(targets),
        kind=kind,
        alike=alike,
    )
    weights = batch.weights(targets)
    further = [] if weights is None else [replace(base, kind="mse", weights=weights)]
    return [base, replace(base, kind="mse" if kind == "huber" else "huber"), *further]


def policy_losses(
    batch: Batch, targets: th.Tensor | None, advantages: th.Tensor
) -> list[PolicyLoss]:
    """Return the losses of a law, or of a critic, that a right program may have.

    Args:
        batch: the batch.
        targets: what the critic was driven to, (row,); None if unknown.
        advantages: as they stand in the loss, (row,).
    """
    none, values = th.zeros_like(advantages), None if targets is None else batch.values
    logits = none[:, None] if batch.logits is None else batch.logits
    policy = PolicyLoss(
        logits=logits,
        masks=logits.detach() > ILLEGAL,
        actions=batch.actions,
        log_probs=none if batch.old_log_probs is None else batch.old_log_probs,
        advantages=advantages,
        returns=none if targets is None else targets,
        values=none if values is None else values,
        old_values=None,
        clip=batch.clips[0] if batch.clips else 0.2,
        ent_coef=0.0,
        vf_coef=0.0,
        normalised="no",
        objective="min" if batch.clips else "unclipped",
    )
    olds: list[th.Tensor | None] = [None]
    if batch.values is not None:
        clamped = batch.graph.clamped(batch.count)
        changes = [change for change, low, high in clamped if abs(low + high) < 1e-6 and high > 0]
        olds += [batch.values.detach() - change for change in changes]
    options = product(("mse", "huber"), olds)
    return [replace(policy, old_values=old, value_loss=kind) for kind, old in options]


def check_form(report: Report, batch: Batch, turned: bool | None) -> None:
    """Check the form of PPO's objective, which few gradients tell as long as no ratio is clipped.

    ``turned`` says whether the loss has minus the advantages; None if it is not known.
    """
    if batch.ratio is None:
        return
    choices, mistakes = batch.graph.choices(batch.draws[0].node, batch.count), list[Mistake]()
    if batch.inverted:
        mistakes.append(known_as(PolicyLoss, "ratio", "inverted"))
    elif batch.clips and not choices:
        mistakes.append(_NO_MINIMUM)
    elif batch.clips and turned is not None and choices == ["Minimum" if turned else "Maximum"]:
        mistakes.append(known_as(PolicyLoss, "objective", "max"))
    if not batch.clips:
        report.notes.append("the ratio is not clipped, as that of PPO is")
    report.add("form", np.array([bool(mistakes)]), "the ratio of PPO", mistakes)


@dataclass
class Blame:
    """The mistakes that gradients of a run are of.

    A mistake is WRONG if two gradients are of it, and none speaks against it. A gradient of an
    unknown form speaks against all but negative weights: a program may have a loss of its own.
    """

    #: Each time that a mistake was met, by name: a report, and file and line of the program.
    met: dict[str, list[tuple[Report, str]]] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)  # mistakes that a gradient speaks against
    searches: bool = True  # whether mistakes are looked for
    unknown: bool = False  # whether a gradient is of an unknown form

    def add(
        self, report: Report, batch: Batch, losses: Sequence[Loss], where: str, signed: bool
    ) -> dict[str, float]:
        """Find of which loss a gradient is; return the weights of its parts that are known.

        Args:
            report: gets the check.
            batch: what the loss was computed from.
            losses: the losses of right programs.
            where: file and line of the program.
            signed: whether the sign of the advantages is known.
        """
        gradient = gradient_of(batch)
        for weights in filter(None, (fitted(gradient, loss) for loss in losses)):
            if report.ok:
                report.held["gradient"] = 1
            for name, weight in weights.told.items():
                if signed or name != "policy_coef":
                    self.weigh(name, weight, where)
            return weights.told
        found = None
        if self.searches:
            try:
                found = mistake_of(gradient, losses)
                self.unknown = found is None
                self.searches = not self.unknown
            except TimeoutError:  # as another one would end
                self.searches = False
        if found is None:
            report.unchecked["gradient"] = FORM
        else:
            words = "the gradient is not that of the loss, whatever the weights of its parts are"
            self._blame(found, words, where)
            self.searches = len(self.met[found.name]) < 3
        return {}

    def weigh(self, name: str, weight: float, where: str) -> None:
        """Take in the weight of a part of a loss."""
        if weight < 0:
            self._blame(SIGNS[name], f"the weight of this part of the loss is {weight:.3g}", where)
        else:
            self.cleared.add(SIGNS[name].name)

    def _blame(self, mistake: Mistake, words: str, where: str) -> None:
        report = Report()
        report.add("gradient", np.ones(1, dtype=bool), words, [mistake])
        self.met.setdefault(mistake.name, []).append((report, where))

    def end(self) -> Iterator[tuple[Report, str]]:
        """Yield a report, and a place, for each mistake."""
        signs = {mistake.name for mistake in SIGNS.values()}
        if "ratio-inverted" in self.met:
            self.cleared.add("policy-sign")
        for name, met in self.met.items():
            if len(met) > 1 and name not in self.cleared and (name in signs or not self.unknown):
                yield met[0]
            elif name not in signs:
                yield Report(unchecked={"gradient": FORM}), ""
