"""Reinforcement-learning environments whose optimum is known exactly.

Importing this package registers the environments ``exactdice/<game>-v0`` with Gymnasium.
"""

from . import agents as _agents
from . import sources as _sources
from .baselines import (
    Blunder,
    CertificateError,
    Evaluation,
    PayoffMatrix,
    Policy,
    Score,
    Solution,
    Task,
    as_policy,
    as_task,
    best_response,
    evaluate,
    expected_payoffs,
    exploitability,
    from_network,
    occupancy,
    outcome_distribution,
    payoff_matrix,
    score,
    solve,
    verify,
)
from .envs import REFERENCE, register
from .games import InputError

_sources.register()
register()
_agents.register()

__all__ = [
    "REFERENCE",
    "Blunder",
    "CertificateError",
    "Evaluation",
    "InputError",
    "PayoffMatrix",
    "Policy",
    "Score",
    "Solution",
    "Task",
    "as_policy",
    "as_task",
    "best_response",
    "evaluate",
    "expected_payoffs",
    "exploitability",
    "from_network",
    "occupancy",
    "outcome_distribution",
    "payoff_matrix",
    "score",
    "solve",
    "verify",
]
