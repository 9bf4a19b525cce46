"""The environments in JAX: ``env, params = exactdice.jax.make("Greed", max_score=20)``."""

try:
    from .envs.jax import (
        Environment,
        ExactLaw,
        ExactScore,
        Params,
        State,
        exact_score,
        make,
        stack,
    )
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"exactdice.jax needs more libraries ({error.name}): pip install '.[jax]'",
        name=error.name,
    ) from error

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
