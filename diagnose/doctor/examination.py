"""One program under examination: its taps, and the checks of what they see."""

import contextlib
import time
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch as th

from ...core import FloatArray
from ..audits.formula import known_as
from ..audits.losses import PolicyLoss, ValueLoss
from ..report import Mistake, Report
from .calls import Call, Calls, Fed, mixes, numbers_of, parameters_above
from .diagnosis import Diagnosis
from .graph import LossGraph
from .habits import Habits, check_acting, check_lanes
from .losses import FORM, Batch, Blame, check_form, policy_losses, value_losses
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
#: A check of one entry that has failed, and mistakes that are seen in the graph of a loss.
_WRONG = np.ones(1, dtype=bool)
_MIXED = Mistake(
    "rows-mixed: what a network says of a row must not depend on the other rows of its batch: take "
    "softmax, means and norms over the axis of actions"
)
_TWICE = Mistake("softmax-twice: give the law logits without a softmax, or probabilities as probs=")
_OUTER = known_as(PolicyLoss, "broadcast", "added")
_BEST = known_as(ValueLoss, "taken", "best")
_FLOWS = known_as(PolicyLoss, "source", "attached")
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
        self.declared, self.habits = Declared(self.declare), Habits()
        self.stories: dict[int, Story] = {}
        self.network: th.nn.Module | None = None  # the one that gives values
        self.rounds = 0  # of moves and gradients
        self._learned, self._blame = Learned(), Blame()
        self._rollout: Rollout | None = None
        self._entire = set[th.nn.Module]()  # networks of values, of observations alone
        self._begin, self._end = 0, 0  # the rows between the last two updates
        self._due, self._left = 0.0, 0  # the gradient to look at next, and those left in its update
        self._looks, self._examined = True, 0  # whether the next are looked at; number of gradients

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
            with self._apart():
                self._keep_last()
            self._sum_up(self.diagnosis, self.tap.trace)

    def _keep_last(self) -> None:
        """Make the checks that need the whole run."""
        if self.world is not None:
            return
        report, found, story = Report(), self.diagnosis, self.story
        self.habits.end(report, found.gradients)
        if story is not None:
            check_lanes(report, story.trace)
            check_acting(report, story)
            report.notes += [_ILLEGAL] * story.illegal
            law = self._rollout is not None
            if law and "returns" not in {*found.held, *(each.check for each in found.symptoms)}:
                rows = "its losses have no rows of a rollout"
                why = "no loss of a critic was found" if self.network is None else rows
                found.unchecked.setdefault("returns", why)
            given = found, story.trace, self.declared.found.get("gamma")
            seconds = max(SCORES, self.budget * (time.perf_counter() - self._begun))
            self._learned.end(*given, seconds, law=law, changed=story.changed)
        found.take(report, "")
        for blamed, place in self._blame.end():
            found.take(blamed, place)

    def _sum_up(self, found: Diagnosis, trace: Trace | None) -> None:
        """Tell the constants, the figures, and why checks were not made."""
        found.settle()
        found.facts = self.declared.found | found.facts
        if self.habits.most is not None:
            found.facts["max_grad_norm"] = self.habits.most
        if trace is not None and trace.rows and not found.gradients:
            found.unchecked["gradient"] = "the program has computed none by loss.backward()"
        traces = self.tap.traces.values()
        if found.gradients and not any(each.moves for each in traces):
            form = "its environments answer in a form that is not known here"
            none = "no environment of this process was seen"
            found.unchecked["observations"] = form if traces else none
        found.seconds, found.spent = time.perf_counter() - self._begun, self._spent
        found.moves = trace.moves if trace else 0
        if self.tap.failed:
            found.unchecked["doctor"] = f"the doctor failed itself: {self.tap.failed[0]}"
        if self.calls.recurrent:
            found.unchecked["networks"] = "recurrent networks are not examined"
        for name, expression in self.declared.unmet.items():
            found.unchecked[name] = f"no part of the program has {expression} as declared"

    @property
    def story(self) -> Story | None:
        """What networks have said of the training environment."""
        return self.stories.get(id(self.tap.trace))

    @property
    def _spent(self) -> float:
        """Seconds that the doctor has taken."""
        return self.diagnosis.spent + self.tap.spent + self.calls.spent

    def _failed(self, error: Exception) -> None:
        self.tap.failed.append(f"{type(error).__name__}: {error}")

    @contextlib.contextmanager
    def _apart(self) -> Iterator[Report]:
        """Compute something of the doctor's own: the program neither sees nor suffers it."""
        report, began, self.calls.busy = Report(), time.perf_counter(), True
        try:
            yield report
        except Exception as error:  # the program goes on
            self._failed(error)
        finally:
            self._take(report)
            self.calls.busy = False
            self.diagnosis.spent += time.perf_counter() - began

    def _take(self, report: Report) -> None:
        """Take in a report, but for those in probes, in which too few rows differ."""
        if self.world is None:
            self.diagnosis.take(report, where() if report.findings else "")

    def _row(self, trace: Trace) -> None:
        self.calls.busy = True
        try:
            self._hear(trace)
        except Exception as error:  # the program goes on
            self._failed(error)
        self.calls.busy = False
        self.calls.move()
        self.habits.steps = 0

    def _hear(self, trace: Trace) -> None:
        """Note what networks have said before the newest row; each move of the program waits."""
        if id(trace) not in self.stories:
            self.stories[id(trace)] = Story(trace)
        self.habits.drops |= self.calls.drops
        if any(isinstance(each, Call | Fed) for each in self.calls.now):
            self.stories[id(trace)].listen(self.calls)
        updated = self.habits.steps > 0
        own = self.world is None and trace is self.tap.trace
        if own and self._learned.due(trace.moves, updated):
            self._follow(trace, updated)
        self._look(own and self._learned.waits(trace.moves))

    def _look(self, needed: bool) -> None:
        """See the next calls of networks if somebody needs them."""
        full = self.story is not None and self.story.trace.full  # no later gradient is examined
        self.calls.look(away=full or not (needed or self._looks or self.world is not None))

    def _follow(self, trace: Trace, updated: bool) -> None:
        """Keep the agent as it is now."""
        lanes, calls, seen = len(trace.rows[-1].used), self.calls, self.calls.seen(Call)
        entered, size = calls.entered(lanes), lanes * self.stories[id(trace)].actions
        laws = [call for call in seen if call.output.numel() == size]
        actor = calls.whole(laws[-1], entered) if laws else None
        self._learned.parted |= bool(laws) and actor is None
        critic = self._rollout.critic if self._rollout else None
        said = [call for call in seen if call.module is critic]
        alone = critic if critic in self._entire else None
        values = calls.whole(said[-1], entered) if said else alone
        self._learned.follow(trace, actor, values, updated)

    def _late(self) -> bool:
        """Whether the budget is spent."""
        now = time.perf_counter() - self._begun
        return self._spent > max(GRACE, (self.budget - THROUGH) * now - self.started)

    def _step(self, optimizer: Any, made: bool) -> None:
        with self._apart() as report:
            self.habits.step(report, optimizer, made)

    def _gradient(self, loss: th.Tensor, compute: Callable[[bool], None]) -> Container[Any]:
        self.diagnosis.gradients += 1
        made, story = self.diagnosis.gradients, self.story
        wanted = story is not None and not story.trace.full and self._wanted(len(story.trace.rows))
        late = self._examined >= LEAST and self._late()
        self._looks = (made < FIRST or made + 1 >= self._due) and not late
        self._look(wanted)
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
            graph = LossGraph(loss)
            used, parameters = graph.nodes, graph.parameters
            self.habits.gradient(parameters)
        compute(True)
        with self._apart() as report, th.enable_grad():
            self.habits.finite(report, parameters)
            self._examine(report, graph, story)
        return used

    def _wanted(self, end: int) -> bool:
        """Whether a gradient after some rows is to be examined."""
        if self._end != end:
            self._begin, self._end, self.rounds = self._end, end, self.rounds + 1
            self._left = FIRST * self._looks
            self._due = self.diagnosis.gradients * GROWTH if self._looks else self._due
        self._left -= 1
        wanted = self._left >= (FIRST - ENOUGH if self._late() else 0)
        self._examined += wanted
        return wanted

    def _examine(self, report: Report, graph: LossGraph, story: Story) -> None:
        batch = Batch.of(graph, self.calls, story.actions)
        if batch is None:
            self.diagnosis.unchecked.setdefault("gradient", FORM)
        if story.trace.apart:
            self.diagnosis.unchecked["observations"] = "lanes of the vector are stepped apart"
            return
        if batch is None or self.calls.recurrent:
            return
        self._meet(batch)
        if self.world is not None:
            return
        if self.diagnosis.gradients <= ALONE and not self.calls.layers:
            seen = self.calls.seen(Call)
            mixed = any(mixes(call) for call in seen if graph.has(call.output))
            words = "a network says something else of a row when it is shown the row alone"
            report.add("rows", _WRONG & mixed, words, [_MIXED])
        for output in (batch.logits, batch.values, batch.action_values):
            if output is not None:
                self.habits.role(parameters_above(output))
        if batch.action_values is not None:
            self._values(report, batch, story)
            return
        if self._rollout is None or self._rollout.section.end != self._end:
            self._finish_rollout()
            section = Section(story, self._begin, self._end)
            self._rollout = Rollout(section, self._heard(graph, section))
        self._rollout.meet(batch.network)
        self._policy(report, batch, self._rollout)

    def _meet(self, batch: Batch) -> None:
        """Follow the network that gives values, and those like it that do not learn."""
        network = batch.network
        if network is None:
            return
        self.network = network
        for call in self.calls.seen(Call):
            if call.module is network:
                if self.calls.whole(call, batch.entered) is network:
                    self._entire.add(network)
            elif _shapes(call.module) == _shapes(network) and not batch.graph.has(call.output):
                self.habits.target(call.module)

    def _heard(self, graph: LossGraph, section: Section) -> dict[th.nn.Module, Any]:
        """Return what modules have said of the last observations, (lane,), and by their keys."""
        found, lanes = dict[th.nn.Module, Any](), section.lanes
        seen = [call for call in self.calls.seen(Call) if call.output.numel() == len(call.output)]
        for module in {call.module for call in seen}:
            own = [call for call in seen if call.module is module]
            last = [e for e in own if len(e.output) == lanes and not e.output.requires_grad]
            last = [each for each in last if not self._of_others(each, section)]
            values = numbers_of(last[-1].output).reshape(lanes).astype(float) if last else None
            apart = [each for each in own if not graph.has(each.output)]
            found[module] = values, self._said_of(apart, section.story)
        return found

    def _of_others(self, call: Call, section: Section) -> bool:
        """Whether a call is of other observations than those after the last row."""
        rows = self.calls.rows_of(call)
        keys = [] if rows is None else section.story.keys(rows)
        return all(key in section.places for key in keys) and keys not in ([], section.after)

    def _known(self, report: Report, known: Any, story: Story) -> bool:
        """Check that observations of a batch were shown; return whether they can be read."""
        if 2 * known.sum() < len(known):
            why = "rows are not those that environments of this process show"
            report.unchecked["observations"] = why
            return False
        if not (story.trace.late or (story.changed and story.unasked)):
            report.add("observations", ~known, "the environment has not shown this observation")
        return True

    def _policy(self, report: Report, batch: Batch, rollout: Rollout) -> None:
        """Check a batch of a loss of a law, and its gradient."""
        targets = self.declared.array("returns", batch.count)
        targets = batch.wanted[0] if targets is None and batch.wanted else targets
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
        words = "the logits of the law are results of a softmax"
        report.add("logits", _WRONG & batch.graph.softmax_twice, words, [_TWICE])
        if batch.values is not None and batch.graph.outer(batch.values):
            report.add("gradient", _WRONG, "an error has numbers of all pairs of rows", [_OUTER])
        elif targets is not None and batch.attached:
            words = "the gradient of the actor's loss flows into the critic's values"
            report.add("gradient", _WRONG, words, [_FLOWS])
        elif advantages is None and batch.logits is not None:
            report.unchecked["gradient"] = "no advantages were found in the loss"
        else:
            given = th.zeros(batch.count) if advantages is None else advantages
            own = numbers_of(given).astype(np.float64)
            turned, sure = rollout.turned(places, own, self.declared, targets)
            check_form(report, batch, turned if sure else None)
            losses = policy_losses(batch, targets, -given if turned else given)
            told = sure and not batch.inverted
            facts = self._blame.add(report, batch, losses, where(), told)
            if "policy_coef" in facts and not (sure or batch.inverted):  # the end may tell
                weight = facts.pop("policy_coef")
                rollout.unsure.append((places, -own if turned else own, weight, where()))
            self.diagnosis.facts |= facts | dict(zip(["clip"], batch.clips, strict=False))

    def _values(self, report: Report, batch: Batch, story: Story) -> None:
        """Check a batch of a loss of action values, and its gradient."""
        if batch.graph.outer(batch.taken):
            report.add("gradient", _WRONG, "an error has numbers of all pairs of rows", [_OUTER])
            return
        wanted = None if batch.best else batch.wanted
        best = batch.best and not batch.others  # else they may be those of the next observations
        if batch.entered is None or not (wanted or best):
            report.unchecked["gradient"] = FORM
            return
        keys = story.keys(batch.entered)
        moves = [*zip(keys, batch.actions.tolist(), strict=True)]
        if wanted is None:
            made = [bool(story.made(*move)) for move in moves if move[0] in story.moves]
            if not all(made) and not story.trace.late:
                words = "the loss has values of actions that were not taken"
                report.add("gradient", _WRONG, words, [_BEST])
            return
        targets, kind = wanted
        alike = []
        if len(batch.others) == 1:  # of the next observations: the targets may have a gradient
            later = batch.others[0].max(dim=1).values
            ended = [any(made.terminated for made in story.made(*move)) for move in moves]
            gamma = self.declared.found.get("gamma") or self.declared.numbers("gamma", 0.99)[0]
            flows = (later - later.detach()) * ~th.as_tensor(ended, device=later.device)
            alike.append(Mistake(_ATTACHED, {"targets": targets + gamma * flows}))
        losses = value_losses(batch, targets, kind, alike)
        self.diagnosis.facts |= self._blame.add(report, batch, losses, where(), True)
        shown = np.array([key in story.moves for key in keys])
        if not self._known(report, shown, story):
            return
        often = self.diagnosis.often("targets") or self.diagnosis.often("transitions")
        sample = self._sample(batch, targets, keys, story)
        sample.check(report, story, self.declared, known=often)
        if story.several:  # earlier batches may have had the ends of short games alone
            self.declared.found.pop("gamma", None)
            self.diagnosis.void("targets", "they are over several moves, which are not examined")

    def _sample(self, batch: Batch, targets: th.Tensor, keys: list[bytes], story: Story) -> Sample:
        """Find the networks that have said what the next observations are worth."""
        own, shape = batch.network, (batch.count, story.actions)
        apart = [call for call in self.calls.seen(Call) if call.output.shape[-1] == story.actions]
        apart = [call for call in apart if call.output is not batch.action_values]
        # Some ask for the values of the batch again, for a log or of a second critic.
        entered = map(self.calls.rows_of, apart)
        again = [rows is not None and story.keys(rows) == keys for rows in entered]
        apart = [call for call, of in zip(apart, again, strict=True) if not of] or apart
        seen = [call for call in apart if call.output.numel() == batch.count * story.actions]
        online = next((call for call in seen if call.module is own), None)
        others = [call for call in seen if call.module is not own]
        alike = [call for call in others if own and _shapes(call.module) == _shapes(own)]
        target = next(iter(alike or others), online)
        numbers = [numbers_of(call.output).reshape(shape).astype(np.float64) for call in seen]
        said = {id(call): each for call, each in zip(seen, numbers, strict=True)}
        later = None if target is None else self.calls.rows_of(target)
        return Sample(
            keys,
            numbers_of(batch.actions),
            None if later is None else story.keys(later),
            numbers_of(targets).astype(np.float64),
            said.get(id(target)),
            None if target is online else said.get(id(online)),
            {} if target is not None else self._said_of(apart, story),
            tuple(said.values()),
        )

    def _said_of(self, calls: list[Call], story: Story) -> dict[bytes, FloatArray]:
        """Return what calls have said of observations, one by one or of some rows of a batch."""
        said: dict[bytes, FloatArray] = {}
        for call in calls:
            rows = self.calls.rows_of(call)
            if rows is not None and len(rows) == len(call.output):  # else it is a state, say
                numbers = numbers_of(call.output).astype(np.float64).reshape(len(rows), -1)
                said.update(zip(story.keys(rows), numbers, strict=True))
        return said

    def _finish_rollout(self) -> None:
        if self._rollout is not None and np.isfinite(self._rollout.actions).any():
            report = Report()
            often = self.diagnosis.often("returns") or self.diagnosis.often("advantages")
            self._rollout.check(report, self.declared, known=often)
            self._take(report)
            for places, own, weight, place in self._rollout.unsure:
                turned, sure = self._rollout.turned(places, own, self.declared)
                if sure:
                    weight *= -1 if turned else 1
                    self.diagnosis.facts["policy_coef"] = weight
                    self._blame.weigh("policy_coef", weight, place)


def _shapes(network: th.nn.Module) -> tuple[type, list[th.Size]]:
    """Return the class of a network and the shapes of its parameters, which its copies have."""
    return type(network), [each.shape for each in network.parameters()]
