"""Checks of recorded numbers: log-probabilities, values, advantages, returns and targets.

Generalised advantage estimation, with values v, rewards r, and ends d (1 where the move of the row
has ended the game), is by Schulman et al. (2016, *High-Dimensional Continuous Control Using
Generalized Advantage Estimation*, eq. 16):

    delta(t) = r(t) + gamma (1 - d(t)) v(t + 1) - v(t)
    A(t)     = delta(t) + gamma lambda (1 - d(t)) A(t + 1)

The value after the last row is ``last_values``, and A is 0 there. Where a game was cut, v(t + 1) is
the value of its last observation, and the sum of A ends. Returns are A + v. Bootstrap targets of
action values are r + gamma^n max Q(s', a') over the legal a', and r at the end, with the discounted
rewards r of n steps.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from ...baselines.law.numbers import as_numbers
from ...core import BoolArray, FloatArray, InputError, IntArray
from ..records import Rollout, Targets
from ..report import Formula, Mistake, Report, named, options, reproducing
from ..view import called, each_array, factor, numbers, player
from .steps import CLOSE, Steps, closeness


def agree(
    ours: FloatArray, theirs: FloatArray, size: float = 1e-6, close: float = CLOSE
) -> BoolArray:
    """Say which numbers agree up to a part of the largest number, or of a size above it."""
    finite = np.isfinite(ours) & np.isfinite(theirs)
    size = max(float(np.abs(ours).max(initial=0, where=finite)), size)
    right: BoolArray = ours == theirs  # infinite ones, too
    right[finite] = np.abs(ours[finite] - theirs[finite]) <= close * size
    return right


@dataclass(frozen=True)
class Numbers(Formula):
    """The right numbers, which a program may have moved, scaled or left out."""

    numbers: FloatArray
    line: tuple[float, float] = (1.0, 0.0)  # factor and summand

    def __call__(self) -> FloatArray:
        """Compute the numbers."""
        return self.line[0] * self.numbers + self.line[1]


def compare(
    report: Report,
    check: str,
    formula: Formula,
    given: FloatArray,  # the recorded numbers
    known: BoolArray | None = None,  # which numbers are compared; all by default
    several: Callable[[], list[Mistake]] = list,  # makes mistakes that change several fields
    size: float = 1e-6,  # the least size of the numbers, of which they may be wrong by a part
    close: float = CLOSE,  # this part
    said: str = "",  # what else the numbers have to do with the right ones
    groups: Mapping[str, BoolArray] | None = None,  # see ``Report.add``
) -> None:
    """Compare numbers with their formula, and name the mistake that reproduces them."""
    ours, known = formula(), np.ones(given.shape, dtype=bool) if known is None else known

    def reproduces(formula: Any) -> bool:
        found = formula()
        unknown = np.isnan(found[known])  # rows beyond the border of a moved array
        right = agree(found, given, size, close)[known] | unknown
        return bool(right.all() and 2 * unknown.sum() <= unknown.size)

    def search() -> Iterator[Mistake]:
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            right = Numbers(ours)
            edits = partial(
                named,
                given=given[known],
                reproduces=reproduces,
                compute=lambda formula: formula()[known],
                axes=given.ndim,
            )
            for found in chain(
                edits(formula, several=several()),
                edits(right),
                reproducing(right, _rewritten(right, given), reproduces),
            ):
                yield found.of(check)

    def example(*at: int) -> str:
        told = f"entry {', '.join(map(str, at))} is {given[at]:.6g} and must be {ours[at]:.6g}"
        return f"{told}{said and ', '}{said}"

    wrong = known.copy()
    wrong[known] = ~agree(ours, given, size, close)[known]
    report.add(check, wrong, example, search(), int(known.sum()), groups)


def _rewritten(right: Numbers, given: FloatArray) -> Iterator[Mistake]:
    """Fit an affine map and an order to recorded numbers."""
    ours = right.numbers
    if not np.isfinite(ours).all() or not np.isfinite(given).all() or len(np.unique(ours)) < 3:
        return
    scale, offset = np.polyfit(ours.ravel(), given.ravel(), 1).tolist()
    told = {"edit": f"numbers times {scale:.6g} plus {offset:.6g}"}
    yield Mistake("numbers-scaled", {"line": (scale, offset)}, told)
    ordered = np.zeros(ours.size)
    ordered[given.ravel().argsort()] = np.sort(ours.ravel())
    told = {"edit": "numbers in another order"}
    yield Mistake("numbers-in-another-order", {"numbers": ordered.reshape(ours.shape)}, told)


# --------------------------------------------------------------------- log-probabilities


@dataclass(frozen=True)
class LogProbs(Formula):
    """Logarithms of the probabilities of actions."""

    logs: FloatArray  # logarithms of the law over the legal actions, (time, lane, action)
    actions: IntArray  # (time, lane)
    likeliest: bool = False
    probabilities: bool = False
    temperature: float = 1.0
    names: ClassVar[Mapping[str, str]] = {
        "probabilities-added": "log-probs-without-log",
        "logs-negated": "log-probs-sign",
        "likeliest-added": "log-probs-of-likeliest",
        "logs-of-all-actions-for-logs": "log-probs-unmasked",
        "temperature-wrong": "log-probs-temperature",
    }

    def __call__(self) -> FloatArray:
        """Compute the numbers, shape (time, lane)."""
        logs = self.logs
        if self.temperature != 1:
            logs = logs / self.temperature
            most = logs.max(axis=2, keepdims=True)
            logs = logs - most - np.log(np.exp(logs - most).sum(axis=2, keepdims=True))
        best = logs.argmax(axis=2) if self.likeliest else self.actions
        found: FloatArray = np.take_along_axis(logs, best[..., None], axis=2)[..., 0]
        return np.exp(found) if self.probabilities else found


def check_log_probs(
    report: Report, rollout: Rollout, steps: Steps, policy: Any, env: Any, observations: Any = None
) -> None:
    """Check that recorded log-probabilities are the policy's, for right steps, under the mask."""
    if rollout.log_probs is None or policy is None:
        report.unchecked["log_probs"] = "log_probs and policy are needed"
        return
    given = numbers(rollout.log_probs, "log_probs", steps.states.shape, finite=False)
    distinct, where = np.unique(steps.states[steps.legal], return_inverse=True)

    def law(masked: bool) -> FloatArray:
        logs = np.zeros((*given.shape, steps.task.game.num_actions))
        with np.errstate(divide="ignore"):
            logs[steps.legal] = np.log(
                player(policy, env, observations, masked=masked).probabilities(distinct)[where]
            )
        return logs

    right = LogProbs(
        law(True), steps.actions, alike=lambda: {"logs": {"logs_of_all_actions": law(False)}}
    )
    ratios = np.exp(right()[steps.legal] - given[steps.legal])
    said = f"the mean of the policy's probabilities divided by recorded ones is {ratios.mean():.4g}"
    compare(
        report,
        "log_probs",
        right,
        given,
        steps.legal,
        size=1.0,  # logarithms near 0 come from larger logits, and are rounded as these are
        close=closeness(rollout.log_probs),
        said=said,
        groups=steps.groups,
    )


# -------------------------------------------------------------------------------- values


def check_values(report: Report, rollout: Rollout, critic: Any, steps: Steps) -> None:
    """Check that values of the rollout, and after its last row and cut games, are the critic's."""
    alike: dict[str, dict[str, Any]] = {}
    if rollout.values is not None:
        last = numbers(rollout.values, "values", steps.states.shape)[-1]
        alike["last_values"] = {"numbers": {"values_of_the_last_row": last}}
    for check, source, known in (
        ("values", "observations", steps.used),
        ("last_values", "last_observations", np.ones_like(steps.used[0])),
        ("final_values", "final_observations", steps.used & steps.truncated),
    ):
        recorded, seen = getattr(rollout, check), getattr(rollout, source)
        if recorded is None or critic is None or seen is None:
            if check != "final_values" or steps.truncated.any():
                report.unchecked[check] = f"{check}, {source} and critic are needed"
            continue
        shape = known.shape
        given = numbers(recorded, check, shape, finite=False)
        ours = called(critic, "critic", _flat(seen, source, len(shape)), (given.size,))
        ours = ours.reshape(shape)
        with np.errstate(invalid="ignore", divide="ignore"):
            near = np.corrcoef(ours[known], given[known])[0, 1] if known.sum() > 1 else np.nan
        compare(
            report,
            check,
            Numbers(ours, alike=partial(dict, alike.get(check, {}))),
            given,
            known,
            close=closeness(recorded),
            said=f"their correlation with the critic's is {near:.4g}",
            groups=steps.groups if check == "values" else None,
        )


def _flat(observations: Any, name: str, axes: int) -> Any:
    """Return observations, or each entry of a mapping, in rows instead of leading axes."""

    def rows(array: Any) -> Any:
        read = as_numbers(array, name)
        return read.reshape(-1, *read.shape[axes:])

    return each_array(observations, rows)


# ----------------------------------------------------------------------------- estimates


@dataclass(frozen=True)
class Estimates(Formula):
    """Advantages of a rollout, or returns, by the recursion of the module's docstring."""

    rewards: FloatArray  # (time, lane)
    terminated: BoolArray  # (time, lane)
    truncated: BoolArray  # whether a game was cut, (time, lane)
    values: FloatArray  # (time, lane)
    last_values: FloatArray  # (lane,)
    final_values: FloatArray  # where games were cut, (time, lane)
    gamma: float
    gae_lambda: float
    returns: bool  # whether values are added
    later: str = options(next="values of the next row", this="values of this row for the next")
    baseline: bool = True  # whether delta has the value before the move
    ends_in_delta: bool = True
    ends_in_sum: bool = True
    summed_forward: bool = False
    form: str = options(
        raw="advantages as they are",
        normalised="advantages normalised",
        normalised_by_fewer="advantages normalised",
        divided="advantages divided by their deviation",
        divided_by_fewer="advantages divided by their deviation",
        centred="advantages less their mean",
        clipped="advantages clipped",
    )  # by fewer: the variance is divided by one less than their number
    names: ClassVar[Mapping[str, str]] = {
        "returns-left-out": "returns-without-values",
        "returns-added": "advantages-with-values",
        "terminated-left-out": "gae-ignores-ends",
        "terminated-of-the-next-row": "gae-ends-late",
        "terminated-of-the-row-before": "gae-ends-late",
        "terminated-or-truncated-for-terminated": "truncation-as-end",
        "final-values-left-out": "truncation-as-end",
        "last-values-left-out": "gae-last-value-missing",
        "gae-lambda-wrong": "lambda-wrong",
        "summed-forward-added": "sum-runs-forward",
    }

    def __call__(self) -> FloatArray:
        """Compute the numbers, shape (time, lane)."""
        later = self.values[1:] if self.later == "next" else self.values[:-1]
        later = np.concatenate([later, self.last_values[None]])
        later = np.where(self.truncated, self.final_values, later)
        later = np.where(self.terminated & self.ends_in_delta, 0.0, later)
        deltas = self.rewards + self.gamma * later - self.values * self.baseline
        cut = (self.terminated | self.truncated) & self.ends_in_sum
        weights = np.where(cut, 0.0, self.gamma * self.gae_lambda)
        turned = slice(None, None, -1 if self.summed_forward else 1)
        estimates = self._formed(_summed(deltas[turned], weights[turned])[turned])
        return estimates + self.values if self.returns else estimates

    def _formed(self, advantages: FloatArray) -> FloatArray:
        if self.form == "raw":
            return advantages
        if self.form == "clipped":
            return np.clip(advantages, -1.0, 1.0)
        spread = advantages.std(ddof=int("fewer" in self.form)) if advantages.size > 1 else 1.0
        mean = 0.0 if "divided" in self.form else advantages.mean()
        formed: FloatArray = (advantages - mean) / (
            1.0 if self.form == "centred" else spread + 1e-8
        )
        return formed


def _summed(deltas: FloatArray, weights: FloatArray) -> FloatArray:
    """Solve A(t) = delta(t) + weight(t) A(t + 1), doubling the rows that each sum covers."""
    sums, weights, far = deltas.copy(), weights.copy(), 1
    while far < len(sums):
        sums[:-far] += weights[:-far] * sums[far:]
        weights[:-far] *= weights[far:]
        weights[-far:] = 0.0
        far *= 2
    return sums


def check_estimates(report: Report, rollout: Rollout, steps: Steps) -> None:
    """Check advantages and returns against the recursion, of steps as they were recorded."""
    shape, terminated, cut = steps.states.shape, steps.terminated, steps.truncated
    for check in ("advantages", "returns"):
        if getattr(rollout, check) is None:
            continue
        if rollout.values is None or rollout.last_values is None:
            report.unchecked[check] = "values and last_values are needed, zeros without a critic"
            continue
        if cut.any() and rollout.final_values is None:
            report.unchecked[check] = "final_values are needed where games were cut"
            continue
        last = as_numbers(rollout.last_values, "last_values").ravel()
        final = np.zeros(shape)
        if cut.any():
            final[cut] = numbers(rollout.final_values, "final_values", shape, finite=False)[cut]
        values = numbers(rollout.values, "values", shape)
        last = numbers(last, "last_values", shape[1:])
        alike = {
            "terminated": {"terminated_or_truncated": terminated | cut},
            "final_values": {"values_of_the_next_game": np.concatenate([values[1:], last[None]])},
            "last_values": {"values_of_the_last_row": values[-1]},
        }
        right = Estimates(
            steps.rewards,
            terminated,
            cut,
            values,
            last_values=last,
            final_values=final,
            gamma=factor(rollout.gamma, "gamma"),
            gae_lambda=factor(rollout.gae_lambda, "gae_lambda"),
            returns=check == "returns",
            alike=partial(dict, alike),
        )
        used = right.rewards, right.values, right.last_values  # whose rounding counts
        size = max(float(np.abs(array).max(initial=0)) for array in used)
        given = numbers(getattr(rollout, check), check, shape, finite=False)
        close = closeness(rollout.rewards, rollout.values, getattr(rollout, check))
        options: Any = {"size": size, "close": close, "groups": steps.groups}
        compare(report, check, right, given, steps.used, **options)


# ------------------------------------------------------------------------------- targets


@dataclass(frozen=True)
class Bootstrap(Formula):
    """The declared targets, arrays of shape (transition, ...)."""

    rewards: FloatArray
    terminated: BoolArray
    values: FloatArray  # of the next actions by the target network, (transition, action)
    mask: BoolArray  # of the next actions, (transition, action)
    online: FloatArray | None  # values of the next actions by the online network
    actions: IntArray  # that were taken
    steps: FloatArray  # number of steps of each row
    gamma: float
    double: bool | None  # whether the online network chooses; None if it is unknown
    one_gamma: bool = False  # whether n steps are discounted as one
    gamma_added: bool = False
    best: str = options(
        max="the maximum",
        mean="the mean in place of the maximum",
        min="the minimum in place of the maximum",
        taken="the action of the row in place of the best one",
    )
    names: ClassVar[Mapping[str, str]] = {
        "terminated-left-out": "target-ignores-ends",
        "terminated-or-truncated-for-terminated": "truncation-as-end",
        "mask-of-all-actions-for-mask": "max-over-illegal",
        "mask-of-observations-for-mask": "stale-mask",
        "online-for-values": "target-from-online-network",
        "double-added": "double-dqn",
        "gamma-added-added": "gamma-added",
        "one-gamma-added": "n-steps-discounted-once",
        "double-left-out": "double-dqn-missing",
    }

    def __call__(self) -> FloatArray:
        """Compute the targets, shape (transition,)."""
        chosen_by = self.online if self.double and self.online is not None else self.values
        if self.best == "mean":
            later = (self.values * self.mask).sum(axis=1) / np.maximum(self.mask.sum(axis=1), 1)
        else:
            sign = -1.0 if self.best == "min" else 1.0
            best = np.where(self.mask, sign * chosen_by, -np.inf).argmax(axis=1)
            best = self.actions if self.best == "taken" else best
            later = self.values[np.arange(len(best)), best]
        discounts = self.gamma if self.one_gamma else self.gamma**self.steps
        later = discounts + later if self.gamma_added else discounts * later
        return self.rewards + np.where(self.terminated, 0.0, later)


def check_targets(report: Report, record: Targets, steps: Steps) -> None:
    """Add to a report whether targets are those of the target network."""
    after, moves = steps.after[:, 0], record.transitions
    counts = np.ones_like(after) if steps.counts is None else steps.counts[:, 0]
    given = numbers(record.targets, "targets", after.shape, finite=False)
    legal, seen = steps.task.game.mask(np.maximum(after, 0)), moves.next_observations
    online = None
    if record.online is not None:
        online = called(record.online, "online", seen, legal.shape)
    if record.double and online is None:
        raise InputError("online must be the online network where double is True, got None")
    rewards, terminated = steps.rewards[:, 0], steps.terminated[:, 0]
    before = steps.task.game.mask(np.maximum(steps.states[:, 0], 0))
    right = Bootstrap(
        rewards,
        terminated,
        called(record.network, "network", seen, legal.shape),
        legal,
        online,
        steps.actions[:, 0],
        counts.astype(np.float64),
        factor(record.gamma, "gamma"),
        None if online is None else record.double,
        alike=lambda: {
            "mask": {"mask_of_all_actions": np.ones_like(legal), "mask_of_observations": before},
            "rewards": {"signs_of_rewards": np.sign(rewards)},
            "terminated": {"terminated_or_truncated": terminated | steps.truncated[:, 0]},
        },
    )

    def several() -> list[Mistake]:
        name = "observations-for-next-observations"
        told = {"edit": "observations in place of next_observations"}
        values = called(record.network, "network", moves.observations, legal.shape)
        masks = before, legal, np.ones_like(legal)
        if np.array_equal(values, right.values):  # of a file, say
            return []
        return [Mistake(name, {"values": values, "mask": mask}, told) for mask in masks]

    # Elsewhere the next state and its mask are not known, or a number is missing.
    known = steps.used[:, 0] & (terminated | (after >= 0))
    groups = {words: rows[:, 0] for words, rows in steps.groups.items()}
    close = closeness(record.targets, moves.rewards)
    compare(report, "targets", right, given, known, several, close=close, groups=groups)
