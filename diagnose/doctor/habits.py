"""What every training program does, whatever its algorithm: checks that need nothing declared.

Gradients are cleared between steps, are finite, and move the parameters of an optimizer; every
parameter that gets gradients belongs to an optimizer; lanes of a vector differ; and the law from
which actions were drawn is the law that is trained.
"""

from collections.abc import Iterable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import torch as th

from ...core import BoolArray
from ..report import Mistake, Report
from .calls import numbers_of
from .rows import Section
from .tap import Trace

#: Gradients after which a parameter that never moves is left out.
LEAST = 8
#: Gradients in which a target network should have been updated.
OFTEN = 400
#: Rows and lanes in which games that begin alike are looked for, and the chance of a false alarm.
LONGEST, MOST, CHANCE = 5000, 16, 1e-6
#: Share of a batch whose actions may be others than were taken.
FEW = 0.1
#: Largest difference of two logarithms of a probability that are the same.
NEAR = 1e-3
_CLEARED = "gradients-not-cleared: call optimizer.zero_grad() before each loss.backward()"
_STILL = "learning-rate-zero: the step leaves all parameters as they are"
_LEFT_OUT = "parameters-left-out: give the optimizer all parameters that are trained"
_NO_STEP = "step-missing: call optimizer.step() after each loss.backward()"
_NEVER = "the target network stayed as it was for {:,} gradients (target-never-updated)"
_DROPS = (
    "layers drop inputs, or normalise a batch, while the agent plays (dropout-or-batch-norm): call "
    "eval() meanwhile"
)
_FREE = (
    "parameters of shape {} belong to an optimizer and get no gradient (values-without-a-gradient, "
    "if they are the critic's)"
)
_LANES = "lanes-alike: give each environment of the vector a seed of its own"
_MASK = "mask-missing-in-update: hold the law to the legal actions, as when actions were drawn"
_LAYERS = (
    "dropout-or-batch-norm: call eval() for such layers while the agent plays, or leave them out"
)


class Habits:
    """Follows the parameters and the optimizers of a program."""

    def __init__(self) -> None:
        self._owned: set[int] = set()  # parameters of optimizers
        self._stepped: set[int] = set()  # parameters that a step has moved since their gradient
        self._learned: dict[int, tuple[Any, Any, list[int]]] = {}  # with first values, and a count
        self._before: list[Any] | None = None
        self.layers = False  # whether layers that drop inputs were called while the agent played
        self._targets: dict[int, tuple[Any, list[Any], list[int]]] = {}  # with first parameters
        self._pulled: set[int] = set()  # parameters that got a gradient before a step
        self._all: dict[int, tuple[Any, Any]] = {}  # parameters of optimizers, and first values
        self.steps = 0  # since the last move of the environment

    def step(self, report: Report, optimizer: th.optim.Optimizer, made: bool) -> None:
        """Follow a step of an optimizer: before it, and when it has been made."""
        own = [each for group in optimizer.param_groups for each in group["params"]]
        if not made:
            self._owned.update(map(id, own))
            watched = self._due()
            self._before = [each.detach().clone() for each in own] if watched else None
            return
        self.steps += 1
        self._stepped.update(map(id, own))
        for each in own:
            if id(each) not in self._all:
                self._all[id(each)] = each, each.detach().clone()
        self._pulled.update(id(each) for each in own if each.grad is not None)
        if self._before is None:
            return
        moved = any(not th.equal(a, b) for a, b in zip(self._before, own, strict=True))
        pulled = any(each.grad is not None and bool(each.grad.any()) for each in own)
        wrong = np.array([pulled and not moved])
        report.add("parameters", wrong, "a step has moved no parameter", [Mistake(_STILL)])

    def _due(self) -> bool:
        return len(self._learned) == 0 or max(c[0] for _, _, c in self._learned.values()) <= LEAST

    def role(self, parameters: Iterable[th.Tensor]) -> None:
        """Follow the parameters of networks that act, or that give values."""
        for each in parameters:
            if id(each) not in self._learned:
                self._learned[id(each)] = each, each.detach().clone(), [0]
            self._learned[id(each)][2][0] += 1

    def gradient(self, report: Report, parameters: Iterable[th.Tensor]) -> None:
        """Follow a loss, before its gradients are computed."""
        stale = False
        for each in parameters:
            grad = each.grad
            stale |= id(each) in self._stepped and grad is not None and bool(grad.any())
        self._stepped.clear()
        words = "the gradients of the step before are still there"
        report.add("gradients", np.array([stale]), words, [Mistake(_CLEARED)])

    def unseen(self) -> None:
        """Follow a loss that is not examined: gradients may have been added up since a step."""
        self._stepped.clear()

    def target(self, network: Any) -> None:
        """Follow the network that gives the values of targets."""
        kept = self._targets.get(id(network))
        if kept is None:
            first = [each.detach().clone() for each in network.parameters()]
            kept = self._targets[id(network)] = network, first, [0]
        kept[2][0] += 1

    def _note(self, report: Report, gradients: int) -> None:
        """Note what is a mistake in most programs, and meant in some."""
        for network, first, _ in self._targets.values():
            same = all(th.equal(a, b) for a, b in zip(network.parameters(), first, strict=True))
            if same and gradients >= OFTEN:
                report.notes.append(_NEVER.format(gradients))
        if self.layers:
            report.notes.append(_DROPS)
        free = [
            each
            for key, (each, first) in self._all.items()
            if key not in self._pulled and each.requires_grad and th.equal(each, first)
        ]
        if free and max((count[0] for *_, count in self._learned.values()), default=0) >= LEAST:
            report.notes.append(_FREE.format(", ".join(str(tuple(each.shape)) for each in free)))

    def finite(self, report: Report, parameters: Iterable[th.Tensor]) -> None:
        """Check gradients that have been computed."""
        wrong = [each.grad is not None and not th.isfinite(each.grad).all() for each in parameters]
        report.add("finite", np.array([any(map(bool, wrong))]), "a gradient is not a finite number")

    def end(self, report: Report, gradients: int) -> None:
        """Check the parameters that were met, when the program has ended."""
        self._note(report, gradients)
        left = [
            each
            for key, (each, first, count) in self._learned.items()
            if key not in self._owned and count[0] >= LEAST and th.equal(each, first)
        ]
        still = [each for each, first, count in self._learned.values() if th.equal(each, first)]
        often = max((count[0] for *_, count in self._learned.values()), default=0) >= LEAST
        if not self._owned and often:
            wrong = np.array([len(still) == len(self._learned)])
            words = "parameters get gradients, and no optimizer has made a step"
            report.add("optimizer", wrong, words, [Mistake(_NO_STEP)])
        if self._owned and self._learned:
            shapes = ", ".join(str(tuple(each.shape)) for each in left)
            words = f"parameters of shape {shapes} get gradients, and no optimizer has them"
            report.add("optimizer", np.array([bool(left)]), words, [Mistake(_LEFT_OUT)])


def check_lanes(report: Report, trace: Trace) -> None:
    """Check that no lanes of a vector draw the same numbers.

    Lanes repeat one another if their games begin with the same observations, one after the other,
    or if all rows are alike. With n different observations in k games this happens to lanes that
    draw apart with a probability of about n to the power of -k, which must be below ``CHANCE``.
    """
    rows = trace.rows[:LONGEST]
    lanes = len(rows[0].used)
    first: list[list[bytes]] = [[rows[0].seen[lane].tobytes()] for lane in range(lanes)]
    for before, row in pairwise(rows):
        for lane in np.flatnonzero(before.terminated | before.truncated).tolist():
            shown = row if row.used[lane] else None  # reset in this row: its result begins the game
            begins = row.seen if shown else row.shown
            first[lane].append(begins[lane].tobytes())
    alike = ""
    for one, other in combinations(range(min(lanes, MOST)), 2):
        pairs = list(zip(first[one], first[other], strict=False))
        same = pairs and all(a == b for a, b in pairs)
        if same and len({a for a, _ in pairs}) ** -float(len(pairs)) < CHANCE:
            alike = f"{len(pairs)} games of lane {other} begin as those of lane {one}"
    if lanes > 1:
        report.add("lanes", np.array([bool(alike)]), alike, [Mistake(_LANES)], lanes)


def check_law(
    report: Report,
    section: Section,
    keys: list[bytes],
    actions: th.Tensor,
    logits: th.Tensor,
    layers: bool,
) -> None:
    """Check that the law that is trained is the one that drew the actions.

    Args:
        report: gets the check.
        section: the rows of the rollout.
        keys: of the observations of a batch.
        actions: of the batch; if they are others, its rows are wrong, and not its law.
        logits: of its law before the first step, (row, action).
        layers: whether a layer drops some of its inputs, or normalises a batch.
    """
    drawn, places = section.logits, section.first(keys)
    if drawn is None or (places < 0).any():
        return
    own = section.find(keys)
    taken = section.stacked("actions").reshape(len(section.keys), -1)[own[own >= 0], 0]
    if len(taken) and (taken != numbers_of(actions)[own >= 0]).mean() > FEW:
        return
    before = drawn.reshape(-1, drawn.shape[-1])[places]
    now = numbers_of(logits)
    illegal, open_now = before < -1e6, now > -1e6
    with np.errstate(invalid="ignore"):  # of two infinite ones
        near = np.abs(before - now) <= NEAR
    right: BoolArray = np.all(near | (illegal & ~open_now), axis=1)
    unmasked = (illegal & open_now).any() and bool(open_now.all())
    mistakes = [Mistake(_MASK)] if unmasked else []
    if layers and not mistakes:
        mistakes = [Mistake(_LAYERS)]
    report.add("law", ~right, _law_example, mistakes)


def _law_example(row: int) -> str:
    return f"row {row} of the first batch has another law than when its action was drawn"
