"""Lanes: games of one task that are played at once, by the rules or by tables.

A *lane* is one game. All random numbers come from one generator. Lanes that are played by tables
(``table_lanes``) draw them in rounds: first a number for each lane that moves, in the order of the
lanes; then a number for each lane that is at a node of chance, in the same order, until no lane is
at a node. ``RuleLanes`` serve games whose tables do not fit or whose moves are shown.
"""

from abc import ABC, abstractmethod
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...baselines import Problem
from ...core import BoolArray, FloatArray, IntArray
from ...core.plain import plain_rules
from ...core.playing import Played, begin, make, play_on
from ...core.sizes import check_memory
from ..encoding import Encoding, Features

#: Number of games in a row that end before the agent's first move, after which ``start`` checks
#: whether the agent ever gets to move.
PATIENCE = 100


class Outcome(NamedTuple):
    """The results of a step, for the lanes that made it; zeros and False where a game has begun."""

    rewards: FloatArray  # (lane,) of lanes: what the agent is paid until it is to move again
    over: BoolArray  # (lane,)
    payoffs: FloatArray  # (lane,) payoff of the game to the agent, once it is over
    illegal: BoolArray  # (lane,) whether the action was illegal, which ends the game


class Lanes(ABC):
    """A batch of games. The state of a game that is over is that of the agent's last move."""

    # All moves since the last ``start`` or ``advance``, in a single lane played by the rules.
    played: list[Played]
    _totals: FloatArray | None = None  # of each lane; None if moves pay at the end alone

    def __init__(self, problem: Problem, num_lanes: int, encoding: Encoding) -> None:
        self._problem, self._num_lanes, self._encoding = problem, num_lanes, encoding

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments and the states; loading takes the tables from the cache."""
        arguments = self._problem, self._num_lanes, self._encoding
        return type(self), arguments, (self.states(), self._totals)

    def __setstate__(self, state: tuple[IntArray, FloatArray | None]) -> None:
        self.go_to(state[0])
        self._totals = state[1]

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
    def advance(
        self, lanes: IntArray, actions: IntArray, fresh: BoolArray, rng: np.random.Generator
    ) -> Outcome:
        """Make one move in each of some lanes, or begin a game where ``fresh``; others reply."""

    @abstractmethod
    def start(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Begin new games in some lanes; the others play up to the agent's first move.

        A game that ends before that begins again.
        """

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

    def move_one(self, action: int, rng: np.random.Generator) -> tuple[float, bool, float, bool]:
        """Make a move in the only lane: what ``Outcome`` has of it."""
        one, fresh = np.array([0]), np.array([False])
        rewards, over, payoffs, illegal = self.advance(one, np.array([action]), fresh, rng)
        return float(rewards[0]), bool(over[0]), float(payoffs[0]), bool(illegal[0])

    def observe_one(self) -> Features:
        """Give the encoded observation of the only lane, shape (feature,), in fresh memory."""
        return self.observations()[0]

    def mask_of_one(self) -> npt.NDArray[np.int8]:
        """Give the legal actions of the only lane, int8, shape (action,), in fresh memory."""
        return self.masks()[0].astype(np.int8)

    def _begin(self, lanes: "IntArray | slice") -> None:
        """Forget what was paid in some lanes."""
        if self._totals is not None:
            self._totals[lanes] = 0.0

    def _added(self, lanes: IntArray, payoffs: FloatArray) -> FloatArray:
        """Add payoffs, (move,), to the totals of some lanes, and give these totals."""
        if self._totals is None:
            return payoffs
        self._totals[lanes] += payoffs
        return self._totals[lanes]


class RuleLanes(Lanes):
    """Lanes that are played by the rules, move by move."""

    def __init__(self, problem: Problem, num_lanes: int, encoding: Encoding) -> None:
        super().__init__(problem, num_lanes, encoding)
        self._game = problem.game
        components, features = len(self._game.observation_sizes), len(encoding.components)
        each = 400 + 8 * (3 * components + 2 * features) + 5 * self._game.num_actions
        check_memory("num_envs", num_lanes, float(each))
        self.played: list[Played] = []
        self._policies = dict(problem.policies)
        self._states, self._totals = np.zeros(num_lanes, dtype=np.int64), np.zeros(num_lanes)
        self._mask: BoolArray | None = None  # of the present states, once it is asked for

    def states(self) -> IntArray:
        """Give the state of each lane."""
        return self._states.copy()

    def go_to(self, states: IntArray) -> None:
        """Put the lanes into states."""
        self._begin(slice(None))
        self._states[:], self._mask = states, None

    def observations(self) -> Features:
        """Encode the observations of the states."""
        return self._encoding.encode(self._game.observe(self._states, self._problem.seat))

    def masks(self) -> BoolArray:
        """Read the legal actions from the rules."""
        return self._legal().copy()

    def _legal(self) -> BoolArray:
        """Give the legal actions, which a step asks for after ``masks`` has."""
        if self._mask is None:
            self._mask = self._game.mask(self._states)
        return self._mask

    def start(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Begin new games; a game that ends before the agent's first move begins again."""
        self._begin(lanes)
        for replay in count():
            if not len(lanes):
                break
            if replay == PATIENCE:
                _ = self._problem.first  # raises if the agent never gets to move
            self.played.clear()
            seats = np.zeros(len(lanes), dtype=np.int64)
            states = begin(self._game, len(lanes), rng)
            lanes = lanes[self._play_others(lanes, seats, states, rng)[1]]

    def advance(
        self, lanes: IntArray, actions: IntArray, fresh: BoolArray, rng: np.random.Generator
    ) -> Outcome:
        """Begin games, and then make moves."""
        self.played.clear()
        seat, before = self._problem.seat, self._states[lanes]
        legal = self._legal()[lanes, actions] & ~fresh  # games that begin forget the masks
        self.start(lanes[fresh], rng)
        illegal = ~(legal | fresh)
        payoffs, over = np.where(illegal, self._game.payoff_range[0], 0.0), ~fresh
        seats = np.full(legal.sum(), seat)
        move = make(self._game, seats, before[legal], actions[legal], rng, self._shown)
        playing = ~move.over[:, seat]
        goes_on = np.flatnonzero(legal)[playing]
        payoffs[legal] = move.payoffs[:, seat]
        later, over[goes_on] = self._play_others(
            lanes[goes_on], move.seats[playing], move.states[playing], rng
        )
        payoffs[goes_on] += later
        return Outcome(payoffs, over, self._added(lanes, payoffs), illegal)

    def _play_others(
        self, lanes: IntArray, seats: IntArray, states: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, BoolArray]:
        """Play until the agent is to move or the game is over in all lanes: (payoffs, over).

        What the agent is paid before its first move is no part of its game.
        """
        seat, rules = self._problem.seat, self._game
        found = play_on(rules, [seat], self._choose, seats, states, rng, self._shown)
        self._states[lanes[~found.over]], self._mask = found.states[~found.over], None
        return found.payoffs[:, seat], found.over

    def _choose(self, seat: int, states: IntArray, rng: np.random.Generator) -> IntArray:
        return self._policies[seat].sample(states, rng)

    @property
    def _shown(self) -> list[Played] | None:
        """The list of the moves, if there is a single lane."""
        return self.played if self._num_lanes == 1 else None


class PlainRuleLanes(RuleLanes):
    """A few lanes of a game of one player, by ``PlainRules``; they play as ``RuleLanes`` do."""

    def __init__(self, problem: Problem, num_lanes: int, encoding: Encoding) -> None:
        super().__init__(problem, num_lanes, encoding)
        self._rules = plain_rules(problem.game)
        self._masks: list[npt.NDArray[np.int8] | None] = [None] * num_lanes

    def go_to(self, states: IntArray) -> None:
        """Put the lanes into states."""
        super().go_to(states)
        self._masks[:] = [None] * self._num_lanes

    def observations(self) -> Features:
        """Encode the observations of the states."""
        seat = self._problem.seat
        seen = [self._rules.observe(state, seat) for state in self._states.tolist()]
        return self._encoding.encode(np.array(seen))

    def masks(self) -> BoolArray:
        """Read the legal actions from the rules."""
        return np.array([self._mask_of(lane) for lane in range(self._num_lanes)], dtype=bool)

    def start(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Begin new games."""
        super().start(lanes, rng)
        for lane in lanes.tolist():
            self._masks[lane] = None

    def advance(
        self, lanes: IntArray, actions: IntArray, fresh: BoolArray, rng: np.random.Generator
    ) -> Outcome:
        """Begin games, and then make moves."""
        self.start(lanes[fresh], rng)
        whose, chosen, over = lanes.tolist(), actions.tolist(), ~fresh
        moving = np.flatnonzero(over).tolist()
        legal = [i for i in moving if self._mask_of(whose[i])[chosen[i]]]
        illegal, payoffs = over.copy(), np.where(fresh, 0.0, self._game.payoff_range[0])
        illegal[legal] = False
        for i, chance in zip(legal, rng.random(len(legal)).tolist(), strict=True):
            payoffs[i], over[i] = self._go_on(whose[i], chosen[i], chance)
        return Outcome(payoffs, over, self._added(lanes, payoffs), illegal)

    def _mask_of(self, lane: int) -> npt.NDArray[np.int8]:
        """Give the legal actions of a lane, which are asked for twice."""
        mask = self._masks[lane]
        if mask is None:
            mask = self._masks[lane] = self._rules.mask(int(self._states[lane]))
        return mask

    def _go_on(self, lane: int, action: int, chance: float) -> tuple[float, bool]:
        """Make a legal move; return the payment, and whether the game is over."""
        seat = self._problem.seat
        move = self._rules.advance(seat, int(self._states[lane]), action, chance)
        if not move.over[seat]:
            self._states[lane], self._masks[lane] = move.state, None
        return move.payoffs[seat], move.over[seat]

    def move_one(self, action: int, rng: np.random.Generator) -> tuple[float, bool, float, bool]:
        """Make a move in the only lane."""
        paid, over = self._game.payoff_range[0], True
        legal = bool(self._mask_of(0)[action])
        if legal:
            paid, over = self._go_on(0, action, rng.random())
        assert self._totals is not None
        self._totals[0] += paid
        return paid, over, float(self._totals[0]), not legal

    def observe_one(self) -> Features:
        """Give the encoded observation of the only lane, shape (feature,), in fresh memory."""
        seen = self._rules.observe(int(self._states[0]), self._problem.seat)
        if self._encoding.name == "integer":
            return seen
        return self._encoding.encode(seen[None])[0]

    def mask_of_one(self) -> npt.NDArray[np.int8]:
        """Give the legal actions of the only lane, int8, shape (action,), in fresh memory."""
        return self._mask_of(0).copy()
