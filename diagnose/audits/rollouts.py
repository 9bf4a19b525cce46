"""Checks of the numbers of a rollout: log-probabilities, values, advantages and returns.

Generalised advantage estimation, with values v, rewards r and ends d (1 where the move of the row
has ended the game), is by Schulman et al. (2016, *High-Dimensional Continuous Control Using
Generalized Advantage Estimation*, eq. 16):

    delta(t) = r(t) + gamma (1 - d(t)) v(t + 1) - v(t)
    A(t)     = delta(t) + gamma lambda (1 - d(t)) A(t + 1)

The value after the last row is ``last_values``, and A is 0 there. Returns are A + v.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...baselines import as_policy
from ...baselines.policies.tables import as_numbers
from ...core import BoolArray, FloatArray
from ..arrays import agree, called, factor, numbers
from ..records import Rollout
from ..report import Mistake, Report, reproducing
from .steps import Steps

#: Finds the mistakes that reproduce recorded numbers, from the right ones and the recorded ones.
Search = Callable[[FloatArray, FloatArray], Iterator[Mistake]]


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

    Raises:
        InputError: if an array has another shape, or the critic is no function.
    """
    _check_log_probs(report, rollout, steps, policy, env)
    _check_values(report, rollout, steps.states.shape, critic)
    _check_estimates(report, rollout, given)


def _compare(
    report: Report,
    check: str,
    ours: FloatArray,
    given: FloatArray,
    search: Search,
    agree: Callable[[FloatArray, FloatArray], BoolArray] = agree,
) -> None:
    """Compare numbers with what they must be, and name the mistake that reproduces them."""
    right = agree(ours, given)

    def example() -> str:
        at = tuple(np.argwhere(~right)[0].tolist())
        return f"entry {', '.join(map(str, at))} is {given[at]:.6g} and must be {ours[at]:.6g}"

    report.add(check, int((~right).sum()), given.size, example, search(ours, given))


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

    rows = np.arange(int(which.sum())), steps.actions[which]

    def search(ours: FloatArray, given: FloatArray) -> Iterator[Mistake]:
        if agree(np.exp(ours), given).all():
            yield Mistake("log-probs-without-log", "take the logarithm of the probabilities")
        if agree(-ours, given).all():
            yield Mistake("log-probs-sign", "the logarithm of a probability is not above 0")
        if agree(logs(masked=True).max(axis=1), given).all():
            yield Mistake("log-probs-of-likeliest", "they are those of the action that was taken")
        if agree(logs(masked=False)[rows], given).all():
            yield Mistake("log-probs-unmasked", "take the softmax over the legal actions alone")
        ratios = np.exp(ours - given)
        fit = abs(ratios.mean() - 1) <= 4 * ratios.std() / np.sqrt(ratios.size)
        if fit and not steps.wrong.any():  # else they may be right, and the observations wrong
            cure = "they fit the draws, but not this policy: it has been updated"
            yield Mistake("log-probs-stale", cure)

    # Logarithms near 0 come from logits that are larger, and are rounded as these are.
    right = partial(agree, size=1.0)
    _compare(report, "log_probs", logs(masked=True)[rows], given[which], search, right)


# -------------------------------------------------------------------------------- values


def _check_values(report: Report, rollout: Rollout, shape: tuple[int, ...], critic: Any) -> None:
    """Check that recorded values are the critic's."""
    if rollout.values is None or critic is None:
        report.unchecked["values"] = "values and critic are needed"
        return
    given = numbers(rollout.values, "values", shape)
    ours = called(critic, "critic", _flat(rollout.observations), (given.size,))
    _compare(report, "values", ours.reshape(shape), given, _value_mistakes)


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


@dataclass(frozen=True)
class Estimates:
    """The recursion of the module's docstring, arrays of shape (time, lane)."""

    rewards: FloatArray
    terminated: BoolArray
    values: FloatArray
    last_values: FloatArray  # (lane,)
    gamma: float
    gae_lambda: float

    def advantages(self) -> FloatArray:
        """Estimate advantages, shape (time, lane)."""
        estimates, ahead = np.zeros_like(self.values), np.zeros_like(self.last_values)
        later = np.concatenate([self.values[1:], self.last_values[None]])
        for row in reversed(range(len(self.values))):
            goes_on = self.gamma * ~self.terminated[row]
            delta = self.rewards[row] + goes_on * later[row] - self.values[row]
            ahead = estimates[row] = delta + goes_on * self.gae_lambda * ahead
        return estimates

    def agree(self, ours: FloatArray, theirs: FloatArray) -> BoolArray:
        """Say which estimates agree, up to the rounding of rewards and values."""
        used = self.rewards, self.values, self.last_values
        return agree(ours, theirs, max(float(np.abs(array).max(initial=0)) for array in used))


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
        right = Estimates(
            steps.rewards,
            steps.terminated,
            numbers(rollout.values, "values", shape),
            numbers(last, "last_values", shape[1:]),
            factor(rollout.gamma, "gamma"),
            factor(rollout.gae_lambda, "gae_lambda"),
        )
        given = numbers(getattr(rollout, check), check, shape)
        ours = right.advantages() + (right.values if check == "returns" else 0)
        search = partial(_estimate_mistakes, right, check)
        _compare(report, check, ours, given, search, right.agree)


def _estimate_mistakes(
    right: Estimates, check: str, _: FloatArray, given: FloatArray
) -> Iterator[Mistake]:
    """Yield the known mistakes that reproduce given advantages or returns."""
    ours = right.advantages()
    if check == "returns":
        if right.agree(ours, given).all():
            yield Mistake("returns-without-values", "returns are advantages plus values")
        given = given - right.values

    def reproduces(changed: Estimates) -> bool:
        return bool(right.agree(changed.advantages(), given).all())

    yield from reproducing(right, _changes(right, given), reproduces)
    if ours.std() > 0:
        scaled = (ours - ours.mean()) / ours.std()
        if agree(scaled, (given - given.mean()) / max(given.std(), 1e-12)).all():
            yield Mistake(
                "advantages-normalised",
                "they are the advantages less their mean, divided by their deviation: fine for "
                "the actor, but returns need the advantages themselves",
            )


def _changes(right: Estimates, given: FloatArray) -> Iterator[Mistake]:
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
        left = given[-2] - replace(right, gae_lambda=0.0).advantages()[-2]
        found = _ratio(left, right.gamma * given[-1], ~ended[-2])
        if found is not None:
            cure = f"the advantages were computed with lambda = {found:.6g}"
            yield Mistake("lambda-wrong", cure, {"gae_lambda": found})


def _ratio(numbers: FloatArray, of: FloatArray, which: BoolArray) -> float | None:
    """Return the median factor between numbers, where the divisor is not near 0."""
    on = which & (np.abs(of) > 1e-3)
    return float(np.median(numbers[on] / of[on])) if on.any() else None
