"""What every training program does, whatever its algorithm: checks that need nothing declared.

Gradients are cleared between steps, are finite, and move the parameters of an optimizer; every
parameter that gets gradients belongs to an optimizer; and lanes of a vector differ.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import torch as th

from ..report import Mistake, Report
from .rows import Story
from .tap import Trace
from .truth import show

#: Gradients after which a parameter that never moves is left out.
LEAST = 8
#: Updates of a target network after which its values may be those of the longest probe.
DEPTH = 4
#: Gradients in which a target network should have been updated, and steps that are watched.
OFTEN = 400
#: Rows and lanes in which games that begin alike are looked for, and the chance of a false alarm.
LONGEST, MOST, CHANCE = 5000, 16, 1e-6
#: Part by which the norms of two gradients differ that are cut to the same one.
NEAR = 1e-4
_CLEARED = "gradients-not-cleared: call optimizer.zero_grad() before each loss.backward()"
_LOST = "gradients-lost: call optimizer.zero_grad() before loss.backward(), not after it"
_STILL = "learning-rate-zero: the step leaves all parameters as they are"
_NO_STEP = "step-missing: call optimizer.step() after each loss.backward()"
_LEFT_OUT = "parameters-left-out: give the optimizer all parameters that are trained"
_GREEDY = "greedy-actions: draw actions from the law, not its likeliest one, while it learns"
_STALE = (
    "stale-observation: the network acts on an earlier observation: obs = next_obs after each move"
)
_LANES = "lanes-alike: give each environment of the vector a seed of its own"
_SEEDED = (
    "{} games in a row were begun with seed {}, and each has the same chances: give the seed to "
    "the first reset alone (same-seed-in-each-game)"
)
_NEVER = (
    "the target network stayed as it was in all {:,} gradients of this run (target-never-updated)"
)
_DROPS = (
    "layers drop inputs, or normalise a batch, while the agent plays (dropout-or-batch-norm): call "
    "eval() meanwhile"
)
_FREE = (
    "parameters of shape {} belong to an optimizer and get no gradient (values-without-a-gradient, "
    "if they are the critic's)"
)


@dataclass(eq=False)
class _Weight:
    """A parameter of the program, and its values when it was met first."""

    tensor: th.Tensor
    first: th.Tensor
    owned: bool = False  # whether an optimizer has it
    gradients: int = 0  # of losses of networks that act, or that give values
    pulled: bool = False  # whether it had a gradient before a step
    stepped: bool = False  # whether a step was made since the last gradient
    stale: bool = False  # whether the last gradient was added to one that had been used

    @property
    def still(self) -> bool:
        """Whether it never moved."""
        return th.equal(self.tensor, self.first)

    @property
    def pulls(self) -> bool:
        """Whether it has a gradient."""
        return self.tensor.grad is not None and bool(self.tensor.grad.any())


class Habits:
    """Follows the parameters and the optimizers of a program."""

    def __init__(self) -> None:
        self._weights: dict[int, _Weight] = {}
        self._targets: dict[int, tuple[Any, list[th.Tensor], int]] = {}  # with updates so far
        self._before: list[th.Tensor] | None = None
        self._watched = 0  # steps
        self.drops = False  # whether layers that drop inputs were called while the agent played
        self.steps = 0  # since the last move of the environment
        self._pulled: list[_Weight] = []  # with a gradient of the loss before
        self._norm: float | None = None  # of the gradient since the last step
        self._clipped: list[float] = []  # norms of gradients that were smaller when a step was made

    def _of(self, parameters: list[th.Tensor]) -> list[_Weight]:
        for each in parameters:
            if id(each) not in self._weights:
                self._weights[id(each)] = _Weight(each, each.detach().clone())
        return [self._weights[id(each)] for each in parameters]

    @property
    def _most(self) -> int:
        return max((each.gradients for each in self._weights.values()), default=0)

    def step(self, report: Report, optimizer: th.optim.Optimizer, made: bool) -> None:
        """Follow a step of an optimizer: before it, and when it has been made."""
        own = self._of([each for group in optimizer.param_groups for each in group["params"]])
        if not made:
            if self._norm is not None:
                norm = _norm(each.tensor for each in own)
                self._clipped += [norm] * (norm < (1 - NEAR) * self._norm)
                self._norm = None
            pulled = [each for each in own if each in self._pulled]
            words = "gradients were computed, and are gone when the step is made"
            lost = pulled and not any(each.pulls for each in pulled)
            show(report, "gradients", (words, _LOST), lost)
            self._pulled.clear()
            words = "the gradients of the step before are still there"
            stale = any(each.stale and each.pulls for each in own)
            show(report, "gradients", (words, _CLEARED), stale)
            self._watched += 1
            watched = self._most <= LEAST and self._watched <= OFTEN
            self._before = [each.tensor.detach().clone() for each in own] if watched else None
            return
        self.steps += 1
        for each in own:
            each.owned, each.stepped, each.stale = True, True, False
            each.pulled = each.pulled or each.pulls
        if self._before is not None:
            still = all(map(th.equal, self._before, (each.tensor for each in own)))
            wrong = still and any(each.pulls for each in own)
            show(report, "parameters", ("a step has moved no parameter", _STILL), wrong)

    def role(self, parameters: list[th.Tensor]) -> None:
        """Follow the parameters of networks that act, or that give values."""
        for each in self._of(parameters):
            each.gradients += 1

    def gradient(self, parameters: list[th.Tensor]) -> None:
        """Follow a loss, before its gradients are computed.

        The loss of an actor may leave gradients in a critic, which are cleared before its next one.
        """
        own = self._of(parameters)
        stale = [each for each in own if each.pulls and (each.stepped or each.stale)]
        self.unseen()
        for each in stale:
            each.stale = True

    def unseen(self) -> None:
        """Follow a loss that is not examined: gradients may have been added up since a step."""
        self._pulled.clear()
        for each in self._weights.values():
            each.stepped = each.stale = False

    def target(self, network: th.nn.Module) -> None:
        """Follow the network that gives the values of targets."""
        now = [each.detach() for each in network.parameters()]
        _, last, count = self._targets.get(id(network), (network, [], -1))
        if count < 0 or not all(map(th.equal, now, last)):
            self._targets[id(network)] = network, [each.clone() for each in now], count + 1

    @property
    def waits(self) -> bool:
        """Whether targets cannot have gone through a probe yet, one update a move."""
        return any(count < DEPTH for *_, count in self._targets.values())

    @property
    def most(self) -> float | None:
        """The norm that gradients are cut to; None if it is not known."""
        found = self._clipped[:2]
        same = len(found) == 2 and abs(found[0] - found[1]) <= NEAR * found[0]
        return found[0] if same else None

    def finite(self, report: Report, parameters: list[th.Tensor]) -> None:
        """Check gradients that have been computed."""
        self._norm = _norm(parameters)
        self._pulled = [each for each in self._of(parameters) if each.pulls]
        show(report, "finite", ("a gradient is not a finite number",), not np.isfinite(self._norm))

    def end(self, report: Report, gradients: int) -> None:
        """Check the parameters that were met, when the program has ended."""
        for network, last, count in self._targets.values():
            same = not count and all(map(th.equal, network.parameters(), last))
            report.notes += [_NEVER.format(gradients)] * (same and gradients >= OFTEN)
        report.notes += [_DROPS] * self.drops
        own = self._weights.values()
        learned, owned = [each for each in own if each.gradients], any(each.owned for each in own)
        free = [each for each in own if each.owned and not each.pulled and each.still]
        free = [each for each in free if each.tensor.requires_grad]
        often = self._most >= LEAST
        if free and often:
            report.notes.append(_FREE.format(_shapes(free)))
        if owned and learned:
            left = [each for each in learned if not each.owned and each.gradients >= LEAST]
            left = [each for each in left if each.still]
            words = f"parameters of shape {_shapes(left)} get gradients, and no optimizer has them"
            show(report, "optimizer", (words, _LEFT_OUT), left)
        elif often:
            words = "parameters get gradients, and no optimizer has made a step"
            show(report, "optimizer", (words, _NO_STEP), all(each.still for each in learned))


def _norm(parameters: Iterable[th.Tensor]) -> float:
    grads = [each.grad.double().norm() for each in parameters if each.grad is not None]
    return float(th.stack(grads).norm()) if grads else 0.0


def _shapes(weights: list[_Weight]) -> str:
    return ", ".join(str(tuple(each.tensor.shape)) for each in weights)


def check_acting(report: Report, story: Story) -> None:
    """Check that networks act on the newest observation, and that actions are drawn from laws.

    Likeliest actions alone are a mistake if this has a chance below ``CHANCE``.
    """
    stale, compared = story.stale
    if compared >= LEAST**2 and 2 * stale > compared:
        words = f"a network was given an earlier observation before {stale} of {compared} moves"
        show(report, "observations", (words, _STALE))
    rows = story.trace.rows
    drawn = [
        (np.exp(heard.logits), rows[row].actions[:, 0], rows[row].used)
        for row, heard in story.heard.items()
        if heard.logits is not None
    ]
    if not drawn:
        return
    laws, taken, used = (np.concatenate(each) for each in zip(*drawn, strict=True))
    best = laws == laws.max(axis=1, keepdims=True)
    hits, chances = best[np.arange(len(taken)), taken.astype(int)], (laws * best).sum(axis=1)
    chance = float(np.log(chances[used]).sum())
    greedy = bool(hits[used].all()) and chance < np.log(CHANCE)
    words = f"all {used.sum()} actions are likeliest ones, by chance {np.exp(chance):.1g}"
    report.add("draws", np.array([greedy]), words, [Mistake(_GREEDY)], int(used.sum()))


def check_lanes(report: Report, trace: Trace) -> None:
    """Check that no lanes of a vector draw the same numbers, nor games that follow one another.

    Lanes repeat one another if their games begin with the same observations, one after the other,
    or if all rows are alike. With n different observations in k games this happens to lanes that
    draw apart with a probability of about n to the power of -k, which must be below ``CHANCE``.
    """
    rows = trace.rows[:LONGEST]
    lanes = len(rows[0].used)
    first = [[seen.tobytes()] for seen in rows[0].seen]
    for before, row in pairwise(rows):
        for lane in np.flatnonzero(before.terminated | before.truncated).tolist():
            # The result of a row in which the lane was reset begins the game.
            begins = row.seen if row.used[lane] else row.shown
            first[lane].append(begins[lane].tobytes())
    alike = ""
    for one, other in combinations(range(min(lanes, MOST)), 2):
        pairs = list(zip(first[one], first[other], strict=False))
        same = all(a == b for a, b in pairs)
        if same and len({a for a, _ in pairs}) ** -float(len(pairs)) < CHANCE:
            alike = f"{len(pairs)} games of lane {other} begin as those of lane {one}"
    if lanes > 1:
        report.add("lanes", np.array([bool(alike)]), alike, [Mistake(_LANES)], lanes)
    seed, games = trace.seeded
    report.notes += [_SEEDED.format(games, seed)] * (games >= LEAST)
