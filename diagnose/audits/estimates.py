"""Generalised advantage estimation, as it should be computed from a rollout, and known mistakes.

With values v, rewards r and ends d (1 where the move of the row has ended the game), by Schulman et
al. (2016, *High-Dimensional Continuous Control Using Generalized Advantage Estimation*, eq. 16):

    delta(t) = r(t) + gamma (1 - d(t)) v(t + 1) - v(t)
    A(t)     = delta(t) + gamma lambda (1 - d(t)) A(t + 1)

The value after the last row is ``last_values``, and A is 0 there. Returns are A + v.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...baselines.policies.tables import as_numbers
from ...core import BoolArray, FloatArray
from ..arrays import factor, flags, leading_shape, numbers
from ..records import Rollout

#: Numbers agree if they differ by no more than this part of the largest: single precision.
CLOSE = 1e-4


@dataclass(frozen=True)
class Recorded:
    """The numbers of a rollout, arrays of shape (time, lane)."""

    rewards: FloatArray
    terminated: BoolArray
    values: FloatArray
    last_values: FloatArray  # (lane,)
    gamma: float
    gae_lambda: float

    @classmethod
    def of(cls, rollout: Rollout, shape: tuple[int, ...]) -> "Recorded":
        """Read a rollout that has values and last values."""
        last = as_numbers(rollout.last_values, "last_values").ravel()
        return cls(
            numbers(rollout.rewards, "rewards", shape),
            flags(rollout.terminated, "terminated", shape),
            numbers(rollout.values, "values", shape),
            numbers(last, "last_values", shape[1:]),
            factor(rollout.gamma, "gamma"),
            factor(rollout.gae_lambda, "gae_lambda"),
        )

    def agree(self, ours: FloatArray, theirs: FloatArray) -> BoolArray:
        """Say which estimates agree, up to the rounding of rewards and values."""
        used = self.rewards, self.values, self.last_values
        return agree(ours, theirs, max(float(np.abs(array).max(initial=0)) for array in used))

    def advantages(self, ends: BoolArray | None = None) -> FloatArray:
        """Estimate advantages, shape (time, lane).

        Args:
            ends: where the recursion stops in place of ``terminated``.
        """
        ends = self.terminated if ends is None else ends
        estimates, ahead = np.zeros_like(self.values), np.zeros_like(self.last_values)
        later = np.concatenate([self.values[1:], self.last_values[None]])
        for row in reversed(range(len(self.values))):
            goes_on = self.gamma * ~ends[row]
            delta = self.rewards[row] + goes_on * later[row] - self.values[row]
            ahead = estimates[row] = delta + goes_on * self.gae_lambda * ahead
        return estimates


def agree(ours: FloatArray, theirs: FloatArray, size: float = 1e-6) -> BoolArray:
    """Say which numbers agree up to single precision.

    Args:
        ours: the numbers as they must be.
        theirs: the numbers that were recorded.
        size: of the numbers that they were computed from, if these are larger.
    """
    finite = np.isfinite(ours) & np.isfinite(theirs)
    size = max(float(np.abs(ours).max(initial=0, where=finite)), size)
    right: BoolArray = ours == theirs  # infinite ones, too
    right[finite] = np.abs(ours[finite] - theirs[finite]) <= CLOSE * size
    return right


def advantage_mistakes(recorded: Recorded, given: FloatArray) -> Iterator[tuple[str, str]]:
    """List the known mistakes that reproduce given advantages, and what to say of each."""
    never = np.zeros_like(recorded.terminated)
    if recorded.agree(recorded.advantages(never), given).all():
        yield "gae-ignores-ends", "multiply gamma by 1 - terminated in the recursion"
    for ends in _other_rows(recorded.terminated):
        if recorded.agree(recorded.advantages(ends), given).all():
            yield (
                "gae-ends-late",
                "the end of row t must stop the recursion from row t + 1 to row t, not a row "
                "later or earlier",
            )
    without = replace(recorded, last_values=np.zeros_like(recorded.last_values))
    if recorded.agree(without.advantages(), given).all():
        yield "gae-last-value-missing", "add the critic's value after the last row, where d is 0"
    gamma = _gamma_of(recorded, given)
    if (
        gamma is not None
        and recorded.agree(replace(recorded, gamma=gamma).advantages(), given).all()
    ):
        yield "gamma-wrong", f"the advantages were computed with gamma = {gamma:.6g}"
    factor = _lambda_of(recorded, given)
    if (
        factor is not None
        and recorded.agree(replace(recorded, gae_lambda=factor).advantages(), given).all()
    ):
        yield "lambda-wrong", f"the advantages were computed with lambda = {factor:.6g}"
    ours = recorded.advantages()
    if ours.std() > 0:
        scaled = (ours - ours.mean()) / ours.std()
        if agree(scaled, (given - given.mean()) / max(given.std(), 1e-12)).all():
            yield (
                "advantages-normalised",
                "they are the advantages less their mean, divided by their deviation: fine for "
                "the actor, but returns need the advantages themselves",
            )


def _other_rows(ended: BoolArray) -> Iterator[BoolArray]:
    """List the ends of the row before or after; of the first or last row, what a program may take.

    Beyond the border it may take no end, the end of the border's row, or that of the other border.
    """
    for beyond in (np.zeros_like(ended[0]), ended[0], ended[-1]):
        yield np.concatenate([beyond[None], ended[:-1]])
        yield np.concatenate([ended[1:], beyond[None]])


def return_mistakes(recorded: Recorded, given: FloatArray) -> Iterator[tuple[str, str]]:
    """List the known mistakes that reproduce given returns, and what to say of each."""
    if recorded.agree(recorded.advantages(), given).all():
        yield "returns-without-values", "returns are advantages plus values"
    yield from advantage_mistakes(recorded, given - recorded.values)


def _gamma_of(recorded: Recorded, given: FloatArray) -> float | None:
    """Solve the last row, A = r + gamma v' - v, for gamma."""
    on = ~recorded.terminated[-1] & (np.abs(recorded.last_values) > 1e-3)
    if not on.any():
        return None
    left = given[-1] - recorded.rewards[-1] + recorded.values[-1]
    return float(np.median(left[on] / recorded.last_values[on]))


def _lambda_of(recorded: Recorded, given: FloatArray) -> float | None:
    """Solve the row before the last, A = delta + gamma lambda A', for lambda."""
    if len(given) < 2:
        return None
    alone = replace(recorded, gae_lambda=0.0).advantages()[-2]
    ahead = recorded.gamma * given[-1]
    on = ~recorded.terminated[-2] & (np.abs(ahead) > 1e-3)
    return float(np.median((given[-2] - alone)[on] / ahead[on])) if on.any() else None


def shape_of(rollout: Rollout) -> tuple[int, ...]:
    """Return time and lanes of a rollout."""
    return leading_shape(rollout.rewards, "rewards", 2)
