"""What exact computation says of a game: optimum, value and score of any policy."""

from .certificate import CertificateError, certificate, verify
from .induction import equilibrium
from .names import is_policy_name, policy_names
from .policies import Policy, PolicyFunction, PolicyLike
from .score import Blunder, ImpossibleScoreError, Score, score
from .solver import (
    Evaluation,
    Solution,
    best_response,
    evaluate,
    expected_payoffs,
    exploitability,
    occupancy,
    outcome_distribution,
    solve,
)
from .task import Task, as_task, make_task
from .tournament import PayoffMatrix, payoff_matrix

__all__ = [
    "Blunder",
    "CertificateError",
    "Evaluation",
    "ImpossibleScoreError",
    "PayoffMatrix",
    "Policy",
    "PolicyFunction",
    "PolicyLike",
    "Score",
    "Solution",
    "Task",
    "as_task",
    "best_response",
    "certificate",
    "equilibrium",
    "evaluate",
    "expected_payoffs",
    "exploitability",
    "is_policy_name",
    "make_task",
    "occupancy",
    "outcome_distribution",
    "payoff_matrix",
    "policy_names",
    "score",
    "solve",
    "verify",
]
