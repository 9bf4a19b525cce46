"""What exact computation says of a game: optimum, value and score of any policy."""

from .induction import equilibrium
from .names import is_policy_name, policy_names
from .policies import Policy, PolicyFunction, PolicyLike
from .score import Blunder, Score, score
from .solver import (
    Evaluation,
    Solution,
    best_response,
    evaluate,
    expected_payoffs,
    exploitability,
    occupancy,
    solve,
)
from .task import Task, as_task

__all__ = [
    "Blunder",
    "Evaluation",
    "Policy",
    "PolicyFunction",
    "PolicyLike",
    "Score",
    "Solution",
    "Task",
    "as_task",
    "best_response",
    "equilibrium",
    "evaluate",
    "expected_payoffs",
    "exploitability",
    "is_policy_name",
    "occupancy",
    "policy_names",
    "score",
    "solve",
]
