"""One engine plays any number of games at once; all environment classes drive it.

A lane is one game of the agent against its opponents. The engine knows the rewards and plays the
opponents; resetting lanes, and when, is up to the class that drives it. All draws of all lanes
come from one generator in a fixed order, so that the classes play the same games from a seed.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, get_args

import gymnasium as gym
import numpy as np

from ..baselines import Sight, Task, solve
from ..baselines.induction import look_ahead
from ..baselines.players import with_illegal
from ..games import (
    FLOATS,
    BoolArray,
    FloatArray,
    GameError,
    IntArray,
    InverseLaws,
    Stage,
    at_least,
    one_of,
)
from ..games.sizes import check_memory
from .encoding import Encoding, EncodingName, Features

#: Bytes that a table of Q* - V* may take: ``reward="regret"`` is computed at each move above that.
ADVANTAGES = 2**29
RewardMode = Literal["outcome", "regret", "shaped"]


class Outcome(NamedTuple):
    """What a step did to the lanes that made it."""

    rewards: FloatArray  # (lane,)
    over: BoolArray  # (lane,)
    payoffs: FloatArray  # (lane,) payoff of the game to the agent, zero until it is over
    illegal: BoolArray  # (lane,) whether the action was illegal, which ends the game


class Engine:
    """A batch of games.

    Args:
        task: what the agent faces.
        num_lanes: number of games.
        reward: "outcome" pays the game's payoff at its end; "regret" pays Q*(s, a) - V*(s) for
            each move, so that every policy has the same expected return as with "outcome", less
            V* of the start, and luck pays nothing; "shaped" adds V*(s') - V*(s) to the outcome
            (V* is 0 once the game is over), for the same expected return less V* of the start.
        encoding: how observations are written (see ``Encoding``).

    Attributes:
        encoding: the same, as an object.
        policies: the other players' policies by seat.
        states: state of each lane, shape (lane,); at the end of a game it stays what the agent
            saw last.

    Raises:
        ValueError: if ``reward`` or ``encoding`` is unknown, ``num_lanes`` is below 1, or the
            agent never gets to move.
    """

    def __init__(
        self,
        task: Task,
        num_lanes: int,
        reward: RewardMode = "outcome",
        encoding: EncodingName = "integer",
    ) -> None:
        one_of("reward", reward, get_args(RewardMode))
        self.task = task
        self.policies = dict(task.policies)
        self.game = task.game
        self.reward = reward
        self.encoding = Encoding(task.game.observation_sizes, encoding)
        at_least("num_envs", num_lanes, 1)
        check_memory("num_envs", num_lanes, self.lane_bytes())
        self.states = np.zeros(num_lanes, dtype=np.int64)
        self._most_moves = np.inf if self.game.has_cycles else len(self.game.stages())
        self._starts, probabilities = self.game.initial_law()
        self._start_law = InverseLaws(probabilities.astype(np.float64)[None])
        _ = task.initial  # raises if the agent never gets to move; reset would replay for ever
        if reward != "outcome":
            solution = solve(task)
            self._solution = solution
            self._potential: FloatArray = solution.values[task.seat]
        self._rows = self._advantages = None
        if reward == "regret" and 8 * self.game.num_states * self.game.num_actions <= ADVANTAGES:
            self._rows, self._advantages = self._tabulate_advantages()

    def lane_bytes(self) -> float:
        """Estimate the memory that a lane takes during a step."""
        features = np.prod(self.encoding.space.shape or 1)
        components = len(self.game.observation_sizes)
        return float(400 + 8 * (3 * components + 2 * features) + 5 * self.game.num_actions)

    def _tabulate_advantages(self) -> tuple[IntArray, FloatArray]:
        """Give the row of each state (state,), and Q*(s, a) - V*(s) of the agent's states."""
        own = self.game.states_of(self.task.seat)
        rows = np.zeros(self.game.num_states, dtype=np.int64)
        rows[own] = np.arange(len(own))
        advantages = np.empty((len(own), self.game.num_actions))

        def look(stage: Stage, expected: FloatArray) -> None:
            if stage.seat == self.task.seat:
                best = self._solution.found.at(stage.seat, stage.states)
                known = with_illegal(self.game, stage, expected, FLOATS)
                advantages[rows[stage.states]] = known - best[:, None]

        look_ahead(self.game, look, self._solution.found, self.task.seat, FLOATS)
        return rows, advantages

    def _regrets(self, states: IntArray, actions: IntArray) -> FloatArray:
        """Give Q*(s, a) - V*(s) of moves, shape (move,): from the table or, without it, anew."""
        if self._rows is not None and self._advantages is not None:
            return self._advantages[self._rows[states], actions]
        expected = np.full(len(states), self.game.payoff_range[0])
        legal = self.game.allows(states, actions)
        expected[legal] = self.game.expect(
            self.task.seat, states[legal], actions[legal], self._solution.found, FLOATS
        )
        return expected - self._potential[states]

    def observations(self) -> Features:
        """Give the encoded observation of each lane, shape (lane, feature), in fresh memory."""
        return self.encoding.encode(self.game.observe(self.states, self.task.seat))

    def describe(self, lane: int) -> str:
        """Put what the agent sees in a lane into words."""
        return self.game.describe(self.game.observe(self.states[[lane]], self.task.seat)[0])

    def spaces(self) -> tuple[gym.Space[Any], gym.spaces.Discrete]:
        """Give the observation and the action space of a lane."""
        return self.encoding.space, gym.spaces.Discrete(self.game.num_actions)

    @property
    def sight(self) -> Sight:
        """What the agent is shown."""
        return Sight(self.encoding.space, self.encoding.encode, wrapped=False)

    def masks(self) -> BoolArray:
        """Give the legal actions of each lane, shape (lane, action), in fresh memory."""
        return self.game.mask(self.states)

    def reset(self, lanes: IntArray, rng: np.random.Generator) -> None:
        """Start new games in some lanes, playing opponents who move before the agent.

        Games that end before the agent's first move are replayed.
        """
        while len(lanes):
            seats = np.zeros(len(lanes), dtype=np.int64)
            states = self._starts[self._start_law.draw(seats, rng)]
            over = self._play_opponents(lanes, seats, states, rng)[1]
            lanes = lanes[over]

    def step(self, lanes: IntArray, actions: IntArray, rng: np.random.Generator) -> Outcome:
        """Make one move in each of some lanes and let the opponents reply.

        Args:
            lanes: which lanes, shape (move,).
            actions: one action a lane, shape (move,).
            rng: source of all chance.
        """
        before = self.states[lanes]
        legal = self.game.mask(before)[np.arange(len(lanes)), actions]
        payoffs = np.full(len(lanes), self.game.payoff_range[0])
        over = np.ones(len(lanes), dtype=bool)
        movers = np.full(int(legal.sum()), self.task.seat)
        move = self.game.sample(movers, before[legal], actions[legal], rng)
        playing = ~move.over[:, self.task.seat]
        goes_on = np.flatnonzero(legal)[playing]
        payoffs[legal] = move.payoffs[:, self.task.seat]
        over[goes_on] = False
        payoffs[goes_on], over[goes_on] = self._play_opponents(
            lanes[goes_on], move.seats[playing], move.states[playing], rng
        )
        rewards = self.rewards(before, actions, payoffs, self.states[lanes], over)
        return Outcome(rewards, over, payoffs, ~legal)

    def _play_opponents(
        self, lanes: IntArray, seats: IntArray, states: IntArray, rng: np.random.Generator
    ) -> tuple[FloatArray, BoolArray]:
        """Play lanes on until the agent is to move or the game is over: (payoffs, over)."""
        seats, states = seats.copy(), states.copy()
        payoffs = np.zeros(len(lanes))
        over = np.zeros(len(lanes), dtype=bool)
        moves = np.zeros(len(lanes), dtype=np.int64)
        for seat in self._others_in_turn(seats, over):
            waiting = np.flatnonzero((seats == seat) & ~over)
            moves[waiting] += 1
            if moves.max() > self._most_moves:  # each move leads to a later stage
                raise GameError(f"{self.game!r} must end, but others move in circles")
            actions = self.policies[seat].sample(states[waiting], rng)
            move = self.game.sample(seats[waiting], states[waiting], actions, rng)
            seats[waiting], states[waiting] = move.seats, move.states
            payoffs[waiting] = move.payoffs[:, self.task.seat]
            over[waiting] = move.over[:, self.task.seat]
        self.states[lanes[~over]] = states[~over]
        return payoffs, over

    def _others_in_turn(self, seats: IntArray, over: BoolArray) -> Iterator[int]:
        """Yield a seat that is to move in some lane, until the agent is to move in all."""
        while (waiting := (seats != self.task.seat) & ~over).any():
            yield int(seats[np.argmax(waiting)])

    def rewards(
        self,
        before: IntArray,
        actions: IntArray,
        payoffs: FloatArray,
        after: IntArray,
        over: BoolArray,
    ) -> FloatArray:
        """Reward moves from states ``before`` to states ``after``, each of shape (move,)."""
        if self.reward == "outcome":
            return payoffs
        if self.reward == "regret":
            return self._regrets(before, actions)
        return payoffs + np.where(over, 0.0, self._potential[after]) - self._potential[before]
