"""Lanes: games of one task that are played at once.

A *lane* is one game. All random numbers come from one generator. Lanes that are played by tables
draw them in rounds: first a number for each lane that moves, in the order of the lanes; then a
number for each lane that is at a node of chance, in the same order, until no lane is at a node.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...baselines import Task
from ...core import BoolArray, FloatArray, IntArray
from ..api.encoding import Encoding, Features


class Ends(NamedTuple):
    """The results of a batch of moves, arrays of shape (move,)."""

    payoffs: FloatArray  # what the agent is paid until it is to move again
    over: BoolArray
    illegal: BoolArray  # whether the move was illegal, which ends the game
    totals: FloatArray  # what it was paid in the game, from its first move on


class Played(NamedTuple):
    """A move that a player has made."""

    seat: int
    state: int
    action: int
    outcome: int  # the outcome that chance has drawn


class Lanes(ABC):
    """A batch of games. When a game ends, its state remains the one in which the agent moved last.

    Args:
        task: the agent's decision problem.
        num_lanes: number of games.
        encoding: the form of observations.
    """

    _totals: FloatArray | None = None  # of each lane; None if moves pay at the end alone

    def __init__(self, task: Task, num_lanes: int, encoding: Encoding) -> None:
        self._task, self._num_lanes, self._encoding = task, num_lanes, encoding

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments and the states; loading takes the tables from the cache."""
        arguments = self._task, self._num_lanes, self._encoding
        return _lanes_at, (type(self), *arguments, self.states(), self._totals)

    @abstractmethod
    def states(self) -> IntArray:
        """Give the state of each lane, shape (lane,), in fresh memory."""

    @abstractmethod
    def go_to(self, states: IntArray) -> None:
        """Put the lanes into states in which the agent is to move, shape (lane,)."""

    @property
    def totals(self) -> FloatArray:
        """What the agent was paid in the game of each lane so far, shape (lane,), a copy."""
        return np.zeros(self._num_lanes) if self._totals is None else self._totals.copy()

    @totals.setter
    def totals(self, totals: FloatArray) -> None:
        if self._totals is not None:
            self._totals[:] = totals

    @abstractmethod
    def start(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Begin new games in some lanes; the others play up to the agent's first move."""

    @abstractmethod
    def move(self, lanes: IntArray, actions: IntArray, rng: np.random.Generator) -> Ends:
        """Make one move in each of some lanes and let the others reply."""

    def move_all(self, actions: IntArray, fresh: BoolArray, rng: np.random.Generator) -> Ends:
        """Make one move in every lane, or begin a new game where ``fresh`` says so."""
        moving = np.flatnonzero(~fresh)
        self.start(np.flatnonzero(fresh), rng)
        ends = self.move(moving, actions[moving], rng)
        every = Ends(*np.zeros((4, len(fresh))))
        every = every._replace(over=every.over > 0, illegal=every.illegal > 0)
        for column, found in zip(every, ends, strict=True):
            column[moving] = found
        return every

    @abstractmethod
    def observations(self) -> Features:
        """Give the encoded observation of each lane, shape (lane, feature), in fresh memory."""

    @abstractmethod
    def masks(self) -> BoolArray:
        """Say which actions are legal, shape (lane, action), in fresh memory."""

    # The methods for a single lane, which ``PlainLanes`` overrides without arrays.

    def state_of_one(self) -> int:
        """Give the state of the only lane."""
        return int(self.states()[0])

    def start_one(self, rng: np.random.Generator) -> None:
        """Begin a new game in the only lane."""
        self.start(np.array([0]), rng)

    def move_one(self, action: int, rng: np.random.Generator) -> tuple[float, bool, bool, float]:
        """Make a move in the only lane: payoff, whether the game is over, illegal move, total."""
        payoffs, over, illegal, totals = self.move(np.array([0]), np.array([action]), rng)
        return float(payoffs[0]), bool(over[0]), bool(illegal[0]), float(totals[0])

    def _begin(self, lanes: "IntArray | BoolArray | slice") -> None:
        """Forget what was paid in some lanes."""
        if self._totals is not None:
            self._totals[lanes] = 0.0

    def _added(self, lanes: "IntArray | slice", payoffs: FloatArray) -> FloatArray:
        """Add payoffs, (move,), to the totals of some lanes, and give these totals."""
        if self._totals is None:
            return payoffs
        self._totals[lanes] += payoffs
        totals: FloatArray = self._totals[lanes]
        return totals.copy()

    def observe_one(self) -> Features:
        """Give the encoded observation of the only lane, shape (feature,), in fresh memory."""
        seen: Features = self.observations()[0]
        return seen

    def mask_of_one(self) -> npt.NDArray[np.int8]:
        """Give the legal actions of the only lane, int8, shape (action,), in fresh memory."""
        legal: npt.NDArray[np.int8] = self.masks()[0].astype(np.int8)
        return legal


def _lanes_at(
    kind: type[Lanes],
    task: Task,
    num_lanes: int,
    encoding: Encoding,
    states: IntArray,
    totals: FloatArray | None = None,
) -> Lanes:
    lanes = kind(task, num_lanes, encoding)
    lanes.go_to(states)
    lanes._totals = totals
    return lanes
