"""Exact answers for one agent: its optimum, the value of a policy, where it goes, who beats it.

All functions take an environment of this project or a ``Task``. Values are in the game's payoff
(a win is 1, a tie 1/2, a loss 0, unless the game says otherwise) and, for an agent whose
opponents move first, conditioned on its getting to move at all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from ..games import (
    Arithmetic,
    Array,
    BoolArray,
    Decide,
    Game,
    InputError,
    IntArray,
    Stage,
    Values,
    arithmetic,
    frozen,
)
from ..games.sizes import check_array
from .conversion import Reading, choose, convert, label
from .induction import equilibrium, maximize, spread, sweep_back, tie
from .policies import DeterministicPolicy, Policy, PolicyFunction, PolicyLike
from .task import LineUp, Task, as_task, by_seat, look_at, start_mass


@dataclass(frozen=True)
class Evaluation:
    """Values of a policy.

    Attributes:
        task: what the policy was evaluated on.
        policy: the agent's policy.
        found: value to the agent, shape (player to move, state).
    """

    task: Task
    policy: Policy
    found: Values

    @property
    def values(self) -> Array:
        """Value to the agent, shape (player to move, state), floats or fractions."""
        return self.found.array

    @cached_property
    def value(self) -> float | Fraction:
        """Expected payoff from the agent's first move on; a fraction if exact."""
        return self._expected(self.task.seat, self.task.initial)

    @cached_property
    def value_before_play(self) -> float | Fraction:
        """Expected payoff before anyone moves, early ends of the game included."""
        return self._expected(0, start_mass(self.task.game, self.task.is_exact)[0])

    def _expected(self, seat: int, initial: Array) -> float | Fraction:
        states = np.flatnonzero(initial)
        terms = initial[states] * self.found.at(seat, states)
        if not self.task.is_exact:
            return fsum(terms)  # rounded once, whatever the order
        return sum(map(Fraction, terms), Fraction(0))

    @property
    def _arithmetic(self) -> Arithmetic:
        return arithmetic(self.task.is_exact)

    @cached_property
    def table(self) -> Array:
        """Value of each action of the agent if the policy is followed afterwards.

        Shape (state, action); illegal actions are -inf. Nothing else here needs it; it is for
        small games.
        """
        game = self.task.game
        check_array("a table of action values", game, game.num_states, game.num_actions)
        kind = self._arithmetic
        expected = np.full((game.num_states, game.num_actions), -np.inf, dtype=kind.dtype)

        def look(stage: Stage, numbers: Array) -> Array:
            if stage.seat == self.task.seat:
                legal = game.mask(stage.states)
                found = kind.unscaled(numbers, stage.scale[:, None])
                expected[stage.states] = np.where(legal, found, -np.inf)
            return self.found.at_stage(stage)

        game.backward(look, self.task.seat, kind)
        return frozen(expected)

    def action_values(self, observation: npt.ArrayLike) -> Array:
        """Give the values of all actions at one observation, shape (action,); illegal are -inf."""
        return self._row(self._state(observation))

    def _row(self, state: IntArray) -> Array:
        """Give the values of all actions in one state, from those of the states they lead to."""
        game = self.task.game
        actions = np.flatnonzero(game.mask(state)[0])
        row: Array = np.full(game.num_actions, -np.inf, dtype=self._arithmetic.dtype)
        states = np.repeat(state, len(actions))
        row[actions] = game.expect(self.task.seat, states, actions, self.found, self._arithmetic)
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
        policy: whatever ``as_policy`` takes.
        env: an environment of this project, or a ``Task``.
        exact: compute with fractions; probabilities are taken as the exact numbers their floats
            are.
    """
    task = as_task(env).with_exact(exact)
    chosen = as_policy(policy, env, exact=exact)
    values, _ = sweep_back(task.game, task.seat, {**task.policies, task.seat: chosen}, exact)
    return Evaluation(task, chosen, values)


def as_policy(
    policy: Any,
    env: Any,
    *,
    exact: bool = False,
    deterministic: bool = True,
    masked: bool = True,
    observations: Any = None,
) -> Policy:
    """Turn whatever a user calls a policy into one of the agent of ``env``.

    All functions that take a policy call this first; call it yourself to say more about a model,
    or to use one many times.

    Args:
        policy: a name, of which "optimal" is the best response to the opponents of ``env``; a
            table of probabilities (state, action), actions (state,), or a mapping from state to
            action; a callable on (observations, masks); a model of stable-baselines3 or
            sb3-contrib, or its policy; the path of a run folder, of a certificate or of a model
            that stable-baselines3 saved.
        env: an environment of this project, or a ``Task``. Networks are shown what its wrappers
            make of observations.
        exact: whether named policies are computed without rounding.
        deterministic: whether models take their likeliest action or draw from their law.
        masked: whether the policy is held to the legal actions.
        observations: what a model is given of what it is shown: a ``VecNormalize``, or a function
            from a batch of observations to a batch. Needed for a model that was trained under
            ``VecNormalize`` and loaded without it.

    Raises:
        ValueError: if the policy does not fit the game or cannot be scored exactly.
    """
    task, sight = look_at(env)
    if isinstance(policy, str) and policy == "optimal" and observations is None:
        return solve(task, exact).policy

    def worthless(states: IntArray) -> BoolArray:
        values = solve(task).values[task.seat, states]
        nothing: BoolArray = values <= task.game.payoff_range[0] + tie(task.game)
        return nothing

    reading = Reading(deterministic, masked, sight, observations, worthless if masked else None)
    return convert(policy, task.game, task.seat, exact, reading)


def from_network(
    function: Callable[[npt.NDArray[Any]], Any], env: Any, deterministic: bool = True
) -> PolicyFunction:
    """Make a policy of a network of any library.

    Args:
        function: from a batch of what ``env`` shows, shape (state, ...), to logits or action
            values of shape (state, action), as an array or a tensor.
        env: an environment of this project, whose encoding and wrappers of observations count; or
            a ``Task``, which shows integers of shape (state, component).
        deterministic: whether the legal action of largest preference is taken; if not, actions
            are drawn with probabilities proportional to the exponentials of the preferences.

    Returns:
        A callable on (observations, masks), which every function here takes for a policy.
    """
    _, sight = look_at(env)

    def play(observations: IntArray, masks: BoolArray) -> npt.NDArray[Any]:
        given = function(observations if sight is None else sight.show(observations))
        if hasattr(given, "detach"):  # a tensor of torch
            given = given.detach().cpu()
        preferences = np.asarray(given)
        if preferences.shape != masks.shape:
            raise InputError(
                f"function must give preferences of shape {masks.shape} (state, action), "
                f"got {preferences.shape}"
            )
        return choose(preferences, observations, masks, deterministic)

    play.__name__ = label(function)
    return play


def occupancy(policy: PolicyLike, env: Any, exact: bool = False) -> Array:
    """Compute how likely a game meets each state with the agent to move (Fokker-Planck).

    Returns:
        Probabilities, shape (state,); a state is met at most once in a game.
    """
    task = as_task(env).with_exact(exact)
    met: Array = play(as_policy(policy, env, exact=exact), task)[task.seat]
    return met


def play(policy: Policy, task: Task, follow: Decide | None = None) -> Array:
    """Compute how likely a game meets each state, visiting all stages first to last.

    Args:
        policy: the agent's.
        task: what it faces.
        follow: takes a stage and the probabilities of its moves, shape (state, action); gives
            those that are followed further. None follows all.

    Returns:
        Probabilities, shape (player to move, state).
    """
    policies = {**task.policies, task.seat: policy}

    def decide(stage: Stage, met: Array) -> Array:
        weights = spread(policies[stage.seat], stage.states, met)
        if follow is not None:
            weights = follow(stage, weights)
        legal: Array = weights * task.game.mask(stage.states)  # illegal moves end the game
        return legal

    start = np.zeros((task.game.num_players, task.game.num_states), dtype=task.initial.dtype)
    start[task.seat] = task.initial
    return task.game.forward(decide, start, task.seat, arithmetic(task.is_exact))


def outcome_distribution(
    policy: PolicyLike, env: Any, exact: bool = False
) -> dict[float | Fraction, float | Fraction]:
    """Compute the probability of every payoff that the agent can get.

    Args:
        policy: whatever ``as_policy`` takes.
        env: an environment of this project, or a ``Task``.
        exact: compute with fractions.

    Returns:
        Probabilities by payoff, in growing order; they sum to one.
    """
    task = as_task(env).with_exact(exact)
    chosen = as_policy(policy, env, exact=exact)
    worst = task.game.exact_range[0] if exact else task.game.payoff_range[0]
    law: dict[float | Fraction, Any] = {worst: 0}

    def add(stage: Stage, weights: Array) -> Array:
        ways = task.game.settled(*stage.positions, task.seat, arithmetic(exact))
        pairs, actions, payoffs, chances = ways
        law[worst] += (weights * ~task.game.mask(stage.states)).sum()
        for payoff in sorted(set(payoffs.tolist())):
            paid = payoffs == payoff
            mass = (weights[pairs[paid], actions[paid]] * chances[paid]).sum()
            law[payoff] = law.get(payoff, 0) + mass
        return weights

    play(chosen, task, add)
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
    task, sight = look_at(env)
    game = task.game
    line_up = {
        seat: convert(policy, game, seat, exact, Reading(sight=sight))
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
    task, sight = look_at(env)
    _require_two_players(task.game)
    chosen = convert(policy, task.game, task.seat, exact, Reading(sight=sight))
    return solve(Task(task.game, 1 - task.seat, {task.seat: chosen}, exact), exact)


def exploitability(policy: PolicyLike, env: Any, exact: bool = False) -> float | Fraction:
    """Compute how much a policy loses, as against an equilibrium, to the best response to it.

    It is the mean over the policy's seats of what the best response earns beyond what the game
    is worth to it (half of NashConv); zero for an equilibrium and positive for all else.
    """
    task, sight = look_at(env)
    game = task.game
    _require_two_players(game)
    gains = []
    for seat in (0, 1):
        chosen = convert(policy, game, seat, exact, Reading(sight=sight))
        against_policy = solve(Task(game, 1 - seat, {seat: chosen}, exact), exact)
        against_equilibrium = solve(Task(game, 1 - seat, "optimal", exact), exact)
        gains.append(against_policy.value_before_play - against_equilibrium.value_before_play)
    lost = sum(gains) / 2
    return lost if exact else max(lost, 0.0)  # below it by rounding only


def _require_two_players(game: Game) -> None:
    if game.num_players != 2 or not game.zero_sum:
        raise InputError(f"game must be zero-sum with two players, got {game!r}")
