"""Exact computation: the optimum of a game, and the value and score of any policy."""

from ..core import NamedPolicy
from .advice import ask
from .law.law_game import LawGame
from .law.petsc import write_law
from .law.simple import SimpleGame
from .policies.door import Reading
from .policies.kinds import Policy, PolicyLike
from .policies.names import is_policy_name, policy_names, reference_names, register_policies
from .policies.networks import NetworkPolicy, choose
from .policies.observations import Sight
from .problem.equilibrium import equilibrium
from .problem.problem import Problem, as_task, convert, prepare, task_and_sight
from .problem.task import Task, make_game, make_task
from .scoring.blunders import Blunder
from .scoring.certificate import CertificateError, certificate, in_fixed_point
from .scoring.comparison import Comparison, PayoffMatrix, compare, payoff_matrix
from .scoring.description import describe
from .scoring.figure import LOGGED
from .scoring.score import ImpossibleScoreError, Score, exact_evaluation, random_value, score
from .scoring.self_play import score_self_play
from .scoring.verification import verify
from .solving.bounds import Bounds, prove
from .solving.evaluation import Evaluation, Solution
from .solving.memoryless import Memoryless, memoryless
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

__all__ = [
    "LOGGED", "Blunder", "Bounds", "CertificateError", "Comparison", "Evaluation",
    "ImpossibleScoreError", "LawGame", "Memoryless", "NamedPolicy", "NetworkPolicy",
    "PayoffMatrix", "Policy", "PolicyLike", "Problem", "Reading", "Score", "Sight",
    "SimpleGame", "Solution", "Task",
    "as_policy", "as_task", "ask", "best_response", "certificate", "choose", "compare",
    "convert", "describe", "equilibrium", "evaluate", "exact_evaluation", "expected_payoffs",
    "exploitability", "from_network", "in_fixed_point", "is_policy_name", "is_toured",
    "make_game", "make_task", "memoryless", "occupancy", "outcome_distribution", "payoff_matrix",
    "policy_names", "prepare", "prove", "random_value", "reference_names", "register_policies",
    "score", "score_self_play", "solve", "task_and_sight", "verify", "write_law",
]  # fmt: skip
