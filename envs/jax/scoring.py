"""Exact scores of networks inside compiled programs, by sweeps over the law of a task.

A sweep gives better values: an error in the values before is multiplied by the chance that a game
goes on for as long as the sweep looks ahead. The sweeps carry this chance along, as a second column
of the values, and end once a game goes on with a chance below an eighth of the spacing of floats at
1, which is 1.5e-8 in single precision. The error left by this is at most that chance times the
range of payoffs, or twice that if moves pay before the end. A game of moves without cycles takes
one sweep; a game of turns takes one for each turn.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from .choice import Sweep, chooser
from .law import ExactLaw

#: A policy whose games may last for more sweeps gets no score.
MOST_SWEEPS = 10_000


class ExactScore(NamedTuple):
    """The score of a policy, exact up to the rounding of 32-bit floats.

    Attributes:
        value: expected payoff of the policy.
        regret: expected payoff that the policy loses against the optimum.
        normalized: (value - random) / (optimum - random); 1 if optimum and random agree.
        sweeps: number of sweeps that the score took, int32.
    """

    value: jax.Array
    regret: jax.Array
    normalized: jax.Array
    sweeps: jax.Array


def exact_score(
    law: ExactLaw, apply_fn: Callable[[jax.Array], jax.Array], deterministic: bool = True
) -> ExactScore:
    """Score a network exactly; the function works under ``jit``, ``vmap`` and ``scan``.

    Args:
        law: the law of the task (``Environment.exact_law``).
        apply_fn: returns logits or action values, shape (state, action), for encoded observations,
            shape (state, feature). Illegal actions are never taken.
        deterministic: whether the network takes its likeliest action, the first of several, or
            draws from the softmax of its logits.

    Returns:
        The score; NaN if a logit is NaN in a state that the policy's games may meet, as those of a
        network whose training has diverged, or if these games may last for too many sweeps.

    Raises:
        InputError: if the logits have another shape.
    """
    choose = chooser(apply_fn, deterministic, law.guess.dtype)
    value, sweeps = _value(law, law.sweep(choose))
    span = law.scale.optimum - law.scale.random
    share = (value - law.scale.random) / jnp.where(span > 0, span, 1)
    normalized = jnp.where(span > 0, share, 1 + 0 * share)  # NaN stays NaN
    return ExactScore(value, law.scale.optimum - value, normalized, sweeps)


def _value(law: ExactLaw, sweep: Sweep) -> tuple[jax.Array, jax.Array]:
    """Return the value of the start, and the number of sweeps that it took."""
    little = jnp.finfo(law.guess.dtype).eps / 8

    def goes_on(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
        number, values = carry
        return (values[law.start, 1] > little) & (number < MOST_SWEEPS)

    def once_more(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        number, values = carry
        return number + 1, sweep(values)

    sweeps, values = jax.lax.while_loop(goes_on, once_more, (jnp.zeros((), jnp.int32), law.guess))
    value, left = values[law.start]
    return jnp.where(left <= little, value, jnp.nan), sweeps
