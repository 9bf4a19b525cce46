"""Exact results for one agent: optimum, value of a policy, occupancy, payoff law, best response.

All functions take an environment of this project, its id, or a ``Task``. Values are expected
payoffs (a win is 1, a tie 1/2, a loss 0, unless the game says otherwise); for an agent whose
opponents move first they are conditional on its getting to move at all.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy.typing as npt

from ...core import FLOATS, Array, BoolArray, Game, InputError, IntArray, SizeError, present
from ...core.contract import worst_payoff
from ...core.positions import has_few_states, require_few_states
from ...core.tour import Tour
from ..cache import cached
from ..operators.induction import sweep_back
from ..operators.players import Players
from ..policies.called import require_arguments
from ..policies.door import Reading, label
from ..policies.kinds import Policy, PolicyFunction, PolicyLike
from ..policies.names import BEST
from ..policies.networks import FunctionNetwork
from ..policies.observations import is_viewed
from ..policies.tabular import keys_of
from ..problem.equilibrium import equilibrium
from ..problem.problem import Problem, cached_bare, convert, prepare
from ..problem.task import LineUp, Task, by_seat
from .evaluation import Evaluation, Solution
from .occupancy import outcomes

#: Largest difference of mean and regret of a tour from the optimum, as a share of the largest
#: payoff.
_CLOSE = 1e-9


def solve(env: Any, exact: bool = False) -> Solution:
    """Find the agent's best response to the opponents of ``env`` (the Bellman equation).

    Args:
        env: an environment of this project, its id, or a ``Task``.
        exact: compute with integers; values are fractions.
    """
    problem = prepare(env, exact)
    found = optimum(problem)
    return found if problem.sight is None else replace(found, problem=problem)


@cached_bare
def optimum(problem: Problem) -> Solution:
    """Find the agent's best response to its opponents; its observations are integers."""
    game, seat, arithmetic = problem.game, problem.seat, problem.arithmetic
    if problem.task.faces_equilibrium:  # the best response to an equilibrium is the equilibrium
        both = equilibrium(game, exact=not arithmetic.rounds)
        return Solution(problem, both.policies[seat], both.values[seat], both.error_bound)
    players = Players(problem.law, seat, problem.policies, arithmetic)
    swept = sweep_back(players, "best_response")
    return Solution(problem, swept.policies[seat], swept.values, swept.error_bound)


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
    problem = prepare(env, exact)
    reading = Reading(deterministic, masked, observations=observations)
    return value_of(read_agent(policy, problem, reading), problem, masked)


def value_of(agent: Policy, problem: Problem, masked: bool = True) -> Evaluation:
    """Compute the value of a policy of the agent in every position."""
    policies = problem.line_up(agent)
    players = Players(problem.law, problem.seat, policies, problem.arithmetic, masked=masked)
    swept = sweep_back(players)
    return Evaluation(problem, agent, swept.values, swept.error_bound, masked=masked)


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
    reading = Reading(deterministic, masked, observations=observations)
    return read_agent(policy, prepare(env, exact), reading)


def read_agent(policy: Any, problem: Problem, reading: Reading) -> Policy:
    """Turn what a user gives into the policy of the agent; ``reading`` lacks its environment."""
    if isinstance(policy, str) and policy in BEST and reading.observations is None:
        return optimum(problem).policy

    def worthless(states: IntArray) -> BoolArray:
        values = optimum(problem.in_floats).found.at(problem.seat, states)
        return values <= worst_payoff(problem.game) + FLOATS.tie(problem.game, states)

    reading = replace(reading, worthless=worthless if reading.masked else None)
    return read_player(policy, problem, problem.seat, reading)


def read_player(policy: Any, problem: Problem, seat: int, reading: Reading) -> Policy:
    """Turn what a user gives into the policy of any seat; "optimal" is the equilibrium."""
    exact = not problem.arithmetic.rounds
    return convert(policy, problem.game, seat, replace(reading, sight=problem.sight, exact=exact))


def from_network(
    function: Callable[[npt.NDArray[Any]], Any] | Mapping[Any, Any],
    env: Any,
    deterministic: bool = True,
    masked: bool = True,
) -> PolicyFunction:
    """Make a policy from a network of any library, or from a dictionary of action values.

    Args:
        function: from a batch of observations of ``env``, shape (state, ...), to logits or action
            values of shape (state, action), as an array or a tensor. Where ``env`` shows an
            integer, the batch has shape (state,). Or a mapping from an observation, an integer or
            a tuple, to the values of its actions; a ``defaultdict`` has its default for others.
        env: an environment of this project, whose encoding and wrappers the observations go
            through; or a ``Task``, whose observations are integers, shape (state, component): of a
            law the state alone, shape (state,), or within a limit the state and the moves so far.
            An explored environment or a game of OpenSpiel shows its own observations.
        deterministic: whether the legal action of largest preference is taken; if not, actions
            are drawn with probabilities proportional to the exponentials of the preferences.
        masked: whether only legal actions may be chosen. If not, give ``masked=False`` to
            ``score`` too.

    Returns:
        A callable on (observations, masks), which every function here takes for a policy.
    """
    cure = "one that takes (observations, legal) is a policy without from_network"
    name = label(function)
    if isinstance(function, Mapping):
        function = partial(_looked_up, function)
    if not callable(function):
        raise InputError(
            f"function must be callable or a mapping, got {type(function).__name__}: for a table "
            "of action values where env shows an integer, give lambda seen: table[seen]"
        )
    require_arguments(function, "observations", cure)
    problem = prepare(env)
    sight, game = problem.sight, problem.game
    timed = isinstance(env, Task) and not is_viewed(game) and len(game.observation_sizes) > 1
    show = (lambda observations: observations) if sight is None or timed else sight.show
    return FunctionNetwork(function, show, name, deterministic, masked)


def _looked_up(table: Mapping[Any, Any], seen: npt.NDArray[Any]) -> list[Any]:
    """Return a mapping's entries for a batch of observations."""
    default = getattr(table, "default_factory", None)
    keys = keys_of(seen)
    if default is None and (unknown := [key for key in keys if key not in table]):
        raise InputError(
            f"function must have the action values of every observation, got none for "
            f"{unknown[0]}: a collections.defaultdict has values for all others"
        )
    return [table[key] if key in table else default() for key in keys]  # type: ignore[misc]


def occupancy(policy: PolicyLike, env: Any, exact: bool = False) -> Array:
    """Compute the probability that a game visits each state of the agent (Fokker-Planck).

    Returns:
        Probabilities, shape (state,); in a game with cycles, which may visit a state again,
        expected visits.
    """
    problem = prepare(env, exact)
    agent = read_agent(policy, problem, Reading())
    met: Array = outcomes(agent, problem).visits.array[problem.seat]
    return problem.arithmetic.numbers(met)


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
    problem = prepare(env, exact)
    law = outcomes(read_agent(policy, problem, Reading()), problem).law
    if law is None:
        raise InputError(
            f"game must pay at its end alone to have its law of payoffs computed, and a state of "
            f"{present(problem.game).title} does not hold the points so far: evaluate gives their "
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
    problem = prepare(env, exact)
    game, seats = problem.game, by_seat(policies, range(problem.game.num_players))
    line_up = {seat: read_player(one, problem, seat, Reading()) for seat, one in seats.items()}
    tasks = {
        seat: Task(game, seat, {other: line_up[other] for other in line_up if other != seat})
        for seat in line_up
    }
    return [evaluate(line_up[seat], tasks[seat], exact).value_before_play for seat in line_up]


def best_response(policy: PolicyLike, env: Any, exact: bool = False) -> Solution:
    """Find the other player's best response to a policy in a two-player game.

    ``policy`` plays the seat of ``env``; the opponents of ``env`` are ignored. Here "optimal" is
    the equilibrium.
    """
    problem = prepare(env, exact)
    game, seat = problem.game, problem.seat
    require_two_players(game)
    chosen = read_player(policy, problem, seat, Reading())
    return solve(Task(game, 1 - seat, {seat: chosen}), exact)


def exploitability(policy: PolicyLike, env: Any, exact: bool = False) -> float | Fraction:
    """Compute how much less than an equilibrium a policy earns against its best response.

    It is the mean over both seats of the best response's value minus the value of the game to its
    seat (half of NashConv): zero for an equilibrium, positive for any other policy.
    """
    problem = prepare(env, exact)
    require_two_players(problem.game)
    lost = sum(
        gain_of_response(read_player(policy, problem, seat, Reading()), problem, seat)
        for seat in (0, 1)
    )
    return lost / 2 if exact else max(lost / 2, 0.0)  # negative by rounding only


def gain_of_response(agent: Policy, problem: Problem, seat: int) -> Any:
    """Give what the other player's best response to an agent in a seat gains over equilibrium."""
    game, exact = problem.game, not problem.arithmetic.rounds
    worth = solve(Task(game, 1 - seat), exact).value_before_play
    return solve(Task(game, 1 - seat, {seat: agent}), exact).value_before_play - worth


def require_two_players(game: Game) -> None:
    """Check that a game is zero-sum for two players."""
    if game.num_players != 2 or not game.zero_sum:
        raise InputError(f"game must be zero-sum with two players, got {game!r}")


def is_toured(task: Task | Problem) -> bool:
    """Return whether a tour scores policies in this task: its states are too many for arrays."""
    return task.game.num_players == 1 and not has_few_states(task.game)


@cached
def tour_of(agent: Policy, problem: Problem) -> Tour:
    """Return the exact figures of an agent, from one pass that calls it once for each state met.

    Uniformly random play reaches too many states for a tour, which is a ``SizeError``.
    """
    game = problem.game
    if agent.fold == "mean" and not has_few_states(game):
        raise SizeError(
            f"decisions must be fewer than those of {agent.name} play in {game!r}, of which "
            "values and the standard deviation are computed"
        )
    solution = optimum(problem.in_floats)
    choose = None if agent.fold == "best" else agent.choices
    tour = problem.law.tour(choose, solution.found, agent.roundings)
    if tour is None:
        require_few_states(game)
        raise InputError(f"game must have tours, got {game!r}")
    lost = sum(next(iter(tour.regrets.values())).values())
    off = abs(tour.mean + lost - float(solution.value))
    if off > _CLOSE * max(map(abs, game.payoff_range)):
        raise ArithmeticError(
            f"mean and regret must add up to the optimum {float(solution.value)!r}, got "
            f"{tour.mean!r} and {lost!r}: this is a bug of exactdice, please report it"
        )
    return tour
