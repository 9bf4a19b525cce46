"""The engine, which plays any number of games at once; all classes of environments use it.

A lane is one game of the agent against its opponents. The engine plays the opponents and computes
the rewards; the environment decides when a lane is reset. The random numbers of all lanes come from
one generator in a fixed order, so that all classes play the same games from a seed.
"""

from functools import cached_property
from typing import Any, Literal, get_args

import gymnasium as gym
import numpy as np

from ...baselines import Problem, Task, prepare, solve
from ...baselines.cache import cached
from ...baselines.operators.induction import visit_action_values
from ...baselines.operators.players import with_illegal
from ...core import FLOATS, BoolArray, FloatArray, IntArray, Stage, at_least, frozen, one_of
from ...core.contract import require_worst
from ...core.plain import is_plain
from ...core.positions import are_legal, states_of
from ...core.sizes import check_memory
from ..encoding import Encoding, EncodingName
from .lanes import Lanes, Outcome, PlainRuleLanes, RuleLanes
from .table_lanes import ArrayLanes, PlainLanes
from .tables import process_of

#: Largest number of lanes at which Python's own numbers are faster than arrays.
FEW = 24
#: Limit of the table of Q* - V*, in bytes. Beyond it ``reward="regret"`` is computed move by move.
ADVANTAGES = 2**29
RewardMode = Literal["outcome", "regret", "shaped"]


class Engine:
    """A batch of games.

    Args:
        task: the agent's decision problem.
        num_lanes: number of games.
        reward: "outcome" pays what the game pays until the agent moves again: in most games its
            payoff at the end. "regret" pays Q*(s, a) - V*(s) for each move, which does not depend
            on luck. "shaped" adds V*(s') - V*(s) to the outcome (V* is 0 once the game is over).
            The expected return of every policy with "regret" or "shaped" is its expected return
            with "outcome" minus V* of the start.
        encoding: the form of observations (see ``Encoding``).
        tables: whether to play by tables, if they fit into memory. False saves the time to make
            them, where the policies of the opponents soon change.

    Attributes:
        encoding: the ``Encoding`` of that name.
        lanes: the games; the tables are made when the first game begins.
    """

    def __init__(
        self,
        task: Task | Problem,
        num_lanes: int,
        reward: RewardMode = "outcome",
        encoding: EncodingName = "integer",
        tables: bool = True,
    ) -> None:
        one_of("reward", reward, get_args(RewardMode))
        self.problem = problem = prepare(task)
        self.task, self.game, self.reward = problem.task, problem.game, reward
        self.encoding = Encoding(problem.game.observation_sizes, encoding)
        at_least("num_envs", num_lanes, 1)
        check_memory("num_envs", num_lanes, self.lane_bytes())
        self._num_lanes, self._by_tables = num_lanes, tables
        if tables:
            _ = problem.first  # raises an error if the agent never gets to move
        self._rows = self._advantages = None
        if reward == "regret" and 8 * self.game.num_states * self.game.num_actions <= ADVANTAGES:
            self._rows, self._advantages = advantages(problem)
        elif reward != "outcome":
            self._values = problem.law.in_play(solve(problem).found, num_lanes)

    @cached_property
    def lanes(self) -> Lanes:
        """Make the lanes: by tables, if they are wanted and fit into memory, else by the rules."""
        kind: type[Lanes] = RuleLanes
        few, alone = self._num_lanes <= FEW, self.game.num_players == 1
        if self._by_tables and process_of(self.problem) is not None:
            kind = PlainLanes if few else ArrayLanes
        elif self._by_tables and few and alone and is_plain(self.game):
            kind = PlainRuleLanes
        return kind(self.problem, self._num_lanes, self.encoding)

    def lane_bytes(self) -> float:
        """Estimate the memory of a lane during a step by tables, in bytes."""
        feature = np.dtype(self.encoding.space.dtype).itemsize
        return float(100 + len(self.encoding.components) * feature + self.game.num_actions)

    def _regrets(self, states: IntArray, actions: IntArray) -> FloatArray:
        """Return Q*(s, a) - V*(s) of moves, shape (move,), from the table if there is one."""
        if self._rows is not None and self._advantages is not None:
            return self._advantages[self._rows[states], actions]
        expected = np.full(len(states), self.game.payoff_range[0])
        legal = are_legal(self.game, states, actions)
        law, seat = self.problem.law, self.task.seat
        expected[legal] = law.worth(seat, states[legal], actions[legal], self._values)
        return expected - self._values.at(seat, states)

    def spaces(self) -> tuple[gym.Space[Any], gym.spaces.Discrete]:
        """Give the observation and the action space of a lane."""
        return self.encoding.space, gym.spaces.Discrete(self.game.num_actions)

    def step(
        self,
        lanes: IntArray,
        actions: IntArray,
        rng: np.random.Generator,
        fresh: BoolArray | None = None,
    ) -> Outcome:
        """Make one move in each of some lanes, or start a new game where ``fresh`` says so.

        Args:
            lanes: the lanes, shape (move,).
            actions: the action in each lane, shape (move,), ignored where a game starts.
            rng: the generator of all random numbers.
            fresh: whether a game starts, shape (move,); None for no lane.

        Returns:
            The outcome in each lane; all zeros and False where a game has started.
        """
        fresh = np.zeros(len(lanes), dtype=bool) if fresh is None else fresh
        before = None if self.reward == "outcome" else self.lanes.states()[lanes]
        found = self.lanes.advance(lanes, actions, fresh, rng)
        if np.count_nonzero(found.illegal):
            require_worst(self.game)
        if before is None:
            return found
        columns: Any = before, actions, found.rewards, self.lanes.states()[lanes], found.over
        rewards = np.zeros(len(lanes))
        moved = ~fresh if np.count_nonzero(fresh) else slice(None)
        rewards[moved] = self.rewards(*(column[moved] for column in columns))
        return found._replace(rewards=rewards)

    def step_one(self, action: int, rng: np.random.Generator) -> tuple[float, bool, float, bool]:
        """Make a move in the only lane: what ``Outcome`` has of it."""
        before = None if self.reward == "outcome" else np.array([self.lanes.state_of_one()])
        payoff, over, total, illegal = self.lanes.move_one(action, rng)
        if illegal:
            require_worst(self.game)
        if before is None:
            return payoff, over, total, illegal
        after, move = np.array([self.lanes.state_of_one()]), np.array([action])
        reward = self.rewards(before, move, np.array([payoff]), after, np.array([over]))
        return float(reward[0]), over, total, illegal

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
        seat = self.task.seat
        later = np.where(over, 0.0, self._values.at(seat, after))
        return payoffs + later - self._values.at(seat, before)


@cached
def advantages(problem: Problem) -> tuple[IntArray, FloatArray]:
    """Tabulate Q*(s, a) - V*(s) in the agent's states.

    Returns:
        The row of each of the agent's states, shape (state,), and the table, (row, action).
    """
    game, found = problem.game, solve(problem).found
    own = states_of(game, problem.seat)
    rows = np.zeros(game.num_states, dtype=np.int64)
    rows[own] = np.arange(len(own))
    table = np.empty((len(own), game.num_actions))

    def visit(stage: Stage, expected: FloatArray) -> None:
        best = found.again(stage, expected)
        known = with_illegal(game, stage, expected, FLOATS)
        table[rows[stage.states]] = known - best[:, None]

    visit_action_values(problem.law, visit, found, problem.seat, FLOATS)
    return frozen(rows), frozen(table)
