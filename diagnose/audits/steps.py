"""A record as steps of states, with the checks that find steps which the game cannot make.

Observations may be in any encoding, behind wrappers, or in mappings with masks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...baselines import Sight, Task
from ...baselines.policies.tables import as_numbers
from ...core import BoolArray, FloatArray, InputError, IntArray
from ...core.positions import are_legal, states_of
from ...core.sizes import PIECE, check_memory
from ...envs import RewardMode
from ...envs.api.encoding import Encoding, encoding_of
from ..arrays import flags, leading_shape, numbers, whole
from ..law import MoveLaw
from ..records import Rollout, Transitions
from ..view import paid_by_moves, paid_by_results

#: Digits of an observation that count: recordings are often in single precision.
DIGITS = 5
#: Rewards of single precision agree with exact ones to this part of the span of payoffs.
CLOSE = 1e-4


class Seen:
    """Maps an agent's observations back to states.

    Observations in a known encoding are decoded. If wrappers change observations, those of all
    states are listed and looked up.

    Args:
        task: the agent's decision problem.
        sight: how the environment shows its states; None for integers.

    Attributes:
        shape: shape of an observation.

    Raises:
        InputError: if two states look alike.
        SizeError: if wrappers change observations, and there are too many states to be listed.
    """

    def __init__(self, task: Task, sight: Sight | None) -> None:
        self._game, self._own = task.game, states_of(task.game, task.seat)
        sizes = task.game.observation_sizes
        self._encoding: Encoding | None = Encoding(sizes, "integer")
        if sight is not None:
            self._encoding = None if sight.wrapped else encoding_of(sight.space, sizes)
        if self._encoding is None:
            assert sight is not None
            self._list(task, sight)
        else:
            self.shape: tuple[int, ...] = self._encoding.space.shape or ()

    def _list(self, task: Task, sight: Sight) -> None:
        """List the observations of all states."""
        width = sum(task.game.observation_sizes)
        check_memory("observations of the agent's states", len(self._own), 8.0 * width)
        shown = []
        for first in range(0, len(self._own), PIECE):
            seen = task.game.observe(self._own[first : first + PIECE], task.seat)
            shown.append(np.asarray(sight.show(seen)))
        self.shape = shown[0].shape[1:]
        keys = _keys(np.concatenate(shown))
        self._order = np.argsort(keys)
        self._keys = keys[self._order]
        if (self._keys[1:] == self._keys[:-1]).any():
            raise InputError("env must show different states differently, to be audited")

    def states(self, observations: Any, name: str, shape: tuple[int, ...]) -> IntArray:
        """Return the state of each observation, -1 if the agent sees it in no state.

        Args:
            observations: shape (*shape, ...), or a mapping with one such entry.
            name: of the observations, for messages.
            shape: of what is returned.

        Raises:
            InputError: if the observations have another shape.
        """
        if isinstance(observations, Mapping):
            observations = self._entry(observations, name, shape)
        given = as_numbers(observations, name)
        if given.shape != (*shape, *self.shape):
            axes = ("transition",) if len(shape) == 1 else ("time", "lane")
            wanted = shape if given.ndim == len(shape) + len(self.shape) else axes
            shown = ", ".join(map(str, (*wanted, *self.shape)))
            raise InputError(f"{name} must be of shape ({shown}), got {given.shape}")
        flat = given.reshape(-1, *self.shape)
        states: IntArray = self._decoded(flat) if self._encoding else self._looked_up(flat)
        return states.reshape(shape)

    def _decoded(self, given: npt.NDArray[Any]) -> IntArray:
        """Decode observations, -1 if the encoding never gives them to the agent."""
        assert self._encoding is not None
        sizes = np.array(self._game.observation_sizes)
        given = np.where(np.isfinite(given), given, -1.0)
        seen = self._encoding.decode(given)
        inside = np.logical_and(seen >= 0, seen < sizes).all(axis=1)
        seen[~inside] = 0
        again = self._encoding.encode(seen)
        inside &= np.isclose(again, given, rtol=0, atol=10.0**-DIGITS).all(axis=1)
        states = self._game.encode(seen)
        places = np.minimum(np.searchsorted(self._own, states), len(self._own) - 1)
        inside &= self._own[places] == states
        return np.where(inside, states, -1)

    def _looked_up(self, given: npt.NDArray[Any]) -> IntArray:
        keys = _keys(given)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[places] == keys, self._own[self._order[places]], -1)

    def _entry(self, observations: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Any:
        """Return the entry of a mapping that has the shape of observations."""
        wanted = (*shape, *self.shape)
        fitting = [key for key, entry in observations.items() if np.shape(entry) == wanted]
        shown = [key for key in fitting if "mask" not in key]
        if len(shown) != 1:
            raise InputError(
                f"{name} must have one entry of shape {wanted} beside masks, got "
                f"{', '.join(f'{key} {np.shape(entry)}' for key, entry in observations.items())}"
            )
        return observations[shown[0]]


def _keys(observations: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make one sortable key of each observation."""
    rows = observations.reshape(len(observations), -1)
    rounded = np.round(rows.astype(np.float64), DIGITS) + 0.0  # no -0.0
    rounded = np.ascontiguousarray(rounded)
    return rounded.view(np.dtype((np.void, rounded.shape[1] * 8)))[:, 0]


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
    def of(cls, record: Transitions | Rollout, task: Task, seen: Seen) -> "Steps":
        """Read a record.

        Raises:
            InputError: if an array has another shape, or no numbers.
        """
        follow = isinstance(record, Rollout)
        observations: Any = record.observations
        given = observations
        if isinstance(given, Mapping):
            given = next((entry for key, entry in given.items() if "mask" not in key), given)
        shape = leading_shape(given, "observations", 2 if follow else 1)
        states = seen.states(observations, "observations", shape)
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
