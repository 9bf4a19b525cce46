"""Checks of recorded numbers: log-probabilities, values, advantages, returns and targets.

Generalised advantage estimation, with values v, rewards r and ends d (1 where the move of the row
has ended the game), is by Schulman et al. (2016, *High-Dimensional Continuous Control Using
Generalized Advantage Estimation*, eq. 16):

    delta(t) = r(t) + gamma (1 - d(t)) v(t + 1) - v(t)
    A(t)     = delta(t) + gamma lambda (1 - d(t)) A(t + 1)

The value after the last row is ``last_values``, and A is 0 there. Returns are A + v. Bootstrap
targets of action values are r + gamma max Q(s', a') over the legal a', and r at the end.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ...baselines import as_policy
from ...baselines.policies.tables import as_numbers
from ...core import BoolArray, FloatArray, InputError
from ..arrays import agree, called, factor, numbers
from ..records import Rollout, Targets
from ..report import Mistake, Report, reproducing
from .steps import Steps

#: Says which numbers agree.
Agreement: TypeAlias = Callable[[FloatArray, FloatArray], BoolArray]


def check_rollout(
    report: Report, rollout: Rollout, given: Steps, steps: Steps, policy: Any, critic: Any, env: Any
) -> None:
    """Add to a report whether the numbers of a rollout are those of the policy and the critic.

    Args:
        report: of the audit.
        rollout: the record.
        given: its steps.
        steps: the corrected steps.
        policy: the policy that drew the actions, or None.
        critic: the critic that gave the values, or None.
        env: the environment.
    """
    _check_log_probs(report, rollout, steps, policy, env)
    _check_values(report, rollout, steps.states.shape, critic)
    _check_estimates(report, rollout, given)


def _compare(
    report: Report,
    check: str,
    ours: FloatArray,
    given: FloatArray,
    mistakes: Iterator[Mistake],
    agree: Agreement = agree,
) -> None:
    """Compare numbers with what they must be, and name the mistake that reproduces them."""
    right = agree(ours, given)

    def example() -> str:
        at = tuple(np.argwhere(~right)[0].tolist())
        return f"entry {', '.join(map(str, at))} is {given[at]:.6g} and must be {ours[at]:.6g}"

    report.add(check, int((~right).sum()), given.size, example, mistakes)


# --------------------------------------------------------------------- log-probabilities


def _check_log_probs(report: Report, rollout: Rollout, steps: Steps, policy: Any, env: Any) -> None:
    """Check that recorded log-probabilities are the policy's, under the mask."""
    if rollout.log_probs is None or policy is None:
        report.unchecked["log_probs"] = "log_probs and policy are needed"
        return
    given = numbers(rollout.log_probs, "log_probs", steps.states.shape, finite=False)
    which = steps.used & ~steps.verdicts["observations"].wrong & ~steps.verdicts["actions"].wrong

    def logs(masked: bool) -> FloatArray:
        law = as_policy(policy, env, deterministic=False, masked=masked)
        states, where = np.unique(steps.states[which], return_inverse=True)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(law.probabilities(states)[where]), dtype=np.float64)

    law, given = logs(masked=True), given[which]
    rows = np.arange(len(given)), steps.actions[which]
    ours = law[rows]

    def search() -> Iterator[Mistake]:
        if agree(np.exp(ours), given).all():
            yield Mistake("log-probs-without-log", "take the logarithm of the probabilities")
        if agree(-ours, given).all():
            yield Mistake("log-probs-sign", "the logarithm of a probability is not above 0")
        if agree(law.max(axis=1), given).all():
            yield Mistake("log-probs-of-likeliest", "they are those of the action that was taken")
        if agree(logs(masked=False)[rows], given).all():
            yield Mistake("log-probs-unmasked", "take the softmax over the legal actions alone")
        ratios = np.exp(ours - given)
        fit = abs(ratios.mean() - 1) <= 4 * ratios.std() / np.sqrt(ratios.size)
        if fit and not steps.wrong.any():  # else they may be right, and the observations wrong
            cure = "they fit the draws, but not this policy: it has been updated"
            yield Mistake("log-probs-stale", cure)

    # Logarithms near 0 come from logits that are larger, and are rounded as these are.
    _compare(report, "log_probs", ours, given, search(), partial(agree, size=1.0))


# -------------------------------------------------------------------------------- values


def _check_values(report: Report, rollout: Rollout, shape: tuple[int, ...], critic: Any) -> None:
    """Check that recorded values are the critic's."""
    if rollout.values is None or critic is None:
        report.unchecked["values"] = "values and critic are needed"
        return
    given = numbers(rollout.values, "values", shape)
    ours = called(critic, "critic", _flat(rollout.observations), (given.size,)).reshape(shape)
    _compare(report, "values", ours, given, _value_mistakes(ours, given))


def _flat(observations: Any) -> Any:
    """Join the axes (time, lane) of observations, or of each entry of a mapping."""
    if isinstance(observations, Mapping):
        return {key: _flat(entry) for key, entry in observations.items()}
    array = as_numbers(observations, "observations")
    return array.reshape(-1, *array.shape[2:])


def _value_mistakes(ours: FloatArray, given: FloatArray) -> Iterator[Mistake]:
    if len(ours) > 1 and (agree(ours[1:], given[:-1]).all() or agree(ours[:-1], given[1:]).all()):
        cure = "a value belongs to the observation before the move of its row"
        yield Mistake("shifted-values", cure)
    ours, given = ours.ravel(), given.ravel()
    if ours.std() > 0 and given.std() > 0 and np.corrcoef(ours, given)[0, 1] > 0.9:
        yield Mistake(
            "values-stale",
            "they are near the critic's values, and not the same: the critic has been updated "
            "since, or values were computed under another normalisation",
        )


# ----------------------------------------------------------------------------- estimates


def _advantages(rollout: Rollout) -> FloatArray:
    """Estimate the advantages of a rollout of checked arrays, shape (time, lane)."""
    estimates: FloatArray = np.zeros_like(rollout.values)
    ahead = np.zeros_like(rollout.last_values)
    later = np.concatenate([rollout.values[1:], rollout.last_values[None]])
    for row in reversed(range(len(rollout.values))):
        goes_on = rollout.gamma * ~rollout.terminated[row]
        delta = rollout.rewards[row] + goes_on * later[row] - rollout.values[row]
        ahead = estimates[row] = delta + goes_on * rollout.gae_lambda * ahead
    return estimates


def _check_estimates(report: Report, rollout: Rollout, steps: Steps) -> None:
    """Check advantages and returns against the recursion."""
    for check in ("advantages", "returns"):
        if getattr(rollout, check) is None:
            continue
        if rollout.values is None or rollout.last_values is None:
            report.unchecked[check] = "values and last_values are needed, zeros without a critic"
            continue
        shape = steps.states.shape
        last = as_numbers(rollout.last_values, "last_values").ravel()
        right = replace(
            rollout,
            rewards=steps.rewards,
            terminated=steps.terminated,
            values=numbers(rollout.values, "values", shape),
            last_values=numbers(last, "last_values", shape[1:]),
            gamma=factor(rollout.gamma, "gamma"),
            gae_lambda=factor(rollout.gae_lambda, "gae_lambda"),
        )
        given = numbers(getattr(rollout, check), check, shape)
        ours = _advantages(right) + (right.values if check == "returns" else 0)
        used = right.rewards, right.values, right.last_values  # whose rounding counts
        close = partial(agree, size=max(float(np.abs(array).max(initial=0)) for array in used))
        mistakes = _estimate_mistakes(right, check, close, given)
        _compare(report, check, ours, given, mistakes, close)


def _estimate_mistakes(
    right: Rollout, check: str, close: Agreement, given: FloatArray
) -> Iterator[Mistake]:
    """Yield the known mistakes that reproduce given advantages or returns."""
    ours = _advantages(right)
    if check == "returns":
        if close(ours, given).all():
            yield Mistake("returns-without-values", "returns are advantages plus values")
        given = given - right.values
    yield from reproducing(
        right, _changes(right, given), lambda it: bool(close(_advantages(it), given).all())
    )
    if ours.std() > 0:
        scaled = (ours - ours.mean()) / ours.std()
        if agree(scaled, (given - given.mean()) / max(given.std(), 1e-12)).all():
            yield Mistake(
                "advantages-normalised",
                "they are the advantages less their mean, divided by their deviation: fine for "
                "the actor, but returns need the advantages themselves",
            )


def _changes(right: Rollout, given: FloatArray) -> Iterator[Mistake]:
    """List what known mistakes change in the recursion."""
    yield Mistake(
        "gae-ignores-ends",
        "multiply gamma by 1 - terminated in the recursion",
        {"terminated": np.zeros_like(right.terminated)},
    )
    late = (
        "the end of row t must stop the recursion from row t + 1 to row t, not a row later or "
        "earlier"
    )
    ended = right.terminated
    # Beyond the border a program may take no end, the border's row, or the one of the other border.
    for beyond in (np.zeros_like(ended[:1]), ended[:1], ended[-1:]):
        for moved in ((beyond, ended[:-1]), (ended[1:], beyond)):
            yield Mistake("gae-ends-late", late, {"terminated": np.concatenate(moved)})
    yield Mistake(
        "gae-last-value-missing",
        "add the critic's value after the last row, where d is 0",
        {"last_values": np.zeros_like(right.last_values)},
    )
    # The last row is A = r + gamma v' - v, the row before it A = delta + gamma lambda A'.
    left = given[-1] - right.rewards[-1] + right.values[-1]
    gamma = _ratio(left, right.last_values, ~ended[-1])
    if gamma is not None:
        cure = f"the advantages were computed with gamma = {gamma:.6g}"
        yield Mistake("gamma-wrong", cure, {"gamma": gamma})
    if len(given) > 1:
        left = given[-2] - _advantages(replace(right, gae_lambda=0.0))[-2]
        found = _ratio(left, right.gamma * given[-1], ~ended[-2])
        if found is not None:
            cure = f"the advantages were computed with lambda = {found:.6g}"
            yield Mistake("lambda-wrong", cure, {"gae_lambda": found})


def _ratio(numbers: FloatArray, of: FloatArray, which: BoolArray) -> float | None:
    """Return the median factor between numbers, where the divisor is not near 0."""
    on = which & (np.abs(of) > 1e-3)
    return float(np.median(numbers[on] / of[on])) if on.any() else None


# ------------------------------------------------------------------------------- targets


@dataclass(frozen=True)
class Bootstrap:
    """The declared targets, arrays of shape (transition, ...)."""

    rewards: FloatArray
    ends: BoolArray
    values: FloatArray  # of the next actions, (transition, action)
    mask: BoolArray  # of the next actions, (transition, action)
    chosen_by: FloatArray | None  # values whose maximum is the next action; None for ``values``
    gamma: float

    def __call__(self) -> FloatArray:
        """Compute the targets, shape (transition,)."""
        by = np.where(self.mask, self.values if self.chosen_by is None else self.chosen_by, -np.inf)
        best: FloatArray = self.values[np.arange(len(by)), by.argmax(axis=1)]
        return self.rewards + self.gamma * np.where(self.ends, 0.0, best)


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
    gamma = factor(record.gamma, "gamma")
    chosen_by = online if record.double else None
    right = Bootstrap(rewards, ended, target, legal, chosen_by, gamma)
    known = ended | (after >= 0)  # elsewhere the next state and its mask are not known
    wanted = np.where(known, right(), given)
    wrong = ~agree(wanted, given)

    def example() -> str:
        row = int(wrong.argmax())
        return f"transition {row} has the target {given[row]:.6g} and must have {wanted[row]:.6g}"

    def search() -> Iterator[Mistake]:
        before = steps.task.game.mask(np.maximum(steps.states[:, 0], 0))
        later = (given - rewards)[known & ~ended], (right() - rewards)[known & ~ended]
        changes = _target_changes(right, online, before, *later)
        found = list(reproducing(right, changes, lambda it: bool(agree(it(), given)[known].all())))
        if found:
            others = ", ".join(other.name for other in found[1:])
            tie = f" (or {others}: the numbers are the same here)" if others else ""
            yield Mistake(found[0].name, found[0].cure + tie)

    report.add("targets", int(wrong.sum()), len(given), example, search())


def _target_changes(
    right: Bootstrap,
    online: FloatArray | None,
    before: BoolArray,
    given: FloatArray,
    ours: FloatArray,
) -> Iterator[Mistake]:
    """List what known mistakes change in the targets.

    Args:
        right: the declared targets.
        online: action values of the online network, if it is known.
        before: legal actions of the states before the moves.
        given: recorded targets less rewards, where the game goes on.
        ours: declared targets less rewards, where the game goes on.
    """
    yield Mistake(
        "target-ignores-ends",
        "the target of a move that ends the game is its reward alone",
        {"ends": np.zeros_like(right.ends)},
    )
    yield Mistake(
        "max-over-illegal",
        "take the maximum over the legal actions of the next state",
        {"mask": np.ones_like(right.mask)},
    )
    yield Mistake(
        "stale-mask",
        "the mask must be that of the next state, not of the state before the move",
        {"mask": before},
    )
    if online is not None:
        yield Mistake(
            "target-from-online-network",
            "the values must be the target network's",
            {"values": online},
        )
        yield Mistake(
            "double-dqn",
            "the action is the online network's: say so by double=True",
            {"chosen_by": online},
        )
    best = ours / (right.gamma or 1.0)
    large = np.abs(best) > 1e-3
    gamma = float(np.median(given[large] / best[large])) if large.any() else 1.0
    yield Mistake(
        "gamma-wrong", f"the targets were computed with gamma = {gamma:.6g}", {"gamma": gamma}
    )
