"""Exact scores of networks inside compiled programs, from one pass over the law of a task."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...core import InputError
from .law import ExactLaw


class ExactScore(NamedTuple):
    """The score of a policy, exact up to the rounding of 32-bit floats.

    Attributes:
        value: expected payoff of the policy.
        regret: expected payoff that the policy loses against the optimum.
        normalized: (value - random) / (optimum - random); 1 if optimum and random agree.
    """

    value: jax.Array
    regret: jax.Array
    normalized: jax.Array


class _Windows(NamedTuple):
    """Moves or nodes, each a law whose outcomes lead to consecutive entries."""

    firsts: jax.Array
    slots: jax.Array
    sizes: jax.Array


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
        The score; NaN if a logit is NaN, as those of a network whose training has diverged.

    Raises:
        InputError: if the logits have another shape.
    """
    given = apply_fn(law.observations)
    if given.shape != law.legal.shape:
        raise InputError(
            f"apply_fn must give logits of shape {law.legal.shape}, got shape {given.shape}"
        )
    logits = jnp.where(law.legal, given, -jnp.inf)
    moves = _Windows(law.move_firsts, law.move_slots, law.move_sizes)
    if deterministic:
        taken = jnp.argmax(logits, axis=1)[:, None]
        moves = _Windows(*(jnp.take_along_axis(table, taken, axis=1) for table in moves))
        weights = jnp.ones(taken.shape, law.chances.dtype)
    else:
        weights = jax.nn.softmax(logits, axis=1).astype(law.chances.dtype)
    value = jnp.where(jnp.isnan(given).any(), jnp.nan, _values(law, moves, weights)[law.start])
    span = law.optimum - law.random
    share = (value - law.random) / jnp.where(span > 0, span, 1)
    normalized = jnp.where(span > 0, share, 1 + 0 * share)  # NaN stays NaN
    return ExactScore(value, law.optimum - value, normalized)


def _values(law: ExactLaw, moves: _Windows, weights: jax.Array) -> jax.Array:
    """Compute the value of every variable, from the last level of the game to the first."""
    nodes = _Windows(law.node_firsts, law.node_slots, law.node_sizes)

    def expected(windows: _Windows, chosen: jax.Array, most: jax.Array, values: Any) -> jax.Array:
        reach = jnp.arange(len(most))
        first, slot, size = (table[chosen][..., None] for table in windows)
        chances = jnp.where(reach < size, law.chances[slot + reach], 0)
        return (chances * values[law.leads_to[first + reach]]).sum(axis=-1)

    def sweep(values: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
        drawn, chosen = row
        known = law.node_gains[drawn] + expected(nodes, drawn, law.node_outcomes, values)
        values = values.at[law.first_node + drawn].set(known)
        known = (weights[chosen] * expected(moves, chosen, law.outcomes, values)).sum(axis=-1)
        return values.at[law.first_state + chosen].set(known), None

    return jax.lax.scan(sweep, law.payoffs, (law.nodes, law.states))[0]
