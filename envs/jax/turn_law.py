"""The law of a game of turns, and the values of a policy in it.

The *variables* are the events of the tables, payoffs and nodes, and after them the contexts of the
agent. All states of a turn fold into one law: a pass over the agent's turn in a context gives the
probability of each result. The pass is linear in the values of results, so that these
probabilities are its derivatives. The value of a context is the sum over results of probability
times the value of the event to which the result leads there. A sweep takes the contexts and nodes
alone: 12,844 contexts in the match of 421, which has 4.7 million states.

Turns have places, numbered from 0 in each turn, and *afterstates*: moves with the same outcomes
lead to one afterstate. Contexts are taken in *batches*, whose contexts share a turn.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...baselines import Task
from ...core import BoolArray, FloatArray, IntArray
from ..api.encoding import EncodingName
from ..engine.process import FIRST_PLACE, Process, number_of
from .choice import BATCH, Choose, Scale, Sweep, first_guess, require_few, scale_of
from .tables import encoded, on_device, parts_of


class TurnLaw(NamedTuple):
    """The law of a task, a pytree of arrays.

    Attributes:
        parts: see ``Params``.
        by_place: parts of an observation that depend on the place, (turn, place, component).
        by_context: parts of an observation that depend on the context, (context, component).
        legal: shape (turn, place, action).
        after: afterstate of each move, shape (turn, place, action).
        chances: probability of each place and, after the places, of each result in each afterstate,
            shape (turn, afterstate, place + result).
        begins: probability of each place at the beginning of a turn, shape (turn, place).
        length: an array whose length is the largest number of moves in a turn.
        turns: turn of each batch, shape (batch,).
        contexts: contexts of each batch, shape (batch, context).
        batches: the place of each context in ``contexts``, flattened, shape (context,).
        events: variable to which each result leads, shape (context, result).
        leads_to: variable to which each outcome of each node leads, shape (node, outcome).
        draws: probability of each outcome of each node, shape (node, outcome).
        gains: payment to the agent at each node, shape (node,).
        guess: the values before the first sweep (see ``first_guess``), shape (variable, 2).
        first_node: variable of node 0.
        first_context: variable of context 0.
        start: variable with which a game begins.
        scale: the values of optimal and of random play.
    """

    parts: jax.Array
    by_place: jax.Array
    by_context: jax.Array
    legal: jax.Array
    after: jax.Array
    chances: jax.Array
    begins: jax.Array
    length: jax.Array
    turns: jax.Array
    contexts: jax.Array
    batches: jax.Array
    events: jax.Array
    leads_to: jax.Array
    draws: jax.Array
    gains: jax.Array
    guess: jax.Array
    first_node: jax.Array
    first_context: jax.Array
    start: jax.Array
    scale: Scale

    def sweep(self, choose: Choose) -> Sweep:
        """Return the sweep of a policy, over all nodes and then all contexts."""
        results = jax.lax.map(
            lambda batch: self._results(choose, *batch), (self.turns, self.contexts)
        )
        results = results.reshape(-1, results.shape[-1])[self.batches]  # (context, result)
        gains = jnp.stack([self.gains, jnp.zeros_like(self.gains)], axis=-1)
        at_nodes = self.first_node + jnp.arange(len(self.gains))
        at_contexts = self.first_context + jnp.arange(len(self.events))

        def sweep(values: jax.Array) -> jax.Array:
            known = gains + (self.draws[..., None] * values[self.leads_to]).sum(axis=1)
            values = values.at[at_nodes].set(known)
            known = (results[..., None] * values[self.events]).sum(axis=1)
            return values.at[at_contexts].set(known)

        return sweep

    def _results(self, choose: Choose, turn: jax.Array, contexts: jax.Array) -> jax.Array:
        """Return the probability of each result in some contexts, shape (context, result)."""
        legal, shape = self.legal[turn], (len(contexts), *self.legal.shape[1:])
        seen = encoded(self.parts, self.by_place[turn])
        seen = seen + encoded(self.parts, self.by_context[contexts])[:, None]
        actions, weights = choose(
            seen.reshape(-1, seen.shape[-1]), jnp.broadcast_to(legal, shape).reshape(-1, shape[-1])
        )
        actions, weights = (table.reshape(*shape[:2], -1) for table in (actions, weights))
        after = jnp.take_along_axis(self.after[turn][None], actions, axis=2)

        def total(ends: jax.Array) -> jax.Array:
            def play(values: jax.Array, _: None) -> tuple[jax.Array, None]:
                known = jnp.concatenate([values, ends], axis=1)
                known = jnp.matmul(known, self.chances[turn].T, precision="highest")
                moves = jnp.take_along_axis(known, after.reshape(len(known), -1), axis=1)
                return (weights * moves.reshape(after.shape)).sum(axis=2), None

            values = jnp.zeros(shape[:2], ends.dtype)
            values, _ = jax.lax.scan(play, values, length=len(self.length))
            return jnp.matmul(values, self.begins[turn], precision="highest").sum()

        ends = jnp.zeros((len(contexts), self.events.shape[1]), weights.dtype)
        return jax.grad(total)(ends)


def turn_law(task: Task, process: Process, encoding: EncodingName) -> TurnLaw:
    """List the law of a task in the order of a sweep.

    Raises:
        InputError: if the game is too large.
    """
    parts, by_place, by_context = parts_of(task, encoding)
    turns = _Turns(process)
    chosen, contexts, batches = turns.batches()
    nodes = _Nodes(process)
    law = TurnLaw(
        parts=parts,
        by_place=by_place[turns.places],
        by_context=by_context,
        legal=process.legal[turns.places] > 0,
        after=turns.after,
        chances=turns.chances,
        begins=turns.begins,
        length=np.zeros(turns.length()),
        turns=chosen,
        contexts=contexts,
        batches=batches,
        events=nodes.events,
        leads_to=nodes.leads_to,
        draws=nodes.draws,
        gains=nodes.gains,
        guess=first_guess(task, process, nodes.first_context + process.num_contexts),
        first_node=process.first_node,
        first_context=nodes.first_context,
        start=nodes.start,
        scale=scale_of(task),
    )
    listed: TurnLaw = jax.tree.map(on_device, law)
    return listed


class _Turns:
    """The agent's turns; those with fewer places or afterstates than others are filled up.

    Attributes:
        places: places of the tables, shape (turn, place).
        after, chances, begins: see ``TurnLaw``.
    """

    def __init__(self, process: Process) -> None:
        self._process, groups = process, process.groups
        firsts, numbers = np.unique(groups.places, return_inverse=True)
        self._of_context = np.zeros(process.num_contexts, dtype=np.int64)  # turn
        for context, width, number in zip(groups.contexts, groups.widths, numbers, strict=True):
            self._of_context[context : context + width] = number
        counts = np.diff(np.append(firsts, len(process.legal)))
        inside = np.arange(counts.max())
        self.places: IntArray = firsts[:, None] + np.minimum(inside, counts[:, None] - 1)
        legal = process.legal[self.places] > 0
        laws, entries = (
            np.where(legal, table.reshape(process.legal.shape)[self.places], -1)
            for table in (process.move_laws, process.move_firsts.astype(np.int64))
        )
        self.after: IntArray = np.zeros(legal.shape, dtype=np.int64)
        kinds = []  # law and first entry of each afterstate of each turn
        for turn in range(len(firsts)):
            pairs = np.stack([laws[turn].ravel(), entries[turn].ravel()])
            known, found = np.unique(pairs, axis=1, return_inverse=True)
            self.after[turn] = found.reshape(legal.shape[1:])
            kinds.append(known)
        most, results = max(known.shape[1] for known in kinds), len(process.events)
        columns = counts.max() + results // process.num_contexts
        require_few(len(firsts) * most * columns, legal.size)
        self.chances: FloatArray = np.zeros((len(firsts), most, columns))
        self.begins: FloatArray = np.zeros((len(firsts), counts.max()))
        begins = np.flatnonzero(_Nodes(process).begins)
        turns = self._of_context[process.node_contexts[begins]]
        for turn, known in enumerate(kinds):
            exists = np.flatnonzero(known[0] >= 0)
            law, entry = known[:, exists]
            self._add(self.chances[turn], exists, law, entry, int(firsts[turn]))
            node = begins[turns == turn][:1]
            law, entry = process.node_laws[node], process.node_firsts[node].astype(np.int64)
            self._add(self.begins[turn][None], np.zeros(1, int), law, entry, int(firsts[turn]))

    def _add(
        self, table: FloatArray, rows: IntArray, laws: IntArray, entries: IntArray, first: int
    ) -> None:
        """Add laws to rows of a table, whose columns are places and then results."""
        which, outcomes, chances = self._process.laws.outcomes(laws)
        leads = self._process.leads_to[entries[which] + outcomes].astype(np.int64)
        ends = self.places.shape[1] + number_of(leads)
        columns = np.where(leads >= FIRST_PLACE, leads - first, ends)
        np.add.at(table, (rows[which], columns), chances)

    def length(self) -> int:
        """Return the largest number of moves in a turn."""
        goes_on = self.chances[:, :, : self.places.shape[1]] > 0
        count, turns = 0, np.arange(len(goes_on))[:, None, None]
        possible: BoolArray = np.ones(self.places.shape, dtype=bool)  # after as many moves
        while possible.any():
            count += 1
            later: BoolArray = np.any(goes_on & possible[:, None], axis=2)
            possible = np.any(later[turns, self.after], axis=2)
        return count

    def batches(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the fields ``turns``, ``contexts`` and ``batches`` of a law."""
        size = max(1, BATCH // self.places.shape[1])
        turns, contexts = [], []
        for turn in range(len(self.places)):
            own = np.flatnonzero(self._of_context == turn)
            filled = np.resize(own, (-(-len(own) // size), size))
            turns += [turn] * len(filled)
            contexts.append(filled)
        every = np.concatenate(contexts)
        where = np.zeros(self._process.num_contexts, dtype=np.int64)
        where[every.ravel()] = np.arange(every.size)
        return np.array(turns), every, where


class _Nodes:
    """The nodes of a task.

    Attributes:
        begins: whether a node is the beginning of a turn of the agent, shape (node,).
        events, leads_to, draws, gains: see ``TurnLaw``. Beginnings of turns at which the agent is
            not paid are no variables: what leads there leads to the context.
    """

    def __init__(self, process: Process) -> None:
        laws, first = process.laws, process.first_node
        which, outcomes, chances = laws.outcomes(process.node_laws)
        leads = process.leads_to[process.node_firsts.astype(np.int64)[which] + outcomes]
        self.begins: BoolArray = np.zeros(len(process.node_laws), dtype=bool)
        self.begins[which] = leads >= FIRST_PLACE
        gains = process.node_gains
        gains = np.zeros(len(self.begins)) if gains is None else gains
        stays = ~self.begins | (gains != 0)
        self.gains: FloatArray = gains[stays]
        nodes = first + np.cumsum(stays) - 1
        self.first_context = first + len(self.gains)
        contexts = self.first_context + process.node_contexts.astype(np.int64)
        variables = np.append(np.arange(first), np.where(stays, nodes, contexts))  # by event
        self.events: IntArray = variables[process.events.reshape(-1, process.num_contexts).T]
        self.start = int(variables[process.start])
        columns = outcomes - outcomes[np.searchsorted(which, which)]
        leads = np.where(
            self.begins[which], contexts[which], variables[np.maximum(number_of(leads), 0)]
        )
        kept = stays[which] & (~self.begins[which] | (columns == 0))
        shape = len(self.gains), int(columns[kept].max(initial=0)) + 1
        self.leads_to: IntArray = np.zeros(shape, dtype=np.int64)
        self.draws: FloatArray = np.zeros(shape)
        where = (nodes - first)[which[kept]], columns[kept]
        self.leads_to[where] = leads[kept]
        self.draws[where] = np.where(self.begins[which], 1, chances)[kept]
