"""Exact scores of policies, and the figures of an agent that is learning."""

from typing import Any

from ...core import FLOATS
from ..cache import cached
from ..policies.door import label
from ..solving.rounding import values_error
from ..solving.solver import evaluate, evaluate_where_met, read_agent, solve
from ..solving.touring import is_toured, tour_of
from ..task import Task, as_task
from .figure import LOGGED
from .score import Score


def score(
    policy: Any,
    env: Any,
    *,
    deterministic: bool = True,
    masked: bool = True,
    observations: Any = None,
    name: str | None = None,
) -> Score:
    """Score an agent or policy exactly, by computation over every state.

    Args:
        policy: whatever ``as_policy`` takes: a model, a name, a table, a callable, a path.
        env: an environment of this project, its id, or a ``Task``. Its opponents matter, its reward
            mode does not.
        deterministic: for models, whether they take their likeliest action or draw from their law.
        masked: whether it must act legally; if not, an illegal action gets the worst payoff.
        observations: changes observations before a model gets them (see ``as_policy``).
        name: name of the policy, for people.

    Raises:
        ValueError: if the policy does not fit the game or cannot be scored exactly.
    """
    task, options = as_task(env), (deterministic, masked, observations)
    if is_toured(task) and (agent := read_agent(policy, env, *options)).fold is None:
        tour = tour_of(agent, task)
        value, error_bound = tour.mean, values_error(tour.roundings, tour.mean)  # no term below 0
    else:
        found = evaluate_where_met(policy, env, *options)
        agent, value, error_bound = found.policy, float(found.value), found.error_bound
    return Score(
        policy=name or label(policy),
        deterministic=agent.is_deterministic,
        masked=masked,
        task=task,
        value=value,
        optimum=float(solve(task).value),
        random=random_value(task),
        agent=agent,
        error_bound=error_bound,
    )


def exact_evaluation(
    policy: Any,
    env: Any,
    *,
    deterministic: bool = True,
    masked: bool = True,
    observations: Any = None,
) -> dict[str, float]:
    """Give the exact figures of an agent that is learning, for a training loop to log.

    A call takes one pass through the network and one sweep over the game. Results that do not
    depend on the agent, such as the optimum, are computed at the first call and cached.

    Args:
        policy: whatever ``score`` takes, such as a model of stable-baselines3, or a torch module
            that gives a preference (a logit or an action value) for each action.
        env: as for ``score``. It is not played, so that training may go on in it.
        deterministic: see ``score``.
        masked: see ``score``. An agent that is trained without masks plays with ``masked=False``.
        observations: see ``score``.

    Returns:
        "value", "regret" and "normalized" (see ``Score``).

    Raises:
        ValueError: if the policy does not fit the game or cannot be scored exactly.
    """
    result = score(
        policy, env, deterministic=deterministic, masked=masked, observations=observations
    )
    return {name: getattr(result, name) for name in LOGGED}


@cached
def random_value(task: Task) -> float:
    """Compute the value of the uniform policy; the optimum if they agree up to rounding."""
    value, optimum = float(evaluate("random", task).value), float(solve(task).value)
    return value if abs(optimum - value) > FLOATS.tie(task.game) else optimum
