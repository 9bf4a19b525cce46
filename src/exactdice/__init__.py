"""Reinforcement-learning environments whose optimum is known exactly.

Importing this package registers the environments ``exactdice/<game>-v0`` with Gymnasium.
"""

from typing import Any

from . import baselines as _baselines
from .baselines import (
    Blunder,
    Evaluation,
    Score,
    Solution,
    Task,
    as_task,
    best_response,
    evaluate,
    expected_payoffs,
    exploitability,
    occupancy,
    solve,
)
from .envs import REFERENCE, register

register()


def score(
    model: Any,
    env: Any,
    *,
    deterministic: bool = True,
    masked: bool = True,
    name: str | None = None,
) -> Score:
    """Score an agent or policy exactly, by computation over every state.

    Args:
        model: a stable-baselines3 model, a table (state, action), actions (state,), a callable on
            (observations, masks), or a name such as "random".
        env: an environment of this project (its opponents count, its reward mode does not).
        deterministic: for models, whether they take their likeliest action or draw from their law.
        masked: whether the policy is held to the legal actions; if not, an illegal action ends
            the game with the worst payoff.
        name: what to call the policy.

    Raises:
        ValueError: if the policy does not fit the environment.
    """
    if any(base.__module__.startswith("stable_baselines3") for base in type(model).__mro__):
        from .agents.adapter import ModelPolicy

        name = name or type(model).__name__
        model = ModelPolicy(model, as_task(env).game, deterministic, masked)
    return _baselines.score(model, env, name=name, masked=masked)


__all__ = [
    "REFERENCE",
    "Blunder",
    "Evaluation",
    "Score",
    "Solution",
    "Task",
    "best_response",
    "evaluate",
    "expected_payoffs",
    "exploitability",
    "occupancy",
    "score",
    "solve",
]
