"""The two spaces of the environments, with gymnax's interface, for use without gymnax."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Discrete:
    """The integers 0, ..., n - 1."""

    n: int
    shape: tuple[int, ...] = ()
    dtype: Any = jnp.int32

    def sample(self, key: jax.Array) -> jax.Array:
        """Draw a number uniformly."""
        return jax.random.randint(key, self.shape, 0, self.n, self.dtype)

    def contains(self, x: jax.Array) -> jax.Array:
        """Return whether the space contains a number."""
        return (x >= 0) & (x < self.n)


@dataclass(frozen=True)
class Box:
    """Arrays whose entries are from ``low`` to ``high``."""

    low: Any
    high: Any
    shape: tuple[int, ...]
    dtype: Any = jnp.float32

    def sample(self, key: jax.Array) -> jax.Array:
        """Draw an array uniformly."""
        numbers = jax.random.uniform(key, self.shape, minval=self.low, maxval=self.high)
        return numbers.astype(self.dtype)

    def contains(self, x: jax.Array) -> jax.Array:
        """Return whether the space contains an array."""
        return jnp.all((x >= self.low) & (x <= self.high))
