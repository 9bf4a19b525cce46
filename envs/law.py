"""The probability law of the result of an agent's move, after the opponents' replies.

The law is read from the flat tables by which environments are played (``envs.engine.process``): a
move draws an outcome, which leads to a state of the agent, to an end of the game, or to a *node*,
in which chance or another player draws. A *result* is a state of the agent or the end, together
with the agent's total payment on the way to it; a node that is reached with two totals counts as
two. Let A(i, j) be the probability that node i leads to node j, and B(i, k) that it leads to result
k. Then

    X = B + A X = B + A B + A^2 B + ... = ... (1 + A^4) (1 + A^2) (1 + A) B

is the law of the result of each node, and T + U X that of moves with the law T of direct results
and the law U of nodes. As the game ends, the powers of A vanish: a few factors give every digit,
with cycles and without. In a game of many turns X has many times the entries of A and B, so that
audits compute only X f for requested numbers f of the results, and only the requested columns of X.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..baselines import Problem
from ..baselines.operators.systems import scipy_sparse
from ..core import FloatArray, GameError, InputError, IntArray
from ..core.block_moves import in_a_row, sums
from ..core.positions import pieces, places_in
from ..core.sizes import check_memory
from ..core.turn_game import Index
from .engine.process import FIRST_PAYOFF, FIRST_PLACE
from .engine.tables import asked_process, process_of

#: Bytes of memory for each listed outcome, and for an entry of a matrix of SciPy.
LISTED, ENTRY = 60, 12
#: Number of moves in a batch whose laws are compared with the record.
PIECE = 2**14
#: Sum of the probabilities in a power of A that is left out; in cycles of others no power is 0.
TINY = float(np.finfo(np.float64).tiny)
#: Number of factors 1 + A^(2^k) after which every game that ends has ended.
DOUBLINGS = 64


class _Listed(NamedTuple):
    """Outcomes of moves or of nodes, shape (outcome,)."""

    sources: IntArray  # number of the move, or of the node with its total
    chances: FloatArray
    results: IntArray  # number of the state or the end with its total; -1 at a node
    nodes: IntArray  # number of the node with its total; -1 at a result


class _Matrix(NamedTuple):
    """A sparse matrix of probabilities, arrays of shape (entry,); ``of`` sorts and merges them."""

    rows: IntArray
    columns: IntArray
    chances: FloatArray
    shape: tuple[int, int]

    @classmethod
    def of(
        cls, rows: IntArray, columns: IntArray, chances: FloatArray, shape: tuple[int, int]
    ) -> "_Matrix":
        """Add up the entries of each place, and leave out those that are 0."""
        order = np.lexsort((columns, rows))
        rows, columns, chances = rows[order], columns[order], chances[order]
        firsts = np.flatnonzero(np.diff(rows, prepend=-1) | np.diff(columns, prepend=-1))
        totals = np.add.reduceat(chances, firsts) if len(firsts) else chances
        some = firsts[totals > 0]
        return cls(rows[some], columns[some], totals[totals > 0], shape)

    @property
    def in_scipy(self) -> Any:
        """The matrix as one of SciPy, in compressed rows."""
        sparse = scipy_sparse("the law of moves")
        where = self.rows.astype(np.int32), self.columns.astype(np.int32)
        return sparse.coo_array((self.chances, where), self.shape).tocsr()

    def sum(self) -> float:
        """Add up all entries."""
        return float(self.chances.sum())

    def __add__(self, other: Any) -> "_Matrix":  # of matrices, not of tuples
        """Add a matrix of the same shape."""
        rows, columns = np.append(self.rows, other.rows), np.append(self.columns, other.columns)
        return _Matrix.of(rows, columns, np.append(self.chances, other.chances), self.shape)

    def times(self, right: "_Matrix") -> "_Matrix":
        """Multiply by a matrix, if all products of entries stay within the limit of memory."""
        counts = np.bincount(right.rows, minlength=right.shape[0])
        sizes = counts[self.columns]
        check_memory("entries of a law", int(sizes.sum()), LISTED)
        each = np.repeat(np.arange(len(sizes)), sizes)
        places = in_a_row(sums(counts), self.columns)
        chances = self.chances[each] * right.chances[places]
        shape = self.shape[0], right.shape[1]
        return _Matrix.of(self.rows[each], right.columns[places], chances, shape)


class MoveLaw:
    """The law of the result of some legal moves of the agent, shape (move,).

    If ``asked``, an opponent whose policy is no table is asked for it in every state; records of
    games against a policy that changes cannot be compared with the law of today.

    Attributes:
        states: the states of the results that are no ends, in growing order, shape (state result,).
            Results are these and then the ends.
        paid: the agent's payment until each result, growing among results of the same state and
            among ends, shape (result,).
    """

    def __init__(
        self, problem: Problem, states: IntArray, actions: IntArray, asked: bool = False
    ) -> None:
        process = asked_process(problem) if asked else process_of(problem)
        if process is None:
            raise InputError(
                f"{problem.task.words} must have tables of its moves to be audited; it has none, "
                "as they would be too large, or as the policy of an opponent is no table"
            )
        self._process, self._outcomes = process, 0
        self._game = problem.game
        self._end = problem.game.num_states  # in the place of a state
        self._totals: dict[float, int] = {}
        each = pieces(max(len(states), 1))
        direct = _joined([self._moves(states, actions, piece) for piece in each])
        replied, new = [self._nodes(np.zeros(0, dtype=np.int64))], _distinct(direct.nodes)
        nodes = new
        while len(new):
            replied.append(self._nodes(new))
            new = np.setdiff1d(_distinct(replied[-1].nodes), nodes)
            nodes = np.union1d(nodes, new)
        replies = _joined(replied)
        known = np.union1d(_distinct(direct.results), _distinct(replies.results))
        numbers, places = np.divmod(known, self._end + 1)
        totals = np.array(list(self._totals))
        in_order = np.lexsort((totals[numbers], places))
        self.states = places[in_order][: np.count_nonzero(places < self._end)]
        self.paid = totals[numbers[in_order]]
        result_of, node_of = Index(known[in_order]).find, Index(nodes).find

        def matrices(part: _Listed, rows: IntArray, count: int) -> tuple[_Matrix, _Matrix]:
            ends = part.results >= 0
            on, chances = ~ends, part.chances
            columns = result_of(part.results[ends]), node_of(part.nodes[on])
            return (
                _Matrix(rows[ends], columns[0], chances[ends], (count, len(known))),
                _Matrix(rows[on], columns[1], chances[on], (count, len(nodes))),
            )

        #: T, U, B and A of the docstring of the module.
        self._parts = (
            *matrices(direct, direct.sources, len(states)),
            *matrices(replies, node_of(replies.sources), len(nodes)),
        )

    @property
    def payoffs(self) -> FloatArray:
        """The payments of the results that are ends, in growing order, shape (end result,)."""
        return self.paid[len(self.states) :]

    @cached_property
    def ends(self) -> Any:
        """The probability of each payoff at an end, a sparse array (move, payoff)."""
        (direct, led, replies, _), count = self._in_scipy, len(self.states)
        later = self._until_agent(replies[:, count:])
        return (direct[:, count:] + times(led, later)).tocsr().sorted_indices()

    @property
    def after(self) -> IntArray:
        """The state of each result, -1 at an end, shape (result,)."""
        return np.append(self.states, np.full(len(self.payoffs), -1))

    @property
    def every_payment(self) -> FloatArray:
        """All payments at once, of any legal moves of the game, in growing order."""
        payoffs, gains = self._process.payoffs[FIRST_PAYOFF:], self._process.node_gains
        return np.unique(payoffs if gains is None else np.append(payoffs, gains))

    def results(self, states: IntArray, paid: FloatArray | None = None) -> IntArray:
        """Return the number of a result for each next state (-1 at an end) and payment.

        It is -1 if no move leads there; without payments that of the first result of the state.
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

    def transitions(self) -> "_Matrix":
        """Return the law of the results of all moves, of shape (move, result)."""
        direct, led, replies, on = (_Matrix.of(*each) for each in self._parts)
        return direct + _product(led, self._until_agent_all(replies, on))

    def grouped(self, columns: IntArray, count: int, rows: IntArray, height: int) -> Any:
        """Return the law of ``count`` groups of results as a ``scipy.sparse.csr_array``.

        Given are the group of each result, (result,), and the row of each move, in growing order,
        (move,). Rows without a move, of all the ``height``, lead to the last group.
        """
        sparse, (direct, led, replies, on) = scipy_sparse("sparse_P"), self._parts
        replied = replies._replace(
            columns=columns[replies.columns], shape=(replies.shape[0], count)
        )
        later = self._until_agent_all(replied.in_scipy, on.in_scipy)
        over = (np.diff(later[:, : count - 1].indptr) == 0)[led.columns]  # no state follows
        rest = np.setdiff1d(np.arange(height), rows)
        to_groups = _Matrix(
            np.concatenate([rows[direct.rows], rows[led.rows[over]], rest]),
            np.append(columns[direct.columns], np.full(over.sum() + len(rest), count - 1)),
            np.concatenate([direct.chances, led.chances[over], np.ones(len(rest))]),
            (height, count),
        )
        goes_on = rows[led.rows[~over]], led.columns[~over], led.chances[~over]
        to_nodes = _Matrix(*goes_on, (height, led.shape[1]))
        left = sparse.hstack([to_groups.in_scipy, to_nodes.in_scipy], "csr")
        right = sparse.vstack([sparse.eye_array(count), later], "csr")
        for factor in (left, right):  # some clients allow rows to miss 1 by 10 ulp
            factor.data /= np.repeat(factor.sum(axis=1), np.diff(factor.indptr))
        return _product(left, right)

    def _until_agent_all(self, replies: Any, on: Any) -> Any:
        """Return X from B and A, both of one kind of matrix."""
        for _ in range(DOUBLINGS):
            if not on.sum():
                return replies
            replies = replies + _product(on, replies)
            on = _product(on, on)
        raise GameError(f"{self._game!r} must end, but others move in circles")

    def mean(self, numbers: FloatArray) -> FloatArray:
        """Return the expected numbers, shape (move, ...), of numbers of results, (result, ...)."""
        direct, led, replies, _ = self._in_scipy
        mean = times(direct, numbers) + times(led, self._until_agent(times(replies, numbers)))
        return np.asarray(mean, dtype=np.float64)

    def chances(self, moves: IntArray, results: IntArray, *, paid: bool = False) -> FloatArray:
        """Return the probability that each move leads to a result, shape (transition,).

        Results are first ones of their states; -1 has probability 0. ``paid`` says whether results
        of the same state with other payments are other results.
        """
        chances, known = np.zeros(len(moves)), np.flatnonzero(results >= 0)
        distinct, columns = np.unique(results[known], return_inverse=True)
        direct, led, whole, _ = self._in_scipy
        replies = whole[:, distinct]
        if not paid and (self.states[1:] == self.states[:-1]).any():
            every, count = np.arange(len(self.paid)), len(self.paid)
            firsts = np.append(np.searchsorted(self.states, self.states), every[len(self.states) :])
            together = _Matrix.of(every, firsts, np.ones(count), (count, count)).in_scipy
            direct = times(direct, together)
            replies = times(whole, together)[:, distinct]
        by_result = self._until_agent(replies).T.tocsr()
        for first in range(0, len(known), PIECE):
            piece = slice(first, first + PIECE)
            rows = moves[known[piece]]
            both = led[rows].multiply(by_result[columns[piece]])
            chances[known[piece]] = np.asarray(both.sum(axis=1)).ravel()
            chances[known[piece]] += np.asarray(direct[rows, results[known[piece]]]).ravel()
        return chances

    # ------------------------------------------------------------------ listing

    def _moves(self, states: IntArray, actions: IntArray, piece: slice) -> _Listed:
        """List the outcomes of a piece of the moves."""
        process = self._process
        places, contexts = process.groups.locate(states[piece])
        moves = places * process.legal.shape[1] + actions[piece]
        laws, firsts = process.move_laws[moves], process.move_firsts[moves]
        rows, chances, entries = self._outcomes_of(laws, firsts)
        results = np.where(entries < FIRST_PLACE, ~entries, 0)
        events = process.events[results * process.num_contexts + contexts[rows]]
        sources = rows + piece.start
        return self._listed(sources, chances, entries, contexts[rows], events, np.zeros(len(rows)))

    def _nodes(self, numbers: IntArray) -> _Listed:
        process = self._process
        totals, nodes = np.divmod(numbers, len(process.node_laws))
        laws, firsts = process.node_laws[nodes], process.node_firsts[nodes]
        rows, chances, entries = self._outcomes_of(laws, firsts)
        contexts, before = process.node_contexts[nodes[rows]], np.array(list(self._totals))
        paid = before[totals[rows]]
        return self._listed(numbers[rows], chances, entries, contexts, ~entries, paid)

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
        if not paid.any():  # which saves the time of sorting
            paid = paid[:1]
        distinct, places = np.unique(paid, return_inverse=True)
        known = [self._totals.setdefault(each, len(self._totals)) for each in distinct.tolist()]
        totals = np.broadcast_to(np.array(known, dtype=np.int64)[places], len(sources))
        results = totals * (self._end + 1) + np.where(ours, states, self._end)
        nodes = totals * len(process.node_laws) + nodes
        columns = sources, np.where(on, -1, results), np.where(on, nodes, -1)
        most = len(self._totals) * max(self._end + 1, len(process.node_laws))
        small = np.min_scalar_type(-1 - max(most, int(sources.max(initial=0))))  # there are many
        sources, results, nodes = (column.astype(small) for column in columns)
        return _Listed(sources, chances, results, nodes)

    def _outcomes_of(
        self, laws: IntArray, firsts: IntArray
    ) -> tuple[IntArray, FloatArray, IntArray]:
        """List the outcomes of laws: place in ``laws``, probability, and entry of ``leads_to``."""
        distinct, numbers = np.unique(laws, return_inverse=True)
        law, outcomes, chances = self._process.laws.outcomes(distinct)
        counts = np.bincount(law, minlength=len(distinct))
        sizes = counts[numbers]  # few laws serve many moves
        self._outcomes += int(sizes.sum())
        check_memory("outcomes of moves", self._outcomes, LISTED)
        rows = np.repeat(np.arange(len(laws)), sizes)
        places = in_a_row(sums(counts), numbers)
        entries = self._process.leads_to[firsts[rows] + outcomes[places]]
        return rows, chances[places], entries

    # ----------------------------------------------------------------- matrices

    @cached_property
    def _in_scipy(self) -> tuple[Any, ...]:
        """The matrices in SciPy."""
        return tuple(each.in_scipy for each in self._parts)

    def _until_agent(self, found: Any) -> Any:
        """Return B f + A B f + ..., from B f, an array or a sparse matrix of shape (node, ...)."""
        term = found
        while abs(term).sum() > TINY:  # powers of A would fill up
            term = times(self._in_scipy[3], term)
            found = found + term
        return found


def _joined(parts: list[_Listed]) -> _Listed:
    """Join lists of outcomes."""
    return _Listed(*map(np.concatenate, zip(*parts, strict=True)))


def _distinct(numbers: IntArray) -> IntArray:
    """List the different numbers but -1, in increasing order."""
    return np.unique(numbers[numbers >= 0])


def times(left: Any, right: Any) -> Any:
    """Multiply a sparse matrix by a matrix or a vector, in SciPy's own loops, without BLAS."""
    return left.__matmul__(right)


def _product(left: Any, right: Any) -> Any:
    """Multiply two matrices of a kind, if the product stays within the limit of memory."""
    if isinstance(left, _Matrix):
        return left.times(right)
    most = int(np.diff(right.indptr)[left.indices].sum())
    check_memory("entries of a law", most, ENTRY)
    return times(left, right)
