"""Tours of policies: exact scores in games with too many states for arrays."""

from ...core import InputError, SizeError
from ...core.positions import has_few_states, require_few_states
from ...core.sweeps import sweeps_of
from ...core.tour import Tour
from ..cache import cached
from ..policies.kinds import Policy
from ..task import Task
from .solver import solve

#: Largest difference of mean and regret from the optimum, as a share of the largest payoff.
_CLOSE = 1e-9


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
