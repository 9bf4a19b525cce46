"""One program under examination: taps that are open, and the checks of what they see."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
import torch as th

from ...core import FloatArray
from ..report import Report
from .calls import Calls, numbers_of
from .diagnosis import Diagnosis
from .graph import LossGraph
from .habits import Habits, check_lanes, check_law
from .losses import Batch, Gradient, check_gradient, right_losses
from .rows import Section, Story
from .tap import Tap, Trace
from .truth import Stored, check_replay, check_rollout

#: The first gradients are all examined, later ones when their number has grown by this factor.
FIRST, GROWTH = 48, 1.25
#: Seconds that the doctor may take whatever its budget is.
GRACE = 0.5
#: Correlation from which two arrays are one up to a factor and a summand.
LINEAR = 0.99
#: Most moves of a rollout whose rows are looked up.
LONGEST = 50_000


@dataclass
class Phase:
    """The gradients between two moves of the environment."""

    begin: int  # the first row of the trace since the phase before
    end: int
    stored: Stored | None = None
    critic: int | None = None
    last: FloatArray | None = None
    checked: bool = False


@dataclass
class Examination:
    """What is known of a running program."""

    budget: float = 0.1
    stop: int | None = None
    world: Any = None
    diagnosis: Diagnosis = field(default_factory=Diagnosis)

    def __post_init__(self) -> None:
        self.tap = Tap(self._row, self.stop, self.world)
        self.calls = Calls(self._gradient, self._step)
        self.stories: dict[int, Story] = {}
        self.phase: Phase | None = None
        self.critic: int | None = None  # the number of the network that gives values
        self._due, self._left = 0.0, 0
        self.habits = Habits()
        self._begin, self._end = 0, 0  # the rows between the last two phases
        self._patience = 3.0  # seconds that the next search for a mistake may take

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """See the program that runs meanwhile."""
        self.begun = time.perf_counter()
        self.tap.open()
        self.calls.open()
        try:
            yield
        finally:
            self.calls.close()
            self.tap.close()
            self._finish_phase()
            found, trace = self.diagnosis, self.tap.trace
            if self.world is None:
                self._keep_last(trace)
            found.seconds = time.perf_counter() - self.begun
            found.moves = trace.moves if trace else 0
            if self.tap.failed:
                found.unchecked["doctor"] = f"it failed itself: {self.tap.failed[0]}"
            if self.calls.recurrent:
                found.unchecked["networks"] = "recurrent networks are not examined"

    def _keep_last(self, trace: Trace | None) -> None:
        """Make the checks that need the whole run."""
        report = Report()
        self.habits.end(report)
        if trace is not None and trace.rows:
            check_lanes(report, trace)
        self.diagnosis.take(report, "")

    @property
    def story(self) -> Story | None:
        """What networks have said of the training environment."""
        return None if self.tap.trace is None else self.stories.get(id(self.tap.trace))

    def _row(self, trace: Trace) -> None:
        began = time.perf_counter()
        story = self.stories.get(id(trace))
        if story is None:
            space = _space(trace.env, "observation_space")
            acts = _space(trace.env, "action_space")
            discrete = int(space.n) if isinstance(space, gym.spaces.Discrete) else 0
            story = self.stories[id(trace)] = Story(int(getattr(acts, "n", 0)), discrete)
        story.hear(trace, self.calls)
        self.calls.forget()
        self.habits.steps = 0
        self.diagnosis.spent += time.perf_counter() - began

    def _step(self, optimizer: Any, made: bool) -> None:
        began, report = time.perf_counter(), Report()
        if self.world is None:
            self.habits.step(report, optimizer, made)
            self._keep(report)
        self.diagnosis.spent += time.perf_counter() - began

    def _gradient(self, loss: th.Tensor, compute: Callable[[bool], None]) -> None:
        self.diagnosis.gradients += 1
        trace = self.tap.trace
        if trace is None or self.story is None or not self._wanted(len(trace.rows)):
            self.habits.unseen()
            compute(False)
            return
        began = time.perf_counter()
        graph = LossGraph.of(loss)
        parameters = graph.parameters
        before = [None if each.grad is None else each.grad.clone() for each in parameters]
        report = Report()
        self.habits.gradient(report, parameters)
        self.diagnosis.spent += time.perf_counter() - began
        compute(True)
        began, self.calls.busy = time.perf_counter(), True
        try:
            self.habits.finite(report, parameters)
            if self.world is None:
                self._keep(report)
            with th.enable_grad():
                self._examine(graph, Gradient(parameters, before), trace)
        except Exception as error:  # the program goes on
            self.tap.failed.append(f"{type(error).__name__}: {error}")
        finally:
            self.calls.busy = False
            self.diagnosis.spent += time.perf_counter() - began

    def _wanted(self, end: int) -> bool:
        """Whether a gradient after some rows is to be examined."""
        if self._end != end:
            self._begin, self._end = self._end, end
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
        if batch is None or self.calls.recurrent:
            return
        self.critic = batch.critic or batch.network or self.critic
        if self.world is not None:  # in which too few rows differ
            return
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
        factors = batch.graph.factors(batch.count)
        shape = (phase.end - phase.begin, len(trace.rows[0].used))
        section = Section(trace, story, phase.begin, phase.end)
        if phase.stored is None:
            empty = [np.full(shape, np.nan) for _ in range(3)]
            phase.stored, phase.critic = Stored(*empty), batch.critic
            lanes = shape[1]
            own = [c.output for c in self.calls.seen if id(c.module) == batch.critic]
            own = [each for each in own if not each.requires_grad and each.numel() == lanes]
            if own:
                phase.last = numbers_of(own[-1]).reshape(lanes).astype(np.float64)
        if batch.entered is not None:
            keys = story.keys(batch.entered)
            places = section.place(keys)
            if not self.habits.steps and batch.logits is not None:
                check_law(report, section, keys, batch.logits, self.calls.layers)
            if not self._known(report, places != -1, trace):
                return
            there = places >= 0
            at = np.divmod(places[there], shape[1])
            phase.stored.actions[at] = numbers_of(batch.actions)[there]
            if targets is not None:
                phase.stored.returns[at] = numbers_of(targets)[there]
            ratios = batch.graph.ratios(batch.count)
            if ratios and batch.log_probs is not None:
                old = batch.log_probs.detach() - ratios[0].log()
                phase.stored.log_probs[at] = numbers_of(old)[there]
        if factors:
            advantages, signed = self._advantages(report, batch, section, targets, factors)
            losses = list(right_losses(batch, targets, advantages))
            found = check_gradient(report, gradient, losses, self._patience, signed)
            self._patience *= found is not None
            if found:
                self.diagnosis.facts.update(found.named)
        self._keep(report)

    def _advantages(
        self, report: Report, batch: Batch, section: Section, targets: Any, factors: list[th.Tensor]
    ) -> tuple[th.Tensor, bool]:
        """Return the advantages that stand in a loss, and whether their sign is known."""
        phase, given = self.phase, factors[0]
        values = None if batch.critic is None else section.outputs(batch.critic)
        if values is None or targets is None or batch.entered is None or phase is None:
            return given, False
        places = section.first(section.story.keys(batch.entered))
        right = numbers_of(targets) - values.ravel()[places]
        right[places < 0] = np.nan
        own, known = numbers_of(given), np.isfinite(right)
        if known.sum() < 3 or np.ptp(right[known]) < 1e-6 or np.ptp(own[known]) < 1e-9:
            return given, False
        cosine = float(np.corrcoef(own[known], right[known])[0, 1])
        return (given if cosine > 0 else -given), abs(cosine) > LINEAR

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
        wanted = batch.graph.wanted(taken)
        if wanted is None or batch.entered is None:
            return
        losses = list(right_losses(batch, wanted[0], wanted[0]))
        self._patience *= check_gradient(report, gradient, losses, self._patience) is not None
        size = batch.count * story.actions
        later = [
            call
            for call in self.calls.seen
            if not call.output.requires_grad and call.output.numel() == size
        ]
        others = [call for call in later if id(call.module) != batch.network]
        target = (others or later or [None])[0]  # type: ignore[list-item]
        online = next((call for call in later if id(call.module) == batch.network), None)
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
        )
        if gamma is not None:
            self.diagnosis.facts["gamma"] = gamma
        self._keep(report)

    def _finish_phase(self) -> None:
        phase, trace = self.phase, self.tap.trace
        if phase is None or phase.stored is None or phase.checked or trace is None:
            return
        phase.checked = True
        report = Report()
        section = Section(trace, self.stories[id(trace)], phase.begin, phase.end)
        self.diagnosis.facts.update(
            check_rollout(
                report, section, phase.stored, phase.critic, phase.last, self.diagnosis.facts
            )
        )
        self._keep(report)

    def _keep(self, report: Report) -> None:
        self.diagnosis.take(report, where())


def _said(call: Any, size: int, actions: int) -> FloatArray | None:
    """Return the action values that a network has given, (row, action)."""
    if call is None:
        return None
    return numbers_of(call.output).reshape(size // actions, actions).astype(np.float64)


def where() -> str:
    """Return the file and the line of the program that runs."""
    frame: Any = sys._getframe()
    while frame is not None:
        name = frame.f_code.co_filename
        if not any(part in name for part in ("/exactdice/", "site-packages", "/lib/python", "<")):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _space(env: Any, name: str) -> Any:
    return getattr(env, f"single_{name}", None) or getattr(env, name, None)
