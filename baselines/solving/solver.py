"""Exact results for one agent: optimum, value of a policy, occupancy, payoff law, best response.

All functions take an environment of this project, its id, or a ``Task``. Values are expected
payoffs (a win is 1, a tie 1/2, a loss 0, unless the game says otherwise); for an agent whose
opponents move first they are conditional on its getting to move at all.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy.typing as npt

from ...core import FLOATS, Arithmetic, Array, BoolArray, Game, InputError, IntArray, SizeError
from ...core.contract import worst_payoff
from ...core.positions import has_few_states, require_few_states
from ...core.presentation import present
from ...core.sweeps import sweeps_of
from ...core.tour import Tour
from ..cache import cached
from ..policies.called import require_arguments
from ..policies.door import Reading, convert, label
from ..policies.kinds import DeterministicPolicy, Policy, PolicyFunction, PolicyLike
from ..policies.names import BEST
from ..policies.networks import FunctionNetwork
from ..task import LineUp, Task, as_task, by_seat, policies_against, task_and_sight
from .evaluation import Evaluation, Solution
from .induction import arithmetic_of, equilibrium, sweep_back
from .occupancy import outcomes
from .players import Players

#: Largest difference of mean and regret of a tour from the optimum, as a share of the largest
#: payoff.
_CLOSE = 1e-9

_Found = TypeVar("_Found", bound=Evaluation)


def solve(env: Any, exact: bool = False) -> Solution:
    """Find the agent's best response to the opponents of ``env`` (the Bellman equation).

    Args:
        env: an environment of this project, its id, or a ``Task``.
        exact: compute with integers; values are fractions.
    """
    task = as_task(env)
    return _as_seen(_solve(task, arithmetic_of(task.game, exact)), env)


def _as_seen(found: _Found, env: Any) -> _Found:
    """Have results read observations of ``env``: equal tasks may show them differently."""
    sight = task_and_sight(env)[1]
    return found if sight is None or sight.read is None else replace(found, read=sight.read)


@cached
def _solve(task: Task, arithmetic: Arithmetic) -> Solution:
    if task.faces_equilibrium:  # the best response to an equilibrium is the equilibrium itself
        both = equilibrium(task.game, exact=not arithmetic.rounds)
        policy, values = both.policies[task.seat], both.values[task.seat]
        return Solution(task, policy, values, arithmetic, both.error_bound)
    policies = policies_against(task, arithmetic)
    swept = sweep_back(Players(task.game, task.seat, policies, arithmetic))
    policy = DeterministicPolicy(swept.choices[task.seat], task.game.num_actions, "best_response")
    return Solution(task, policy, swept.values, arithmetic, swept.error_bound)


def evaluate(
    policy: PolicyLike,
    env: Any,
    exact: bool = False,
    *,
    deterministic: bool = True,
    masked: bool = True,
    observations: Any = None,
) -> Evaluation:
    """Compute the value of a policy in every position (the Kolmogorov equation).

    Args:
        policy: whatever ``as_policy`` takes.
        env: an environment of this project, its id, or a ``Task``.
        exact: compute with fractions; probabilities are the exact numbers that their floats are.
        deterministic: see ``as_policy``.
        masked: see ``as_policy``. If False, an illegal action ends the game with the worst payoff.
        observations: see ``as_policy``.

    Raises:
        ValueError: if the policy does not fit the game or cannot be scored exactly.
    """
    reading = Reading(deterministic, masked, observations=observations, exact=exact)
    agent, task = read_agent(policy, env, reading), as_task(env)
    return _as_seen(value_of(agent, task, arithmetic_of(task.game, exact), masked), env)


def value_of(agent: Policy, task: Task, arithmetic: Arithmetic, masked: bool = True) -> Evaluation:
    """Compute the value of a policy of the task's agent in every position."""
    policies = {**policies_against(task, arithmetic), task.seat: agent}
    swept = sweep_back(Players(task.game, task.seat, policies, arithmetic, masked=masked))
    return Evaluation(task, agent, swept.values, arithmetic, swept.error_bound, masked=masked)


def as_policy(
    policy: Any,
    env: Any,
    *,
    exact: bool = False,
    deterministic: bool = True,
    masked: bool = True,
    observations: Any = None,
) -> Policy:
    """Turn whatever a user gives as a policy into the ``Policy`` of the agent of ``env``.

    All functions that take a policy do this first. Call it yourself to give ``observations``,
    ``masked`` or ``deterministic`` once, or to use a policy many times without reading it again.

    Args:
        policy: a name, of which "optimal" and "best_response" are the best response to the
            opponents of ``env``, and "equilibrium" is the agent's part of the equilibrium,
            whatever the opponents play; a table of probabilities (state, action), actions
            (state,), or a mapping from observations or states to either; a callable on
            (observations, masks); a model of stable-baselines3 or sb3-contrib, or its policy; the
            path of a run folder, of a certificate or of a model that stable-baselines3 saved.
        env: an environment of this project, its id, or a ``Task``. Networks get observations
            as its wrappers change them.
        exact: whether named policies are computed without rounding.
        deterministic: whether models take their likeliest action or draw from their law.
        masked: whether the policy is held to the legal actions.
        observations: changes observations before a model gets them: a ``VecNormalize``, or a
            function from a batch to a batch. Needed for a model that was trained under
            ``VecNormalize`` and loaded without it.

    Raises:
        ValueError: if the policy does not fit the game or cannot be scored exactly.
    """
    reading = Reading(deterministic, masked, observations=observations, exact=exact)
    return read_agent(policy, env, reading)


def read_agent(policy: Any, env: Any, reading: Reading) -> Policy:
    """Turn what a user gives into the policy of the agent of ``env``, which ``reading`` lacks."""
    task, sight = task_and_sight(env)
    arithmetic = arithmetic_of(task.game, reading.exact)
    if isinstance(policy, str) and policy in BEST and reading.observations is None:
        return _solve(task, arithmetic).policy

    def worthless(states: IntArray) -> BoolArray:
        values = _solve(task, FLOATS).found.at(task.seat, states)
        return values <= worst_payoff(task.game) + FLOATS.tie(task.game, states)

    reading = replace(reading, sight=sight, worthless=worthless if reading.masked else None)
    return convert(policy, task.game, task.seat, reading)


def from_network(
    function: Callable[[npt.NDArray[Any]], Any],
    env: Any,
    deterministic: bool = True,
    masked: bool = True,
) -> PolicyFunction:
    """Make a policy from a network of any library.

    Args:
        function: from a batch of observations of ``env``, shape (state, ...), to logits or action
            values of shape (state, action), as an array or a tensor.
        env: an environment of this project, whose encoding and wrappers the observations go
            through; or a ``Task``, whose observations are integers, shape (state, component).
        deterministic: whether the legal action of largest preference is taken; if not, actions
            are drawn with probabilities proportional to the exponentials of the preferences.
        masked: whether only legal actions may be chosen. If not, give ``masked=False`` to
            ``score`` too.

    Returns:
        A callable on (observations, masks), which every function here takes for a policy.
    """
    cure = "one that takes (observations, legal) is a policy without from_network"
    require_arguments(function, "observations", cure)
    _, sight = task_and_sight(env)
    show = (lambda observations: observations) if sight is None else sight.show
    return FunctionNetwork(function, show, label(function), deterministic, masked)


def occupancy(policy: PolicyLike, env: Any, exact: bool = False) -> Array:
    """Compute the probability that a game visits each state of the agent (Fokker-Planck).

    Returns:
        Probabilities, shape (state,); in a game with cycles, which may visit a state again,
        expected visits.
    """
    agent, task = as_policy(policy, env, exact=exact), as_task(env)
    arithmetic = arithmetic_of(task.game, exact)
    met: Array = outcomes(agent, task, arithmetic).visits.array[task.seat]
    return arithmetic.numbers(met)


def outcome_distribution(
    policy: PolicyLike, env: Any, exact: bool = False
) -> dict[float | Fraction, float | Fraction]:
    """Compute the probability of every payoff that the agent can get.

    Args:
        policy: whatever ``as_policy`` takes.
        env: an environment of this project, its id, or a ``Task``.
        exact: compute with fractions.

    Returns:
        Probabilities by payoff, in increasing order; they sum to one.

    Raises:
        InputError: if moves pay before the end, as states do not hold the payoffs so far.
    """
    agent, task = as_policy(policy, env, exact=exact), as_task(env)
    law = outcomes(agent, task, arithmetic_of(task.game, exact)).law
    if law is None:
        raise InputError(
            f"game must pay at its end alone to have its law of payoffs computed, and a state of "
            f"{present(task.game).title} does not hold the points so far: evaluate gives their "
            "mean and variance"
        )
    return law


def expected_payoffs(policies: LineUp, env: Any, exact: bool = False) -> list[float | Fraction]:
    """Compute the expected payoff of every seat when all seats play given policies.

    Args:
        policies: one for all seats, or one for each, in the order of the seats or by seat. Here
            "optimal" is the equilibrium.
        env: an environment of this project, its id, or a ``Task``, for its game.
        exact: compute with fractions.
    """
    game = as_task(env).game
    seats, reading = by_seat(policies, range(game.num_players)), Reading(exact=exact)
    line_up = {seat: read_player(policy, env, seat, reading) for seat, policy in seats.items()}
    tasks = {
        seat: Task(game, seat, {other: line_up[other] for other in line_up if other != seat})
        for seat in line_up
    }
    return [evaluate(line_up[seat], tasks[seat], exact).value_before_play for seat in line_up]


def read_player(policy: Any, env: Any, seat: int, reading: Reading) -> Policy:
    """Turn what a user gives into the policy of any seat; "optimal" is the equilibrium."""
    task, sight = task_and_sight(env)
    return convert(policy, task.game, seat, replace(reading, sight=sight))


def best_response(policy: PolicyLike, env: Any, exact: bool = False) -> Solution:
    """Find the other player's best response to a policy in a two-player game.

    ``policy`` plays the seat of ``env``; the opponents of ``env`` are ignored. Here "optimal" is
    the equilibrium.
    """
    task = as_task(env)
    require_two_players(task.game)
    chosen = read_player(policy, env, task.seat, Reading(exact=exact))
    return solve(Task(task.game, 1 - task.seat, {task.seat: chosen}), exact)


def exploitability(policy: PolicyLike, env: Any, exact: bool = False) -> float | Fraction:
    """Compute how much less than an equilibrium a policy earns against its best response.

    It is the mean over both seats of the best response's value minus the value of the game to its
    seat (half of NashConv): zero for an equilibrium, positive for any other policy.
    """
    game = as_task(env).game
    require_two_players(game)
    gains = []
    for seat in (0, 1):
        chosen = read_player(policy, env, seat, Reading(exact=exact))
        against_equilibrium = solve(Task(game, 1 - seat, "optimal"), exact)
        against_policy = solve(Task(game, 1 - seat, {seat: chosen}), exact)
        gains.append(against_policy.value_before_play - against_equilibrium.value_before_play)
    lost = sum(gains) / 2
    return lost if exact else max(lost, 0.0)  # negative by rounding only


def require_two_players(game: Game) -> None:
    """Check that a game is zero-sum for two players.

    Raises:
        InputError: if it is not.
    """
    if game.num_players != 2 or not game.zero_sum:
        raise InputError(f"game must be zero-sum with two players, got {game!r}")


def is_toured(task: Task) -> bool:
    """Return whether a tour scores policies in this task: its states are too many for arrays."""
    return task.game.num_players == 1 and not has_few_states(task.game)


@cached
def tour_of(agent: Policy, task: Task) -> Tour:
    """Return the exact figures of an agent, from one pass that calls it once for each state met.

    Args:
        agent: the agent's policy.
        task: game, seat and opponents.

    Raises:
        SizeError: if the policy is uniformly random play, which reaches all states, too many for a
            tour.
        ValueError: if the game has no tours, or the policy returns no actions or depends on more
            than the state.
        ArithmeticError: if the mean and the regret do not add up to the optimum, which is a bug.
    """
    if agent.fold == "mean" and not has_few_states(task.game):
        raise SizeError(
            f"decisions must be fewer than those of {agent.name} play in {task.game!r}, of which "
            "values and the standard deviation are computed"
        )
    solution = solve(task)
    choose = None if agent.fold == "best" else agent.choices
    tour = sweeps_of(task.game).tour(choose, solution.found, agent.roundings)
    if tour is None:
        require_few_states(task.game)
        raise InputError(f"game must have tours, got {task.game!r}")
    lost = sum(next(iter(tour.regrets.values())).values())
    off = abs(tour.mean + lost - float(solution.value))
    if off > _CLOSE * max(map(abs, task.game.payoff_range)):
        raise ArithmeticError(
            f"mean and regret must add up to the optimum {float(solution.value)!r}, got "
            f"{tour.mean!r} and {lost!r}: this is a bug of exactdice, please report it"
        )
    return tour
