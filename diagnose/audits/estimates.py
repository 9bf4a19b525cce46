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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...baselines.law.numbers import as_numbers
from ...core import BoolArray, FloatArray, InputError, IntArray, at_least
from ..records import Rollout, Targets, each_array
from ..report import Mistake, Report
from ..view import AgentView, called, factor, numbers
from .formula import (
    CUT_AS_END,
    GAMMA,
    HALF_CLOSE,
    Formula,
    Numbers,
    check_formula,
    closeness,
    edited,
    in_half,
)
from .steps import Steps

# --------------------------------------------------------------------- log-probabilities


@dataclass(frozen=True, kw_only=True)
class LogProbs(Formula):
    """Logarithms of the probabilities of actions."""

    logs: FloatArray = edited(  # of the law over the legal actions, (time, lane, action)
        "logs", negated="log-probs-sign: the logarithm of a probability is not above 0"
    )
    actions: IntArray = edited("actions")  # (time, lane)
    likeliest: bool = edited(
        default=False, added="log-probs-of-likeliest: they are those of the action that was taken"
    )
    probabilities: bool = edited(
        default=False, added="log-probs-without-log: take the logarithm of the probabilities"
    )
    temperature: float = edited(
        default=1.0, fitted="log-probs-temperature: they are those of the logits divided by {:.4g}"
    )

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
    report: Report, rollout: Rollout, steps: Steps, policy: Any, view: AgentView
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
            player = view.player(policy, masked=masked)
            logs[steps.legal] = np.log(player.probabilities(distinct)[where])
        return logs

    def alike() -> Iterator[Mistake]:
        cure = "take the softmax over the legal actions alone"
        yield Mistake(f"log-probs-unmasked: {cure}", {"logs": law(False)})

    right = LogProbs(logs=law(True), actions=steps.actions, alike=alike())
    ratios = np.exp(right()[steps.legal] - given[steps.legal])
    said = f"the mean of the policy's probabilities divided by recorded ones is {ratios.mean():.4g}"
    size = 1.0  # logarithms near 0 come from larger logits, and are rounded as these are
    known, groups = steps.legal, steps.groups
    close, told = _precision(rollout, rollout.log_probs, right()[known] - given[known], size)
    said += told
    check_formula(
        report, "log_probs", right, given, known, size=size, close=close, said=said, groups=groups
    )


def _precision(rollout: Rollout, recorded: Any, far: FloatArray, size: float) -> tuple[float, str]:
    """Return the part by which numbers may be off, and what is to be declared, if anything."""
    half = rollout.half or in_half(recorded)
    near = not half and bool(np.abs(far).max(initial=0) <= HALF_CLOSE * size)
    close = HALF_CLOSE if half else closeness(recorded)
    return close, ", but no further than half precision may be: say half=True, if it was" * near


# -------------------------------------------------------------------------------- values


_SHIFTED = "shifted-values: a value belongs to the observation before the move of its row"


@dataclass(frozen=True, kw_only=True)
class Values(Numbers):
    """The critic's values."""

    numbers: FloatArray = edited("{check}", of_the_next_row=_SHIFTED, of_the_row_before=_SHIFTED)


#: Values of the last row for those after it.
_OF_LAST_ROW = "values-of-the-last-row-for-last-values"


def check_values(report: Report, rollout: Rollout, critic: Any, steps: Steps) -> None:
    """Check that values of the rollout, and after its last row and cut games, are the critic's."""
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
        rows = each_array(seen, partial(_in_rows, name=source, axes=len(shape)))
        ours = called(critic, "critic", rows, (given.size,)).reshape(shape)
        with np.errstate(invalid="ignore", divide="ignore"):
            near = np.corrcoef(ours[known], given[known])[0, 1] if known.sum() > 1 else np.nan
        said = f"their correlation with the critic's is {near:.4g}"
        kind, alike, groups = Numbers, list[Mistake](), None
        if check == "values":
            kind, groups = Values, steps.groups
        if check == "last_values" and rollout.values is not None:
            last = numbers(rollout.values, "values", steps.states.shape)[-1]
            alike = [Mistake(_OF_LAST_ROW, {"numbers": last})]
        size = float(np.abs(ours[known]).max(initial=1e-6))
        close, told = _precision(rollout, recorded, (ours - given)[known], size)
        said, right = said + told, kind(numbers=ours, check=check, alike=alike)
        check_formula(report, check, right, given, known, close=close, said=said, groups=groups)


def _in_rows(array: Any, name: str, axes: int) -> Any:
    """Return an array in rows instead of its leading axes."""
    read = as_numbers(array, name)
    return read.reshape(-1, *read.shape[axes:])


# ----------------------------------------------------------------------------- estimates


_STOPS = "the end of row t stops the recursion from row t + 1 to row t, and no other"
_EARLY, _LATE = f"gae-ends-early: {_STOPS}", f"gae-ends-late: {_STOPS}"
_NORMALISED = (
    "advantages-normalised: normalised advantages are for the actor (a PolicyUpdate declares them "
    "by normalised=True): returns need the advantages themselves"
)
_STEPS = "n-steps-wrong: they are those of n = {0} steps: say so by estimator={0}, if meant"
_DISCOUNTED = "n-steps-wrong: the value after n steps is discounted as after {} steps"
#: Most steps of advantages without lambda that are tried.
MOST_STEPS = 20
_DIVIDED = "advantages-divided-by-their-deviation"


@dataclass(frozen=True, kw_only=True)
class Gae(Formula):
    """Advantages of a rollout, or returns, by the recursion of the module's docstring."""

    rewards: FloatArray = edited("rewards")  # (time, lane)
    terminated: BoolArray = edited(  # whether a move has ended the game, (time, lane)
        "terminated",
        left_out="gae-ignores-ends: multiply gamma by 1 - terminated in the recursion",
        of_the_next_row=_EARLY,
        of_the_row_before=_LATE,
    )
    truncated: BoolArray = edited("truncated")  # whether a game was cut, (time, lane)
    values: FloatArray = edited("values")  # (time, lane)
    last_values: FloatArray = edited(  # (lane,)
        "last_values",
        left_out="gae-last-value-missing: add the critic's value after the last row, where d is 0",
    )
    final_values: FloatArray = edited("final_values", left_out=CUT_AS_END)  # of cut games
    gamma: float = edited(fitted=GAMMA)
    #: Number of steps of a sum; None if it ends with the game or the rows.
    window: int | None = edited(default=None)
    gae_lambda: float = edited(
        fitted="lambda-wrong: the advantages were computed with lambda = {:.6g}"
    )
    returns: bool = edited(  # whether values are added
        left_out="returns-without-values: returns are advantages plus values",
        added="advantages-with-values",
    )
    later: str = edited(
        default="next",
        this="values-of-this-row-for-the-next",
        last="last-values-for-all-next-values: the value after a row is that of the next row",
    )
    #: In which deltas the value before the move is.
    baseline: str = edited(
        default="all", no="baseline-left-out", going="values-subtracted-only-where-games-go-on"
    )
    last_row: bool = edited(default=True, left_out="last-row-left-out")  # of the sum
    ends_in_delta: bool = edited(default=True, left_out="ends-in-delta-left-out")
    gamma_in_delta: bool = edited(default=True, left_out="gamma-in-delta-left-out")
    ends_in_sum: bool = edited(default=True, left_out="ends-in-sum-left-out")
    summed_forward: bool = edited(default=False, added="sum-runs-forward")
    form: str = edited(  # by fewer: the variance is divided by one less than their number
        default="raw",
        normalised=_NORMALISED,
        normalised_by_fewer=_NORMALISED,
        divided=_DIVIDED,
        divided_by_fewer=_DIVIDED,
        centred="advantages-less-their-mean",
        clipped="advantages-clipped",
        absolute="advantages-without-sign",
        left_out="advantages-left-out",
    )

    def __call__(self) -> FloatArray:
        """Compute the numbers, shape (time, lane)."""
        later = self.values[1:] if self.later == "next" else self.values[:-1]
        later = np.concatenate([later, self.last_values[None]])
        later = np.broadcast_to(later[-1], later.shape) if self.later == "last" else later
        later = np.where(self.truncated, self.final_values, later)
        later = np.where(self.terminated & self.ends_in_delta, 0.0, later)
        before = np.where(self.terminated & (self.baseline == "going"), 0.0, self.values)
        gamma = self.gamma if self.gamma_in_delta else 1.0
        deltas = self.rewards + gamma * later - before * (self.baseline != "no")
        deltas[len(deltas) - (not self.last_row) :] = 0.0
        cut = (self.terminated | self.truncated) & self.ends_in_sum
        weights = np.where(cut, 0.0, self.gamma * self.gae_lambda)
        turned = slice(None, None, -1 if self.summed_forward else 1)
        summed = _summed if self.window is None else partial(_of_steps, count=self.window)
        estimates = self._formed(summed(deltas[turned], weights[turned])[turned])
        return estimates + self.values if self.returns else estimates

    def _formed(self, advantages: FloatArray) -> FloatArray:
        if self.form == "raw":
            return advantages
        if self.form == "left_out":
            return advantages * 0.0
        if self.form == "clipped":
            return np.clip(advantages, -1.0, 1.0)
        if self.form == "absolute":
            return np.abs(advantages)
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
        goes_on = weights[:-far] != 0  # unknown numbers stay within their games
        sums[:-far] += np.where(goes_on, weights[:-far] * sums[far:], 0.0)
        weights[:-far] *= weights[far:]
        weights[-far:] = 0.0
        far *= 2
    return sums


def _of_steps(deltas: FloatArray, weights: FloatArray, count: int) -> FloatArray:
    """Add up the terms of A(t) = delta(t) + weight(t) A(t + 1), as many as are given."""
    sums = deltas
    for _ in range(min(count, len(deltas)) - 1):
        sums = deltas + weights * np.append(sums[1:], np.zeros_like(sums[:1]), axis=0)
    return sums


def check_estimates(report: Report, rollout: Rollout, steps: Steps) -> None:
    """Check advantages and returns against the recursion, of steps as they were recorded."""
    shape, terminated, cut = steps.states.shape, steps.terminated, steps.truncated
    for check in ("advantages", "returns"):
        if getattr(rollout, check) is None:
            continue
        if not rollout.estimator:
            report.unchecked[check] = "another estimator was declared (estimator=None)"
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
        window = None if rollout.estimator == "gae" else at_least("estimator", rollout.estimator, 1)
        values = numbers(rollout.values, "values", shape)
        last = numbers(last, "last_values", shape[1:])
        following = np.concatenate([values[1:], last[None]])
        over = terminated | cut
        over[-1] = True
        longest = np.diff(np.flatnonzero(over.T), prepend=-1).max()  # more steps are all
        alike = [
            Mistake(CUT_AS_END, {"terminated": terminated | cut}),
            Mistake("values-of-the-next-game-for-final-values", {"final_values": following}),
            Mistake(_OF_LAST_ROW, {"last_values": values[-1]}),
            *(
                Mistake(_STEPS.format(count), {"window": count, "gae_lambda": 1.0})
                for count in range(2, min(MOST_STEPS, longest))
            ),
        ]
        right = Gae(
            rewards=steps.rewards,
            terminated=terminated,
            truncated=cut,
            values=values,
            last_values=last,
            final_values=final,
            gamma=factor(rollout.gamma, "gamma"),
            window=window,
            gae_lambda=1.0 if window else factor(rollout.gae_lambda, "gae_lambda"),
            returns=check == "returns",
            alike=alike,
        )
        used = right.rewards, right.values, right.last_values  # whose rounding counts
        size = max(float(np.abs(array).max(initial=0)) for array in used)
        given = numbers(getattr(rollout, check), check, shape, finite=False)
        close = closeness(rollout.rewards, rollout.values, getattr(rollout, check))
        check_formula(
            report, check, right, given, steps.used, size=size, close=close, groups=steps.groups
        )


# ------------------------------------------------------------------------------- targets


@dataclass(frozen=True, kw_only=True)
class Bootstrap(Formula):
    """The declared targets, arrays of shape (transition, ...)."""

    rewards: FloatArray = edited("rewards")
    terminated: BoolArray = edited(
        "terminated",
        left_out="target-ignores-ends: the target of a move that ends the game is its reward alone",
    )
    values: FloatArray = edited(  # of the next actions by the target network, (transition, action)
        "values", online="target-from-online-network: the values must be the target network's"
    )
    mask: BoolArray = edited("mask")  # of the next actions, (transition, action)
    online: FloatArray | None = edited("online")  # values of the next actions by this network
    actions: IntArray = edited("actions")  # that were taken
    steps: FloatArray = edited("steps")  # number of steps of each row
    gamma: float = edited(fitted=GAMMA)
    double: bool | None = edited(  # whether the online network chooses; None if it is unknown
        left_out="double-dqn-missing: the action is the target network's: say so by double=False",
        added="double-dqn: the action is the online network's: say so by double=True",
    )
    one_gamma: bool = edited(default=False, added="n-steps-discounted-once")
    gamma_added: bool = edited(default=False, added="gamma-added")
    best: str = edited(
        default="max",
        mean="the-mean-in-place-of-the-maximum",
        min="the-minimum-in-place-of-the-maximum",
        taken="the-action-of-the-row-in-place-of-the-best-one",
        max="the-maximum-in-place-of-the-declared-values",
    )
    #: Declared values of next states, of action values and masks; None if they are the best ones.
    valued: Callable[[FloatArray, BoolArray], Any] | None = None

    def __call__(self) -> FloatArray:
        """Compute the targets, shape (transition,)."""
        chosen_by = self.online if self.double and self.online is not None else self.values
        if self.best == "declared" and self.valued is not None:
            found = self.valued(self.values, self.mask)
            later = numbers(found, "next_values", self.rewards.shape, finite=False)
        elif self.best == "mean":
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
    every, values = np.ones_like(legal), called(record.network, "network", seen, legal.shape)
    valued = record.next_values
    if valued is not None and not callable(valued):
        report.notes.append("next_values were taken as they are")

    def alike() -> Iterator[Mistake]:
        for count in range(2, MOST_STEPS if counts.max() > 1 else 2):
            yield Mistake(_DISCOUNTED.format(count), {"steps": np.full(len(after), float(count))})
        cure = "take the maximum over the legal actions of the next state"
        yield Mistake(f"max-over-illegal: {cure}", {"mask": every})
        cure = "the mask must be that of the next state, not of the state before the move"
        yield Mistake(f"stale-mask: {cure}", {"mask": before})
        yield Mistake("signs-of-rewards-for-rewards", {"rewards": np.sign(rewards)})
        yield Mistake(CUT_AS_END, {"terminated": terminated | steps.truncated[:, 0]})
        now = called(record.network, "network", moves.observations, legal.shape)
        if not np.array_equal(now, values):  # of a file, say
            for mask in (before, legal, every):
                changes = {"values": now, "mask": mask}
                yield Mistake("observations-for-next-observations", changes)

    right = Bootstrap(
        rewards=rewards,
        terminated=terminated,
        values=values,
        mask=legal,
        online=online,
        actions=steps.actions[:, 0],
        steps=counts.astype(np.float64),
        gamma=factor(record.gamma, "gamma"),
        double=None if online is None else record.double,
        best="max" if valued is None else "declared",
        valued=valued if callable(valued) or valued is None else lambda *_: record.next_values,
        alike=alike(),
    )
    # Elsewhere the next state and its mask are not known, or a number is missing.
    known = steps.used[:, 0] & (terminated | (after >= 0))
    groups = {words: rows[:, 0] for words, rows in steps.groups.items()}
    close = closeness(record.targets, moves.rewards)
    check_formula(report, "targets", right, given, known, close=close, groups=groups)
