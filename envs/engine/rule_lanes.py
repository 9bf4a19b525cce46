"""Lanes played by the rules, for games whose tables do not fit or whose moves are shown."""

from collections.abc import Iterator
from itertools import count, starmap

import numpy as np

from ...baselines import Task
from ...baselines.task import first_law
from ...core import FLOATS, BoolArray, FloatArray, GameError, IntArray, InverseLaws, Move
from ...core.sampling import draw
from ...core.sizes import check_memory
from ...core.sweeps import checked_advance
from ..api.encoding import Encoding, Features
from .lanes import Ends, Lanes, Played

#: Number of games in a row that end before the agent's first move, after which ``start`` checks
#: whether the agent ever gets to move.
PATIENCE = 100


class RuleLanes(Lanes):
    """Lanes that are played by the rules, move by move.

    Attributes:
        played: if there is a single lane, all moves in it since the last call of ``start`` or
            ``move``.
    """

    def __init__(self, task: Task, num_lanes: int, encoding: Encoding) -> None:
        super().__init__(task, num_lanes, encoding)
        self._game = task.game
        components, features = len(self._game.observation_sizes), len(encoding.components)
        each = 400 + 8 * (3 * components + 2 * features) + 5 * self._game.num_actions
        check_memory("num_envs", num_lanes, float(each))
        self.played: list[Played] = []
        self._policies = dict(task.policies)
        self._states, self._totals = np.zeros(num_lanes, dtype=np.int64), np.zeros(num_lanes)
        self._most_moves = np.inf if self._game.has_cycles else len(self._game.stages())
        self._mask: BoolArray | None = None  # of the present states, once it is asked for
        self._starts, chances = self._game.initial_law()
        self._start_law = InverseLaws(chances.astype(np.float64)[None])

    def states(self) -> IntArray:
        """Give the state of each lane."""
        return self._states.copy()

    def go_to(self, states: IntArray) -> None:
        """Put the lanes into states."""
        self._begin(slice(None))
        self._states[:], self._mask = states, None

    def observations(self) -> Features:
        """Encode the observations of the states."""
        return self._encoding.encode(self._game.observe(self._states, self._task.seat))

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
                _ = first_law(self._task, FLOATS)  # raises if the agent never gets to move
            self.played.clear()
            seats = np.zeros(len(lanes), dtype=np.int64)
            states = self._starts[self._start_law.draw(seats, rng)]
            lanes = lanes[self._play_others(lanes, seats, states, rng)[1]]

    def move(self, lanes: IntArray, actions: IntArray, rng: np.random.Generator) -> Ends:
        """Make moves."""
        seat, before = self._task.seat, self._states[lanes]
        legal = self._legal()[lanes, actions]
        payoffs = np.full(len(lanes), self._game.payoff_range[0])
        over = np.ones(len(lanes), dtype=bool)
        self.played.clear()
        move = self._sample(np.full(legal.sum(), seat), before[legal], actions[legal], rng)
        playing = ~move.over[:, seat]
        goes_on = np.flatnonzero(legal)[playing]
        payoffs[legal] = move.payoffs[:, seat]
        later, over[goes_on] = self._play_others(
            lanes[goes_on], move.seats[playing], move.states[playing], rng
        )
        payoffs[goes_on] += later
        return Ends(payoffs, over, ~legal, self._added(lanes, payoffs))

    def _play_others(
        self, lanes: IntArray, seats: IntArray, states: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, BoolArray]:
        """Play until the agent is to move or the game is over in all lanes: (payoffs, over).

        What the agent is paid before its first move is no part of its game.
        """
        seats, states = seats.copy(), states.copy()
        payoffs = np.zeros(len(lanes))
        over = np.zeros(len(lanes), dtype=bool)
        moves = np.zeros(len(lanes), dtype=np.int64)
        for seat in self._others_in_turn(seats, over):
            waiting = np.flatnonzero((seats == seat) & ~over)
            moves[waiting] += 1
            if moves.max() > self._most_moves:  # each move leads to a later stage
                raise GameError(f"{self._game!r} must end, but others move in circles")
            actions = self._policies[seat].sample(states[waiting], rng)
            move = self._sample(seats[waiting], states[waiting], actions, rng)
            seats[waiting], states[waiting] = move.seats, move.states
            payoffs[waiting] += move.payoffs[:, self._task.seat]
            over[waiting] = move.over[:, self._task.seat]
        self._states[lanes[~over]], self._mask = states[~over], None
        return payoffs, over

    def _sample(
        self, seats: IntArray, states: IntArray, actions: IntArray, rng: np.random.Generator
    ) -> Move:
        """Make moves; if there is a single lane, add them to ``played``."""
        outcomes = draw(self._game, states, actions, rng)
        if self._num_lanes == 1:
            columns = (column.tolist() for column in (seats, states, actions, outcomes))
            self.played += starmap(Played, zip(*columns, strict=True))
        return checked_advance(self._game, seats, states, actions, outcomes)

    def _others_in_turn(self, seats: IntArray, over: BoolArray) -> Iterator[int]:
        """Yield the player to move in some lane, while other players are to move in any lane."""
        while (waiting := (seats != self._task.seat) & ~over).any():
            yield int(seats[np.argmax(waiting)])
