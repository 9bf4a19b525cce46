"""Recorded steps as states, with the checks that find steps which the game cannot make."""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...baselines import Problem, Task
from ...baselines.law.numbers import as_numbers
from ...core import BoolArray, FloatArray, InputError, IntArray
from ...core.block_moves import in_a_row
from ...core.positions import are_legal
from ...core.sizes import check_memory
from ...envs import Engine, RewardMode
from ...envs.law import MoveLaw
from ..records import Rollout, Targets, Transitions, each_array
from ..report import Report
from ..view import AgentView, factor, flags, leading_shape, numbers, whole
from .formula import CLOSE, closeness

#: Most lanes and actions that are looked at one by one.
FEW = 64
#: Fields of records that are no arrays, and may be lists.
OBJECTS = ("transitions", "optimizer")


def finite(report: Report, record: Any) -> tuple[Any, BoolArray]:
    """Add a finding for each array that has entries which are not finite numbers.

    The record is returned without such arrays, or with zeros for such entries if it needs the
    array, beside the rows of which that is so, shape (row, ...).
    """
    if isinstance(record, Targets):
        inner, left_out = finite(report, record.transitions)
        record = replace(record, transitions=inner)
    else:
        axes = 1 + isinstance(record, Rollout)
        left_out = np.zeros(leading_shape(record.observations, "observations", axes), dtype=bool)
    changes: dict[str, Any] = {}
    for each in fields(record):
        given = getattr(record, each.name)
        if each.name in OBJECTS or given is None or callable(given) or np.ndim(given) == 0:
            continue
        array = as_numbers(given, each.name)
        read = np.ones((), dtype=bool)  # where the array has a meaning
        if each.name == "next_observations":
            read = as_numbers(record.terminated, "terminated") == 0
        elif each.name in ("final_observations", "final_values"):
            cut = record.truncated
            read = np.zeros_like(left_out) if cut is None else as_numbers(cut, "truncated") != 0
        read = read.reshape(*read.shape, *(1,) * (array.ndim - read.ndim))
        rows = report.add_finite(each.name, array, read, left_out.ndim)
        if rows.any():
            needed = each.default is MISSING
            changes[each.name] = np.where(np.isfinite(array), array, 0.0) if needed else None
            if needed:
                left_out |= rows
    if "rewards" in changes:
        changes |= {name: None for name in ("advantages", "returns") if hasattr(record, name)}
    return replace(record, **changes), left_out


class Verdict(NamedTuple):
    """The result of a check for each step, arrays of shape (time, lane)."""

    checked: BoolArray
    wrong: BoolArray


@dataclass(frozen=True)
class Steps:
    """Steps of games, arrays of shape (time, lane); of a replay buffer one lane."""

    problem: Problem
    states: IntArray  # -1 if no state looks like the recorded observation
    actions: IntArray
    rewards: FloatArray
    terminated: BoolArray  # whether the move has ended the game
    later: IntArray | None  # the next state, or -1; None if it is that of the next row: a rollout
    used: BoolArray  # whether a step counts; others are left out of all checks
    truncated: BoolArray  # whether a game that goes on was cut after the move
    final: IntArray | None = None  # of a rollout: the next states of cut games and of the last row
    counts: IntArray | None = None  # number of moves of each step; None if each is one
    gamma: float = 1.0  # discount of the rewards of several moves
    close: float = CLOSE  # the part of their range by which rewards may be off

    @classmethod
    def of(cls, record: Transitions | Rollout, view: AgentView) -> "Steps":
        """Read a record."""
        shape = leading_shape(record.observations, "observations", 1 + isinstance(record, Rollout))
        states = view.states_at(record.observations, "observations", shape)
        most = view.task.game.num_actions - 1
        actions = whole(record.actions, "actions", shape, most)
        rewards = numbers(record.rewards, "rewards", shape)
        ended = flags(record.terminated, "terminated", shape)
        cut = flags(record.truncated, "truncated", shape) & ~ended
        used, close = np.ones(shape, dtype=bool), closeness(record.rewards)
        if isinstance(record, Rollout):
            used = flags(record.used, "used", shape, missing=True)
            final = np.full(shape, -1)
            if record.last_observations is not None:
                final[-1] = view.states_at(record.last_observations, "last_observations", shape[1:])
            if record.final_observations is not None:
                seen = each_array(
                    record.final_observations,
                    lambda array: as_numbers(array, "final_observations")[cut],
                )
                final[cut] = view.states_at(seen, "final_observations", (int(cut.sum()),))
            steps = cls(
                view.problem, states, actions, rewards, ended, None, used, cut, final, close=close
            )
            if record.final_values is None or view.mode != "outcome" or not cut.any():
                return steps
            # Some programs, such as stable-baselines3, add the value of the cut game.
            values = numbers(record.final_values, "final_values", shape, finite=False)
            added = factor(record.gamma, "gamma") * np.where(cut, values, 0.0)
            near = close * max(np.abs(added).max(), 1e-6)  # a small one is rounded as a large one
            paid = np.unique(np.append(steps.law[0].paid if steps.problem.pays_early else [], 0.0))
            nearest = np.abs((rewards - added)[..., None] - paid).argmin(axis=-1)
            is_added = cut & (np.abs(rewards - added - paid[nearest]) <= near)
            return replace(steps, rewards=np.where(is_added, paid[nearest], rewards))
        later = view.states_at(record.next_observations, "next_observations", shape)
        counts = np.broadcast_to(whole(record.n_steps, "n_steps", np.shape(record.n_steps)), shape)
        if counts.min() < 1:
            raise InputError(f"n_steps must be at least 1, got {counts.min()}")
        states, actions, rewards = states[:, None], actions[:, None], rewards[:, None]
        ended, later, used, cut = ended[:, None], later[:, None], used[:, None], cut[:, None]
        several = counts[:, None] if counts.max() > 1 else None
        gamma = factor(record.gamma, "gamma")
        columns = states, actions, rewards, ended, later, used, cut
        return cls(view.problem, *columns, counts=several, gamma=gamma, close=close)

    @property
    def task(self) -> Task:
        """Game, seat and opponents."""
        return self.problem.task

    @property
    def follow(self) -> bool:
        """Whether each row follows the row before, as in a rollout."""
        return self.later is None

    @cached_property
    def after(self) -> IntArray:
        """The agent's next state, or -1; meaningless where it is not known."""
        if self.later is not None:
            return self.later
        last = np.full_like(self.states[:1], -1)
        after = np.concatenate([self.states[1:], last])
        after[self.breaks] = -1 if self.final is None else self.final[self.breaks]
        return after

    @property
    def breaks(self) -> BoolArray:
        """Where the next row does not follow the row of a rollout, though the game goes on."""
        breaks: BoolArray = self.truncated.copy()
        breaks[:-1] |= ~self.used[1:]
        breaks &= ~self.terminated
        breaks[-1] = True
        return breaks

    @cached_property
    def knows_after(self) -> BoolArray:
        """Whether the next observation is known."""
        if self.follow:
            return ~self.breaks | (self.after >= 0)
        return np.ones_like(self.used)

    @cached_property
    def single(self) -> BoolArray:
        """Whether a step is one move."""
        return np.ones_like(self.used) if self.counts is None else self.counts == 1

    @cached_property
    def legal(self) -> BoolArray:
        """Which steps are legal moves."""
        legal = self.used & (self.states >= 0)
        legal[legal] = are_legal(self.task.game, self.states[legal], self.actions[legal])
        return legal

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Observations, actions, transitions and beginnings, by the name of the check."""
        readable = self.used & (self.states >= 0)
        leads = self.legal & self.single & (self.terminated | self.knows_after)
        possible = np.ones_like(leads)
        if leads.any():
            possible[leads] = self.chances(leads) > 0
        # Of several moves it is known that they lead to a state.
        far = self.legal & ~self.single & ~self.terminated
        possible[far] = self.after[far] >= 0
        verdicts = {
            "observations": Verdict(self.used, self.used & ~readable),
            "actions": Verdict(readable, readable & ~self.legal),
            "transitions": Verdict(leads | far, ~possible),
        }
        if self.follow:
            begins = np.zeros_like(readable)
            over = self.terminated | self.truncated
            begins[1:] = over[:-1] & self.used[1:] & self.used[:-1]
            first = self.problem.initial[np.maximum(self.states, 0)] > 0
            verdicts["first states"] = Verdict(begins, begins & ~(first & (self.states >= 0)))
        return verdicts

    @cached_property
    def end_chances(self) -> FloatArray:
        """The probability that each step ends the game, whatever is paid; 0 if it is illegal."""
        law, moves = self.law
        ends = np.append(np.zeros(len(law.states)), np.ones(len(law.payoffs)))
        return np.where(moves >= 0, np.append(law.mean(ends), 0.0)[moves], 0.0)

    @property
    def likelihood(self) -> float:
        """Logarithm of the probability of all transitions, which must be possible."""
        which = self.verdicts["transitions"].checked & self.single
        return float(np.log(self.chances(which)).sum())

    @property
    def wrong(self) -> BoolArray:
        """Whether any of these checks fails for a step."""
        wrong: BoolArray = np.any([verdict.wrong for verdict in self.verdicts.values()], axis=0)
        return wrong

    @cached_property
    def groups(self) -> dict[str, BoolArray]:
        """Steps that share something, such as a lane or an action, by words: (time, lane)."""
        rows = np.zeros_like(self.used)
        rows[-1] = True
        groups = {"ends of games": self.terminated, "illegal actions": self.used & ~self.legal}
        if self.follow:
            groups["rows after ends"] = np.roll(self.terminated, 1, axis=0) & ~np.roll(rows, 1, 0)
            groups["the last row"] = rows
            lanes = np.indices(self.used.shape)[1]
            for lane in range(min(self.states.shape[1], FEW)):
                groups[f"lane {lane}"] = lanes == lane
        for action in range(min(self.task.game.num_actions, FEW)):
            groups[f"moves with action {action}"] = self.actions == action
        return groups

    @cached_property
    def law(self) -> tuple[MoveLaw, IntArray]:
        """The law of all distinct legal moves, and the number of the move of each step, or -1."""
        codes = self.states * self.task.game.num_actions + self.actions
        distinct, rows = np.unique(codes[self.legal], return_inverse=True)
        moves = np.full(self.states.shape, -1)
        moves[self.legal] = rows
        return MoveLaw(self.problem, *np.divmod(distinct, self.task.game.num_actions)), moves

    def chances(self, which: BoolArray) -> FloatArray:
        """Return the probability that some steps lead to what follows, whatever is paid."""
        law, moves = self.law
        ended = self.terminated[which]
        chances = np.where(ended, self.end_chances[which], 0.0)
        goes_on = moves[which][~ended], law.results(self.after[which][~ended])
        chances[~ended] = law.chances(*goes_on)
        return chances


@dataclass(frozen=True)
class Payment:
    """The rewards of some steps in a reward mode, up to a constant factor."""

    steps: Steps
    mode: RewardMode
    declared: Callable[[FloatArray], FloatArray] | None = None  # what is made of rewards
    clipped: Callable[[FloatArray], FloatArray] | None = None  # what a mistake makes of rewards

    @cached_property
    def checked(self) -> BoolArray:
        """Which rewards are checked, shape (time, lane)."""
        steps = self.steps
        ends = steps.terminated | steps.knows_after
        checked: BoolArray = steps.used & ~steps.wrong & (steps.law[1] >= 0) & ends
        # A sum of several rewards does not tell what moves before the end have paid or added.
        sums = self.mode == "outcome" and self.declared is None and not steps.problem.pays_early
        return checked & (steps.single | sums)

    @cached_property
    def options(self) -> FloatArray:
        """The payments that each step may have, shape (step, option); then NaN."""
        steps, checked = self.steps, self.checked
        ended, single = steps.terminated[checked], steps.single[checked]
        law, moves = steps.law[0], steps.law[1][checked]
        if self.mode == "regret":
            return np.zeros((len(moves), 1))
        # A single move adds what its result pays; several moves may add any payoff, and an illegal
        # one among them the lowest.
        many, others = np.flatnonzero(ended & ~single), np.zeros(0)
        if steps.counts is not None:
            others = np.append(law.every_payment, steps.task.game.payoff_range[0])
        later, over = np.flatnonzero(~ended & ~single), np.flatnonzero(ended)
        ends, firsts = law.ends, law.ends.indptr.astype(np.int64)
        own = in_a_row(firsts, moves[over])
        check_memory("payments of the recorded steps", len(own) + len(many) * len(others), 25.0)
        # Of a state that comes with one payment alone it is known that the move leads there.
        on = np.flatnonzero(~ended & single)
        first = law.results(steps.after[checked][on])
        alike = law.alike(first)
        rows = np.repeat(np.arange(len(on)), alike)
        results = first[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(alike) - alike, alike)
        possible, several = np.ones(len(rows), dtype=bool), alike[rows] > 1
        of_moves = moves[on][rows[several]]
        possible[several] = law.chances(of_moves, results[several], paid=True) > 0
        each = [later, np.repeat(over, np.diff(firsts)[moves[over]]), on[rows[possible]]]
        paid = [np.zeros(len(later)), law.payoffs[ends.indices[own]], law.paid[results[possible]]]
        each.append(np.repeat(many, len(others)))
        paid.append(np.tile(others, len(many)))
        return _in_rows(np.concatenate(each), np.concatenate(paid), len(moves))

    @cached_property
    def wanted(self) -> FloatArray:
        """The rewards that each checked step may have, shape (step, option); NaN elsewhere."""
        steps, which = self.steps, self.checked
        after, moves = steps.after[which], (steps.states[which], steps.actions[which])
        over = steps.terminated[which] | (after < 0)
        engine, nothing = Engine(steps.problem, 1, self.mode, tables=False), np.zeros(len(after))
        added = engine.rewards(*moves, nothing, np.where(over, 0, after), over)  # to the payoffs
        wanted = added[:, None] + self.options
        for made in (self.declared, self.clipped):
            wanted = wanted if made is None else made(wanted)
        return wanted

    @cached_property
    def fit(self) -> tuple[float, BoolArray]:
        """The constant factor that fits best, and which rewards are wrong, shape (time, lane)."""
        steps, checked, wanted = self.steps, self.checked, self.wanted
        rewards = steps.rewards[checked]
        if steps.counts is not None:  # the game may have ended after any of several moves
            powers = np.arange(int(steps.counts.max()))
            within = powers < steps.counts[checked][:, None]
            later = np.where(within, steps.gamma**powers, np.nan)[:, None] * wanted[:, :, None]
            wanted = later.reshape(len(wanted), -1)
        whole: Any = steps.task.game.payoff_range
        if steps.problem.pays_early:
            whole = np.append(steps.law[0].paid, 0.0)
        close = steps.close * max(np.ptp(whole), 1e-9)
        best, least = 1.0, np.ones(len(rewards), dtype=bool)
        for scale in _factors(rewards, wanted):
            far = np.abs(rewards[:, None] - scale * wanted)
            wrong = ~(np.nanmin(far, axis=1, initial=np.inf) <= close * abs(scale))
            if wrong.sum() < least.sum():
                best, least = scale, wrong
        wrong = np.zeros_like(checked)
        wrong[checked] = least
        return best, wrong

    @property
    def is_right(self) -> bool:
        """Whether all rewards are right."""
        steps = self.steps
        others = steps.rewards[steps.used & ~steps.terminated]
        only_ends = self.mode == "outcome" and self.declared is None
        if only_ends and not steps.problem.pays_early and (others != 0).any():
            return False  # the quick way to rule a shift out
        return not self.fit[1].any()

    @property
    def paid(self) -> FloatArray | None:
        """The game's payment for each step, shape (time, lane); 0 for steps that are not checked.

        None if rewards, which must be right, do not tell payments, as those of "regret" do not.
        """
        if self.mode == "regret" or self.steps.counts is not None:
            return None
        options, paid = self.options, np.zeros(self.checked.shape)
        far = np.abs(self.steps.rewards[self.checked][:, None] - self.fit[0] * self.wanted)
        best = np.where(np.isnan(far), np.inf, far).argmin(axis=1)
        paid[self.checked] = np.nan_to_num(options[np.arange(len(best)), best])
        return paid


def _in_rows(rows: IntArray, numbers: FloatArray, count: int) -> FloatArray:
    """Put numbers into their rows of a table, (row, place), which NaN fills up."""
    order, sizes = np.argsort(rows, kind="stable"), np.bincount(rows, minlength=count)
    table = np.full((count, max(1, sizes.max(initial=0))), np.nan)
    table[np.arange(table.shape[1]) < sizes[:, None]] = numbers[order]
    return table


def _factors(rewards: FloatArray, wanted: FloatArray) -> list[float]:
    """List positive factors that rewards may have been multiplied by, 1 first."""
    factors = [1.0]
    for row in np.flatnonzero(np.abs(rewards) > 0)[:50].tolist():
        known = wanted[row][np.isfinite(wanted[row]) & (wanted[row] != 0)]
        factors += (rewards[row] / known).tolist()
    rounded = {float(f"{factor:.6g}"): factor for factor in reversed(factors) if factor > 0}
    return sorted(rounded, key=lambda factor: factor != 1.0)
