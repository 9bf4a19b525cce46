"""The law of a game that is not made of turns, and the values of a policy in it.

The *variables* are the events of the tables, payoffs and nodes, and then the agent's states. The
value of a node or of a move is the sum over its outcomes of probability times the value of the
variable to which the outcome leads. Outcomes of a move lead to consecutive entries of one array of
variables, so that moves with the same outcomes share them: the default game of Greed has 612,090
moves and 131,908 entries.

Nodes and states fall into *levels*, which depend on lower levels alone. Levels are cut into *rows*
of equal length, the steps of a sweep. In a game with cycles the last level has the agent's states
in the cut of their block (see ``core.blocks``), on which lower levels depend, too. Then sweeps are
repeated, each with the values of the sweep before.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...baselines import Task
from ...core import BoolArray, IntArray
from ...core.positions import states_of
from ..api.encoding import EncodingName
from ..engine.process import FIRST_PLACE, GOES_ON, Process, number_of
from .choice import BATCH, Choice, Choose, Scale, Sweep, first_guess, require_few, scale_of
from .tables import encoded, on_device, parts_of

#: Fixed cost of a row of a sweep, in units of the cost of a node or state.
ROW = 32


class Windows(NamedTuple):
    """Moves or nodes, each a law whose outcomes lead to consecutive entries.

    Attributes:
        firsts: entry of ``leads_to`` for outcome 0.
        slots: entry of ``chances`` for outcome 0.
        sizes: number of outcomes.
        reach: an array whose length is the largest number of outcomes.
    """

    firsts: jax.Array
    slots: jax.Array
    sizes: jax.Array
    reach: jax.Array


class MoveLaw(NamedTuple):
    """The law of a task, a pytree of arrays.

    Attributes:
        parts: see ``Params``.
        seen: the parts of the observation of each of the agent's states, shape (state, component).
        legal: shape (state, action).
        moves: windows of shape (state, action).
        draws: windows of the nodes of each row, shape (row, node).
        gains: payment to the agent at each node of each row, shape (row, node).
        states: the states of each row, shape (row, state).
        at_nodes: variables of the nodes of each row, shape (row, node).
        at_states: variables of the states of each row, shape (row, state).
        leads_to: variable to which each outcome leads, shape (entry,).
        chances: probability of each outcome of each law, shape (slot,).
        guess: the values before the first sweep (see ``first_guess``), shape (variable, 2).
        start: variable with which a game begins.
        scale: the values of optimal and of random play.
    """

    parts: jax.Array
    seen: jax.Array
    legal: jax.Array
    moves: Windows
    draws: Windows
    gains: jax.Array
    states: jax.Array
    at_nodes: jax.Array
    at_states: jax.Array
    leads_to: jax.Array
    chances: jax.Array
    guess: jax.Array
    start: jax.Array
    scale: Scale

    def sweep(self, choose: Choose) -> Sweep:
        """Return the sweep of a policy, from the last level of the game to the first."""
        actions, weights = self._choices(choose)
        *tables, reach = self.moves
        taken = (jnp.take_along_axis(table, actions, axis=1)[self.states] for table in tables)
        moves, weights = Windows._make([*taken, reach]), weights[self.states][..., None]
        gains = jnp.stack([self.gains, jnp.zeros_like(self.gains)], axis=-1)
        at = jnp.concatenate([self.at_nodes, self.at_states], axis=1)

        def expected(windows: list[jax.Array], reach: jax.Array, values: jax.Array) -> jax.Array:
            first, slot, size = (table[..., None] for table in windows)
            outcome = jnp.arange(len(reach))
            chances = jnp.where(outcome < size, self.chances[slot + outcome], 0)
            return (chances[..., None] * values[self.leads_to[first + outcome]]).sum(axis=-2)

        def step(values: jax.Array, row: Any) -> tuple[jax.Array, None]:
            at, nodes, paid, states, weights = row
            of_nodes = paid + expected(nodes, self.draws.reach, values)
            of_states = (weights * expected(states, moves.reach, values)).sum(axis=1)
            return values.at[at].set(jnp.concatenate([of_nodes, of_states])), None

        rows = at, self.draws[:3], gains, moves[:3], weights
        return lambda values: jax.lax.scan(step, values, rows)[0]

    def _choices(self, choose: Choose) -> Choice:
        """Return the choice in every state, of ``BATCH`` states at a time."""
        count, size = len(self.seen), min(BATCH, len(self.seen))
        batches = np.resize(np.arange(count), (-(-count // size), size))  # the last begins anew

        def choices(states: jax.Array) -> Choice:
            return choose(encoded(self.parts, self.seen[states]), self.legal[states])

        made = jax.lax.map(choices, jnp.asarray(batches))
        return Choice(*(table.reshape(batches.size, -1)[:count] for table in made))


def move_law(task: Task, process: Process, encoding: EncodingName) -> MoveLaw:
    """List the law of a task in the order of a sweep.

    Raises:
        InputError: if the game is too large.
    """
    listed = _Listing(task, process)
    nodes, states = _rows(*listed.levels())
    parts, by_place, _ = parts_of(task, encoding)
    laws, gains = process.laws, process.node_gains
    gains = np.zeros(len(process.node_laws)) if gains is None else gains
    move_sizes, node_sizes = listed.sizes[listed.move_laws], listed.sizes[process.node_laws]
    draws = process.node_firsts, laws.firsts[process.node_laws], node_sizes
    law = MoveLaw(
        parts=parts,
        seen=by_place[listed.places],
        legal=listed.legal,
        moves=Windows(
            listed.move_firsts,
            laws.firsts[listed.move_laws],
            move_sizes,
            np.zeros(move_sizes[listed.legal].max()),
        ),
        draws=Windows._make([*(table[nodes] for table in draws), np.zeros(node_sizes.max())]),
        gains=gains[nodes],
        states=states,
        at_nodes=np.where(nodes < 0, GOES_ON, process.first_node + nodes),
        at_states=np.where(states < 0, GOES_ON, listed.first_state + states),
        leads_to=listed.leads_to,
        chances=listed.chances,
        guess=first_guess(task, process, listed.num_variables),
        start=process.start,
        scale=scale_of(task),
    )
    found: MoveLaw = jax.tree.map(on_device, law)
    return found


class _Listing:
    """The moves and nodes of a task, and the variables to which their outcomes lead."""

    def __init__(self, task: Task, process: Process) -> None:
        self._task, self._process, laws = task, process, process.laws
        self._own = states_of(task.game, task.seat)
        self.places, _ = process.groups.locate(self._own)
        self.legal: BoolArray = process.legal[self.places] > 0
        self.first_state = process.first_node + len(process.node_laws)
        self.num_variables = self.first_state + len(self._own)
        rows, outcomes, chances = laws.outcomes(np.arange(len(laws.sizes)))
        self.chances = np.zeros(len(laws.thresholds))
        self.chances[laws.firsts[rows] + outcomes] = chances
        self._likely = np.zeros((len(laws.sizes), outcomes.max() + 1), dtype=bool)
        self._likely[rows, outcomes] = True
        self.sizes = np.zeros(len(laws.sizes), dtype=np.int64)  # without outcomes of chance 0
        np.maximum.at(self.sizes, rows, outcomes + 1)
        require_few(len(process.leads_to), self.legal.sum() * self._likely.shape[1])
        known = np.zeros(len(process.legal), dtype=np.int64)
        known[self.places] = self.first_state + np.arange(len(self._own))
        entries, shape = process.leads_to.astype(np.int64), process.legal.shape
        self.leads_to = np.where(
            entries >= FIRST_PLACE, known[np.maximum(entries, 0)], number_of(entries)
        )
        self.move_laws = process.move_laws.reshape(shape)[self.places]
        self.move_firsts = process.move_firsts.reshape(shape)[self.places].astype(np.int64)

    def _dependences(self) -> tuple[IntArray, IntArray]:
        """List the pairs of a variable and a variable to which an outcome of it leads."""
        states, actions = np.nonzero(self.legal)
        firsts = self.move_firsts[states, actions]
        order = np.lexsort((firsts, states))
        states, firsts = states[order], firsts[order]
        news = (np.diff(states, prepend=-1) != 0) | (np.diff(firsts, prepend=-1) != 0)
        likely = self._likely[self.move_laws[self.legal][order]]
        moves, outcomes = np.nonzero(np.logical_or.reduceat(likely, np.flatnonzero(news)))
        nodes, drawn = np.nonzero(self._likely[self._process.node_laws])
        froms = [self._process.first_node + nodes, self.first_state + states[news][moves]]
        entries = [self._process.node_firsts[nodes] + drawn, firsts[news][moves] + outcomes]
        return np.concatenate(froms), self.leads_to[np.concatenate(entries)]

    def levels(self) -> tuple[list[IntArray], list[IntArray]]:
        """Sort nodes and states into levels, which depend on lower levels and the last alone."""
        froms, tos = self._dependences()
        order = np.argsort(tos, kind="stable")
        froms, ends = froms[order], np.cumsum(np.bincount(tos, minlength=self.num_variables))
        waits_for = np.bincount(froms, minlength=self.num_variables)
        waits_for[: self._process.first_node] = 0
        last = self._cut()
        ready = np.append(np.arange(self._process.first_node), last)
        levels: list[IntArray] = []
        while len(ready):
            _release(ready, froms, ends, waits_for)
            ready = np.flatnonzero(waits_for == 0)
            levels.append(ready)
        rest = np.flatnonzero(waits_for > 0)  # in circles that pass no state of the cut
        levels[-1] = np.append(rest, last)
        is_met = np.diff(ends, prepend=0) > 0
        is_met[self._process.start] = True
        levels = [level[is_met[level]] for level in levels]
        nodes = [level[level < self.first_state] - self._process.first_node for level in levels]
        return nodes, [level[level >= self.first_state] - self.first_state for level in levels]

    def _cut(self) -> IntArray:
        """Return the variables of the agent's states in the cuts of a game with cycles."""
        if not self._task.game.has_cycles:
            return np.zeros(0, dtype=np.int64)
        cut = self._task.game.block(self._task.seat, self._own)[1]
        return self.first_state + np.flatnonzero(cut)


def _release(ready: IntArray, froms: IntArray, ends: IntArray, waits_for: IntArray) -> None:
    """Mark variables as known, and lower the counts of the variables that wait for them."""
    waits_for[ready] = -1
    counts = np.diff(ends, prepend=0)[ready]
    begins = np.repeat(ends[ready] - counts, counts)
    inside = np.arange(len(begins)) - np.repeat(np.cumsum(counts) - counts, counts)
    np.subtract.at(waits_for, froms[begins + inside], 1)


def _rows(nodes: list[IntArray], states: list[IntArray]) -> tuple[IntArray, IntArray]:
    """Cut levels into rows of equal length: shapes (row, node) and (row, state).

    Entries that fill rows are -1; their values go to the event GOES_ON, to which nothing leads.
    """
    both, widths = (nodes, states), (_width(nodes), _width(states))
    rows: list[list[IntArray]] = [[], []]
    for level in zip(*both, strict=True):
        each = [-(-len(part) // width) for part, width in zip(level, widths, strict=True)]
        for part, width, found in zip(level, widths, rows, strict=True):
            filled = np.full((max(each), width), -1)
            filled.ravel()[: len(part)] = part
            found.append(filled)
    return np.concatenate(rows[0]), np.concatenate(rows[1])


def _width(levels: list[IntArray]) -> int:
    """Return a length of rows that needs few rows and little padding."""
    sizes = np.array([len(level) for level in levels])
    widths = 2 ** np.arange(18)
    rows = -(-sizes // widths[:, None])  # (width, level)
    return int(widths[(rows.sum(axis=1) * (widths + ROW)).argmin()])
