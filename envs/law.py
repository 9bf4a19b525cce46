"""The probability law of the result of an agent's move, after the opponents' replies.

The law is read from the flat tables by which environments are played (``envs.engine.process``): a
move draws an outcome, which leads to a state of the agent, to an end of the game, or to a *node*,
in which chance or another player draws. A *result* is a state of the agent or the end, together
with the agent's total payment on the way to it; a node that is reached with two totals counts as
two. Let A(i, j) be the probability that node i leads to node j, and B(i, k) that it leads to result
k. Then, as in ``envs.planners``, X = B + A B + A^2 B + ... is the law of the result of each node,
and T + U X that of moves with the law T of direct results and the law U of nodes. In a game of many
turns X has many times the entries of A and B, so that only X f is computed for requested numbers f
of the results, and only the requested columns of X.
"""

from typing import Any, NamedTuple

import numpy as np

from ..baselines import Task
from ..core import FloatArray, InputError, IntArray
from ..core.positions import places_in
from ..core.sizes import check_memory
from .engine.process import FIRST_PAYOFF, FIRST_PLACE, number_of
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

    sources: IntArray  # number of the move, or of the node with its total
    chances: FloatArray
    results: IntArray  # number of the state or the end with its total; -1 at a node
    nodes: IntArray  # number of the node with its total; -1 at a result


class MoveLaw:
    """The law of the result of some moves of the agent.

    Args:
        task: the agent's decision problem.
        states: states of the moves, shape (move,).
        actions: legal actions, shape (move,).

    Attributes:
        states: the states of the results that are no ends, in growing order, shape (state result,).
            Results are these and then the ends.
        paid: the agent's payment until each result, growing among results of the same state and
            among ends, shape (result,).

    Raises:
        InputError: if the task has no tables, as they would be too large, or as the policy of an
            opponent is asked anew in every game.
        SizeError: if the moves have too many outcomes for a list.
    """

    def __init__(self, task: Task, states: IntArray, actions: IntArray) -> None:
        process = process_of(task)
        if process is None:
            raise InputError(
                f"{task.words} must have tables of its moves to be audited; it has none, as they "
                "would be too large, or as the policy of an opponent is no table"
            )
        self._process, self._outcomes = process, 0
        self._end = task.game.num_states  # in the place of a state
        self._totals: dict[float, int] = {}
        self._sparse = scipy_sparse("audit")
        parts = [self._moves(states, actions)]
        nodes, new = np.zeros(0, dtype=np.int64), _led_to(parts[0])
        while len(new):
            nodes = np.union1d(nodes, new)
            parts.append(self._nodes(new))
            new = np.setdiff1d(_led_to(parts[-1]), nodes)
        listed = _Listed(*map(np.concatenate, zip(*parts, strict=True)))
        known = np.unique(listed.results[listed.results >= 0])
        numbers, places = np.divmod(known, self._end + 1)
        totals = np.array(list(self._totals))
        in_order = np.lexsort((totals[numbers], places))
        self.states = places[in_order][: np.count_nonzero(places < self._end)]
        self.paid = totals[numbers[in_order]]
        ranks = np.argsort(in_order)
        columns: Any = (column[len(parts[0].sources) :] for column in listed)
        direct, replies = parts[0], _Listed(*columns)

        def matrices(part: _Listed, sources: IntArray) -> tuple[Any, Any]:
            rows, ends = np.searchsorted(sources, part.sources), part.results >= 0
            of_results = ranks[np.searchsorted(known, part.results[ends])]
            of_nodes = np.searchsorted(nodes, part.nodes[~ends])
            chances, count = part.chances, len(sources)
            return (
                self._matrix(rows[ends], of_results, chances[ends], (count, len(known))),
                self._matrix(rows[~ends], of_nodes, chances[~ends], (count, len(nodes))),
            )

        self._direct, self._led = matrices(direct, np.arange(len(states)))
        self._replies, self._on = matrices(replies, nodes)

    @property
    def num_results(self) -> int:
        """Number of results."""
        return len(self.paid)

    @property
    def payoffs(self) -> FloatArray:
        """The payments of the results that are ends, in growing order, shape (end result,)."""
        return self.paid[len(self.states) :]

    @property
    def every_payment(self) -> FloatArray:
        """All payments at once, of any legal moves of the game, in growing order."""
        payoffs, gains = self._process.payoffs[FIRST_PAYOFF:], self._process.node_gains
        return np.unique(payoffs if gains is None else np.append(payoffs, gains))

    def results(self, states: IntArray, paid: FloatArray | None = None) -> IntArray:
        """Return the number of a result for each transition; -1 if no move leads there.

        Args:
            states: the next states, -1 at an end.
            paid: the payments; None for the first result of each state, whatever is paid.
        """
        places = np.where(states < 0, self._end, states)
        own = np.append(self.states, np.full(len(self.payoffs), self._end))
        if paid is None:
            return places_in(own, places)
        distinct = np.unique(self.paid)
        numbers = places_in(distinct, paid)
        found = places_in(
            own * len(distinct) + np.searchsorted(distinct, self.paid),
            places * len(distinct) + numbers,
        )
        return np.where(numbers < 0, -1, found)

    def alike(self, results: IntArray) -> IntArray:
        """Return the number of results with the same state, of first results of states."""
        return np.searchsorted(self.states, self.states[results], "right") - results

    def mean(self, numbers: FloatArray) -> FloatArray:
        """Return the expected numbers, shape (move, ...), of numbers of results, (result, ...)."""
        later = self._until_agent(times(self._replies, numbers))
        mean = times(self._direct, numbers) + times(self._led, later)
        return np.asarray(mean, dtype=np.float64)

    def chances(self, moves: IntArray, results: IntArray, *, paid: bool = False) -> FloatArray:
        """Return the probability of each transition, shape (transition,).

        Args:
            moves: their numbers.
            results: their numbers, first results of their states; -1 has probability 0.
            paid: whether results of the same state with other payments are other results.
        """
        chances, known = np.zeros(len(moves)), np.flatnonzero(results >= 0)
        distinct, columns = np.unique(results[known], return_inverse=True)
        direct, replies = self._direct, self._replies[:, distinct]
        if not paid and (self.states[1:] == self.states[:-1]).any():
            every, count = np.arange(self.num_results), self.num_results
            firsts = np.append(np.searchsorted(self.states, self.states), every[len(self.states) :])
            together = self._matrix(every, firsts, np.ones(count), (count, count))
            direct = times(direct, together)
            replies = times(self._replies, together)[:, distinct]
        by_result = self._until_agent(replies).T.tocsr()
        for first in range(0, len(known), PIECE):
            piece = slice(first, first + PIECE)
            rows = moves[known[piece]]
            led = self._led[rows].multiply(by_result[columns[piece]])
            chances[known[piece]] = np.asarray(led.sum(axis=1)).ravel()
            chances[known[piece]] += np.asarray(direct[rows, results[known[piece]]]).ravel()
        return chances

    # ------------------------------------------------------------------ listing

    def _moves(self, states: IntArray, actions: IntArray) -> _Listed:
        process = self._process
        places, contexts = process.groups.locate(states)
        moves = places * process.legal.shape[1] + actions
        laws, firsts = process.move_laws[moves], process.move_firsts[moves]
        rows, chances, entries = self._outcomes_of(laws, firsts)
        results = np.where(entries < FIRST_PLACE, number_of(entries), 0)
        events = process.events[results * process.num_contexts + contexts[rows]]
        return self._listed(rows, chances, entries, contexts[rows], events, np.zeros(len(rows)))

    def _nodes(self, numbers: IntArray) -> _Listed:
        process = self._process
        totals, nodes = np.divmod(numbers, len(process.node_laws))
        laws, firsts = process.node_laws[nodes], process.node_firsts[nodes]
        rows, chances, entries = self._outcomes_of(laws, firsts)
        contexts, before = process.node_contexts[nodes[rows]], np.array(list(self._totals))
        paid = before[totals[rows]]
        return self._listed(numbers[rows], chances, entries, contexts, number_of(entries), paid)

    def _listed(
        self,
        sources: IntArray,
        chances: FloatArray,
        entries: IntArray,
        contexts: IntArray,
        events: IntArray,
        paid: FloatArray,
    ) -> _Listed:
        """Tell results from nodes, given context, event and earlier payment of each outcome."""
        process, ours = self._process, entries >= FIRST_PLACE
        states = process.groups.states(np.where(ours, entries, 0), contexts)
        events = np.where(ours, 0, events)  # whose payoff is 0
        on = events >= process.first_node
        nodes = np.where(on, events - process.first_node, 0)
        paid = paid + np.where(on, 0.0, process.payoffs[np.where(on, 0, events)])
        if process.node_gains is not None:
            paid += np.where(on, process.node_gains[nodes], 0.0)
        distinct, places = np.unique(paid, return_inverse=True)
        known = [self._totals.setdefault(each, len(self._totals)) for each in distinct.tolist()]
        totals = np.array(known, dtype=np.int64)[places]
        results = totals * (self._end + 1) + np.where(ours, states, self._end)
        nodes = totals * len(process.node_laws) + nodes
        return _Listed(sources, chances, np.where(on, -1, results), np.where(on, nodes, -1))

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

    def _matrix(
        self, rows: IntArray, columns: IntArray, chances: FloatArray, shape: tuple[int, int]
    ) -> Any:
        return self._sparse.coo_array((chances, (rows, columns)), shape).tocsr()

    def _until_agent(self, found: Any) -> Any:
        """Return B f + A B f + ..., from B f, an array or a sparse matrix of shape (node, ...)."""
        term = found
        while abs(term).sum() > TINY:  # powers of A would fill up
            term = times(self._on, term)
            found = found + term
        return found


def _led_to(part: _Listed) -> IntArray:
    """List the nodes to which outcomes lead, in increasing order."""
    return np.unique(part.nodes[part.nodes >= 0])
