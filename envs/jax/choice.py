"""The choices of a network in a batch of states, and the scale on which its score is normalised.

``MoveLaw`` and ``TurnLaw`` share these parts.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...baselines import Task, random_value, solve
from ...core import FloatArray, InputError
from ..engine.process import Process

#: Largest number of entries of a table of a law.
MOST = 2**26
#: Number of states whose logits a network gives at once.
BATCH = 2**14


class Choice(NamedTuple):
    """The actions that a policy takes with positive probability in each state of a batch.

    Attributes:
        actions: shape (state, choice).
        weights: their probabilities, shape (state, choice); NaN if a logit of the state is NaN.
    """

    actions: jax.Array
    weights: jax.Array


#: Gives the choice in states, from observations (state, feature) and legal actions (state, action).
Choose = Callable[[jax.Array, jax.Array], Choice]


def chooser(apply_fn: Callable[[jax.Array], jax.Array], deterministic: bool, dtype: Any) -> Choose:
    """Return the policy of a network.

    Args:
        apply_fn: see ``exact_score``.
        deterministic: see ``exact_score``.
        dtype: of the weights.
    """

    def choose(seen: jax.Array, legal: jax.Array) -> Choice:
        given = apply_fn(seen)
        if given.shape != legal.shape:
            raise InputError(
                f"apply_fn must give logits of shape {legal.shape}, got shape {given.shape}"
            )
        logits = jnp.where(legal, given, -jnp.inf)
        if deterministic:
            actions = jnp.argmax(logits, axis=1)[:, None]
            weights = jnp.ones(actions.shape, dtype)
        else:
            actions = jnp.broadcast_to(jnp.arange(legal.shape[1]), legal.shape)
            weights = jax.nn.softmax(logits, axis=1).astype(dtype)
        unknown = jnp.isnan(given).any(axis=1, keepdims=True)
        return Choice(actions, jnp.where(unknown, jnp.nan, weights))

    return choose


#: Turns the values of a sweep before into new ones. Values have shape (variable, 2): the expected
#: payoff still to come, and the chance that the game goes on for as long as the sweeps so far.
Sweep = Callable[[jax.Array], jax.Array]


def first_guess(task: Task, process: Process, num_variables: int) -> FloatArray:
    """Return the values before the first sweep, shape (variable, 2).

    They are right for payoffs, which are the first variables; elsewhere the guess is the middle of
    the payoffs, and the game goes on.
    """
    guess = np.array([sum(task.game.payoff_range) / 2, 1.0]) * np.ones((num_variables, 1))
    guess[: process.first_node] = 0
    guess[: process.first_node, 0] = process.payoffs
    return guess


class Scale(NamedTuple):
    """The values of two policies, between which scores are normalised.

    Attributes:
        optimum: value of the optimal policy.
        random: value of the uniform policy over legal actions; the optimum, if they tie.
    """

    optimum: Any
    random: Any


def scale_of(task: Task) -> Scale:
    """Compute the values of optimal and of random play in the core."""
    return Scale(np.float64(solve(task).value), np.float64(random_value(task)))


def require_few(*sizes: float) -> None:
    """Check that the tables of a law have at most ``MOST`` entries each.

    Raises:
        InputError: if one has more.
    """
    if max(sizes) > MOST:
        raise InputError(
            f"game must have at most {MOST:,} outcomes of moves to be scored in JAX, "
            f"got {max(sizes):,.0f}: use exactdice.score"
        )
