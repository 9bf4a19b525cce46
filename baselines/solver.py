"""Exact answers for one agent: its optimum, the value of a policy, where it goes, who beats it.

All functions take an environment of this project or a ``Task``. Values are in the game's payoff
(a win is 1, a tie 1/2, a loss 0, unless the game says otherwise) and, for an agent whose
opponents move first, conditioned on its getting to move at all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from ..games import Array, BoolArray, Game, InputError, IntArray, Stage, frozen
from .induction import equilibrium, maximize, spread, sweep_back, tie
from .names import resolve
from .policies import DeterministicPolicy, Policy, PolicyLike, tabulate
from .task import LineUp, Task, as_task, by_seat, start_mass


@dataclass(frozen=True)
class Evaluation:
    """Values of a policy.

    Attributes:
        task: what the policy was evaluated on.
        policy: the agent's policy.
        values: value to the agent, shape (player to move, state); if ``task`` is exact, integers
            or fractions to be divided by ``task.game.denominators``.
    """

    task: Task
    policy: Policy
    values: Array

    def __post_init__(self) -> None:
        frozen(self.values)

    @cached_property
    def value(self) -> float | Fraction:
        """Expected payoff from the agent's first move on; a fraction if exact."""
        return self._expected(self.values[self.task.seat], self.task.initial)

    @cached_property
    def value_before_play(self) -> float | Fraction:
        """Expected payoff before anyone moves, early ends of the game included."""
        return self._expected(self.values[0], start_mass(self.task.game, self.task.is_exact)[0])

    def _expected(self, values: Array, initial: Array) -> float | Fraction:
        states = np.flatnonzero(initial)
        if not self.task.is_exact:
            return fsum(initial[states] * values[states])  # rounded once, whatever the order
        scale = self.task.game.denominators(states)
        terms = zip(initial[states], values[states], scale, strict=True)
        return sum((Fraction(p) * Fraction(v) / d for p, v, d in terms), Fraction(0))

    @cached_property
    def table(self) -> Array:
        """Value of each action of the agent if the policy is followed afterwards.

        Shape (state, action); illegal actions are -inf.
        """
        game = self.task.game
        expected = np.full((game.num_states, game.num_actions), -np.inf, dtype=self.values.dtype)
        for mover, states, numbers in game.backward(self.values, self.task.seat):
            if mover == self.task.seat:
                expected[states] = np.where(game.mask(states), numbers, -np.inf)
        return frozen(expected)

    def action_values(self, observation: npt.ArrayLike) -> Array:
        """Give the values of all actions at one observation, shape (action,); illegal are -inf."""
        state = self._state(observation)
        row: Array = self.table[state[0]].copy()
        if not self.task.is_exact:
            return row
        scale = self.task.game.denominators(state)[0]
        unscaled = [x if x == -np.inf else Fraction(x) / scale for x in row]
        return np.array(unscaled, dtype=object)

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
        return np.flatnonzero(self._best(self.table[state], state)[0])

    @cached_property
    def optimal(self) -> BoolArray:
        """Say which actions are optimal, shape (state, action)."""
        return frozen(self._best(self.table, np.arange(self.task.game.num_states)))

    def _best(self, expected: Array, states: IntArray) -> BoolArray:
        equal = 0.0 if self.task.is_exact else tie(self.task.game)
        return maximize(expected, self.task.game.mask(states), equal)[1]


def solve(env: Any, exact: bool = False) -> Solution:
    """Find the agent's best response to the opponents of ``env`` (the Bellman equation).

    Args:
        env: an environment of this project, or a ``Task``.
        exact: compute with integers; values are fractions.
    """
    task = as_task(env).with_exact(exact)
    if "solution" in task.memo:
        known: Solution = task.memo["solution"]
        return known
    if task.faces_equilibrium:  # to which the best response is the equilibrium itself
        both = equilibrium(task.game, task.is_exact)
        solution = Solution(task, both.policies[task.seat], both.values[task.seat])
    else:
        values, choices = sweep_back(task.game, task.seat, task.policies, task.is_exact)
        policy = DeterministicPolicy(choices[task.seat], task.game.num_actions)
        solution = Solution(task, policy, values)
    task.memo["solution"] = solution
    return solution


def evaluate(policy: PolicyLike, env: Any, exact: bool = False) -> Evaluation:
    """Compute the value of a policy in every position (the Kolmogorov equation).

    Args:
        policy: a name, a table (state, action), actions (state,), or a callable on
            (observations, masks). "optimal" is the best response to the opponents of ``env``.
        env: an environment of this project, or a ``Task``.
        exact: compute with fractions; probabilities are taken as the exact numbers their floats
            are.
    """
    task = as_task(env).with_exact(exact)
    chosen = agent_policy(policy, task)
    values, _ = sweep_back(task.game, task.seat, {**task.policies, task.seat: chosen}, exact)
    return Evaluation(task, chosen, values)


def agent_policy(policy: PolicyLike, task: Task, masked: bool = True) -> Policy:
    """Resolve a policy of the agent, for whom "optimal" is the best response it can give."""
    if isinstance(policy, str) and policy == "optimal":
        return solve(task, exact=task.is_exact).policy
    if not masked and not isinstance(policy, str | Policy):
        return tabulate(policy, task.game, task.seat, masked=False)
    return resolve(policy, task.game, task.seat, task.is_exact)


def occupancy(policy: PolicyLike, env: Any, exact: bool = False) -> Array:
    """Compute how likely a game meets each state with the agent to move (Fokker-Planck).

    Returns:
        Probabilities, shape (state,); a state is met at most once in a game.
    """
    task = as_task(env).with_exact(exact)
    mass = np.zeros((task.game.num_players, task.game.num_states), dtype=task.initial.dtype)
    for _ in play(agent_policy(policy, task), task, mass):
        pass
    met: Array = mass[task.seat]
    return met


def play(policy: Policy, task: Task, mass: Array) -> Iterator[Stage]:
    """Visit all stages first to last, with the probability of every state and action.

    The caller may lower the probabilities (state, action) of a stage before it asks for the next.

    Args:
        policy: the agent's.
        task: what it faces.
        mass: zeros, shape (player to move, state), filled with the probability of each state.
    """
    policies = {**task.policies, task.seat: policy}
    mass[task.seat] = task.initial
    for mover, states, weights in task.game.forward(mass, task.seat):
        weights[:] = spread(policies[mover], states, mass[mover, states])
        yield Stage(mover, states, weights)
        weights *= task.game.mask(states)  # illegal moves end the game


def outcome_distribution(
    policy: PolicyLike, env: Any, exact: bool = False
) -> dict[float | Fraction, float | Fraction]:
    """Compute the probability of every payoff that the agent can get.

    Args:
        policy: as in ``evaluate``.
        env: an environment of this project, or a ``Task``.
        exact: compute with fractions.

    Returns:
        Probabilities by payoff, in growing order; they sum to one.
    """
    task = as_task(env).with_exact(exact)
    chosen = agent_policy(policy, task)
    worst = task.game.exact_range[0] if exact else task.game.payoff_range[0]
    law: dict[float | Fraction, Any] = {worst: 0}
    mass = np.zeros((task.game.num_players, task.game.num_states), dtype=task.initial.dtype)
    for mover, states, weights in play(chosen, task, mass):
        ways = task.game.settled(mover, states, task.seat, exact)
        pairs, actions, payoffs, chances = ways
        law[worst] += (weights * ~task.game.mask(states)).sum()
        for payoff in sorted(set(payoffs.tolist())):
            paid = payoffs == payoff
            mass = (weights[pairs[paid], actions[paid]] * chances[paid]).sum()
            law[payoff] = law.get(payoff, 0) + mass
    number = Fraction if exact else float
    return {number(payoff): law[payoff] for payoff in sorted(law) if law[payoff] > 0}


def expected_payoffs(policies: LineUp, env: Any, exact: bool = False) -> list[float | Fraction]:
    """Compute what every seat wins on average when all play given policies.

    Args:
        policies: one for all seats, or one for each, in the order of the seats or by seat. As
            for an opponent, "optimal" is the equilibrium.
        env: an environment of this project or a ``Task``, for its game.
        exact: compute with fractions.
    """
    game = as_task(env).game
    line_up = {
        seat: resolve(policy, game, seat, exact)
        for seat, policy in by_seat(policies, range(game.num_players)).items()
    }
    return [
        evaluate(policy, Task(game, seat, _others(line_up, seat), exact), exact).value_before_play
        for seat, policy in line_up.items()
    ]


def _others(line_up: Mapping[int, Policy], seat: int) -> dict[int, PolicyLike]:
    return {other: policy for other, policy in line_up.items() if other != seat}


def best_response(policy: PolicyLike, env: Any, exact: bool = False) -> Solution:
    """Find the best that the other player of a two-player game can do against a policy.

    ``policy`` plays the seat of ``env``; the opponents of ``env`` play no part. As for an
    opponent, "optimal" is the equilibrium.
    """
    task = as_task(env)
    _require_two_players(task.game)
    return solve(Task(task.game, 1 - task.seat, {task.seat: policy}, exact), exact)


def exploitability(policy: PolicyLike, env: Any, exact: bool = False) -> float | Fraction:
    """Compute how much a policy loses, as against an equilibrium, to the best response to it.

    It is the mean over the policy's seats of what the best response earns beyond what the game
    is worth to it (half of NashConv); zero for an equilibrium and positive for all else.
    """
    game = as_task(env).game
    _require_two_players(game)
    gains = []
    for seat in (0, 1):
        against_policy = solve(Task(game, 1 - seat, {seat: policy}, exact), exact)
        against_equilibrium = solve(Task(game, 1 - seat, "optimal", exact), exact)
        gains.append(against_policy.value_before_play - against_equilibrium.value_before_play)
    return sum(gains) / 2


def _require_two_players(game: Game) -> None:
    if game.num_players != 2 or not game.zero_sum:
        raise InputError(f"game must be zero-sum with two players, got {game!r}")
