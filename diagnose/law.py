"""The law of what follows a move of the agent, once the opponents have replied.

The positions of other players that the moves lead to are listed, and those that their replies lead
to, until the agent is to move again or the game is over for it. Let A(i, j) be the probability that
the reply in such a position i leads to such a position j, and B(i, k) that it leads to the *result*
k: a state of the agent, or an end of the game with one of its payoffs. Then, as in
``envs.planners.sparse``, X = B + A B + A^2 B + ... is the law of the result of each position, and
T + U X that of moves with the law T of direct results and the law U of such positions.
"""

import importlib
from typing import Any, NamedTuple

import numpy as np

from ..baselines import Task
from ..core import FLOATS, BoolArray, FloatArray, IntArray
from ..core.listing import batches, list_ways
from ..core.sizes import check_memory

#: Bytes of an outcome while it is listed.
LISTED = 60
#: Moves whose laws are compared with what was recorded at once.
PIECE = 2**14


class _Listed(NamedTuple):
    """Outcomes of moves, shape (outcome,)."""

    sources: IntArray  # number of the move, or position of another player
    chances: FloatArray
    seats: IntArray  # player to move next, -1 if the game is over for the agent
    states: IntArray
    payoffs: FloatArray  # of the agent, 0 if the game goes on


def _scipy_sparse() -> Any:
    try:
        return importlib.import_module("scipy.sparse")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("audit must have SciPy: pip install scipy") from error


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
        SizeError: if the positions of the other players are too many to be listed.
    """

    def __init__(self, task: Task, states: IntArray, actions: IntArray) -> None:
        self._task, self._outcomes = task, 0
        self._sparse = _scipy_sparse()
        parts = [self._own(states, actions)]
        known, new = np.zeros(0, dtype=np.int64), self._others(parts[0])
        while len(new):
            known = np.union1d(known, new)
            parts.append(self._replies(new))
            new = np.setdiff1d(self._others(parts[-1]), known)
        self._known = known
        over = [part.payoffs[part.seats < 0] for part in parts]
        own = [part.states[part.seats == task.seat] for part in parts]
        self.states, self.payoffs = np.unique(np.concatenate(own)), np.unique(np.concatenate(over))
        self._direct, self._led = self._matrices(parts[0], np.arange(len(states)))
        replies = [self._matrices(part, known) for part in parts[1:]]
        self._found = self._until_agent(replies)

    @property
    def num_results(self) -> int:
        """Number of results."""
        return len(self.states) + len(self.payoffs)

    def results(self, states: IntArray) -> IntArray:
        """Return the result that each next state of the agent is, -1 if it never follows."""
        if not len(self.states):
            return np.full_like(states, -1)
        places = np.minimum(np.searchsorted(self.states, states), len(self.states) - 1)
        return np.where(self.states[places] == states, places, -1)

    def mean(self, numbers: FloatArray) -> FloatArray:
        """Return the expected number after each move, shape (move,).

        Args:
            numbers: a number of each result, shape (result,).
        """
        mean = self._direct @ numbers + self._led @ (self._found @ numbers)
        return np.asarray(mean, dtype=np.float64)

    def chances(self, moves: IntArray, results: IntArray) -> FloatArray:
        """Return the probability of results, shape (transition,); of the result -1 it is 0.

        Args:
            moves: number of each transition's move.
            results: number of each transition's result, or -1.
        """
        by_result = self._found.tocsc()
        chances = np.zeros(len(moves))
        for first in range(0, len(moves), PIECE):
            piece = slice(first, first + PIECE)
            known = np.flatnonzero(results[piece] >= 0) + first
            rows, columns = moves[known], results[known]
            chances[known] = np.asarray(self._direct[rows, columns]).ravel()
            led = self._led[rows].multiply(by_result[:, columns].T.tocsr())
            chances[known] += np.asarray(led.sum(axis=1)).ravel()
        return chances

    # ------------------------------------------------------------------ listing

    def _others(self, part: _Listed) -> IntArray:
        """List the positions of other players, seat * num_states + state, in growing order."""
        theirs = (part.seats >= 0) & (part.seats != self._task.seat)
        return np.unique(part.seats[theirs] * self._task.game.num_states + part.states[theirs])

    def _own(self, states: IntArray, actions: IntArray) -> _Listed:
        weights = np.ones(len(states))
        return self._list(self._task.seat, states, actions, weights, np.arange(len(states)))

    def _replies(self, positions: IntArray) -> _Listed:
        """List what follows positions of other players, who follow their policies."""
        game, parts = self._task.game, []
        movers, states = np.divmod(positions, game.num_states)
        for mover in np.unique(movers).tolist():
            mine = np.flatnonzero(movers == mover)
            for own in (mine[batch] for batch in batches(game, mine)):
                law = self._task.policies[mover].probabilities(states[own])
                rows, actions = np.nonzero(law)
                sources, weights = positions[own[rows]], law[rows, actions]
                parts.append(self._list(mover, states[own[rows]], actions, weights, sources))
        return _Listed(*map(np.concatenate, zip(*parts, strict=True)))

    def _list(
        self,
        mover: int,
        states: IntArray,
        actions: IntArray,
        weights: FloatArray,
        sources: IntArray,
    ) -> _Listed:
        seat, parts = self._task.seat, []
        for batch in batches(self._task.game, states):
            ways = list_ways(self._task.game, mover, states[batch], actions[batch], FLOATS)
            self._outcomes += len(ways.chances)
            check_memory("outcomes of moves", self._outcomes, LISTED)
            after, over = ways.effect, ways.effect.over[:, seat]
            chances = weights[batch][ways.moves] * ways.chances
            seats = np.where(over, -1, after.seats)
            listed = sources[batch][ways.moves], chances, seats, after.states
            parts.append(_Listed(*listed, after.payoffs[:, seat]))
        if not parts:  # no moves
            none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
            return _Listed(none, nothing, none, none, nothing)
        return _Listed(*map(np.concatenate, zip(*parts, strict=True)))

    # ----------------------------------------------------------------- matrices

    def _matrices(self, part: _Listed, sources: IntArray) -> tuple[Any, Any]:
        """Make the matrices to results and to positions of others, rows as ``sources``."""
        rows = np.searchsorted(sources, part.sources)
        over, own = part.seats < 0, part.seats == self._task.seat
        ends = len(self.states) + np.searchsorted(self.payoffs, part.payoffs)
        columns = np.where(over, ends, np.searchsorted(self.states, part.states))
        codes = part.seats * self._task.game.num_states + part.states
        on = ~over & ~own
        return (
            self._matrix(part, rows, columns, ~on, len(sources), self.num_results),
            self._matrix(part, rows, np.searchsorted(self._known, codes), on, len(sources), None),
        )

    def _matrix(
        self,
        part: _Listed,
        rows: IntArray,
        columns: IntArray,
        which: BoolArray,
        height: int,
        width: int | None,
    ) -> Any:
        shape = height, len(self._known) if width is None else width
        where = rows[which], columns[which]
        return self._sparse.coo_array((part.chances[which], where), shape).tocsr()

    def _until_agent(self, replies: list[tuple[Any, Any]]) -> Any:
        """Return X, of shape (position of others, result)."""
        if not replies:
            return self._sparse.csr_array((0, self.num_results))
        found = term = sum(direct for direct, _ in replies)
        led = sum(led for _, led in replies)
        while term.nnz:  # squares of the matrix of replies would fill up
            term = led @ term
            term.eliminate_zeros()  # products that have become 0
            found = found + term
        return found.tocsr()
