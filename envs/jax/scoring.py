"""Exact scores of networks inside compiled programs, computed by the core on the host.

The program computes what the network prefers in every state of the agent, and hands it to the core
by ``jax.pure_callback``. So a score is the core's own number, on any device and under ``jit``,
``vmap`` and ``scan``. It has no derivative.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from ...baselines import Task, choose, score
from ...core import InputError
from ...core.positions import states_of
from .params import ExactLaw

#: Number of states whose logits a network gives at once.
BATCH = 2**14


class ExactScore(NamedTuple):
    """The core's score of a policy, in JAX's floats: rounded to 32 bits unless 64 are enabled."""

    value: jax.Array  # expected payoff of the policy
    regret: jax.Array  # expected payoff that the policy loses against the optimum
    normalized: jax.Array  # (value - random) / (optimum - random); 1 if these two agree


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
        The score; NaN if the largest logit of a state is not finite, as those of a network whose
        training has diverged.
    """

    def prefer(state: tuple[jax.Array, jax.Array]) -> jax.Array:
        place, context = state
        given = apply_fn(law.sights.encoded(place, context)[None])
        if given.shape != (1, law.legal.shape[1]):
            wanted = "state", law.legal.shape[1]
            raise InputError(f"apply_fn must give logits of shape {wanted}, got {given.shape[1:]}")
        logits = jnp.where(law.legal[place], given[0], -jnp.inf)
        known = jnp.isfinite(logits.max())
        if deterministic:
            return jnp.where(known, jnp.argmax(logits), -1)
        return jnp.where(known, logits, jnp.nan)

    preferred = jax.lax.map(prefer, (law.places, law.contexts), batch_size=BATCH)
    # JAX may call the host in a thread of its own, which knows no jax.enable_x64 and would round
    # doubles. So they go there and come back as words of 32 bits.
    wide, dtype = preferred.dtype == np.float64, jnp.zeros(()).dtype
    sent = jax.lax.bitcast_convert_type(preferred, np.uint32) if wide else preferred
    shape = (3, 2) if dtype == np.float64 else (3,)
    found = jax.pure_callback(
        partial(_figures, law.tasks, wide=wide, dtype=dtype),
        jax.ShapeDtypeStruct(shape, np.uint32),
        *(law.number, sent),
        vmap_method="broadcast_all",
    )
    return ExactScore(*jnp.moveaxis(jax.lax.bitcast_convert_type(found, dtype), -1, 0))


def _figures(
    tasks: Sequence[Task], number: Any, preferred: Any, wide: bool, dtype: Any
) -> npt.NDArray[np.uint32]:
    """Return the words of the figures of each network of a batch, (..., 3), or (..., 3, 2).

    Its task has a ``number``, shape (...,); ``preferred`` are actions, (..., state), or logits,
    (..., state, action), with a last axis of words if they are doubles (``wide``).
    """
    number, preferred = np.asarray(number), np.asarray(preferred)  # no other code may call JAX
    if wide:
        preferred = np.ascontiguousarray(preferred).view(np.float64)[..., 0]
    figures = [_figures_of(tasks[number[at]], preferred[at]) for at in np.ndindex(number.shape)]
    words = np.array(figures, dtype=dtype).view(np.uint32)
    return words.reshape(*number.shape, 3, *((2,) if dtype == np.float64 else ()))


def _figures_of(task: Task, preferred: Any) -> tuple[float, float, float]:
    """Score one network; the rows after the agent's last state are padding (see ``stack``)."""
    game, own = task.game, states_of(task.game, task.seat)
    rows = preferred[: len(own)]
    if np.isnan(rows).any() or (rows.ndim == 1 and (rows < 0).any()):
        return np.nan, np.nan, np.nan
    if rows.ndim == 2:
        rows = choose(rows, game.observe(own, task.seat), game.mask(own), deterministic=False)
    policy = np.zeros((game.num_states, *rows.shape[1:]), rows.dtype)
    policy[own] = rows
    found = score(policy, task)
    return found.value, found.regret, found.normalized
