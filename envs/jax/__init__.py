"""The environments in JAX: compiled programs step the same flat tables; the core scores."""

from .environment import Environment, State, make
from .params import ExactLaw, Params, first_product, stack
from .scoring import ExactScore, exact_score

__all__ = [
    "Environment",
    "ExactLaw",
    "ExactScore",
    "Params",
    "State",
    "exact_score",
    "first_product",
    "make",
    "stack",
]
