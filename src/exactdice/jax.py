"""The environments in JAX: ``env, params = exactdice.jax.make("Greed", max_score=20)``."""

try:
    from .envs.jax import *  # noqa: F403  the names are listed there
    from .envs.jax import __all__ as __all__
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"exactdice.jax needs more libraries ({error.name}): pip install 'exactdice[jax]'",
        name=error.name,
    ) from error
