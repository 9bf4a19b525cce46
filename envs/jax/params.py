"""The flat tables of a task as arrays of JAX: the params of an environment.

Params are arguments of compiled programs, not constants in them. So a program takes no longer to
compile for a large game, and the params of several tasks can be stacked and mapped over.

A law of n outcomes, fewer than 2^16, is drawn by the alias method from two words of 32 random bits.
The slot is floor(n w / 2^32), w being the first word; the slot's own outcome is drawn if the second
word is below the threshold, a multiple of 2^-32. Each slot has its probability 1 / n, and each
threshold its value, up to 2^-32. An outcome has its own slot and is the alias of others, whose
shares of 1 / n sum to at most 1: the probability of each outcome is right within 2^-31.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...baselines import Task, prepare, solve
from ...core import InputError, IntArray, one_of
from ...core.positions import states_of
from ..encoding import EncodingName
from ..engine.engine import ADVANTAGES, RewardMode, advantages
from ..engine.process import Process
from ..engine.tables import features_of, process_of

#: Number of values of a word of random bits, and of half a word.
WORD, HALF = 2**32, 2**16
#: Of the fields of a dataclass that are no arrays: programs are compiled for each of their values.
STATIC = {"static": True}


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Sights:
    """Observations as two tables: that of a state is the sum of a row of each, encoded."""

    by_place: jax.Array  # (place, component)
    # (context, component), None if observations depend on the place alone.
    by_context: jax.Array | None
    sizes: tuple[int, ...] = field(metadata=STATIC)  # number of values of each component
    encoding: EncodingName = field(metadata=STATIC)  # the form of observations (see ``Encoding``)

    def encoded(self, place: jax.Array, context: jax.Array) -> jax.Array:
        """Return the observation of a state as ``Encoding`` gives it, shape (feature,)."""
        seen = self.by_place[place]
        if self.by_context is not None:
            seen = seen + self.by_context[context]
        if self.encoding == "integer":
            return seen
        if self.encoding == "scaled":  # XLA's own division may round otherwise
            shares = [
                (np.arange(size) / max(size - 1, 1)).astype(np.float32) for size in self.sizes
            ]
            return jnp.stack([jnp.asarray(share)[seen[i]] for i, share in enumerate(shares)])
        # A selection takes a third of the time that XLA takes to scatter ones.
        firsts, ends = _columns(self.sizes, self.encoding)
        places, columns = seen + firsts, jnp.arange(ends[-1])
        own = places[0]  # of the component of each column
        for component, end in enumerate(ends[:-1].tolist(), start=1):
            own = jnp.where(columns < end, own, places[component])
        bits = columns < own if self.encoding == "thermometer" else columns == own
        return bits.astype(jnp.float32 if self.encoding == "one_hot_float" else jnp.int8)


def _columns(sizes: tuple[int, ...], encoding: EncodingName) -> tuple[IntArray, IntArray]:
    """Give the first column of each component in an encoding of bits, and the one after it."""
    widths = np.array(sizes) - int(encoding == "thermometer")
    ends = np.cumsum(widths)
    return ends - widths, ends


def first_product(
    seen: jax.Array, kernel: jax.Array, sizes: tuple[int, ...], encoding: EncodingName = "one_hot"
) -> jax.Array:
    """Multiply the bits of observations by a network's first kernel, without writing the bits.

    The product is a sum of rows of the kernel, one for each component, as an embedding layer takes
    it; so an environment may give observations as integers to a network of bits.

    Args:
        seen: observations with the encoding "integer", shape (..., component).
        kernel: weights of the bits, shape (feature, unit).
        sizes: number of values of each component, ``Environment.sizes``.
        encoding: that of the bits, "one_hot" or "thermometer" (see ``Encoding``).

    Returns:
        The product of the encoded observations and the kernel, shape (..., unit).
    """
    firsts, _ = _columns(sizes, one_of("encoding", encoding, ("one_hot", "thermometer")))
    if encoding == "one_hot":
        return kernel[seen + firsts].sum(axis=-2)
    sums = jnp.concatenate([jnp.zeros_like(kernel[:1]), jnp.cumsum(kernel, axis=0)])
    return (sums[seen + firsts] - sums[firsts]).sum(axis=-2)


class Params(NamedTuple):
    """The tables of a task (see ``Process``), a pytree of arrays."""

    # (place, action, 3) of each move the number of outcomes, the first of their ``slots``, and the
    # entry of ``leads_to`` for outcome 0.
    moves: jax.Array
    nodes: jax.Array  # (node, 4) the same, and the context of the places to which a node leads
    # (slot, 2) uint32: share that belongs to the slot's own outcome, in units of 2^-32, and the
    # outcome to which the rest belongs.
    slots: jax.Array
    node_gains: jax.Array | None  # (node,) payment to the agent; None if no node pays
    leads_to: jax.Array  # (entry,) the place, or -1 minus the result or event, of each outcome
    events: jax.Array  # (result, context) event of each result in each context
    payoffs: jax.Array  # (event,) payoff of each event that is no node
    start: jax.Array  # event with which a game begins
    first_node: jax.Array  # event that is node 0
    legal: jax.Array  # (place, action) whether an action is legal
    sights: Sights  # the observations
    bases: jax.Array  # (context,) state of place 0
    strides: jax.Array  # (context,) difference of the states of two neighbouring places
    rows: jax.Array | None  # (state,) row in ``rewards``; None if the reward is the outcome
    # For "regret" Q*(s, a) - V*(s), (row, action); for "shaped" V*(s), (row,); else None.
    rewards: jax.Array | None


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class ExactLaw:
    """A task and its states as arrays, a pytree; or several ones (see ``stack``)."""

    tasks: tuple[Task, ...] = field(metadata=STATIC)  # on the host, where they are scored
    number: jax.Array  # of the task in ``tasks``, int32
    legal: jax.Array  # whether an action is legal, shape (place, action)
    sights: Sights  # the observations
    places: jax.Array  # place of each state in which the agent may be to move, shape (state,)
    contexts: jax.Array  # context of each of these states, shape (state,)

    def among(self, tasks: tuple[Task, ...]) -> "ExactLaw":
        """Return the same law, of which ``tasks`` has the tasks and others."""
        numbers = jnp.array([tasks.index(task) for task in self.tasks], dtype=jnp.int32)
        return replace(self, tasks=tasks, number=numbers[self.number])


def exact_law(task: Task, encoding: EncodingName) -> ExactLaw:
    """List the states of a task."""
    process = tables_of(task)
    places, contexts = process.groups.locate(states_of(task.game, task.seat))
    tables = 0, process.legal > 0, sights_of(task, encoding), places, contexts
    return ExactLaw((task,), *map(on_device, tables))


def params_of(task: Task, reward: RewardMode, encoding: EncodingName) -> Params:
    """Make the params of a task."""
    process = tables_of(task)
    rows, rewards = _rewards(task, reward)
    shape, laws = process.legal.shape, process.laws
    thresholds = np.minimum(np.rint(laws.thresholds * WORD), WORD - 1)
    sizes = laws.sizes.astype(np.int64)
    moved, met = process.move_laws, process.node_laws
    moves = np.stack([sizes[moved], laws.firsts[moved], process.move_firsts], axis=-1)
    nodes = [sizes[met], laws.firsts[met], process.node_firsts, process.node_contexts]
    params = Params(
        moves=moves.reshape(*shape, -1),
        nodes=np.stack(nodes, axis=-1),
        slots=np.stack([thresholds, laws.aliases], axis=-1).astype(np.uint32),
        node_gains=process.node_gains,
        leads_to=process.leads_to,
        events=process.events.reshape(-1, process.num_contexts),
        payoffs=process.payoffs,
        start=process.start,
        first_node=process.first_node,
        legal=process.legal > 0,
        sights=sights_of(task, encoding),
        bases=process.groups.bases,
        strides=process.groups.strides,
        rows=rows,
        rewards=rewards,
    )
    return Params(*map(on_device, params))


def tables_of(task: Task) -> Process:
    """Return the tables of a task, or raise an ``InputError`` if it has none for JAX."""
    process = process_of(prepare(task))
    if process is None:
        raise InputError(
            f"game must fit into tables, whose opponents' policies are tables too, got {task.game}"
        )
    if (most := int(process.laws.sizes.max())) >= HALF:
        raise InputError(f"game must have laws of fewer than {HALF:,} outcomes, got {most:,}")
    return process


def sights_of(task: Task, encoding: EncodingName) -> Sights:
    """Return what the agent of a task sees."""
    places, contexts = map(on_device, features_of(prepare(task), "integer"))
    return Sights(places, contexts, tuple(map(int, task.game.observation_sizes)), encoding)


def on_device(table: Any) -> Any:
    """Return a table as an array of JAX, with numbers of 32 bits unless JAX has 64 bits on."""
    if table is None or isinstance(table, Sights):
        return table
    array = np.asarray(table)
    return jnp.asarray(array.astype(np.int32) if array.dtype == np.int64 else array)


def stack(*params: Any) -> Any:
    """Stack params of one shape of environment, or exact laws, for ``jax.vmap``.

    Tables that are shorter than those of another are filled with zeros, which are never read.

    Args:
        params: ``Params`` or ``ExactLaw``, of games with as many actions and equal observations.

    Returns:
        The same structure, whose arrays have a new first axis.
    """
    if all(isinstance(each, ExactLaw) for each in params):
        tasks = tuple(dict.fromkeys(task for each in params for task in each.tasks))
        params = tuple(each.among(tasks) for each in params)
    alike = {each.legal.shape[-1] for each in params}
    same = {jax.tree.structure(each) for each in params}
    if len(same) > 1 or len(alike) > 1:
        raise InputError(
            "params must be of environments with the same actions, observations and reward"
        )
    return jax.tree.map(_stacked, *params)


def _stacked(*arrays: jax.Array) -> jax.Array:
    """Stack arrays as long as the longest along each axis."""
    longest = np.max([array.shape for array in arrays], axis=0)
    rests = ([(0, rest) for rest in longest - array.shape] for array in arrays)
    return jnp.stack([jnp.pad(array, rest or 0) for array, rest in zip(arrays, rests, strict=True)])


def _rewards(task: Task, reward: RewardMode) -> tuple[Any, Any]:
    """Return the row of each state, and the rewards that depend on the optimal values."""
    if reward == "outcome":
        return None, None
    if 8 * task.game.num_states * task.game.num_actions > ADVANTAGES:
        raise InputError(
            f"reward must be outcome for games with more than {ADVANTAGES // 8:,} pairs of state "
            f"and action, got {reward}"
        )
    rows, table = advantages(prepare(task))
    if reward == "regret":
        return rows, table.astype(np.float32)
    values = solve(task).found.at(task.seat, states_of(task.game, task.seat))
    return rows, np.asarray(values, dtype=np.float32)
