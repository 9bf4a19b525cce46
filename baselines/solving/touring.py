"""Tours of policies: the exact figures of games with too many states for arrays of them."""

from typing import Any

from ...core import InputError
from ...core.positions import has_few_states, require_few_states
from ...core.sweeps import sweeps_of
from ...core.tour import Tour
from ..cache import cached
from ..policies.kinds import Policy, PolicyLike
from ..task import Task
from .rounding import values_error
from .solver import evaluate, read_agent, solve

#: Largest difference of mean and regret from the optimum, as a share of the largest payoff.
_CLOSE = 1e-9


def is_toured(task: Task) -> bool:
    """Say whether policies are scored by a tour, as the states are too many for arrays."""
    return task.game.num_players == 1 and not has_few_states(task.game)


def evaluate_by_tour(
    policy: PolicyLike, env: Any, deterministic: bool, masked: bool, observations: Any
) -> tuple[Policy, float, float]:
    """Read a policy and compute its value: the agent, the value, and the bound of its error.

    All arguments are those of ``as_policy``. Policies with a sweep of their own need no tour.
    """
    agent, task = read_agent(policy, env, deterministic, masked, observations)
    if agent.fold is not None:
        found = evaluate(agent, task)
        return agent, float(found.value), found.error_bound
    tour = tour_of(agent, task)
    return agent, tour.mean, values_error(tour.roundings, tour.mean)  # all terms are positive


@cached
def tour_of(agent: Policy, task: Task) -> Tour:
    """Follow an agent through all games in one pass, asking it once about each state it meets.

    Args:
        agent: the agent's policy.
        task: the game.

    Raises:
        SizeError: if the game has no tours.
        ValueError: if the policy gives no actions or is no function of the state.
        ArithmeticError: if the mean and the regret do not add up to the optimum, which is a bug.
    """
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
