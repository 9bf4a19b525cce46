"""The environments in JAX: ``env, params = exactdice.jax.make("Greed", max_score=20)``."""

from .core import errors  # the package before its module, as threads lock both

with errors.needing("exactdice.jax", "'exactdice[jax]'"):
    from .envs.jax import *  # noqa: F403  the names are listed there
    from .envs.jax import __all__ as __all__
