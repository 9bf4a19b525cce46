"""The law of a task, ordered for the sweep of ``exact_score``.

The *variables* are the events of the tables, payoffs and nodes, and after them the agent's states.
The value of a node or of a move is the sum over its outcomes of probability times the value of the
variable to which the outcome leads. Outcomes of a move lead to consecutive entries of one array of
variables, so that moves with the same outcomes share them: the default game of Greed has 612,090
moves and 131,908 entries.

Nodes and states fall into *levels*, which depend on lower levels alone. Levels are cut into *rows*
of equal length, the steps of a sweep. A game with cycles has no such levels.
"""

from typing import NamedTuple

import jax
import numpy as np

from ...baselines import Task, random_value, solve
from ...core import FLOATS, BoolArray, InputError, IntArray
from ...core.positions import states_of
from ..api.encoding import EncodingName
from ..engine.process import FIRST_PLACE, Process, number_of
from ..engine.tables import features_of
from .tables import on_device, tables_of

#: Largest number of pairs of a variable and a variable on which it depends.
MOST = 2**26
#: Fixed cost of a row of a sweep, in units of the cost of a node or state.
ROW = 32


class ExactLaw(NamedTuple):
    """The law of a task, a pytree of arrays.

    Attributes:
        observations: features of each of the agent's states, shape (state, feature).
        legal: shape (state, action).
        move_firsts: entry of ``leads_to`` for outcome 0 of each move, shape (state, action).
        move_slots: entry of ``chances`` for outcome 0 of each move, shape (state, action).
        move_sizes: number of outcomes of each move, shape (state, action).
        node_firsts: entry of ``leads_to`` for outcome 0 of each node, shape (node,).
        node_slots: entry of ``chances`` for outcome 0 of each node, shape (node,).
        node_sizes: number of outcomes of each node, shape (node,).
        node_gains: payment to the agent at each node, shape (node,).
        leads_to: variable to which each outcome leads, shape (entry,).
        chances: probability of each outcome of each law, shape (slot,).
        payoffs: value of each variable that is a payoff, else 0, shape (variable,).
        first_node: variable of node 0.
        first_state: variable of the agent's first state.
        start: variable with which a game begins.
        nodes: the nodes of each row, shape (row, node).
        states: the states of each row, shape (row, state).
        outcomes: an array whose length is the largest number of outcomes of a move.
        node_outcomes: an array whose length is the largest number of outcomes of a node.
        optimum: value of the optimal policy.
        random: value of the uniform policy over legal actions; the optimum, if they tie.
    """

    observations: jax.Array
    legal: jax.Array
    move_firsts: jax.Array
    move_slots: jax.Array
    move_sizes: jax.Array
    node_firsts: jax.Array
    node_slots: jax.Array
    node_sizes: jax.Array
    node_gains: jax.Array
    leads_to: jax.Array
    chances: jax.Array
    payoffs: jax.Array
    first_node: jax.Array
    first_state: jax.Array
    start: jax.Array
    nodes: jax.Array
    states: jax.Array
    outcomes: jax.Array
    node_outcomes: jax.Array
    optimum: jax.Array
    random: jax.Array


def exact_law(task: Task, encoding: EncodingName) -> ExactLaw:
    """List the law of a task in the order of a sweep.

    Raises:
        InputError: if the game has cycles, or is too large.
    """
    process = tables_of(task)
    if task.game.has_cycles:
        raise InputError(f"game must have no cycles to be scored by levels, got {task.game}")
    listed = _Listing(task, process)
    nodes, states = _rows(*listed.levels())
    features, extra = features_of(task, encoding)
    seen = features[listed.places] + (0 if extra is None else extra[listed.contexts])
    gains = process.node_gains
    optimum, random = float(solve(task).value), random_value(task)
    payoffs = np.zeros(listed.num_variables)
    payoffs[: process.first_node] = process.payoffs
    node_sizes, move_sizes = (listed.sizes[law] for law in (process.node_laws, listed.move_laws))
    law = ExactLaw(
        observations=seen,
        legal=listed.legal,
        move_firsts=listed.move_firsts,
        move_slots=process.laws.firsts[listed.move_laws],
        move_sizes=move_sizes,
        node_firsts=listed.node_firsts,
        node_slots=process.laws.firsts[process.node_laws],
        node_sizes=node_sizes,
        node_gains=np.zeros(len(node_sizes)) if gains is None else gains,
        leads_to=listed.leads_to,
        chances=listed.chances,
        payoffs=payoffs,
        first_node=process.first_node,
        first_state=listed.first_state,
        start=process.start,
        nodes=nodes,
        states=states,
        outcomes=np.zeros(move_sizes[listed.legal].max()),
        node_outcomes=np.zeros(node_sizes.max()),
        optimum=optimum,
        random=random if optimum - random > FLOATS.tie(task.game) else optimum,
    )
    return ExactLaw(*map(on_device, law))


class _Listing:
    """The moves and nodes of a task, and the variables to which their outcomes lead."""

    def __init__(self, task: Task, process: Process) -> None:
        self._process, laws = process, process.laws
        own = states_of(task.game, task.seat)
        self.places, self.contexts = process.groups.locate(own)
        self.legal: BoolArray = process.legal[self.places] > 0
        self.first_state = process.first_node + len(process.node_laws)
        self.num_variables = self.first_state + len(own)
        rows, outcomes, chances = laws.outcomes(np.arange(len(laws.sizes)))
        self.chances = np.zeros(len(laws.thresholds))
        self.chances[laws.firsts[rows] + outcomes] = chances
        self._likely = np.zeros((len(laws.sizes), outcomes.max() + 1), dtype=bool)
        self._likely[rows, outcomes] = True
        self.sizes = np.zeros(len(laws.sizes), dtype=np.int64)  # without outcomes of chance 0
        np.maximum.at(self.sizes, rows, outcomes + 1)
        entries, shape = len(process.leads_to), process.legal.shape
        _check(2 * process.num_contexts * entries, self.legal.sum() * self._likely.shape[1])
        self.leads_to = np.concatenate(self._variables(own))
        self.move_laws = process.move_laws.reshape(shape)[self.places]
        of_moves = entries * self.contexts[:, None]
        self.move_firsts = process.move_firsts.reshape(shape)[self.places] + of_moves
        of_nodes = entries * (process.num_contexts + process.node_contexts.astype(np.int64))
        self.node_firsts = process.node_firsts + of_nodes

    def _variables(self, own: IntArray) -> tuple[IntArray, IntArray]:
        """Return the variables to which moves and nodes lead, each of shape (context * entry,)."""
        process = self._process
        known = np.zeros((process.num_contexts, len(process.legal)), dtype=np.int64)
        known[self.contexts, self.places] = self.first_state + np.arange(len(own))
        events = process.events.reshape(-1, process.num_contexts)
        entries = process.leads_to.astype(np.int64)
        goes_on, ends = entries >= FIRST_PLACE, np.maximum(number_of(entries), 0)
        places = known[:, np.maximum(entries, 0)]  # (context, entry)
        after_moves = np.where(goes_on, places, events.T[:, np.minimum(ends, len(events) - 1)])
        return after_moves.ravel(), np.where(goes_on, places, ends).ravel()

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
        entries = [self.node_firsts[nodes] + drawn, firsts[news][moves] + outcomes]
        return np.concatenate(froms), self.leads_to[np.concatenate(entries)]

    def levels(self) -> tuple[list[IntArray], list[IntArray]]:
        """Sort nodes and states into levels, which depend on lower levels alone."""
        froms, tos = self._dependences()
        order = np.argsort(tos, kind="stable")
        froms, ends = froms[order], np.cumsum(np.bincount(tos, minlength=self.num_variables))
        waits_for = np.bincount(froms, minlength=self.num_variables)
        waits_for[: self._process.first_node] = 0
        nodes: list[IntArray] = []
        states: list[IntArray] = []
        ready = np.arange(self._process.first_node)
        while len(ready):
            _release(ready, froms, ends, waits_for)
            ready = np.flatnonzero(waits_for == 0)
            nodes.append(ready[ready < self.first_state] - self._process.first_node)
            states.append(ready[ready >= self.first_state] - self.first_state)
        return nodes[:-1], states[:-1]


def _release(ready: IntArray, froms: IntArray, ends: IntArray, waits_for: IntArray) -> None:
    """Mark variables as known, and lower the counts of the variables that wait for them."""
    waits_for[ready] = -1
    counts = np.diff(ends, prepend=0)[ready]
    begins = np.repeat(ends[ready] - counts, counts)
    inside = np.arange(len(begins)) - np.repeat(np.cumsum(counts) - counts, counts)
    np.subtract.at(waits_for, froms[begins + inside], 1)


def _rows(nodes: list[IntArray], states: list[IntArray]) -> tuple[IntArray, IntArray]:
    """Cut levels into rows of equal length: shapes (row, node) and (row, state).

    A node or state 0 that fills a row is computed too early or once more, which does no harm.
    """
    both, widths = (nodes, states), (_width(nodes), _width(states))
    rows: list[list[IntArray]] = [[], []]
    for level in zip(*both, strict=True):
        each = [-(-len(part) // width) for part, width in zip(level, widths, strict=True)]
        for part, width, found in zip(level, widths, rows, strict=True):
            filled = np.zeros((max(each), width), dtype=np.int64)
            filled.ravel()[: len(part)] = part
            found.append(filled)
    return np.concatenate(rows[0]), np.concatenate(rows[1])


def _width(levels: list[IntArray]) -> int:
    """Return a length of rows that needs few rows and little padding."""
    sizes = np.array([len(level) for level in levels])
    widths = 2 ** np.arange(18)
    rows = -(-sizes // widths[:, None])  # (width, level)
    return int(widths[(rows.sum(axis=1) * (widths + ROW)).argmin()])


def _check(*sizes: float) -> None:
    """Check that the lists have at most ``MOST`` entries.

    Raises:
        InputError: if one has more.
    """
    if max(sizes) > MOST:
        raise InputError(
            f"game must have at most {MOST:,} outcomes of moves to be scored in JAX, "
            f"got {max(sizes):,}: use exactdice.score"
        )
