"""The environments in JAX: compiled programs step and score the same flat tables."""

from .environment import Environment, State, make
from .law import ExactLaw
from .scoring import ExactScore, exact_score
from .tables import Params, stack

__all__ = [
    "Environment",
    "ExactLaw",
    "ExactScore",
    "Params",
    "State",
    "exact_score",
    "make",
    "stack",
]
