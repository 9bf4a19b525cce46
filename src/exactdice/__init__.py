"""Reinforcement-learning environments whose optimum is known exactly.

Importing this package registers the environments ``exactdice/<game>-v0`` with Gymnasium;
``register`` adds your own games.
"""

from importlib import import_module
from types import ModuleType

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
    exact_evaluation,
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
from .core import InputError
from .envs import REFERENCE, register, register_package

_sources.register()
register_package()
_agents.register()


def __getattr__(name: str) -> ModuleType:
    """Import ``exactdice.testing`` or ``exactdice.pettingzoo`` at first use."""
    if name in ("pettingzoo", "testing"):
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
    "exact_evaluation",
    "expected_payoffs",
    "exploitability",
    "from_network",
    "occupancy",
    "outcome_distribution",
    "payoff_matrix",
    "register",
    "score",
    "solve",
    "verify",
]
