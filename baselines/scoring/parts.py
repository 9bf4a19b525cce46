"""The part of a game in which a policy loses most, found by a simple rule.

A part is an interval of one or two quantities of a position, such as "last turns with own score at
least 91". The rule takes the part whose share of the regret exceeds its share of decisions most:
the weighted relative accuracy of subgroup discovery (Lavrac, Flach and Zupan 1999). The excess is
0 for the whole game, and for a part whose decisions lose as much as all others. It is a sum over
positions, so the best interval of a quantity is found in one pass over its values. The second
quantity is searched inside the first interval.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...core import FloatArray, Game, IntArray
from ...core.presentation import present
from .score import Score

#: The largest number of intervals that describe a part.
INTERVALS = 2
#: The smallest excess that one more interval must add, so that it is worth its words.
WORTH = 0.05


class Part(NamedTuple):
    """A part of a game in words, with its shares of the regret and of the agent's decisions."""

    words: str
    regret: float
    decisions: float


class _Axis(NamedTuple):
    """A quantity of positions.

    Attributes:
        label: what it is; empty if its names need no label.
        places: the quantity of each position, from 0 on, shape (position,).
        names: name of each value; None for numbers.
    """

    label: str
    places: IntArray
    names: Sequence[str] | None

    def named(self, place: int) -> str:
        return str(place) if self.names is None else self.names[place]

    @property
    def is_ordered(self) -> bool:
        """Whether the values are numbers, so that an interval of them has a meaning."""
        return self.names is None or all(name.isdecimal() for name in self.names)


class _Interval(NamedTuple):
    """The values from ``low`` to ``high`` of an axis, and the excess of their regret."""

    axis: _Axis
    low: int
    high: int
    excess: float

    def words(self, places: IntArray) -> str:
        """Describe the interval among positions, whose values of the axis are given."""
        label, low, high = self.axis.label, *map(self.axis.named, (self.low, self.high))
        if not label:
            return f"{low[:1].lower()}{low[1:]}"
        if label.endswith("?"):
            return f"{label[:-1]}: {'yes' if self.low else 'no'}"
        if self.low == self.high:
            return f"{label} {low}"
        if self.high >= places.max():
            return f"{label} at least {low}"
        return f"{label} {'at most' if self.low <= places.min() else f'{low} to'} {high}"


def worst_part(score: Score) -> Part | None:
    """Find the part of the game whose share of the regret exceeds its share of decisions most.

    Args:
        score: of a policy that loses something, in a game with arrays of its states.

    Returns:
        The part; None if the regret is spread over the game as the decisions are.
    """
    states = np.flatnonzero(score.occupancy)
    lost, met = score.costs[states], score.occupancy[states]
    lost, met = lost / lost.sum(), met / met.sum()
    axes = list(_axes(score.task.game, score.task.game.observe(states, score.task.seat)))
    inside, reached = np.arange(len(states)), 0.0
    names: list[str] = []
    limits: list[str] = []
    for _ in range(min(INTERVALS, len(axes))):
        each = [_best(axis, axis.places[inside], (lost - met)[inside]) for axis in axes]
        found = max(each, key=lambda interval: interval.excess)
        if found.excess < reached + WORTH:
            break
        places = found.axis.places[inside]
        (limits if found.axis.label else names).append(found.words(places))
        inside = inside[(found.low <= places) & (places <= found.high)]
        axes = [axis for axis in axes if axis.label != found.axis.label]
        reached = found.excess
    if not names and not limits:
        return None
    words = " with ".join(filter(None, ("".join(names) or "those", " and ".join(limits))))
    return Part(words, float(lost[inside].sum()), float(met[inside].sum()))


def _axes(game: Game, observations: IntArray) -> Iterator[_Axis]:
    """List the quantities of positions: those of the game's map, or what the agent observes."""
    layout = present(game).layout(observations)
    if layout is None:
        for label, column in zip(game.observation_names, observations.T, strict=True):
            yield _Axis(label, column, None)
        return
    if layout.panel is not None:
        yield _Axis("", layout.panel, layout.panels)
    yield _Axis(layout.x_label, layout.column, layout.columns)
    yield _Axis(layout.y_label, layout.row, layout.rows)


def _best(axis: _Axis, places: IntArray, excess: FloatArray) -> _Interval:
    """Find the interval of an axis with the largest sum of the excess of its positions.

    Args:
        axis: the quantity.
        places: its value at each position, shape (position,).
        excess: share of the regret minus share of the decisions, shape (position,).
    """
    sums = np.bincount(places, excess)
    if not axis.is_ordered:
        place = int(sums.argmax())
        return _Interval(axis, place, place, float(sums[place]))
    before = np.concatenate([[0.0], np.cumsum(sums)])  # of the values below each
    least = np.minimum.accumulate(before[:-1])
    high = int((before[1:] - least).argmax())
    low = int(before[: high + 1].argmin())
    met = places[(places >= low) & (places <= high)]  # without values that are never met
    if not len(met):  # all shares agree, so that no interval is worse than another
        return _Interval(axis, int(places.min()), int(places.max()), 0.0)
    most = float(before[high + 1] - before[low])
    return _Interval(axis, int(met.min()), int(met.max()), most)
