"""A tour: one pass forward through a game for one player that asks about every state once.

Games with too many states for arrays are scored by a tour. It moves along the probability that
the player comes to a state, and with it the points so far and their squares, and compares each
decision with the best one, whose values it is given. It never holds a number for every state, and
asks about no state that the player does not come to.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from .types import BoolArray, FloatArray, IntArray

#: Number of the costliest decisions that a tour keeps.
KEPT = 1000


class Grid(NamedTuple):
    """States in rows and columns, whose decisions are asked together.

    Each component of an observation depends on the row alone or on the column alone. So the first
    layer of a network is the sum of two parts, each of which is computed for few states.

    Attributes:
        states: shape (row, column).
        actions: all actions that are legal in some state of a row, shape (row, entry); rows with
            fewer of them are filled up with -1.
        legal: whether an entry of ``actions`` is legal, shape (row, entry, column).
    """

    states: IntArray
    actions: IntArray
    legal: BoolArray


class Choices(NamedTuple):
    """Decisions of a player, arrays of shape (choice,).

    Attributes:
        places: the state, by its index in the flat array of the grid's states.
        actions: an action that is taken there with a positive probability.
        chances: this probability; those of a state add up to 1.
    """

    places: IntArray
    actions: IntArray
    chances: FloatArray

    @staticmethod
    def certain(met: BoolArray, actions: IntArray) -> "Choices":
        """Give one action for each state that is met.

        Args:
            met: mask of the grid's states, shape (row, column).
            actions: integers, shape (state that is met,).
        """
        places = np.flatnonzero(met)
        return Choices(places, actions.astype(np.int64), np.ones(len(places)))


#: A function that gives a player's decisions in the states of a grid that are met, of which it gets
#: a mask of shape (row, column).
Choose: TypeAlias = Callable[[Grid, BoolArray], Choices]


class Decisions(NamedTuple):
    """Decisions with their values, arrays of shape (decision,)."""

    states: IntArray
    actions: IntArray
    values: FloatArray  # of the action, if play is optimal from then on
    best: FloatArray  # of the best action in the state
    chances: FloatArray  # probability that the player takes the action in the state
    occupancy: FloatArray  # probability that the player comes to the state and takes the action

    @property
    def costs(self) -> FloatArray:
        """Expected payoff that each decision costs, shape (decision,)."""
        return self.occupancy * (self.best - self.values)

    def take(self, index: IntArray) -> "Decisions":
        """Give some of the decisions."""
        states, actions, values, best, chances, occupancy = self
        some = values[index], best[index], chances[index], occupancy[index]
        return Decisions(states[index], actions[index], *some)


class Tour(NamedTuple):
    """The games of a player.

    Attributes:
        mean: expected payoff.
        variance: of the payoff.
        moves: expected number of moves.
        mistakes: expected number of moves that cost something.
        flawless: probability of a game without a mistake.
        costliest: the ``KEPT`` costliest mistakes, in the order of their states.
        regrets: the regret in parts, by a word for the division and then by the name of the part:
            ``regrets["by round"]["3"]``. The parts of each division add up to the regret.
        counts: expected numbers, by a word for what is counted and then by the name of the part:
            ``counts["points"]["Chance"]``.
        roundings: bounds the relative error of ``mean``, as so many roundings one after the other.
    """

    mean: float
    variance: float
    moves: float
    mistakes: float
    flawless: float
    costliest: Decisions
    regrets: Mapping[str, Mapping[str, float]]
    counts: Mapping[str, Mapping[str, float]]
    roundings: int


class Costliest:
    """Keeps the costliest of many decisions."""

    def __init__(self) -> None:
        self._parts: list[Decisions] = []
        self._least, self._count = 0.0, 0

    def add(self, decisions: Decisions) -> None:
        """Note decisions; those that cost less than enough others are dropped."""
        costly = np.flatnonzero(decisions.costs > self._least)
        if len(costly):
            self._parts.append(decisions.take(costly))
            self._count += len(costly)
        if self._count > 8 * KEPT:
            self._prune()

    def _prune(self) -> None:
        columns = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        states, actions, *numbers = columns
        joined = Decisions(states, actions, *numbers)
        kept = joined.take(np.lexsort((actions, states, -joined.costs))[:KEPT])
        self._parts, self._count = [kept], len(kept.states)
        if self._count == KEPT:
            self._least = float(kept.costs[-1])

    def sorted(self) -> Decisions:
        """Give the costliest decisions, in the order of their states."""
        if not self._parts:
            nothing, none = np.zeros(0, dtype=np.int64), np.zeros(0)
            return Decisions(nothing, nothing, none, none, none, none)
        self._prune()
        (kept,) = self._parts
        return kept.take(np.lexsort((kept.actions, kept.states)))
