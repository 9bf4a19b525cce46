"""Results of ``solve`` and ``evaluate``: values of positions, actions and observations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...core import (
    Array,
    BoolArray,
    Decide,
    FloatArray,
    IntArray,
    Stage,
    Sweeps,
    Table,
    Values,
    frozen,
    present,
)
from ...core.positions import by_name, states_of
from ...core.sizes import check_array
from ...core.table import frame
from ...core.types import Start
from ...core.words import either
from ..operators.induction import visit_action_values
from ..operators.players import range_of_values
from ..operators.rounding import gamma, largest_payoff, upwards
from ..operators.variance import variance
from ..policies.kinds import DeterministicPolicy, Policy
from ..policies.observations import integers_of, state_of
from ..problem.problem import OfProblem, Problem
from .occupancy import outcomes, variance_of_law

LINES = 10  # of the states that are printed


@dataclass(frozen=True, eq=False, repr=False)
class States:
    """The states in which the agent may be to move, in increasing order.

    Attributes:
        names: names of the components of an observation.
        states: numbers of the states, shape (state,).
        observations: what the agent sees, integers of shape (state, component).
        values: expected payoff under optimal play, floats or fractions, shape (state,).
        actions: the smallest optimal action, shape (state,).
    """

    names: Sequence[str]
    states: IntArray
    observations: IntArray
    values: Array
    actions: IntArray

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        """Write a table of the first states."""
        columns = *self.observations[:LINES].T, self.values[:LINES], self.actions[:LINES]
        header = [*self.names, "value", "optimal action"]
        table = Table(header, [*zip(*columns, strict=True)], texts=0)
        rest = f"\n... of {len(self):,} states" * (len(self) > LINES)
        return table.markdown(aligned=True) + rest

    def to_frame(self) -> Any:
        """Make a ``pandas.DataFrame``: a row for each state, a column for each component.

        Raises:
            InputError: if pandas is not installed.
        """
        seen = dict(zip(self.names, self.observations.T, strict=True))
        own = {"state": self.states, "value": self.values, "action": self.actions}
        return frame({**seen, **own})


@dataclass(frozen=True)
class Evaluation(OfProblem):
    """Values of a policy.

    Attributes:
        problem: the task that is solved or evaluated.
        policy: the agent's policy.
        found: the values of all positions.
        sweep_error: bound of the error of values and action values (see ``rounding``); of a process
            that of each state, shape (state,).
        masked: whether the policy keeps to the legal actions.
    """

    problem: Problem
    policy: Policy
    found: Values = field(repr=False)
    sweep_error: float | FloatArray
    masked: bool = field(default=True, repr=False, kw_only=True)

    @cached_property
    def error_bound(self) -> float:
        """Largest distance of any value from the true one by rounding; 0 if exact.

        The bound holds for the values of positions and of actions, and for ``value`` and
        ``value_before_play``. Its proof is in ``rounding``, ``cycles`` and ``mdp``.
        """
        each = self.sweep_error  # of a process
        own = float(each.max()) if isinstance(each, np.ndarray) else 0.0
        return max(self.value_error, own)

    @cached_property
    def value_error(self) -> float:
        """Largest distance of ``value`` and ``value_before_play`` from the true ones; 0 if exact.

        In a process it may be far smaller than ``error_bound``.
        """
        if not self.arithmetic.rounds:
            return 0.0
        law, (low, high) = self.problem.first, self._range
        size, error = largest_payoff((low, high)), self.sweep_error
        if isinstance(error, np.ndarray):  # policies may be paid less than the range says
            size = float(np.abs(self.found.at(0, law.start.states)).max())
            low, high, error = -size, size, float(error[law.start.states].max())
        return upwards(error + law.error * (high - low) + gamma(4) * size)

    def tie(self, states: IntArray) -> Any:
        """Give the difference up to which action values are equal: a number, or shape (state,)."""
        if isinstance(self.sweep_error, np.ndarray):
            return 2 * self.sweep_error[states]
        return self.arithmetic.tie(self.task.game, states)

    @cached_property
    def values(self) -> Array:
        """Value to the agent, floats or fractions, shape (player to move, state).

        Fractions for a whole game take time to make; ``found.at`` makes those of some positions.
        """
        return self.found.array

    @cached_property
    def value(self) -> float | Fraction:
        """Expected payoff from the agent's first move on; a fraction if exact."""
        return self._expected(self.problem.start)

    @cached_property
    def value_before_play(self) -> float | Fraction:
        """Expected payoff before anyone moves, games that end before the agent moves included."""
        return self._expected(self.problem.start_of_game)

    @cached_property
    def variance(self) -> float | Fraction:
        """Variance of the payoff from the agent's first move on; a fraction if exact."""
        if self.problem.pays_early:
            return self._variance_of_sum()
        law = outcomes(self.policy, self.problem).law
        assert law is not None
        return variance_of_law(law, self.arithmetic)

    def _variance_of_sum(self) -> float | Fraction:
        """Compute the variance where payoffs add up."""
        agent, problem = self.policy, self.problem
        given = problem.law, problem.line_up(agent), self.found, problem.start, self.arithmetic
        return variance(*given, lambda: outcomes(agent, problem).visits)

    def _expected(self, start: Start) -> float | Fraction:
        mean = self.arithmetic.mean(start.chances, self.found.at(start.seat, start.states))
        return self.arithmetic.number(self.arithmetic.within(mean, *self._range))

    @property
    def _range(self) -> tuple[Any, Any]:
        return range_of_values(self.problem.law, self.task.seat, self.arithmetic, self.masked)

    @cached_property
    def table(self) -> Array:
        """Value of each action of the agent if the policy is followed afterwards.

        Shape (state, action); illegal actions are -inf. The table of a large game is refused.
        """

        def legal_values(stage: Stage, expected: Array) -> Array:
            values = self.arithmetic.unscaled(expected, stage.scale[:, None])
            return np.where(self.task.game.mask(stage.states), values, -np.inf)

        return self._of_actions("action values", -np.inf, self.arithmetic.dtype, legal_values)

    def _of_actions(self, what: str, elsewhere: Any, dtype: Any, of: Decide) -> Array:
        """Make a table, (state, action), of the expected values at each stage of the agent."""
        game = self.task.game
        check_array(f"a table of {what}", game, game.num_states, game.num_actions)
        table = np.full((game.num_states, game.num_actions), elsewhere, dtype)

        def visit(stage: Stage, expected: Array) -> None:
            table[stage.states] = of(stage, expected)

        visit_action_values(self.problem.law, visit, self.found, self.task.seat, self.arithmetic)
        return frozen(table)

    def __str__(self) -> str:
        return f"{self.task.words}: value {self.value}{self._within}"

    @property
    def _within(self) -> str:
        return f", right within {self.error_bound:.1e}" if self.error_bound else ""

    def action_values(self, observation: Any) -> Array:
        """Give the values of all actions at one observation, shape (action,); illegal are -inf.

        Args:
            observation: as the solved or evaluated environment shows it; for a ``Task``, one
                integer for each component. Nothing is rounded.

        Raises:
            ValueError: if the agent never sees it before a move, or a wrapper of the environment
                changes observations.
        """
        return self._values_in(self._state(observation))[0]

    def _values_in(self, state: IntArray) -> Array:
        """Give the values of all actions in one state, shape (1, action), move by move."""
        listed = Sweeps(self.task.game)  # whatever sweeps the game has
        return listed.expected(self.task.seat, state, self.found, self.arithmetic)

    def _state(self, observation: Any) -> IntArray:
        """Give the state of an observation, shape (1,)."""
        game = self.task.game
        return state_of(game, self.task.seat, integers_of(observation, game, self.problem.sight))


@dataclass(frozen=True)
class Solution(Evaluation):
    """Values of an optimal policy, which takes the smallest of the optimal actions."""

    policy: DeterministicPolicy
    #: Says what to do in a position (``advice.ask``; advice scores, so it comes after this module).
    ask: ClassVar[Callable[..., Any]]

    def states(self) -> States:
        """List the states in which the agent may be to move, with values and optimal actions.

        Raises:
            SizeError: if the game has too many states to list.
        """
        game, seat = self.task.game, self.task.seat
        own = states_of(game, seat)
        values = self.arithmetic.numbers(self.found.at(seat, own))
        actions = self.policy.likeliest(own)
        return States(game.observation_names, own, game.observe(own, seat), values, actions)

    def to_frame(self) -> Any:
        """Make a ``pandas.DataFrame`` of ``states()``.

        Raises:
            InputError: if pandas is not installed.
        """
        return self.states().to_frame()

    def __str__(self) -> str:
        value = f"{self.task.words}: optimal value {self.value}{self._within}"
        return f"{value}\nlikeliest first position: {'; best: '.join(self._first)}"

    def _repr_html_(self) -> str:
        """Write the task and a table of the value and the first moves, for notebooks."""
        row = (str(self.value), f"{self.error_bound:.1e}", *self._first)
        header = ("optimal value", "right within", "likeliest first position", "best")
        return Table(header, [row], self.task.words, texts=len(row)).html()

    @property
    def _first(self) -> tuple[str, str]:
        """The likeliest first position and its optimal moves, in words."""
        first = self.as_dict()["first"]
        return first["words"], either(move["words"] for move in first["moves"])

    def as_dict(self) -> dict[str, Any]:
        """Return the value, and the optimal moves of the likeliest first position, as JSON has."""
        task, told = self.task, present(self.task.game)
        start = self.problem.in_floats.start
        state = start.states[[np.argmax(start.chances)]]
        seen = task.game.observe(state, task.seat)[0]
        best = self._best_in(state).tolist()
        moves = [
            {"action": one, "words": told.to_you(told.describe_move(seen, one))} for one in best
        ]
        observation = by_name(task.game, seen)
        return {
            "task": task.words,
            "value": float(self.value),
            "exact": str(self.value) if isinstance(self.value, Fraction) else None,
            "error_bound": self.error_bound,
            "first": {"observation": observation, "words": told.describe(seen), "moves": moves},
        }

    def optimal_actions(self, observation: Any) -> IntArray:
        """Give all optimal actions at one observation, in increasing order.

        Args:
            observation: as for ``action_values``.

        Raises:
            ValueError: as ``action_values`` does.
        """
        return self._best_in(self._state(observation))

    @cached_property
    def optimal(self) -> BoolArray:
        """Whether an action is optimal, shape (state, action); True where others are to move."""

        def best(stage: Stage, expected: Array) -> BoolArray:
            return self._best(expected, stage.states)

        return self._of_actions("optimal actions", True, bool, best)

    def _best_in(self, state: IntArray) -> IntArray:
        return np.flatnonzero(self._best(self._values_in(state), state)[0])

    def _best(self, expected: Array, states: IntArray) -> BoolArray:
        game = self.task.game
        return self.arithmetic.best(expected, game.mask(states), self.tie(states))[1]
