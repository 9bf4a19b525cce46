"""Recorded steps as states, with the checks that find steps which the game cannot make."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...baselines import Task
from ...core import BoolArray, FloatArray, InputError, IntArray
from ...core.positions import are_legal
from ...envs import RewardMode
from ..arrays import flags, leading_shape, numbers, whole
from ..law import MoveLaw
from ..records import Rollout, Transitions
from ..view import AgentView, paid_by_moves, paid_by_results

#: Rewards of single precision agree with exact ones to this part of the span of payoffs.
CLOSE = 1e-4


class Verdict(NamedTuple):
    """The result of a check for each step, arrays of shape (time, lane)."""

    checked: BoolArray
    wrong: BoolArray


@dataclass(frozen=True)
class Steps:
    """Steps of games, arrays of shape (time, lane); of a replay buffer one lane.

    Attributes:
        task: the agent's decision problem.
        states: the agent's state, -1 if no state looks like the recorded observation.
        actions: the action, by number.
        rewards: as recorded.
        terminated: whether the move has ended the game.
        after: the agent's next state, or -1; meaningless where it is not known.
        knows_after: whether the next observation is known.
        follow: whether each row follows the row before, as in a rollout.
        used: whether a step counts; others are left out of all checks.
    """

    task: Task
    states: IntArray
    actions: IntArray
    rewards: FloatArray
    terminated: BoolArray
    after: IntArray
    knows_after: BoolArray
    follow: bool
    used: BoolArray

    @classmethod
    def of(cls, record: Transitions | Rollout, view: AgentView) -> "Steps":
        """Read a record.

        Raises:
            InputError: if an array has another shape, or no numbers.
        """
        follow = isinstance(record, Rollout)
        task, seen = view.task, view.seen
        shape = leading_shape(record.observations, "observations", 2 if follow else 1)
        states = seen.states(record.observations, "observations", shape)
        actions = whole(record.actions, "actions", shape)
        rewards = numbers(record.rewards, "rewards", shape)
        ended = flags(record.terminated, "terminated", shape)
        if isinstance(record, Rollout):
            after, known = _next_rows(states)
        else:
            after = seen.states(record.next_observations, "next_observations", shape)[:, None]
            states, actions, rewards, ended = (
                states[:, None],
                actions[:, None],
                rewards[:, None],
                ended[:, None],
            )
            known = np.ones(states.shape, dtype=bool)
        used = np.ones(states.shape, dtype=bool)
        steps = cls(task, states, actions, rewards, ended, after, known, follow, used)
        if actions.min() < 0 or actions.max() >= task.game.num_actions:
            raise InputError(
                f"actions must be from 0 to {task.game.num_actions - 1}, got {actions.min()} to "
                f"{actions.max()}"
            )
        return steps

    def changed(self, **changes: Any) -> "Steps":
        """Return other steps; those of a rollout are followed by its changed rows."""
        if self.follow and "states" in changes:
            changes["after"], changes["knows_after"] = _next_rows(changes["states"])
        return replace(self, **changes)

    # ------------------------------------------------------------------- checks

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Observations, actions, transitions and beginnings, by the name of the check."""
        readable = self.used & (self.states >= 0)
        legal = np.zeros_like(readable)
        legal[readable] = are_legal(self.task.game, self.states[readable], self.actions[readable])
        moves = readable & legal
        leads = moves & (self.terminated | self.knows_after)
        possible = np.ones_like(leads)
        if leads.any():
            possible[leads] = self._chances(leads) > 0
        verdicts = {
            "observations": Verdict(self.used, self.used & ~readable),
            "actions": Verdict(readable, readable & ~legal),
            "transitions": Verdict(leads, leads & ~possible),
        }
        if self.follow:
            begins = np.zeros_like(moves)
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
    def law(self) -> tuple[MoveLaw, IntArray]:
        """The law of all distinct legal moves, and the number of the move of each step, or -1."""
        legal = self.used & (self.states >= 0)
        legal[legal] = are_legal(self.task.game, self.states[legal], self.actions[legal])
        codes = self.states[legal] * self.task.game.num_actions + self.actions[legal]
        distinct, rows = np.unique(codes, return_inverse=True)
        moves = np.full(self.states.shape, -1)
        moves[legal] = rows
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

    # ------------------------------------------------------------------ rewards

    def rewards_by(
        self, mode: RewardMode, change: Callable[[FloatArray], FloatArray] | None = None
    ) -> tuple[float, Verdict]:
        """Compare rewards with those of a reward mode, times the constant factor that fits best.

        Args:
            mode: the reward mode.
            change: what a mistake makes of rewards, None for nothing.

        Returns:
            The factor, and which rewards are wrong.
        """
        possible = self.used & ~self.wrong & (self.law[1] >= 0)
        checked = possible & (self.terminated | self.knows_after)
        ended, rewards = self.terminated[checked], self.rewards[checked]
        base, law, moves = self._base(mode, checked), self.law[0], self.law[1][checked]
        options = np.concatenate([[0.0], law.payoffs])  # what may be paid on top of the base
        allowed = np.zeros((len(moves), len(options)), dtype=bool)
        allowed[:, 0] = ~ended | (mode == "regret")
        if mode != "regret":
            for number in range(len(law.payoffs)):
                one = np.zeros(law.num_results)
                one[len(law.states) + number] = 1
                allowed[:, 1 + number] = ended & (law.mean(one)[moves] > 0)
        wanted = np.where(allowed, base[:, None] + options, np.nan)
        wanted = wanted if change is None else change(wanted)
        low, high = self.task.game.payoff_range
        close = CLOSE * max(high - low, 1e-9)
        best: tuple[float, BoolArray] = (1.0, np.ones(len(moves), dtype=bool))
        for factor in _factors(rewards, wanted):
            far = np.abs(rewards[:, None] - factor * wanted)
            wrong = ~(np.nanmin(far, axis=1, initial=np.inf) <= close * abs(factor))
            if wrong.sum() < best[1].sum():
                best = factor, wrong
        wrong = np.zeros_like(checked)
        wrong[checked] = best[1]
        return best[0], Verdict(checked, wrong)

    def payoffs(self, mode: RewardMode, factor: float) -> FloatArray | None:
        """Return the payoff of each step that ends a game, 0 elsewhere, shape (time, lane).

        Args:
            mode: the reward mode.
            factor: of the rewards, which are right.

        Returns:
            None if rewards do not tell payoffs, as those of "regret" do not.
        """
        if mode == "regret":
            return None
        ended = self.terminated & self.used
        paid = self.rewards[ended] / factor - self._base(mode, ended)
        known, payoffs = self.law[0].payoffs, np.zeros(self.rewards.shape)
        payoffs[ended] = known[np.abs(paid[:, None] - known).argmin(axis=1)] if len(known) else 0
        return payoffs

    def _base(self, mode: RewardMode, which: BoolArray) -> FloatArray:
        """Return what a reward mode adds to the payoff of some steps."""
        base = paid_by_moves(self.task, mode, self.states[which], self.actions[which])
        on = ~self.terminated[which]
        base[on] += paid_by_results(self.task, mode, self.after[which][on])
        return base


def _next_rows(states: IntArray) -> tuple[IntArray, BoolArray]:
    """Return the next state of each row, and whether there is a next row."""
    after, known = np.full_like(states, -1), np.zeros(states.shape, dtype=bool)
    after[:-1], known[:-1] = states[1:], True
    return after, known


def _factors(rewards: FloatArray, wanted: FloatArray) -> list[float]:
    """List positive factors that rewards may have been multiplied by, 1 first."""
    factors = [1.0]
    for row in np.flatnonzero(np.abs(rewards) > 0)[:50].tolist():
        known = wanted[row][np.isfinite(wanted[row]) & (wanted[row] != 0)]
        factors += (rewards[row] / known).tolist()
    rounded = {float(f"{factor:.6g}"): factor for factor in reversed(factors) if factor > 0}
    return sorted(rounded, key=lambda factor: factor != 1.0)
