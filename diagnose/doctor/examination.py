"""One program under examination: taps that are open, and the checks of what they see."""

import contextlib
import inspect
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch as th

from ...core import FloatArray
from ..report import Mistake, Report
from .calls import Calls, numbers_of
from .diagnosis import Diagnosis
from .graph import LossGraph
from .habits import Habits, check_lanes, check_law
from .losses import SIGNS, Batch, Gradient, check_form, check_gradient, right_losses
from .rows import Section, Story
from .scores import Learned
from .tap import Tap, Trace
from .truth import Stored, check_replay, check_rollout, discounted

#: The folder of this package.
HERE = str(Path(__file__).parents[2])
#: The first gradients are all examined, later ones when their number has grown by this factor.
FIRST, GROWTH = 48, 1.25
#: Seconds that the doctor may take whatever its budget is.
GRACE = 0.5
#: Gradients that must agree on the sign of a part of the loss.
ENOUGH = 3
_BEST = "value-of-best-action: the target is that of the action that was taken: gather its value"
_BROADCAST = "values-broadcast: values (row, 1) less numbers (row,) are a square: squeeze them"
#: Correlation from which two arrays are one up to a factor and a summand.
LINEAR = 0.99


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
        self.habits, self.learned = Habits(), Learned()
        self._signs: dict[str, list[float]] = {}  # weights of the parts of a loss, by name
        self._signed = ""  # where the program has this loss
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
            with self._apart():
                self._finish_phase()
            found, trace = self.diagnosis, self.tap.trace
            if self.world is None:
                with self._apart():
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
        for name, weights in self._signs.items():
            wrong = len(weights) >= ENOUGH and max(weights) < 0
            words = f"the weight of this part of the loss is {weights[-1]:.3g}"
            report.add("signs", np.array([wrong]), words, [Mistake(SIGNS[name])])
        self.diagnosis.take(report, self._signed)
        report = Report()
        if trace is not None and trace.rows:
            check_lanes(report, trace)
            self.learned.end(self.diagnosis, trace)
        self.diagnosis.take(report, "")

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
            ratio = batch.graph.ratio(batch.count)
            if ratio is not None and batch.log_probs is not None:
                old = batch.log_probs.detach() - (-1.0 if ratio[1] else 1.0) * ratio[0].log()
                phase.stored.log_probs[at] = numbers_of(old)[there]
        if wanted and wanted[1] == "broadcast":
            words = "each value is compared with the returns of all rows"
            report.add("form", np.ones(1, dtype=bool), words, [Mistake(_BROADCAST)])
        elif factors:
            advantages, turned = self._advantages(batch, section, targets, factors)
            check_form(report, batch, turned)
            losses = list(right_losses(batch, targets, advantages))
            self._fit(report, gradient, losses, turned is not None)
        self._keep(report)

    def _fit(self, report: Report, gradient: Gradient, losses: list[Any], signed: bool) -> None:
        """Check a gradient, and keep the signs of the weights of its parts."""
        found = check_gradient(report, gradient, losses, self._patience)
        self._patience *= found is not None
        if found is None:
            return
        for (name, weight), clear in zip(found.named.items(), found.weights.clear, strict=True):
            if clear:
                self.diagnosis.facts[name] = weight
                if signed or name != "policy_coef":
                    self._signs.setdefault(name, []).append(weight)
                    self._signed = where()

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
        wanted = batch.graph.wanted(taken)
        if wanted is None or batch.entered is None:
            return
        for wrong, mistake in ((wanted[1] == "broadcast", _BROADCAST), (batch.best, _BEST)):
            if wrong:
                words = "the loss compares other numbers than one value and one target of each row"
                report.add("form", np.ones(1, dtype=bool), words, [Mistake(mistake)])
                self._keep(report)
                return
        losses = list(right_losses(batch, wanted[0], wanted[0]))
        self._fit(report, gradient, losses, True)
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
