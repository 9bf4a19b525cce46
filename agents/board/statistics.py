"""Statistics over seeds: means, the interquartile mean, areas under curves, bootstrap intervals.

Scores are exact, so that the seed of training is the only noise. An agent has a sample of seeds in
each game. A statistic of all games gives every game the same weight, and its interval comes from
resampling the seeds of each game apart: the stratified bootstrap with percentiles of Agarwal et
al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice", NeurIPS 2021, section
4, which their library rliable computes. With five seeds such an interval is rather too narrow.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ...core import FloatArray

#: The scores of each game, shape (resample, seed, ...).
Samples: TypeAlias = Sequence[FloatArray]
#: A statistic of the samples of all games, shape (resample, ...).
Statistic: TypeAlias = Callable[[Samples], FloatArray]

RESAMPLES = 10_000
PER_CENT = 95


class Estimate(NamedTuple):
    """A statistic with the ends of its interval, which are NaN if a game has one seed only."""

    middle: FloatArray
    low: FloatArray
    high: FloatArray


def mean(samples: Samples) -> FloatArray:
    """Return the mean over games of the mean over seeds."""
    each = np.stack([sample.mean(axis=1) for sample in samples])
    total: FloatArray = each.mean(axis=0)
    return total


def iqm(samples: Samples) -> FloatArray:
    """Return the mean of the middle half of all runs, in which every game has the same weight.

    Where all games have equally many runs it is the ``scipy.stats.trim_mean`` of rliable, which
    cuts off whole runs.
    """
    runs = np.concatenate(samples, axis=1)
    weights = np.concatenate([np.full(sample.shape[1], 1 / sample.shape[1]) for sample in samples])
    order = np.argsort(runs, axis=1)
    total, count = len(samples), runs.shape[1]
    cut = total * (count // 4) / count
    ends = np.clip(np.cumsum(weights[order], axis=1), cut, total - cut)
    kept = np.diff(ends, axis=1, prepend=cut)
    sums: FloatArray = (kept * np.take_along_axis(runs, order, axis=1)).sum(axis=1)
    middle: FloatArray = sums / (total - 2 * cut)
    return middle


def estimate(strata: Sequence[FloatArray], statistic: Statistic) -> Estimate:
    """Compute a statistic and its stratified bootstrap interval.

    Args:
        strata: the scores of each game, shape (seed, ...).
        statistic: such as ``mean``.

    Returns:
        The statistic and the ends of its 95 per cent interval, each of shape (...).
    """
    middle = statistic([stratum[None] for stratum in strata])[0]
    if min(map(len, strata)) < 2:
        return Estimate(middle, np.full_like(middle, np.nan), np.full_like(middle, np.nan))
    rng = np.random.default_rng(0)
    drawn = [
        stratum[rng.integers(0, len(stratum), (RESAMPLES, len(stratum)))] for stratum in strata
    ]
    rest = (100 - PER_CENT) / 2
    low, high = np.percentile(statistic(drawn), [rest, 100 - rest], axis=0)
    return Estimate(middle, low, high)


def area(marks: Sequence[int], scores: FloatArray) -> float:
    """Return the mean height of a curve over the logarithm of its moves, by trapezoids.

    Every doubling of the moves has the same weight. Over the moves themselves, the last half of the
    moves would have half of the weight, and the area say little but the final score once more.

    Args:
        marks: moves, in increasing order, shape (mark,).
        scores: scores, shape (mark,).
    """
    at = np.log(np.asarray(marks, dtype=np.float64))
    return float(np.trapezoid(scores, at) / (at[-1] - at[0]))
