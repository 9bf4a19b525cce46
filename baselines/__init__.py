"""Exact computation: the optimum of a game, and the value and score of any policy."""

from .policies.door import Reading, Sight
from .policies.kinds import Policy, PolicyFunction, PolicyLike
from .policies.names import (
    NamedPolicy,
    is_policy_name,
    policy_names,
    reference_names,
    register_policies,
)
from .policies.networks import NetworkPolicy, choose
from .scoring.blunders import Blunder
from .scoring.certificate import CertificateError, certificate, in_fixed_point, verify
from .scoring.comparison import Comparison, PayoffMatrix, compare, payoff_matrix
from .scoring.description import Description, describe
from .scoring.figure import LOGGED
from .scoring.score import ImpossibleScoreError, Score, exact_evaluation, random_value, score
from .scoring.self_play import SelfPlayScore, score_self_play
from .simple import SimpleGame
from .solving.evaluation import Evaluation, Solution
from .solving.induction import equilibrium
from .solving.solver import (
    as_policy,
    best_response,
    evaluate,
    expected_payoffs,
    exploitability,
    from_network,
    is_toured,
    occupancy,
    outcome_distribution,
    solve,
)
from .task import Task, as_task, make_game, make_task, task_and_sight

__all__ = [
    "LOGGED",
    "Blunder",
    "CertificateError",
    "Comparison",
    "Description",
    "Evaluation",
    "ImpossibleScoreError",
    "NamedPolicy",
    "NetworkPolicy",
    "PayoffMatrix",
    "Policy",
    "PolicyFunction",
    "PolicyLike",
    "Reading",
    "Score",
    "SelfPlayScore",
    "Sight",
    "SimpleGame",
    "Solution",
    "Task",
    "as_policy",
    "as_task",
    "best_response",
    "certificate",
    "choose",
    "compare",
    "describe",
    "equilibrium",
    "evaluate",
    "exact_evaluation",
    "expected_payoffs",
    "exploitability",
    "from_network",
    "in_fixed_point",
    "is_policy_name",
    "is_toured",
    "make_game",
    "make_task",
    "occupancy",
    "outcome_distribution",
    "payoff_matrix",
    "policy_names",
    "random_value",
    "reference_names",
    "register_policies",
    "score",
    "score_self_play",
    "solve",
    "task_and_sight",
    "verify",
]
