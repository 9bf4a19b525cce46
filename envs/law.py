"""The probability law of the result of an agent's move, after the opponents' replies.

The law is read from the flat tables by which environments are played (``envs.engine.process``): a
move draws an outcome, which leads to a state of the agent, to an end of the game with a payoff, or
to a *node*, in which chance or another player draws. Call a state of the agent or a payoff a
*result*. Let A(i, j) be the probability that node i leads to node j, and B(i, k) that it leads to
result k. Then, as in ``envs.planners``, X = B + A B + A^2 B + ... is the law of the result
of each node, and T + U X that of moves with the law T of direct results and the law U of nodes. In
a game of many turns X has many times the entries of A and B, so that only X f is computed for
requested numbers f of the results, and only the requested columns of X.
"""

from typing import Any, NamedTuple

import numpy as np

from ..baselines import Task
from ..core import BoolArray, FloatArray, InputError, IntArray
from ..core.positions import places_in
from ..core.sizes import check_memory
from .engine.process import FIRST_PLACE, number_of
from .engine.tables import process_of
from .planners import scipy_sparse, times

#: Bytes of memory for each listed outcome.
LISTED = 60
#: Number of moves in a batch whose laws are compared with the record.
PIECE = 2**14
#: Sum of the probabilities in a power of A that is left out; in cycles of others no power is 0.
TINY = float(np.finfo(np.float64).tiny)


class _Listed(NamedTuple):
    """Outcomes of moves or of nodes, shape (outcome,)."""

    sources: IntArray  # number of the move, or place of the node among the listed nodes
    chances: FloatArray
    states: IntArray  # the agent's next state; -1 after a payoff or a node
    events: IntArray  # the payoff or the node; -1 after a state


class MoveLaw:
    """The law of the result of some moves of the agent.

    Args:
        task: the agent's decision problem.
        states: states of the moves, shape (move,).
        actions: legal actions, shape (move,).

    Attributes:
        states: the agent's states that may follow, in growing order, shape (state result,).
        payoffs: payoffs with which the game may end, in growing order, shape (end result,).
            Results are these states and then these payoffs.

    Raises:
        InputError: if the task has no tables, as they would be too large, or as the policy of an
            opponent is asked anew in every game; or if moves pay before the end.
        SizeError: if the moves have too many outcomes for a list.
    """

    def __init__(self, task: Task, states: IntArray, actions: IntArray) -> None:
        process = process_of(task)
        if process is None:
            raise InputError(
                f"{task.words} must have tables of its moves to be audited; it has none, as they "
                "would be too large, or as the policy of an opponent is no table"
            )
        if process.node_gains is not None:
            raise InputError(
                f"{task.words} must pay at its end alone to have the law of its moves listed, got "
                "moves that pay before"
            )
        self._process, self._outcomes = process, 0
        self._sparse = scipy_sparse("audit")
        parts = [self._moves(states, actions)]
        nodes, new = np.zeros(0, dtype=np.int64), self._led_to(parts[0])
        while len(new):
            nodes = np.union1d(nodes, new)
            parts.append(self._nodes(new))
            new = np.setdiff1d(self._led_to(parts[-1]), nodes)
        self._known = nodes
        listed = _Listed(*map(np.concatenate, zip(*parts, strict=True)))
        paid = (listed.events >= 0) & (listed.events < process.first_node)
        self._paid = np.unique(listed.events[paid])
        self.states = np.unique(listed.states[listed.states >= 0])
        self.payoffs = process.payoffs[self._paid]
        columns: Any = (column[len(parts[0].sources) :] for column in listed)
        self._direct, self._led = self._matrices(parts[0], np.arange(len(states)))
        self._replies, self._on = self._matrices(_Listed(*columns), nodes)

    @property
    def num_results(self) -> int:
        """Number of results."""
        return len(self.states) + len(self.payoffs)

    @property
    def every_payoff(self) -> FloatArray:
        """The payoffs with which any game may end, in growing order."""
        return np.unique(self._process.payoffs[: self._process.first_node])

    def results(self, states: IntArray) -> IntArray:
        """Return the number of the result for each next state; -1 if no move leads there."""
        return places_in(self.states, states)

    def mean(self, numbers: FloatArray) -> FloatArray:
        """Return the expected numbers, shape (move, ...), of numbers of results, (result, ...)."""
        later = self._until_agent(times(self._replies, numbers))
        mean = times(self._direct, numbers) + times(self._led, later)
        return np.asarray(mean, dtype=np.float64)

    def chances(self, moves: IntArray, results: IntArray) -> FloatArray:
        """Return the probability of each transition, shape (transition,).

        Moves and results are given by their numbers; a result of -1 has probability 0.
        """
        chances, known = np.zeros(len(moves)), np.flatnonzero(results >= 0)
        distinct, columns = np.unique(results[known], return_inverse=True)
        by_result = self._until_agent(self._replies[:, distinct]).T.tocsr()
        for first in range(0, len(known), PIECE):
            piece = slice(first, first + PIECE)
            rows = moves[known[piece]]
            led = self._led[rows].multiply(by_result[columns[piece]])
            chances[known[piece]] = np.asarray(led.sum(axis=1)).ravel()
            chances[known[piece]] += np.asarray(self._direct[rows, results[known[piece]]]).ravel()
        return chances

    # ------------------------------------------------------------------ listing

    def _led_to(self, part: _Listed) -> IntArray:
        """List the nodes to which outcomes lead, in increasing order."""
        first = self._process.first_node
        return np.unique(part.events[part.events >= first]) - first

    def _moves(self, states: IntArray, actions: IntArray) -> _Listed:
        process = self._process
        places, contexts = process.groups.locate(states)
        moves = places * process.legal.shape[1] + actions
        laws, firsts = process.move_laws[moves], process.move_firsts[moves]
        rows, chances, entries = self._outcomes_of(laws, firsts)
        results = np.where(entries < FIRST_PLACE, number_of(entries), 0)
        events = process.events[results * process.num_contexts + contexts[rows]]
        return self._listed(rows, chances, entries, contexts[rows], events)

    def _nodes(self, nodes: IntArray) -> _Listed:
        process = self._process
        laws, firsts = process.node_laws[nodes], process.node_firsts[nodes]
        rows, chances, entries = self._outcomes_of(laws, firsts)
        contexts = process.node_contexts[nodes[rows]]
        return self._listed(nodes[rows], chances, entries, contexts, number_of(entries))

    def _listed(
        self, sources: IntArray, chances: FloatArray, entries: IntArray, *of_entries: IntArray
    ) -> _Listed:
        """Tell states from events, given the contexts and the events of the entries."""
        contexts, events = of_entries
        ours = entries >= FIRST_PLACE
        states = self._process.groups.states(np.where(ours, entries, 0), contexts)
        return _Listed(sources, chances, np.where(ours, states, -1), np.where(ours, -1, events))

    def _outcomes_of(
        self, laws: IntArray, firsts: IntArray
    ) -> tuple[IntArray, FloatArray, IntArray]:
        """List the outcomes of laws: place in ``laws``, probability, and entry of ``leads_to``."""
        distinct, numbers = np.unique(laws, return_inverse=True)
        law, outcomes, chances = self._process.laws.outcomes(distinct)
        counts = np.bincount(law, minlength=len(distinct))
        begins = np.cumsum(counts) - counts
        sizes = counts[numbers]  # few laws serve many moves
        self._outcomes += int(sizes.sum())
        check_memory("outcomes of moves", self._outcomes, LISTED)
        rows = np.repeat(np.arange(len(laws)), sizes)
        places = np.arange(len(rows)) + (begins[numbers] - (np.cumsum(sizes) - sizes))[rows]
        entries = self._process.leads_to[firsts[rows] + outcomes[places]]
        return rows, chances[places], entries

    # ----------------------------------------------------------------- matrices

    def _matrices(self, part: _Listed, sources: IntArray) -> tuple[Any, Any]:
        """Return the matrices of probabilities of results and of nodes, a row for each source."""
        rows = np.searchsorted(sources, part.sources)
        first = self._process.first_node
        ends = len(self.states) + np.searchsorted(self._paid, part.events)
        columns = np.where(part.states < 0, ends, np.searchsorted(self.states, part.states))
        on, nodes = part.events >= first, np.searchsorted(self._known, part.events - first)

        def matrix(which: BoolArray, columns: IntArray, width: int) -> Any:
            where, shape = (rows[which], columns[which]), (len(sources), width)
            return self._sparse.coo_array((part.chances[which], where), shape).tocsr()

        return matrix(~on, columns, self.num_results), matrix(on, nodes, len(self._known))

    def _until_agent(self, found: Any) -> Any:
        """Return B f + A B f + ..., from B f, an array or a sparse matrix of shape (node, ...)."""
        term = found
        while abs(term).sum() > TINY:  # powers of A would fill up
            term = times(self._on, term)
            found = found + term
        return found
