"""Proved bounds of the optimum of a law in files, from any values: whoever computed them.

Let T be the Bellman operator of optimal play and d = T v - v. Then T v + g/(1 - g) min d and T v +
g/(1 - g) max d bound the optimal values, with g the discount times the sum of probabilities that is
the worse one (MacQueen 1966; Porteus 1971, *Some Bounds for Discounted Sequential Decision
Processes*). A play of the actions that T chose is worth no less than the lower bound. All numbers
are floats; a bound of their rounding is added, whatever the order in which libraries add up.
"""

from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from ...core import FloatArray, InputError, IntArray, at_least
from ...core.progress import tell
from ..law.petsc import LawFiles
from ..operators.rounding import UNIT

#: Sweeps after which the bound must have become smaller by a quarter, or no more are made.
PATIENCE = 20


@dataclass(frozen=True)
class Bounds:
    """Proved bounds of the optimal values of a law in files.

    Attributes:
        values: of the states, shape (state,); the optimal ones are within ``error`` of them.
        error: the bound.
        actions: one of each state, shape (state,); their play is within 2 ``error`` of the optimum.
        sweeps: number of sweeps over all pieces.
    """

    values: FloatArray
    error: float
    actions: IntArray
    sweeps: int

    def __str__(self) -> str:
        first = ", ".join(f"{value:.10g}" for value in self.values[:3])
        return (
            f"the optimal value of each of {len(self.values):,} states is known within "
            f"{self.error:.3g}, after {self.sweeps} sweep{'s' * (self.sweeps > 1)}\n"
            f"of the first states it is {first}{', ...' if len(self.values) > 3 else ''}"
        )


def prove(
    folder: Path | str,
    gamma: float,
    values: FloatArray | None = None,
    error: float = 1e-6,
    sweeps: int = 1000,
) -> Bounds:
    """Bound the optimal values of a law in files, one piece of it in memory at a time.

    Sweeps go on from the given values, of another solver or 0, until the bound is small enough, or
    does not become smaller any more.

    Args:
        folder: where ``write_law`` or madupite has written the law.
        gamma: discount, below 1.
        values: from which to begin, shape (state,).
        error: bound at which to stop.
        sweeps: number of sweeps at most, 1 or more.

    Raises:
        InputError: if the files or the values have another form, or probabilities do not sum to 1.
    """
    if not 0 <= gamma < 1:
        raise InputError(f"gamma must be from 0 to 1, and below 1, got {gamma!r}")
    law, sweeps = LawFiles(folder), at_least("sweeps", sweeps, 1)
    found = np.zeros(law.states) if values is None else np.asarray(values, dtype=np.float64)
    if found.shape != (law.states,) or not np.isfinite(found).all():
        raise InputError(f"values must be {law.states} finite numbers, got shape {found.shape}")
    actions, last = np.zeros(law.states, dtype=np.min_scalar_type(law.actions)), [inf] * PATIENCE
    for sweep in range(1, sweeps + 1):
        found, low, high = _sweep(law, gamma, found, actions)
        found += (low + high) / 2
        tell(sweep, sweeps, "sweeps")
        last.append((high - low) / 2)
        if last[-1] <= error or last[-1] > 0.75 * last[-1 - PATIENCE]:
            break
    return Bounds(found, last[-1] * (1 + 4 * UNIT), actions, sweep)


def _sweep(
    law: LawFiles, gamma: float, values: FloatArray, actions: IntArray
) -> tuple[FloatArray, float, float]:
    """Give T v, (state,), and what to add for a lower and for an upper bound; fill in actions."""
    found, low, high = np.zeros_like(values), inf, -inf
    least, most, rounding, largest = 1.0, 1.0, 0.0, float(np.abs(values).max())
    for own, chances, rewards in law.pieces():
        worth = rewards + gamma * (chances @ values).reshape(rewards.shape)
        actions[own], found[own] = worth.argmax(axis=1), worth.max(axis=1)
        change, roundings = found[own] - values[own], int(np.diff(chances.indptr).max()) + 8
        low, high = min(low, float(change.min())), max(high, float(change.max()))
        totals = np.asarray(chances.sum(axis=1))
        least = min(least, float(totals.min()) * (1 - roundings * 2 * UNIT))
        most = max(most, float(totals.max()) * (1 + roundings * 2 * UNIT))
        size = float(np.abs(rewards).max()) + 2 * largest
        rounding = max(rounding, roundings * 2 * UNIT * size)
    if gamma * most >= 1:
        raise InputError(f"gamma must be smaller, as probabilities sum to {most}, got {gamma}")

    def later(change: float) -> float:
        """Bound from above what follows on changes of so much at most, once rounding is added."""
        part = gamma * (most if change > -rounding else least)
        follows = part / (1 - part) * (change + rounding)
        return rounding + follows + abs(follows) * 8 * UNIT / (1 - part)

    low, high = -later(-low), later(high)
    wider = 8 * UNIT * (float(np.abs(found).max()) + abs(low) + abs(high))
    return found, low - wider, high + wider
