"""Reinforcement-learning environments whose optimum is known exactly.

Importing this package registers the environments ``exactdice/<game>-v0`` with Gymnasium.
"""

from collections.abc import Mapping
from typing import Any

from . import baselines as _baselines
from .baselines import (
    Blunder,
    CertificateError,
    Evaluation,
    PayoffMatrix,
    Score,
    Solution,
    Task,
    as_task,
    best_response,
    evaluate,
    expected_payoffs,
    exploitability,
    occupancy,
    outcome_distribution,
    solve,
    verify,
)
from .envs import REFERENCE, register
from .games import InputError

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
    if _is_model(model):
        from .agents.adapter import ModelPolicy

        name = name or type(model).__name__
        model = ModelPolicy(model, as_task(env).game, deterministic, masked)
    return _baselines.score(model, env, name=name, masked=masked)


def payoff_matrix(policies: Mapping[str, Any], env: Any, exact: bool = False) -> PayoffMatrix:
    """Let every policy or agent play every other, and itself, in every seat.

    Args:
        policies: two at least, by name: stable-baselines3 models, tables, callables or names of
            policies, of which "optimal" is the equilibrium. They have to know every seat.
        env: an environment of this project, for its game.
        exact: compute with fractions.

    Raises:
        ValueError: if the game has one player, there are fewer than two policies, or one does not
            fit the game.
    """
    players = dict(policies)
    for name, model in policies.items():
        if _is_model(model):
            from .agents.adapter import ModelPolicy

            players[name] = ModelPolicy(model, as_task(env).game)
    return _baselines.payoff_matrix(players, env, exact)


def _is_model(policy: Any) -> bool:
    """Say whether this is a model of stable-baselines3, without importing it."""
    return any(base.__module__.startswith("stable_baselines3") for base in type(policy).__mro__)


__all__ = [
    "REFERENCE",
    "Blunder",
    "CertificateError",
    "Evaluation",
    "InputError",
    "PayoffMatrix",
    "Score",
    "Solution",
    "Task",
    "best_response",
    "evaluate",
    "expected_payoffs",
    "exploitability",
    "occupancy",
    "outcome_distribution",
    "payoff_matrix",
    "score",
    "solve",
    "verify",
]
