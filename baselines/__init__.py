"""What exact computation says of a game: optimum, value and score of any policy."""

from .blunders import Blunder
from .certificate import CertificateError, certificate, verify
from .conversion import Reading, Sight, register_converter
from .evaluation import Evaluation, Solution
from .induction import equilibrium
from .names import is_policy_name, policy_names, register_policies
from .policies import Policy, PolicyFunction, PolicyLike
from .preferences import NetworkPolicy, choose
from .score import LOGGED, ImpossibleScoreError, Score, exact_evaluation, score
from .solver import (
    as_policy,
    best_response,
    evaluate,
    expected_payoffs,
    exploitability,
    from_network,
    occupancy,
    outcome_distribution,
    solve,
)
from .task import Task, as_task, look_at, make_game, make_task, register_environment
from .tournament import PayoffMatrix, payoff_matrix

__all__ = [
    "LOGGED",
    "Blunder",
    "CertificateError",
    "Evaluation",
    "ImpossibleScoreError",
    "NetworkPolicy",
    "PayoffMatrix",
    "Policy",
    "PolicyFunction",
    "PolicyLike",
    "Reading",
    "Score",
    "Sight",
    "Solution",
    "Task",
    "as_policy",
    "as_task",
    "best_response",
    "certificate",
    "choose",
    "equilibrium",
    "evaluate",
    "exact_evaluation",
    "expected_payoffs",
    "exploitability",
    "from_network",
    "is_policy_name",
    "look_at",
    "make_game",
    "make_task",
    "occupancy",
    "outcome_distribution",
    "payoff_matrix",
    "policy_names",
    "register_converter",
    "register_environment",
    "register_policies",
    "score",
    "solve",
    "verify",
]
