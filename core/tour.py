"""A tour: one forward pass through a one-player game that asks the policy once about each state.

A tour scores a policy in a game with too many states for arrays. It carries forward the occupancy
of each state (the probability that the player reaches it), the expected points so far and their
expected squares. It compares each decision with the optimal one, by the optimal values that the
caller passes. It never holds a number for every state at once, and it asks about no state that the
player never reaches.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .types import BoolArray, FloatArray, IntArray

#: A tour keeps this number of decisions, the costliest.
KEPT = 1000
#: The smallest cost above zero.
SMALLEST = np.nextafter(0.0, 1.0)


class Grid(NamedTuple):
    """States in rows and columns, whose decisions are asked for in one call.

    Each component of an observation depends on the row alone or on the column alone. So the first
    layer of a network is the sum of one part per row and one part per column, and a network
    computes each part once instead of once per state.
    """

    states: IntArray  # (row, column) the states
    # (row, entry) all actions that are legal in some state of a row; shorter rows end in -1.
    actions: IntArray
    legal: BoolArray  # (row, entry, column) whether an entry of ``actions`` is legal


class Choices(NamedTuple):
    """Decisions of a player: one entry per state and action, arrays of shape (choice,)."""

    places: IntArray  # index of the state in the flattened ``Grid.states``
    actions: IntArray  # an action that the player takes there with positive probability
    chances: FloatArray  # the probability of the action; the probabilities in a state sum to 1

    @staticmethod
    def certain(met: BoolArray, actions: IntArray) -> "Choices":
        """Return the choices of a player that takes one action, with probability 1, in each state.

        The states of the grid that it has ``met``, shape (row, column), have ``actions``, (state,).
        """
        places = np.flatnonzero(met)
        return Choices(places, actions.astype(np.int64), np.ones(len(places)))


#: A function that returns a player's decisions in the reached states of a grid; its second argument
#: is the mask of the reached states, shape (row, column).
Choose: TypeAlias = Callable[[Grid, BoolArray], Choices]


class Decisions(NamedTuple):
    """Decisions with their values, arrays of shape (decision,)."""

    states: IntArray
    actions: IntArray
    values: FloatArray  # of the action, if play is optimal from then on
    best: FloatArray  # of the best action in the state
    chances: FloatArray  # probability that the player takes the action in the state
    occupancy: FloatArray  # probability that the player reaches the state and takes the action

    @property
    def costs(self) -> FloatArray:
        """Expected payoff per game that each decision loses, float64, shape (decision,)."""
        return self.occupancy * (self.best - self.values)

    def take(self, index: IntArray) -> "Decisions":
        """Return the decisions at the given indices."""
        columns: Any = (column[index] for column in self)
        return Decisions(*columns)


class Tour(NamedTuple):
    """The result of a tour: exact figures of a player's games."""

    mean: float  # expected payoff of a game
    variance: float  # variance of the payoff of a game
    moves: float  # expected number of moves in a game
    mistakes: float  # expected number of suboptimal moves in a game
    flawless: float  # probability of a game without a mistake
    costliest: Decisions  # the ``KEPT`` costliest mistakes, sorted by state
    # The regret in parts, by division and then by part: ``regrets["turn"]["3"]``. The parts of each
    # division sum to the regret.
    regrets: Mapping[str, Mapping[str, float]]
    # Expected numbers, by quantity and then by part: ``counts["points"]["Chance"]``.
    counts: Mapping[str, Mapping[str, float]]
    roundings: int  # number of successive roundings that bounds the relative error of ``mean``


class Costliest:
    """Collects decisions and keeps so many of the costliest; None keeps all."""

    def __init__(self, kept: int | None = KEPT) -> None:
        self._parts: list[Decisions] = []
        self._least, self._count, self._kept = SMALLEST, 0, kept

    def add(self, decisions: Decisions) -> None:
        """Add decisions; one that costs nothing, or less than all that are kept, is dropped."""
        costly = np.flatnonzero(decisions.costs >= self._least)
        if len(costly):
            self._parts.append(decisions.take(costly))
            self._count += len(costly)
        if self._kept is not None and self._count > 8 * self._kept:
            self._prune()

    def _prune(self) -> None:
        columns = zip(*self._parts, strict=True)
        joined = Decisions(*(np.concatenate(column) for column in columns))
        kept = joined.take(np.lexsort((joined.actions, joined.states, -joined.costs))[: self._kept])
        self._parts, self._count = [kept], len(kept.states)
        if self._count == self._kept:
            self._least = float(kept.costs[-1])

    def sorted(self) -> Decisions:
        """Return the costliest decisions, sorted by state and then action."""
        if not self._parts:
            nothing, none = np.zeros(0, dtype=np.int64), np.zeros(0)
            return Decisions(nothing, nothing, none, none, none, none)
        self._prune()
        (kept,) = self._parts
        return kept.take(np.lexsort((kept.actions, kept.states)))
