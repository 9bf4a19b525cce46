"""Checks of recorded numbers: log-probabilities, values, advantages, returns and targets.

Generalised advantage estimation, with values v, rewards r and ends d (1 where the move of the row
has ended the game), is by Schulman et al. (2016, *High-Dimensional Continuous Control Using
Generalized Advantage Estimation*, eq. 16):

    delta(t) = r(t) + gamma (1 - d(t)) v(t + 1) - v(t)
    A(t)     = delta(t) + gamma lambda (1 - d(t)) A(t + 1)

The value after the last row is ``last_values``, and A is 0 there. Returns are A + v. Bootstrap
targets of action values are r + gamma max Q(s', a') over the legal a', and r at the end.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ...baselines import as_policy
from ...baselines.policies.tables import as_numbers
from ...core import BoolArray, FloatArray, InputError, IntArray
from ..records import Rollout, Targets
from ..report import Mistake, Report, reproducing
from ..view import called, each_array, factor, leading_shape, numbers
from .steps import CLOSE, Steps

#: Says which numbers agree.
Agreement: TypeAlias = Callable[[FloatArray, FloatArray], BoolArray]
#: A formula of recorded numbers, a dataclass whose fields mistakes change.
Formula: TypeAlias = Callable[[], FloatArray]


def agree(ours: FloatArray, theirs: FloatArray, size: float = 1e-6) -> BoolArray:
    """Say which numbers agree up to single precision of the largest, or of a size above it."""
    finite = np.isfinite(ours) & np.isfinite(theirs)
    size = max(float(np.abs(ours).max(initial=0, where=finite)), size)
    right: BoolArray = ours == theirs  # infinite ones, too
    right[finite] = np.abs(ours[finite] - theirs[finite]) <= CLOSE * size
    return right


def _compare(
    report: Report,
    check: str,
    formula: Formula,
    given: FloatArray,
    edits: Iterable[Mistake] = (),
    others: Iterable[Mistake] = (),
    close: Agreement = agree,
) -> None:
    """Compare numbers with their formula, and name the mistakes that reproduce them.

    The mistakes are ``edits`` of the formula, or ``others`` if no edit explains the numbers.
    """
    ours = formula()

    def example(*at: int) -> str:
        return f"entry {', '.join(map(str, at))} is {given[at]:.6g} and must be {ours[at]:.6g}"

    def search() -> Iterator[Mistake]:
        found = list(reproducing(formula, edits, lambda it: bool(close(it(), given).all())))
        for mistake in found[:1]:
            names = dict.fromkeys(other.name for other in found if other.name != mistake.name)
            yield replace(mistake, others=tuple(names))
        yield from others

    report.add(check, ~close(ours, given), example, search())


# --------------------------------------------------------------------- log-probabilities


@dataclass(frozen=True)
class LogProbs:
    """Logarithms of the probabilities of actions."""

    law: Callable[[bool], FloatArray]  # logarithms by whether it is masked, (move, action)
    actions: IntArray  # (move,)
    masked: bool = True
    likeliest: bool = False
    sign: float = 1.0
    logarithms: bool = True

    def __call__(self) -> FloatArray:
        """Compute the numbers, shape (move,)."""
        logs = self.law(self.masked)
        found = logs.max(axis=1) if self.likeliest else logs[np.arange(len(logs)), self.actions]
        return self.sign * (found if self.logarithms else np.exp(found))


def check_log_probs(report: Report, rollout: Rollout, steps: Steps, policy: Any, env: Any) -> None:
    """Check that recorded log-probabilities are the policy's, for right steps, under the mask."""
    if rollout.log_probs is None or policy is None:
        report.unchecked["log_probs"] = "log_probs and policy are needed"
        return
    given = numbers(rollout.log_probs, "log_probs", steps.states.shape, finite=False)
    given = given[steps.legal]

    def law(masked: bool) -> FloatArray:
        player = as_policy(policy, env, deterministic=False, masked=masked)
        states, where = np.unique(steps.states[steps.legal], return_inverse=True)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(player.probabilities(states)[where]), dtype=np.float64)

    right = LogProbs(law, steps.actions[steps.legal])
    edits = [
        Mistake("log-probs-without-log", {"logarithms": False}),
        Mistake("log-probs-sign", {"sign": -1.0}),
        Mistake("log-probs-of-likeliest", {"likeliest": True}),
        Mistake("log-probs-unmasked", {"masked": False}),
    ]

    def stale() -> Iterator[Mistake]:
        ratios = np.exp(right() - given)
        fit = abs(ratios.mean() - 1) <= 4 * ratios.std() / np.sqrt(ratios.size)
        if fit and not steps.wrong.any():  # else they may be right, and the observations wrong
            yield Mistake("log-probs-stale")

    # Logarithms near 0 come from logits that are larger, and are rounded as these are.
    _compare(report, "log_probs", right, given, edits, stale(), partial(agree, size=1.0))


# -------------------------------------------------------------------------------- values


def check_values(report: Report, rollout: Rollout, critic: Any) -> None:
    """Check that recorded values are the critic's."""
    if rollout.values is None or critic is None:
        report.unchecked["values"] = "values and critic are needed"
        return
    shape = leading_shape(rollout.observations, "observations", 2)
    given = numbers(rollout.values, "values", shape)
    seen = each_array(rollout.observations, lambda array: as_numbers(array, "observations"))
    seen = each_array(seen, lambda array: array.reshape(-1, *array.shape[2:]))
    ours = called(critic, "critic", seen, (given.size,)).reshape(shape)
    _compare(report, "values", lambda: ours, given, others=_value_mistakes(ours, given))


def _value_mistakes(ours: FloatArray, given: FloatArray) -> Iterator[Mistake]:
    if len(ours) > 1 and (agree(ours[1:], given[:-1]).all() or agree(ours[:-1], given[1:]).all()):
        yield Mistake("shifted-values")
    ours, given = ours.ravel(), given.ravel()
    if ours.std() > 0 and given.std() > 0 and np.corrcoef(ours, given)[0, 1] > 0.9:
        yield Mistake("values-stale")


# ----------------------------------------------------------------------------- estimates


@dataclass(frozen=True)
class Estimates:
    """Advantages of a rollout, or returns, by the recursion of the module's docstring."""

    rewards: FloatArray  # (time, lane)
    terminated: BoolArray  # (time, lane)
    values: FloatArray  # (time, lane)
    last_values: FloatArray  # (lane,)
    gamma: float
    gae_lambda: float
    returns: bool  # whether values are added

    def __call__(self) -> FloatArray:
        """Compute the numbers, shape (time, lane)."""
        estimates: FloatArray = np.zeros_like(self.values)
        ahead = np.zeros_like(self.last_values)
        later = np.concatenate([self.values[1:], self.last_values[None]])
        for row in reversed(range(len(self.values))):
            goes_on = self.gamma * ~self.terminated[row]
            delta = self.rewards[row] + goes_on * later[row] - self.values[row]
            ahead = estimates[row] = delta + goes_on * self.gae_lambda * ahead
        return estimates + self.values if self.returns else estimates


def check_estimates(report: Report, rollout: Rollout, steps: Steps) -> None:
    """Check advantages and returns against the recursion, of steps as they were recorded."""
    for check in ("advantages", "returns"):
        if getattr(rollout, check) is None:
            continue
        if rollout.values is None or rollout.last_values is None:
            report.unchecked[check] = "values and last_values are needed, zeros without a critic"
            continue
        shape = steps.states.shape
        last = as_numbers(rollout.last_values, "last_values").ravel()
        right = Estimates(
            steps.rewards,
            steps.terminated,
            values=numbers(rollout.values, "values", shape),
            last_values=numbers(last, "last_values", shape[1:]),
            gamma=factor(rollout.gamma, "gamma"),
            gae_lambda=factor(rollout.gae_lambda, "gae_lambda"),
            returns=check == "returns",
        )
        given = numbers(getattr(rollout, check), check, shape)
        used = right.rewards, right.values, right.last_values  # whose rounding counts
        close = partial(agree, size=max(float(np.abs(array).max(initial=0)) for array in used))
        advantages = given - right.values if right.returns else given
        edits = _estimate_mistakes(right, advantages)
        _compare(report, check, right, given, edits, _normalised(right, advantages), close)


def _estimate_mistakes(right: Estimates, given: FloatArray) -> Iterator[Mistake]:
    """List what known mistakes change in the recursion, for given advantages."""
    if right.returns:
        yield Mistake("returns-without-values", {"returns": False})
    ended = right.terminated
    yield Mistake("gae-ignores-ends", {"terminated": np.zeros_like(ended)})
    # Beyond the border a program may take no end, the border's row, or the one of the other border.
    for beyond in (np.zeros_like(ended[:1]), ended[:1], ended[-1:]):
        for moved in ((beyond, ended[:-1]), (ended[1:], beyond)):
            yield Mistake("gae-ends-late", {"terminated": np.concatenate(moved)})
    yield Mistake("gae-last-value-missing", {"last_values": np.zeros_like(right.last_values)})
    # The last row is A = r + gamma v' - v, the row before it A = delta + gamma lambda A'.
    left = given[-1] - right.rewards[-1] + right.values[-1]
    gamma = _ratio(left, right.last_values, ~ended[-1])
    if gamma is not None:
        yield Mistake("gamma-wrong", {"gamma": gamma}, {"computed": "advantages"})
    if len(given) > 1:
        left = given[-2] - replace(right, gae_lambda=0.0, returns=False)()[-2]
        found = _ratio(left, right.gamma * given[-1], ~ended[-2])
        if found is not None:
            yield Mistake("lambda-wrong", {"gae_lambda": found})


def _ratio(numbers: FloatArray, of: FloatArray, which: BoolArray) -> float | None:
    """Return the median factor between numbers, where the divisor is not near 0."""
    on = which & (np.abs(of) > 1e-3)
    return float(np.median(numbers[on] / of[on])) if on.any() else None


def _normalised(right: Estimates, given: FloatArray) -> Iterator[Mistake]:
    """Yield a mistake if given advantages are the right ones with another mean and deviation."""
    ours = replace(right, returns=False)()
    if ours.std() > 0:
        scaled = (ours - ours.mean()) / ours.std()
        if agree(scaled, (given - given.mean()) / max(given.std(), 1e-12)).all():
            yield Mistake("advantages-normalised")


# ------------------------------------------------------------------------------- targets


@dataclass(frozen=True)
class Bootstrap:
    """The declared targets, arrays of shape (transition, ...)."""

    rewards: FloatArray
    ends: BoolArray
    values: FloatArray  # of the next actions, (transition, action)
    mask: BoolArray  # of the next actions, (transition, action)
    chosen_by: FloatArray  # values whose maximum is the next action
    gamma: float

    def __call__(self) -> FloatArray:
        """Compute the targets, shape (transition,)."""
        best = np.where(self.mask, self.chosen_by, -np.inf).argmax(axis=1)
        later: FloatArray = self.values[np.arange(len(best)), best]
        return self.rewards + self.gamma * np.where(self.ends, 0.0, later)


def check_targets(report: Report, record: Targets, steps: Steps) -> None:
    """Add to a report whether targets are those of the target network."""
    after, ended, rewards = steps.after[:, 0], steps.terminated[:, 0], steps.rewards[:, 0]
    given = numbers(record.targets, "targets", after.shape)
    legal, seen = steps.task.game.mask(np.maximum(after, 0)), record.transitions.next_observations
    target, online = called(record.network, "network", seen, legal.shape), None
    if record.online is not None:
        online = called(record.online, "online", seen, legal.shape)
    if record.double and online is None:
        raise InputError("online must be the online network where double is True, got None")
    by = online if record.double and online is not None else target
    right = Bootstrap(rewards, ended, target, legal, by, factor(record.gamma, "gamma"))
    known = ended | (after >= 0)  # elsewhere the next state and its mask are not known
    before = steps.task.game.mask(np.maximum(steps.states[:, 0], 0))
    later = (given - rewards)[known & ~ended], (right() - rewards)[known & ~ended]
    edits = _target_mistakes(right, online, before, *later)
    close: Agreement = lambda ours, theirs: agree(ours, theirs) | ~known  # noqa: E731
    _compare(report, "targets", right, given, edits, close=close)


def _target_mistakes(
    right: Bootstrap,
    online: FloatArray | None,
    before: BoolArray,
    given: FloatArray,
    ours: FloatArray,
) -> Iterator[Mistake]:
    """List what known mistakes change in the targets.

    ``before`` are the legal actions of the states before the moves; ``given`` and ``ours`` are
    recorded and declared targets less rewards, where the game goes on.
    """
    yield Mistake("target-ignores-ends", {"ends": np.zeros_like(right.ends)})
    yield Mistake("max-over-illegal", {"mask": np.ones_like(right.mask)})
    yield Mistake("stale-mask", {"mask": before})
    if online is not None:
        yield Mistake("target-from-online-network", {"values": online, "chosen_by": online})
        yield Mistake("double-dqn", {"chosen_by": online})
    gamma = _ratio(given, ours / (right.gamma or 1.0), np.ones_like(given, dtype=bool))
    gamma = 1.0 if gamma is None else gamma
    yield Mistake("gamma-wrong", {"gamma": gamma}, {"computed": "targets"})
