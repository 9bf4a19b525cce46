"""One program under examination: its taps, and the checks of what they see."""

import contextlib
import time
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch as th

from ...core import FloatArray
from ..report import Mistake, Report
from .calls import Call, Calls, numbers_of, parameters_above
from .diagnosis import Diagnosis
from .graph import LossGraph
from .habits import Habits, check_acting, check_lanes
from .losses import FORM, Batch, Blame, Gradient, check_form, right_losses
from .program import Declared, where
from .replay import Sample
from .rollouts import Rollout
from .rows import Section, Story
from .scores import Learned
from .tap import Tap, Trace

#: The first gradients are all examined, later ones when their number has grown by this factor; some
#: are examined though the budget is spent: in all, and of those after the same moves.
FIRST, GROWTH, LEAST, ENOUGH = 48, 1.25, 8, 16
#: The first gradients, of which networks are shown one row alone.
ALONE = 4
#: Seconds that the doctor may take whatever its budget is, and the share of the time that calls
#: through its methods take, which are not counted.
GRACE, THROUGH = 0.5, 0.025
#: Seconds that exact scores may take whatever the budget is.
SCORES = 3.0
#: Findings that the graph of a loss shows.
_TWICE = (
    "the logits of the law are results of a softmax",
    "softmax-twice: give the law logits without a softmax, or probabilities as probs=",
)
_OUTER = (
    "an error has numbers of all pairs of rows",
    "values-broadcast: values (move, 1) less numbers (move,) are a square: squeeze them",
)
_BEST = (
    "the loss has values of actions that were not taken",
    "value-of-best-action: the target is that of the action that was taken: gather its value",
)
_FLOWS = (
    "the gradient of the actor's loss flows into the critic's values",
    "advantages-not-detached: advantages are constants of the actor's loss: detach them",
)
_MIXED = (
    "a network says something else of a row when it is shown the row alone",
    "rows-mixed: what a network says of a row must not depend on the other rows of its batch: take "
    "softmax, means and norms over the axis of actions",
)
_ATTACHED = "targets-not-detached: targets are constants of the loss: detach them"
_ILLEGAL = (
    "actions were taken outside the environment's action_mask (illegal-action, if it calls them "
    "illegal)"
)


@dataclass
class Examination:
    """The taps on a running program, and all that is known of it.

    Args:
        budget: largest share of the time that the doctor may take.
        stop: number of moves after which the program is stopped; None never stops it.
        world: the probe that answers in place of environments (see ``probes``); None if none does.
        declare: what the user says of the program (see ``program.Declared``).
        started: seconds that the doctor has taken before.
    """

    budget: float = 0.1
    stop: int | None = None
    world: Any = None
    declare: Mapping[str, str] | None = None
    started: float = 0.0
    diagnosis: Diagnosis = field(default_factory=Diagnosis)

    def __post_init__(self) -> None:
        self.tap = Tap(self._row, self.stop, self.world)
        self.calls = Calls(self._gradient, self._step)
        self.stories: dict[int, Story] = {}
        self.network: int | None = None  # the number of the one that gives values
        self.rounds = 0  # of moves and gradients
        self.declared = Declared(self.declare)
        self._rollout: Rollout | None = None
        self._entire: dict[int, th.nn.Module] = {}  # networks of values, of observations alone
        self.habits, self._learned, self._blame = Habits(), Learned(), Blame()
        self._due, self._left = 0.0, 0
        self._examined = 0  # number of gradients
        self._looks, self._before = True, 0  # whether the next ones are; number before the last row
        self._begin, self._end = 0, 0  # the rows between the last two updates

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """See the program that runs meanwhile."""
        self._begun = time.perf_counter()
        self.tap.begin()
        self.calls.begin()
        try:
            yield
        finally:
            self.calls.end()
            self.tap.end()
            with self._apart():
                self._finish_rollout()
            found, trace = self.diagnosis, self.tap.trace
            if self.world is None:
                with self._apart():
                    self._keep_last(trace)
            found.settle()
            found.facts = self.declared.found | found.facts
            if self.habits.most is not None:
                found.facts["max_grad_norm"] = self.habits.most
            if trace is not None and trace.rows and not found.gradients:
                found.unchecked["gradient"] = "the program has computed none by loss.backward()"
            found.seconds = time.perf_counter() - self._begun
            found.spent += self.tap.spent + self.calls.spent
            found.moves = trace.moves if trace else 0
            if self.tap.failed:
                found.unchecked["doctor"] = f"the doctor failed itself: {self.tap.failed[0]}"
            if self.calls.recurrent:
                found.unchecked["networks"] = "recurrent networks are not examined"
            for name, expression in self.declared.unmet.items():
                found.unchecked[name] = f"no part of the program has {expression} as declared"

    def _keep_last(self, trace: Trace | None) -> None:
        """Make the checks that need the whole run."""
        report = Report()
        self.habits.end(report, self.diagnosis.gradients)
        if trace is not None and trace.rows:
            check_lanes(report, trace)
            if self.story is not None:
                check_acting(report, self.story)
            report.notes += [_ILLEGAL] * (self.story is not None and self.story.illegal)
            law = self._rollout is not None
            made = {*self.diagnosis.held, *(each.check for each in self.diagnosis.symptoms)}
            if law and "returns" not in made:
                rows = "its losses have no rows of a rollout"
                why = "no loss of a critic was found" if self.network is None else rows
                self.diagnosis.unchecked.setdefault("returns", why)
            gamma = self.declared.found.get("gamma")
            seconds = max(SCORES, self.budget * (time.perf_counter() - self._begun))
            changed = self.story is not None and self.story.changed
            self._learned.end(self.diagnosis, trace, gamma, seconds, law=law, changed=changed)
        self.diagnosis.take(report, "")
        for found, place in self._blame.end():
            self.diagnosis.take(found, place)

    @property
    def story(self) -> Story | None:
        """What networks have said of the training environment."""
        return None if self.tap.trace is None else self.stories.get(id(self.tap.trace))

    @contextlib.contextmanager
    def _apart(self, *, counted: bool = True) -> Iterator[None]:
        """Compute something of the doctor's own: the program neither sees nor suffers it."""
        began, self.calls.busy = time.perf_counter(), True
        try:
            yield
        except Exception as error:  # the program goes on
            self.tap.failed.append(f"{type(error).__name__}: {error}")
        finally:
            self.calls.busy = False
            self.diagnosis.spent += counted * (time.perf_counter() - began)

    def _row(self, trace: Trace) -> None:
        with self._apart(counted=False):  # the tap counts it
            self._decide()
            if id(trace) not in self.stories:
                self.stories[id(trace)] = Story(trace)
            self.habits.drops |= self.calls.drops
            if self.calls.seen or self.calls.fed:
                self.stories[id(trace)].listen(self.calls)
            updated = self.habits.steps > 0
            own = self.world is None and trace is self.tap.trace
            if own and self._learned.due(trace.moves, updated):
                self._follow(trace, updated)
            if trace.full:  # no later gradient is examined
                self.calls.look(away=True)
            elif own and self._learned.waits(trace.moves):
                self.calls.look(away=False)
        self.calls.move()
        self.habits.steps = 0

    def _follow(self, trace: Trace, updated: bool) -> None:
        """Keep the agent as it is now."""
        lanes, calls = len(trace.rows[-1].used), self.calls
        entered = calls.entered(lanes)
        size = lanes * self.stories[id(trace)].actions
        laws = [call for call in calls.seen if call.output.numel() == size]
        actor = calls.whole(laws[-1], entered) if laws else None
        self._learned.parted |= bool(laws) and actor is None
        critic = self._rollout.critic if self._rollout else None
        said = [call for call in calls.seen if id(call.module) == critic]
        values = calls.whole(said[-1], entered) if said else self._entire.get(critic or 0)
        self._learned.follow(trace, actor, values, updated)

    def _late(self) -> bool:
        """Whether the budget is spent."""
        now = time.perf_counter() - self._begun
        spent = self.diagnosis.spent + self.tap.spent + self.calls.spent
        return spent > max(GRACE, (self.budget - THROUGH) * now - self.started)

    def _plan(self) -> None:
        """Decide after a gradient whether those after the next moves are examined."""
        made, late = self.diagnosis.gradients, self._examined >= LEAST and self._late()
        self._looks = (made < FIRST or made + 1 >= self._due) and not late

    def _decide(self) -> None:
        """Keep the last decision at the first move after some gradients."""
        made = self.diagnosis.gradients
        if self._before != made:
            self._before = made
            self._due = (made + 1) * GROWTH if self._looks else self._due
            self.calls.look(away=not self._looks and self.world is None)

    def _step(self, optimizer: Any, made: bool) -> None:
        with self._apart(), self._report() as report:
            self.habits.step(report, optimizer, made)

    @contextlib.contextmanager
    def _report(self) -> Iterator[Report]:
        """Make a report, which the diagnosis takes in."""
        report = Report()
        try:
            yield report
        finally:
            if self.world is None:  # in a probe too few rows differ
                self.diagnosis.take(report, where() if report.findings else "")

    def _gradient(self, loss: th.Tensor, compute: Callable[[bool], None]) -> Container[Any]:
        self.diagnosis.gradients += 1
        story = self.story
        full = story is not None and story.trace.full
        wanted = not full and self._wanted(0 if story is None else len(story.trace.rows))
        self._plan()
        self.calls.look(away=full or not (wanted or self._looks or self.world is not None))
        if story is None or not wanted:
            self.habits.unseen()
            if self._rollout is not None and self._rollout.section.end == self._end:
                self._rollout.whole = False
            compute(False)
            return ()
        used: Container[Any] = ()
        with self._apart():
            if self._left == FIRST - 1:  # of these rows it is the first
                self.declared.look()
            graph = LossGraph.of(loss)
            used, parameters = graph.nodes, graph.parameters
            before = {each: each.grad.clone() for each in parameters if each.grad is not None}
            self.habits.gradient(parameters)
        compute(True)
        with self._apart(), th.enable_grad(), self._report() as report:
            self.habits.finite(report, parameters)
            self._examine(report, graph, before, story)
        return used

    def _wanted(self, end: int) -> bool:
        """Whether a gradient after some rows is to be examined."""
        if self._end != end:
            self._begin, self._end, self.rounds = self._end, end, self.rounds + 1
            self._left = FIRST * self._looks
        self._left -= 1
        wanted = self._left >= (FIRST - ENOUGH if self._late() else 0)
        self._examined += wanted
        return wanted

    def _examine(
        self,
        report: Report,
        graph: LossGraph,
        before: Mapping[th.Tensor, th.Tensor],  # earlier gradients of parameters
        story: Story,
    ) -> None:
        batch = Batch.of(graph, self.calls, story.actions)
        if batch is None:
            self.diagnosis.unchecked.setdefault("gradient", FORM)
        if story.trace.apart:
            self.diagnosis.unchecked["observations"] = "lanes of the vector are stepped apart"
            return
        if batch is None or self.calls.recurrent:
            return
        self._meet(batch, graph)
        if self.world is not None:
            return
        self._check_rows(report, graph)
        for each in (batch.logits, batch.values, batch.action_values):
            self.habits.role([] if each is None else parameters_above(each))
        if batch.action_values is not None:
            own = parameters_above(batch.action_values)  # a target network has others
            self._values(report, batch, Gradient(own, before), story)
            return
        if self._rollout is None or self._rollout.section.end != self._end:
            self._finish_rollout()
            section = Section(story, self._begin, self._end)
            self._rollout = Rollout(section, self._heard(graph, section))
        self._rollout.meet(batch.network)
        self._policy(report, batch, Gradient(graph.parameters, before), self._rollout)

    def _meet(self, batch: Batch, graph: LossGraph) -> None:
        """Follow the network that gives values, and those like it that do not learn."""
        self.network = batch.network or self.network
        own = self.calls.modules.get(batch.network or 0)
        like = None if own is None else _shapes(own)
        for call in self.calls.seen:
            if id(call.module) == batch.network:
                if self.calls.whole(call, batch.entered) is call.module:
                    self._entire[batch.network] = call.module
            elif _shapes(call.module) == like and not graph.has(call.output):
                self.habits.target(call.module)

    def _check_rows(self, report: Report, graph: LossGraph) -> None:
        """Check that networks say the same of a row whatever stands beside it."""
        if self.diagnosis.gradients <= ALONE and not self.calls.layers:
            mixed = [self.calls.mixes(call) for call in self.calls.seen if graph.has(call.output)]
            self._show(report, "rows", _MIXED, any(mixed))

    def _heard(self, graph: LossGraph, section: Section) -> dict[int, Any]:
        """Return what modules have said of the last observations, (lane,), and by their keys."""
        found: dict[int, Any] = {}
        story, lanes = section.story, section.lanes
        for module in {id(call.module) for call in self.calls.seen}:
            own = [call for call in self.calls.seen if id(call.module) == module]
            own = [each for each in own if each.output.numel() == len(each.output)]
            last = [each for each in own if not each.output.requires_grad]
            last = [each for each in last if each.output.numel() == lanes]
            last = [each for each in last if not self._of_others(each, section)]
            values = numbers_of(last[-1].output).reshape(lanes).astype(float) if last else None
            said = self._said_of([call for call in own if not graph.has(call.output)], story)
            found[module] = values, said
        return found

    def _of_others(self, call: Call, section: Section) -> bool:
        """Whether a call is of other observations than those after the last row."""
        rows = self.calls.rows_of(call)
        keys = [] if rows is None else section.story.keys(rows)
        return all(key in section.places for key in keys) and keys not in ([], section.after)

    def _known(self, report: Report, known: Any, story: Story) -> bool:
        """Check that observations of a batch were shown; return whether they can be read."""
        if 2 * known.sum() < len(known):
            report.unchecked["observations"] = (
                "rows are not those that environments of this process show"
            )
            return False
        if not (story.trace.late or (story.changed and story.unasked)):
            report.add("observations", ~known, "the environment has not shown this observation")
        return True

    def _policy(self, report: Report, batch: Batch, gradient: Gradient, rollout: Rollout) -> None:
        """Check a batch of a loss of a law, and its gradient."""
        wanted = None if batch.values is None else batch.graph.wanted(batch.values)
        targets = self.declared.array("returns", batch.count)
        targets = wanted[0] if targets is None and wanted else targets
        advantages = self.declared.array("advantages", batch.count)
        advantages = batch.factor if advantages is None else advantages
        places = np.full(batch.count, -1)
        if batch.entered is not None:
            keys = rollout.section.story.keys(batch.entered)
            if not self.habits.steps:
                rollout.check_law(report, keys, batch, self.calls.layers)
            at = rollout.section.place(keys)
            if not self._known(report, at != -1, rollout.section.story):
                return
            rollout.store(batch, at, targets, advantages, self.habits.steps)
            places = rollout.section.first(keys)
        self._show(report, "logits", _TWICE, batch.graph.softmax_twice)
        if batch.values is not None and batch.graph.outer(batch.values):
            self._show(report, "gradient", _OUTER)
        elif targets is not None and batch.attached:
            self._show(report, "gradient", _FLOWS)
        elif advantages is None and batch.logits is not None:
            report.unchecked["gradient"] = "no advantages were found in the loss"
        else:
            given = th.zeros(batch.count) if advantages is None else advantages
            own = numbers_of(given).astype(np.float64)
            turned, sure = rollout.turned(places, own, self.declared, targets)
            check_form(report, batch, turned if sure else None)
            losses = right_losses(batch, targets, -given if turned else given)
            inverted = bool(batch.ratio and batch.ratio[1])
            facts = self._blame.add(report, gradient, losses, where(), sure and not inverted)
            if "policy_coef" in facts and not (sure or inverted):  # the end of the rollout may tell
                weight = facts.pop("policy_coef")
                rollout.unsure.append((places, -own if turned else own, weight, where()))
            self.diagnosis.facts |= facts | dict(zip(["clip"], batch.clips, strict=False))

    def _show(self, report: Report, check: str, words: tuple[str, str], wrong: bool = True) -> None:
        report.add(check, np.array([wrong]), words[0], [Mistake(words[1])])

    def _values(self, report: Report, batch: Batch, gradient: Gradient, story: Story) -> None:
        """Check a batch of a loss of action values, and its gradient."""
        assert batch.action_values is not None
        taken = batch.action_values.gather(1, batch.actions[:, None]).squeeze(1)
        if batch.graph.outer(taken):
            self._show(report, "gradient", _OUTER)
            return
        wanted = batch.graph.wanted(taken)
        if wanted is None and (whole := batch.graph.wanted(batch.action_values)):  # of all actions
            table = whole[0].reshape(batch.action_values.shape)
            wanted = table.gather(1, batch.actions[:, None]).squeeze(1), whole[1]
        best = batch.best and not batch.others  # else they may be those of the next observations
        known = best if batch.best else wanted is not None
        if batch.entered is None or not known:
            report.unchecked["gradient"] = FORM
            return
        keys = story.keys(batch.entered)
        if best:
            moves = zip(keys, batch.actions.tolist(), strict=True)
            made = [bool(story.made(*move)) for move in moves if move[0] in story.moves]
            if not all(made) and not story.trace.late:
                self._show(report, "gradient", _BEST)
            return
        assert wanted is not None
        losses = right_losses(batch, wanted[0], wanted[0], wanted[1] == "huber")
        losses = [
            replace(each, alike=self._attached(batch, wanted[0], keys, story)) for each in losses
        ]
        self.diagnosis.facts |= self._blame.add(report, gradient, losses, where(), True)
        shown = np.array([key in story.moves for key in keys])
        if not self._known(report, shown, story):
            return
        often = self.diagnosis.often("targets") or self.diagnosis.often("transitions")
        sample = self._sample(batch, wanted[0], keys, story)
        sample.check(report, story, self.declared, known=often)
        if story.several:  # earlier batches may have had the ends of short games alone
            self.declared.found.pop("gamma", None)
            self.diagnosis.void("targets", "they are over several moves, which are not examined")

    def _sample(self, batch: Batch, targets: th.Tensor, keys: list[bytes], story: Story) -> Sample:
        """Find the networks that have said what the next observations are worth."""
        shape = batch.count, story.actions
        apart = [call for call in self.calls.seen if call.output.shape[-1] == story.actions]
        apart = [call for call in apart if call.output is not batch.action_values]
        apart = [call for call in apart if not self._again(call, batch)] or apart
        seen = [call for call in apart if call.output.numel() == batch.count * story.actions]
        online = next((call for call in seen if id(call.module) == batch.network), None)
        others = [call for call in seen if id(call.module) != batch.network]
        kind = type(self.calls.modules.get(batch.network or 0))
        alike = [call for call in others if type(call.module) is kind]
        target = next(iter(alike or others), online)

        said = {
            id(call): numbers_of(call.output).reshape(shape).astype(np.float64) for call in seen
        }
        entered = None if target is None else self.calls.rows_of(target)
        return Sample(
            keys,
            numbers_of(batch.actions),
            None if entered is None else story.keys(entered),
            numbers_of(targets).astype(np.float64),
            said.get(id(target)),
            None if target is online else said.get(id(online)),
            {} if target is not None else self._said_of(apart, story),
            tuple(said.values()),
        )

    def _again(self, call: Call, batch: Batch) -> bool:
        """Whether a call asks for the values of a batch again, for a log or of a second critic."""
        rows = self.calls.rows_of(call)
        return rows is not None and batch.entered is not None and th.equal(rows, batch.entered)

    def _said_of(self, calls: list[Call], story: Story) -> dict[bytes, FloatArray]:
        """Return what calls have said of observations, one by one or of some rows of a batch."""
        said: dict[bytes, FloatArray] = {}
        for call in calls:
            rows = self.calls.rows_of(call)
            if rows is not None:
                numbers = numbers_of(call.output).astype(np.float64).reshape(len(rows), -1)
                said.update(zip(story.keys(rows), numbers, strict=True))
        return said

    def _attached(
        self, batch: Batch, targets: th.Tensor, keys: list[bytes], story: Story
    ) -> tuple[Mistake, ...]:
        """Return the mistake of targets with a gradient, if the loss has further values."""
        if len(batch.others) != 1:
            return ()
        moves = zip(keys, batch.actions.tolist(), strict=True)
        ended = [any(made.terminated for made in story.made(*move)) for move in moves]
        later = batch.others[0].max(dim=1).values
        gamma = self.declared.found.get("gamma") or self.declared.numbers("gamma", 0.99)[0]
        goes_on = gamma * ~th.as_tensor(ended, device=later.device)
        return (Mistake(_ATTACHED, {"targets": targets + goes_on * (later - later.detach())}),)

    def _finish_rollout(self) -> None:
        if self._rollout is not None and np.isfinite(self._rollout.actions).any():
            with self._report() as report:
                often = self.diagnosis.often("returns") or self.diagnosis.often("advantages")
                self._rollout.check(report, self.declared, known=often)
            for places, own, weight, place in self._rollout.unsure:
                turned, sure = self._rollout.turned(places, own, self.declared)
                if sure:
                    weight *= -1 if turned else 1
                    self.diagnosis.facts["policy_coef"] = weight
                    self._blame.weigh("policy_coef", weight, place)


def _shapes(network: th.nn.Module) -> tuple[type, list[th.Size]]:
    """Return the class of a network and the shapes of its parameters, which its copies have."""
    return type(network), [each.shape for each in network.parameters()]
