"""What solving and evaluating give: values of all positions, and questions about them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..games import Arithmetic, Array, BoolArray, InputError, IntArray, Stage, Values, frozen
from ..games.sizes import check_array
from .induction import look_ahead
from .policies import DeterministicPolicy, Policy
from .rounding import gamma, largest_payoff, upwards
from .task import Task, first_law, start_mass


@dataclass(frozen=True)
class Evaluation:
    """Values of a policy.

    Attributes:
        task: what the policy was evaluated on.
        policy: the agent's policy.
        found: the values, which are asked for by position.
        arithmetic: how they were computed.
        sweep_error: bounds the error of values and action values (see ``rounding``).
    """

    task: Task
    policy: Policy
    found: Values = field(repr=False)
    arithmetic: Arithmetic
    sweep_error: float

    @cached_property
    def error_bound(self) -> float:
        """How far rounding may have taken any value from the true one; 0 if exact.

        It holds for the values of positions and of actions, and for ``value`` and
        ``value_before_play``. Its proof is in ``rounding`` and ``cycles``.
        """
        if not self.arithmetic.rounds:
            return 0.0
        low, high = self.task.game.payoff_range
        law = first_law(self.task, self.arithmetic).error * (high - low)
        return upwards(self.sweep_error + law + gamma(4) * largest_payoff(self.task.game))

    @cached_property
    def values(self) -> Array:
        """Value to the agent, floats or fractions, shape (player to move, state).

        Fractions of a whole game take time: ``found.at`` gives those of some positions.
        """
        return self.found.array

    @cached_property
    def value(self) -> float | Fraction:
        """Expected payoff from the agent's first move on; a fraction if exact."""
        return self._expected(self.task.seat, first_law(self.task, self.arithmetic).chances)

    @cached_property
    def value_before_play(self) -> float | Fraction:
        """Expected payoff before anyone moves, early ends of the game included."""
        return self._expected(0, start_mass(self.task.game, self.arithmetic)[0])

    def _expected(self, seat: int, law: Array) -> float | Fraction:
        states = np.flatnonzero(law)
        mean = self.arithmetic.mean(law[states], self.found.at(seat, states))
        payoffs = self.arithmetic.payoff_range(self.task.game)
        within: float | Fraction = self.arithmetic.number(self.arithmetic.within(mean, *payoffs))
        return within

    @cached_property
    def table(self) -> Array:
        """Value of each action of the agent if the policy is followed afterwards.

        Shape (state, action); illegal actions are -inf. Nothing else here needs it; it is for
        small games.
        """
        game = self.task.game
        check_array("a table of action values", game, game.num_states, game.num_actions)
        expected = np.full((game.num_states, game.num_actions), -np.inf, self.arithmetic.dtype)

        def look(stage: Stage, numbers: Array) -> None:
            if stage.seat == self.task.seat:
                values = self.arithmetic.unscaled(numbers, stage.scale[:, None])
                expected[stage.states] = np.where(game.mask(stage.states), values, -np.inf)

        self._look_ahead(look)
        return frozen(expected)

    def _look_ahead(self, look: Callable[[Stage, Array], None]) -> None:
        """Show the values of actions as a sweep has them, shape (state, action)."""
        look_ahead(self.task.game, look, self.found, self.task.seat, self.arithmetic)

    def action_values(self, observation: npt.ArrayLike) -> Array:
        """Give the values of all actions at one observation, shape (action,); illegal are -inf."""
        return self._row(self._state(observation))

    def _row(self, state: IntArray) -> Array:
        """Give the values of all actions in one state, from those of the states they lead to."""
        game = self.task.game
        actions = np.flatnonzero(game.mask(state)[0])
        row: Array = np.full(game.num_actions, -np.inf, dtype=self.arithmetic.dtype)
        states = np.repeat(state, len(actions))
        expected = game.expect(self.task.seat, states, actions, self.found, self.arithmetic)
        row[actions] = self.arithmetic.numbers(expected)
        return row

    def _state(self, observation: npt.ArrayLike) -> IntArray:
        wanted, sizes = np.asarray(observation), self.task.game.observation_sizes
        if wanted.shape != (len(sizes),) or not np.all((wanted >= 0) & (wanted < sizes)):
            names = ", ".join(self.task.game.observation_names)
            raise InputError(
                f"observation must be ({names}) below {sizes}, got {np.asarray(observation)}"
            )
        state = self.task.game.encode(wanted[None])
        if state[0] < 0:
            raise InputError(f"observation must be one of the game's, got {wanted.tolist()}")
        return state


@dataclass(frozen=True)
class Solution(Evaluation):
    """Values of an optimal policy, which takes the smallest of the optimal actions."""

    policy: DeterministicPolicy

    def optimal_actions(self, observation: npt.ArrayLike) -> IntArray:
        """Give all optimal actions at one observation, in growing order."""
        state = self._state(observation)
        return np.flatnonzero(self._best(self._row(state)[None], state)[0])

    @cached_property
    def optimal(self) -> BoolArray:
        """Say which actions are optimal, shape (state, action); where others move all are."""
        game = self.task.game
        check_array("a table of optimal actions", game, game.num_states, game.num_actions)
        optimal = np.ones((game.num_states, game.num_actions), dtype=bool)

        def look(stage: Stage, numbers: Array) -> None:
            if stage.seat == self.task.seat:
                optimal[stage.states] = self._best(numbers, stage.states)

        self._look_ahead(look)
        return frozen(optimal)

    def _best(self, expected: Array, states: IntArray) -> BoolArray:
        game = self.task.game
        return self.arithmetic.best(expected, game.mask(states), self.arithmetic.tie(game))[1]
