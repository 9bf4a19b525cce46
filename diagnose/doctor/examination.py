"""One program under examination: its taps, and the checks of what they see."""

import contextlib
import inspect
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch as th

from ...core import FloatArray, IntArray
from ..report import Mistake, Report
from .calls import Calls, numbers_of
from .diagnosis import Diagnosis
from .graph import LossGraph
from .habits import Habits, check_lanes, check_law
from .losses import Batch, Fit, Gradient, Named, Signs, check_form, check_gradient, right_losses
from .rows import Section, Story
from .scores import Learned
from .tap import Tap, Trace
from .truth import (
    SAID,
    Stored,
    check_advantages,
    check_replay,
    check_rollout,
    declared,
    discounted,
    name_shifts,
)

#: The folder of this package.
HERE = str(Path(__file__).parents[2])
#: The first gradients are all examined, later ones when their number has grown by this factor.
FIRST, GROWTH = 48, 1.25
#: Seconds that the doctor may take whatever its budget is.
GRACE = 0.5
#: Correlation from which two arrays are one up to a factor and a summand.
LINEAR = 0.99
#: Findings that the graph of a loss shows.
_TWICE = (
    "the logits of the law are results of a softmax",
    "softmax-twice: give the law logits without a softmax, or probabilities as probs=",
)
_OUTER = (
    "an error has numbers of all pairs of rows",
    "values-broadcast: values (move, 1) less numbers (move,) are a square: squeeze them",
)
_ILLEGAL = (
    "actions were taken outside the environment's action_mask (illegal-action, if it calls them "
    "illegal)"
)
_BEST = (
    "the loss has values of actions that were not taken",
    "value-of-best-action: the target is that of the action that was taken: gather its value",
)
_FLOWS = (
    "the gradient of the actor's loss flows into the critic's values",
    "advantages-not-detached: advantages are constants of the actor's loss: detach them",
)
_ATTACHED = "targets-not-detached: targets are constants of the loss: detach them"


@dataclass
class Phase:
    """The gradients between two moves of the environment."""

    begin: int  # the first row of the trace since the phase before
    end: int
    stored: Stored | None = None
    critic: int | None = None
    last: FloatArray | None = None
    ones: list[bool] = field(default_factory=list)  # whether all ratios were 1, after a step
    #: Places of rows of batches, and their advantages as they stand in the losses.
    advantages: list[tuple[IntArray, FloatArray]] = field(default_factory=list)
    checked: bool = False


@dataclass
class Examination:
    """The taps on a running program, and all that is known of it."""

    budget: float = 0.1
    stop: int | None = None
    world: Any = None
    diagnosis: Diagnosis = field(default_factory=Diagnosis)

    def __post_init__(self) -> None:
        SAID.clear()
        self.tap = Tap(self._row, self.stop, self.world)
        self.calls = Calls(self._gradient, self._step)
        self.stories: dict[int, Story] = {}
        self.phase: Phase | None = None
        self.critic: int | None = None  # the number of the network that gives values
        self._due, self._left = 0.0, 0
        self.habits, self.learned = Habits(), Learned()
        self.signs, self.named = Signs(), Named()
        self.rounds = 0  # of moves and gradients
        self._begin, self._end = 0, 0  # the rows between the last two phases

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """See the program that runs meanwhile."""
        self.begun = time.perf_counter()
        self.tap.begin()
        self.calls.begin()
        try:
            yield
        finally:
            self.calls.end()
            self.tap.end()
            with self._apart():
                self._finish_phase()
            found, trace = self.diagnosis, self.tap.trace
            if self.world is None:
                with self._apart():
                    self._keep_last(trace)
            found.settle()
            found.seconds = time.perf_counter() - self.begun
            found.moves = trace.moves if trace else 0
            if self.tap.failed:
                found.unchecked["doctor"] = f"it failed itself: {self.tap.failed[0]}"
            if self.calls.recurrent:
                found.unchecked["networks"] = "recurrent networks are not examined"

    def _keep_last(self, trace: Trace | None) -> None:
        """Make the checks that need the whole run."""
        report = Report()
        self.habits.end(report, self.diagnosis.gradients)
        if trace is not None and trace.rows:
            check_lanes(report, trace)
            if self.story is not None and self.story.illegal:
                report.notes.append(_ILLEGAL)
            self.learned.end(self.diagnosis, trace)
        self.diagnosis.take(report, "")
        self.signs.inverted |= "ratio-inverted" in self.named.found
        for found, place in (*self.signs.end(), *self.named.end()):
            self.diagnosis.take(found, place)

    @property
    def story(self) -> Story | None:
        """What networks have said of the training environment."""
        return None if self.tap.trace is None else self.stories.get(id(self.tap.trace))

    @contextlib.contextmanager
    def _apart(self) -> Iterator[None]:
        """Compute something of the doctor's own: the program neither sees nor suffers it."""
        began, self.calls.busy = time.perf_counter(), True
        try:
            yield
        except Exception as error:  # the program goes on
            self.tap.failed.append(f"{type(error).__name__}: {error}")
        finally:
            self.calls.busy = False
            self.diagnosis.spent += time.perf_counter() - began

    def _row(self, trace: Trace) -> None:
        with self._apart():
            story = self.stories.get(id(trace))
            if story is None:
                space = _space(trace.env, "observation_space")
                acts = _space(trace.env, "action_space")
                discrete = int(space.n) if isinstance(space, gym.spaces.Discrete) else 0
                story = self.stories[id(trace)] = Story(int(getattr(acts, "n", 0)), discrete)
            self.habits.layers |= self.calls.drops
            story.hear(trace, self.calls)
            if self.world is None and trace is self.tap.trace:
                rows = [call for call in self.calls.seen if call.output.shape[-1] == story.actions]
                values = self.critic if self.phase and self.phase.critic == self.critic else None
                actor = rows[-1].module if rows else None
                self.learned.follow(trace, actor, self.calls.modules.get(values or 0))
        self.calls.move()
        self.habits.steps = 0

    def _step(self, optimizer: Any, made: bool) -> None:
        with self._apart():
            report = Report()
            self.habits.step(report, optimizer, made)
            self._keep(report)

    def _gradient(self, loss: th.Tensor, compute: Callable[[bool], None]) -> None:
        self.diagnosis.gradients += 1
        trace, report = self.tap.trace, Report()
        if trace is None or self.story is None or not self._wanted(len(trace.rows)):
            self.habits.unseen()
            compute(False)
            return
        with self._apart():
            graph = LossGraph.of(loss)
            parameters = graph.parameters
            before = [None if each.grad is None else each.grad.clone() for each in parameters]
            self.habits.gradient(report, parameters)
        compute(True)
        with self._apart(), th.enable_grad():
            self.habits.finite(report, parameters)
            self._keep(report)
            self._examine(graph, Gradient(parameters, before), trace)

    def _wanted(self, end: int) -> bool:
        """Whether a gradient after some rows is to be examined."""
        if self._end != end:
            self._begin, self._end, self.rounds = self._end, end, self.rounds + 1
            now = time.perf_counter() - self.begun
            late = self.diagnosis.spent > max(GRACE, self.budget * now)
            due = self.diagnosis.gradients <= FIRST or self.diagnosis.gradients >= self._due
            self._left = FIRST if due and not late else 0
            if due:
                self._due = self.diagnosis.gradients * GROWTH
        self._left -= 1
        return self._left >= 0

    def _examine(self, graph: LossGraph, gradient: Gradient, trace: Trace) -> None:
        story = self.stories[id(trace)]
        batch = Batch.of(graph, self.calls, story.actions)
        if batch is None or self.calls.recurrent or len(story.said) != len(trace.rows):
            return
        self.critic = batch.critic or batch.network or self.critic
        if self.world is not None:
            return
        for each in (batch.logits, batch.values, batch.action_values):
            self.habits.role([] if each is None else LossGraph.of(each).parameters)
        if self.phase is None or self.phase.end != self._end:
            self._finish_phase()
            self.phase = Phase(self._begin, self._end)
        if batch.logits is not None:
            self._policy(batch, gradient, trace, story)
        else:
            self._values(batch, gradient, trace, story)

    def _policy(self, batch: Batch, gradient: Gradient, trace: Trace, story: Story) -> None:
        report, phase = Report(), self.phase
        assert phase is not None
        wanted = None if batch.values is None else batch.graph.wanted(batch.values)
        targets = wanted[0] if wanted else None
        section = Section(trace, story, phase.begin, phase.end)
        if phase.stored is None:
            empty = np.full((phase.end - phase.begin, section.lanes), np.nan)
            phase.stored = Stored(empty, empty.copy(), empty.copy())
            phase.critic, phase.last = batch.critic, self._last_values(batch, section.lanes)
        if batch.entered is not None and not self._store(report, batch, section, targets):
            return
        report.add("logits", np.array([batch.graph.softmax_twice]), _TWICE[0], [Mistake(_TWICE[1])])
        if batch.values is not None and batch.graph.outer(batch.values):
            report.add("gradient", np.ones(1, dtype=bool), _OUTER[0], [Mistake(_OUTER[1])])
        elif targets is not None and batch.attached:
            report.add("gradient", np.ones(1, dtype=bool), _FLOWS[0], [Mistake(_FLOWS[1])])
        else:
            self._policy_gradient(report, batch, gradient, section, targets)
        self._keep(report)

    def _last_values(self, batch: Batch, lanes: int) -> FloatArray | None:
        """Return what the critic has said after the last row, (lane,)."""
        own = [c.output for c in self.calls.seen if id(c.module) == batch.critic]
        own = [each for each in own if not each.requires_grad and each.numel() == lanes]
        return numbers_of(own[-1]).reshape(lanes).astype(np.float64) if own else None

    def _store(self, report: Report, batch: Batch, section: Section, targets: Any) -> bool:
        """Keep what stands in a batch at the places of its rows; return whether they are known."""
        phase, story = self.phase, section.story
        assert phase is not None
        assert phase.stored is not None
        assert batch.entered is not None
        keys = story.keys(batch.entered)
        places = section.place(keys)
        if not self.habits.steps and batch.logits is not None:
            check_law(report, section, keys, batch.actions, batch.logits, self.calls.layers)
        if not self._known(report, places != -1, section.trace):
            return False
        there = places >= 0
        at = np.divmod(places[there], section.lanes)
        phase.stored.actions[at] = numbers_of(batch.actions)[there]
        if targets is not None:
            phase.stored.returns[at] = numbers_of(targets)[there]
        ratios, factors = batch.graph.ratios(batch.count), batch.graph.factors(batch.count)
        if ratios and batch.log_probs is not None:
            change = -ratios[0][0].log() if ratios[0][1] else ratios[0][0].log()
            phase.stored.log_probs[at] = numbers_of(batch.log_probs.detach() - change)[there]
            phase.ones += [bool(th.all(ratios[0][0] == 1))] * bool(self.habits.steps)
        if factors:
            phase.advantages.append((places, numbers_of(factors[0]).astype(np.float64)))
        return True

    def _policy_gradient(
        self, report: Report, batch: Batch, gradient: Gradient, section: Section, targets: Any
    ) -> None:
        """Check the gradient of a loss of a law."""
        ratios, factors = batch.graph.ratios(batch.count), batch.graph.factors(batch.count)
        if not factors:
            report.unchecked["gradient"] = "no advantages were found in the loss"
            return
        given, turned = self._advantages(batch, section, targets, factors)
        check_form(report, batch, turned)
        losses = list(right_losses(batch, targets, given))
        found = check_gradient(report, gradient, losses, self.named.seconds)
        self.named.add(found, where(), gradient.late)
        if isinstance(found, Fit):
            self.signs.add(found, turned is not None, bool(ratios and ratios[0][1]), where())
            self._tell(found)

    def _tell(self, found: Any) -> None:
        """Keep the weights of a loss that are known."""
        named = zip(found.named.items(), found.weights.told, strict=True)
        self.diagnosis.facts.update({name: weight for (name, weight), told in named if told})

    def _advantages(
        self, batch: Batch, section: Section, targets: Any, factors: list[th.Tensor]
    ) -> tuple[th.Tensor, bool | None]:
        """Return the advantages in a loss, and whether it has minus them; None if not known."""
        given = factors[0]
        values = None if batch.critic is None else section.outputs(batch.critic)
        if batch.entered is None or (values is None) != (targets is None):
            return given, None
        places = section.first(section.story.keys(batch.entered))
        if values is None:
            right = discounted(section).ravel()[places]
        else:
            right = numbers_of(targets) - values.ravel()[places]
        right[places < 0] = np.nan
        own, known = numbers_of(given), np.isfinite(right)
        if known.sum() < 3 or np.ptp(right[known]) < 1e-6 or np.ptp(own[known]) < 1e-9:
            return given, None
        cosine = float(np.corrcoef(own[known], right[known])[0, 1])
        turned = cosine < 0
        return (-given if turned else given), (turned if abs(cosine) > LINEAR else None)

    def _known(self, report: Report, known: Any, trace: Trace) -> bool:
        """Check that observations of a batch were shown; return whether they can be read."""
        if 2 * known.sum() < len(known):
            report.unchecked["observations"] = "networks are not given what environments show"
            self._keep(report)
            return False
        if not trace.late:
            report.add("observations", ~known, "the environment has not shown this observation")
        return True

    def _values(self, batch: Batch, gradient: Gradient, trace: Trace, story: Story) -> None:
        report = Report()
        assert batch.action_values is not None
        taken = batch.action_values.gather(1, batch.actions[:, None]).squeeze(1)
        if batch.graph.outer(taken):
            report.add("gradient", np.ones(1, dtype=bool), _OUTER[0], [Mistake(_OUTER[1])])
            self._keep(report)
            return
        if batch.best and batch.entered is not None:
            made = zip(story.keys(batch.entered), batch.actions.tolist(), strict=True)
            moves = [(key, action) for key, action in made if key in story.starts]
            other = np.array([move not in story.moves for move in moves], dtype=bool)
            if other.any() and not trace.late:
                report.add("gradient", other, _BEST[0], [Mistake(_BEST[1])])
                self._keep(report)
            return
        wanted = batch.graph.wanted(taken)
        if wanted is None or batch.entered is None:
            return
        huber = wanted[1] == "huber"
        losses = list(right_losses(batch, wanted[0], wanted[0], huber))
        alike = self._attached(batch, wanted[0], story)
        found = check_gradient(report, gradient, losses, self.named.seconds, alike)
        self.named.add(found, where(), gradient.late)
        if isinstance(found, Fit):
            self.signs.add(found, True, False, where())
            self._tell(found)
        if self.diagnosis.often("targets") or self.diagnosis.often("transitions"):
            self._keep(report)
            return
        size = batch.count * story.actions
        later = [
            call
            for call in self.calls.seen
            if not call.output.requires_grad and call.output.numel() == size
        ]
        own = next((c.module for c in self.calls.seen if id(c.module) == batch.network), None)
        others = [call for call in later if id(call.module) != batch.network]
        others = [call for call in others if type(call.module) is type(own)] or others
        target = (others or later or [None])[0]  # type: ignore[list-item]
        online = next((call for call in later if id(call.module) == batch.network), None)
        if target is not None and target is not online:
            self.habits.target(target.module)
        entered = self.calls.entered(batch.count, learned=False)
        gamma = check_replay(
            report,
            story,
            trace.late,
            story.keys(batch.entered),
            numbers_of(batch.actions),
            None if entered is None else story.keys(entered),
            numbers_of(wanted[0]).astype(np.float64),
            _said(target, size, story.actions),
            None if target is online else _said(online, size, story.actions),
            self.diagnosis.facts.get("gamma"),
            trace.rows,
        )
        if gamma is not None:
            self.diagnosis.facts["gamma"] = gamma
        self._keep(report)

    def _attached(self, batch: Batch, targets: th.Tensor, story: Story) -> tuple[Mistake, ...]:
        """Return the mistake of targets with a gradient, if the loss has further values."""
        if len(batch.others) != 1 or batch.entered is None:
            return ()
        keys, taken = story.keys(batch.entered), batch.actions.tolist()
        ended = [
            any(move.terminated for move in story.moves.get((key, action), ()))
            for key, action in zip(keys, taken, strict=True)
        ]
        later = batch.others[0].max(dim=1).values
        gamma = self.diagnosis.facts.get("gamma") or declared("gamma", 0.99)[0]
        goes_on = gamma * ~th.as_tensor(ended, device=later.device)
        return (Mistake(_ATTACHED, {"targets": targets + goes_on * (later - later.detach())}),)

    def _finish_phase(self) -> None:
        phase, trace = self.phase, self.tap.trace
        if phase is None or phase.stored is None or phase.checked or trace is None:
            return
        phase.checked = True
        report = Report()
        section = Section(trace, self.stories[id(trace)], phase.begin, phase.end)
        phase.stored = replace(phase.stored, recomputed=bool(phase.ones) and all(phase.ones))
        self.diagnosis.facts.update(
            check_rollout(
                report, section, phase.stored, phase.critic, phase.last, self.diagnosis.facts
            )
        )
        values = None if phase.critic is None else section.outputs(phase.critic)
        wrong = {each.check for each in report.findings}
        if values is not None and phase.advantages and "returns" not in wrong:
            check_advantages(report, phase.stored.returns, values, phase.advantages)
        name_shifts(report, phase.stored.recomputed)
        self._keep(report)

    def _keep(self, report: Report) -> None:
        if self.world is None:  # in a probe too few rows differ
            self.diagnosis.take(report, where())


def _said(call: Any, size: int, actions: int) -> FloatArray | None:
    """Return the action values that a network has given, (row, action)."""
    if call is None:
        return None
    return numbers_of(call.output).reshape(size // actions, actions).astype(np.float64)


def is_of_program(name: str) -> bool:
    """Whether a file belongs to the program, not to a library."""
    return not any(part in name for part in (HERE, "site-packages", "/lib/python", "<"))


def where() -> str:
    """Return the file and the line of the program that runs."""
    frame = inspect.currentframe()
    while frame is not None:
        if is_of_program(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _space(env: Any, name: str) -> Any:
    return getattr(env, f"single_{name}", None) or getattr(env, name, None)
