"""Recorded steps as states, with the checks that find steps which the game cannot make."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...baselines import Task
from ...core import BoolArray, FloatArray, InputError, IntArray
from ...core.positions import are_legal
from ...envs import RewardMode
from ..law import MoveLaw
from ..records import Rollout, Transitions
from ..view import AgentView, flags, leading_shape, numbers, paid_by_moves, paid_by_results, whole

#: Numbers of single precision agree with exact ones to this part of their largest or their span.
CLOSE = 1e-4
#: Most lanes and actions that are looked at one by one.
FEW = 64


class Verdict(NamedTuple):
    """The result of a check for each step, arrays of shape (time, lane)."""

    checked: BoolArray
    wrong: BoolArray


@dataclass(frozen=True)
class Steps:
    """Steps of games, arrays of shape (time, lane); of a replay buffer one lane."""

    task: Task
    states: IntArray  # -1 if no state looks like the recorded observation
    actions: IntArray
    rewards: FloatArray
    terminated: BoolArray  # whether the move has ended the game
    later: IntArray | None  # the next state, or -1; None if it is that of the next row: a rollout
    used: BoolArray  # whether a step counts; others are left out of all checks

    @classmethod
    def of(cls, record: Transitions | Rollout, view: AgentView) -> "Steps":
        """Read a record."""
        rollout = isinstance(record, Rollout)
        shape = leading_shape(record.observations, "observations", 2 if rollout else 1)
        states = view.states_at(record.observations, "observations", shape)
        actions = whole(record.actions, "actions", shape)
        rewards = numbers(record.rewards, "rewards", shape)
        ended = flags(record.terminated, "terminated", shape)
        most = view.task.game.num_actions - 1
        if actions.min() < 0 or actions.max() > most:
            raise InputError(
                f"actions must be from 0 to {most}, got {actions.min()} to {actions.max()}"
            )
        later = None
        if not isinstance(record, Rollout):
            later = view.states_at(record.next_observations, "next_observations", shape)[:, None]
            states, actions = states[:, None], actions[:, None]
            rewards, ended = rewards[:, None], ended[:, None]
        used = np.ones(states.shape, dtype=bool)
        return cls(view.task, states, actions, rewards, ended, later, used)

    @property
    def follow(self) -> bool:
        """Whether each row follows the row before, as in a rollout."""
        return self.later is None

    @cached_property
    def after(self) -> IntArray:
        """The agent's next state, or -1; meaningless where it is not known."""
        last = np.full_like(self.states[:1], -1)
        return np.concatenate([self.states[1:], last]) if self.later is None else self.later

    @cached_property
    def knows_after(self) -> BoolArray:
        """Whether the next observation is known."""
        known = np.ones_like(self.used)
        known[-1:] = not self.follow
        return known

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
        leads = self.legal & (self.terminated | self.knows_after)
        possible = np.ones_like(leads)
        if leads.any():
            possible[leads] = self._chances(leads) > 0
        verdicts = {
            "observations": Verdict(self.used, self.used & ~readable),
            "actions": Verdict(readable, readable & ~self.legal),
            "transitions": Verdict(leads, leads & ~possible),
        }
        if self.follow:
            begins = np.zeros_like(readable)
            begins[1:] = self.terminated[:-1] & self.used[1:] & self.used[:-1]
            first = self.task.initial[np.maximum(self.states, 0)] > 0
            verdicts["first states"] = Verdict(begins, begins & ~(first & (self.states >= 0)))
        return verdicts

    @property
    def likelihood(self) -> float:
        """Logarithm of the probability of all transitions, which must be possible."""
        return float(np.log(self._chances(self.verdicts["transitions"].checked)).sum())

    @property
    def wrong(self) -> BoolArray:
        """Whether any of these checks fails for a step."""
        wrong = np.zeros_like(self.used)
        for verdict in self.verdicts.values():
            wrong |= verdict.wrong
        return wrong

    @cached_property
    def groups(self) -> dict[str, BoolArray]:
        """What steps may have in common, by words, arrays of shape (time, lane)."""
        rows = np.zeros_like(self.used)
        rows[-1] = True
        groups = {"ends of games": self.terminated, "illegal actions": self.used & ~self.legal}
        if self.follow:
            groups["rows after ends"] = np.roll(self.terminated, 1, axis=0) & ~np.roll(rows, 1, 0)
            groups["the last row"] = rows
            for lane in range(min(self.states.shape[1], FEW)):
                groups[f"lane {lane}"] = np.indices(self.used.shape)[1] == lane
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
        return MoveLaw(self.task, *np.divmod(distinct, self.task.game.num_actions)), moves

    def _chances(self, which: BoolArray) -> FloatArray:
        """Return the probability that some steps lead to what follows, whatever is paid."""
        law, moves = self.law
        chances = np.zeros(int(which.sum()))
        ended = self.terminated[which]
        ends = np.zeros(law.num_results)
        ends[len(law.states) :] = 1
        chances[ended] = law.mean(ends)[moves[which][ended]]
        goes_on = moves[which][~ended], law.results(self.after[which][~ended])
        chances[~ended] = law.chances(*goes_on)
        return chances


@dataclass(frozen=True)
class Payment:
    """The rewards of some steps in a reward mode, up to a constant factor."""

    steps: Steps
    mode: RewardMode
    clipped: Callable[[FloatArray], FloatArray] | None = None  # what a mistake makes of rewards

    @cached_property
    def checked(self) -> BoolArray:
        """Which rewards are checked, shape (time, lane)."""
        steps = self.steps
        ends = steps.terminated | steps.knows_after
        return steps.used & ~steps.wrong & (steps.law[1] >= 0) & ends

    @cached_property
    def fit(self) -> tuple[float, BoolArray]:
        """The constant factor that fits best, and which rewards are wrong, shape (time, lane)."""
        steps, checked = self.steps, self.checked
        ended, rewards = steps.terminated[checked], steps.rewards[checked]
        base, law, moves = self._base(checked), steps.law[0], steps.law[1][checked]
        options = np.concatenate([[0.0], law.payoffs])  # what may be paid on top of the base
        allowed = np.zeros((len(moves), len(options)), dtype=bool)
        allowed[:, 0] = ~ended | (self.mode == "regret")
        if self.mode != "regret":
            each_end = np.eye(law.num_results, len(law.payoffs), -len(law.states))
            allowed[:, 1:] = ended[:, None] & (law.mean(each_end)[moves] > 0)
        wanted = np.where(allowed, base[:, None] + options, np.nan)
        wanted = wanted if self.clipped is None else self.clipped(wanted)
        low, high = steps.task.game.payoff_range
        close = CLOSE * max(high - low, 1e-9)
        best, least = 1.0, np.ones(len(moves), dtype=bool)
        for factor in _factors(rewards, wanted):
            far = np.abs(rewards[:, None] - factor * wanted)
            wrong = ~(np.nanmin(far, axis=1, initial=np.inf) <= close * abs(factor))
            if wrong.sum() < least.sum():
                best, least = factor, wrong
        wrong = np.zeros_like(checked)
        wrong[checked] = least
        return best, wrong

    @property
    def is_right(self) -> bool:
        """Whether all rewards are right."""
        steps = self.steps
        if self.mode == "outcome" and (steps.rewards[steps.used & ~steps.terminated] != 0).any():
            return False  # only the end of a game is paid: the quick way to rule a shift out
        return not self.fit[1].any()

    @property
    def payoffs(self) -> FloatArray | None:
        """The payoff of each step that ends a game, 0 elsewhere, shape (time, lane).

        None if rewards, which must be right, do not tell payoffs, as those of "regret" do not.
        """
        if self.mode == "regret":
            return None
        ended = self.steps.terminated & self.steps.used
        paid = self.steps.rewards[ended] / self.fit[0] - self._base(ended)
        known, payoffs = self.steps.law[0].payoffs, np.zeros(ended.shape)
        payoffs[ended] = known[np.abs(paid[:, None] - known).argmin(axis=1)] if len(known) else 0
        return payoffs

    def _base(self, which: BoolArray) -> FloatArray:
        """Return what the reward mode adds to the payoff of some steps."""
        steps, mode = self.steps, self.mode
        base = paid_by_moves(steps.task, mode, steps.states[which], steps.actions[which])
        on = ~steps.terminated[which]
        base[on] += paid_by_results(steps.task, mode, steps.after[which][on])
        return base


def _factors(rewards: FloatArray, wanted: FloatArray) -> list[float]:
    """List positive factors that rewards may have been multiplied by, 1 first."""
    factors = [1.0]
    for row in np.flatnonzero(np.abs(rewards) > 0)[:50].tolist():
        known = wanted[row][np.isfinite(wanted[row]) & (wanted[row] != 0)]
        factors += (rewards[row] / known).tolist()
    rounded = {float(f"{factor:.6g}"): factor for factor in reversed(factors) if factor > 0}
    return sorted(rounded, key=lambda factor: factor != 1.0)
