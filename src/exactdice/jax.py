"""The environments in JAX: ``env, params = exactdice.jax.make("Greed", max_score=20)``."""

from .core.errors import needing

with needing("exactdice.jax", "'exactdice[jax]'"):
    from .envs.jax import *  # noqa: F403  the names are listed there
    from .envs.jax import __all__ as __all__
