"""The agent's transition law for planners: as a dictionary, ``P``, and as sparse matrices.

``P`` is listed move by move, for small problems; the rest of this text is on the matrices. The
states in which the agent is to move have consecutive numbers. One further state, the end, comes
after the agent's last move and is absorbing. In all other positions another player is to move. Let
A(i, j) be the probability that the move in such a position i leads to such a position j, and
B(i, s) the probability that it leads to state s of the agent or to the end. Then the probability
X(i, s) that s is the agent's next state, or the end, is

    X = B + A X = B + A B + A^2 B + ... = ... (1 + A^4) (1 + A^2) (1 + A) B

As the game ends, the powers of A vanish: a few factors give every digit, with cycles and without.
The law of an action is T_agent + T_others X, where T is the law of the move itself, split into its
columns for states of the agent and for positions of others. Expected payoffs until the agent moves
again take a single sweep.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..baselines import Policy, Task, solve
from ..baselines.solving.induction import sweep_back, visit_action_values
from ..baselines.solving.players import Players, with_illegal
from ..core import (
    FLOATS,
    Array,
    BoolArray,
    FloatArray,
    Game,
    GameError,
    InputError,
    IntArray,
    Stage,
)
from ..core.contract import order_of, require_worst
from ..core.errors import needing
from ..core.moves import batches, list_moves, list_ways
from ..core.positions import states_of
from ..core.sizes import check_memory
from ..core.types import Order
from .engine.engine import Engine, RewardMode

Transitions: TypeAlias = dict[int, dict[int, list[tuple[float, int, float, bool]]]]
#: Law until the agent moves again: (its next state, or -1 if the game is over; paid) -> chance.
_Law: TypeAlias = dict[tuple[int, float], float]

#: Largest number of pairs of state and action in ``P``.
LIMIT = 20_000
#: Bytes of an entry of a matrix, and of an entry while the largest matrix is listed.
ENTRY, LISTED = 12, 24
#: Bytes of an entry of a dictionary.
ROW = 150
#: Number of factors 1 + A^(2^k) after which every game that ends has ended.
DOUBLINGS = 64


def tabulate_transitions(engine: Engine) -> Transitions:
    """Return the law of the agent's next state for each move, after the opponents' replies.

    Returns:
        ``P[state][action] = [(probability, next state, reward, terminated), ...]``. The states
        are the game's and one further state, the end. A move that ends the game leads to the end;
        the end leads to itself and pays nothing, so that a planner may ignore ``terminated``.
        States in which the agent is never to move lead to the end too; no move leads to them.

    Raises:
        ValueError: if the game has more than ``LIMIT`` pairs of state and action.
    """
    game = engine.game
    pairs = game.num_states * game.num_actions
    if pairs > LIMIT:
        raise InputError(
            f"P needs at most {LIMIT} pairs of state and action, got {pairs}: use sparse_P, "
            "exactdice.solve, which needs no table, or a smaller game"
        )
    table = _Table(engine)
    transitions: Transitions = {
        state: {action: [(1.0, game.num_states, 0.0, True)] for action in range(game.num_actions)}
        for state in range(game.num_states + 1)
    }
    for state in states_of(game, engine.task.seat).tolist():
        for action in range(game.num_actions):
            transitions[state][action] = _move(engine, table, state, action)
    return transitions


def _move(
    engine: Engine, table: "_Table", state: int, action: int
) -> list[tuple[float, int, float, bool]]:
    """Return the entries of one move; an illegal move leads to the end at the worst payoff."""
    law = table.after(engine.task.seat, state, action)
    if not law:
        require_worst(engine.game)
        law = {(-1, engine.game.payoff_range[0]): 1.0}
    following, payoffs = (np.array(column) for column in zip(*law, strict=True))
    over = following < 0
    after = np.where(over, state, following)
    before, actions = np.full(len(law), state), np.full(len(law), action)
    rewards = engine.rewards(before, actions, payoffs, after, over)
    after[over] = engine.game.num_states
    rows = zip(law.values(), after.tolist(), rewards.tolist(), over.tolist(), strict=True)
    return list(rows)


class _Table:
    """The legal moves of a game, and the laws of the other players' replies."""

    def __init__(self, engine: Engine) -> None:
        self._game, self._agent = engine.game, engine.task.seat
        self._ways: dict[tuple[int, int, int], list[tuple[float, int, int, bool, float]]]
        self._ways = defaultdict(list)
        self._chances: dict[tuple[int, int], list[float]] = {}  # of the others' actions
        self._replies: dict[tuple[int, int], _Law] = {}
        self._pays_early = False  # whether a move pays the agent before the end
        for seat in range(self._game.num_players):
            states = states_of(self._game, seat)
            for batch in batches(self._game, states):
                self._list(seat, states[batch])
            if seat != self._agent:
                chances = engine.task.policies[seat].probabilities(states).tolist()
                self._chances.update(
                    zip(((seat, s) for s in states.tolist()), chances, strict=True)
                )
        if self._game.has_cycles:
            self._replies = self._replies_in_cycles()

    def _list(self, seat: int, states: IntArray) -> None:
        """List the legal moves of one player."""
        rows, actions, ways = list_moves(self._game, seat, states, FLOATS)
        effect = ways.effect
        columns = (
            states[rows][ways.moves],
            actions[ways.moves],
            ways.chances,
            effect.seats,
            effect.states,
            effect.over[:, self._agent],
            effect.payoffs[:, self._agent],
        )
        over, payoffs = columns[-2:]
        self._pays_early |= bool(payoffs[~over].any())
        for state, action, *way in zip(*(column.tolist() for column in columns), strict=True):
            self._ways[seat, state, action].append(tuple(way))

    def after(self, seat: int, state: int, action: int) -> _Law:
        """Return the law, after one move of any player, of the agent's next state or the end.

        Returns:
            The law; empty if the move is illegal.
        """
        law: _Law = defaultdict(float)
        for chance, mover, following, over, payoff in self._ways.get((seat, state, action), []):
            if over:
                law[-1, payoff] += chance
            elif mover == self._agent:
                law[following, payoff] += chance
            else:
                for (end, later), part in self._reply(mover, following).items():
                    law[end, payoff + later] += chance * part
        return law

    def _reply(self, seat: int, state: int) -> _Law:
        """Return the law from a position of another player on; it is computed once."""
        replies, position = self._replies, (seat, state)
        if position not in replies:
            replies[position] = {}  # only a circle of moves reads this empty law
            replies[position] = self._answer(*position)
        if not replies[position]:
            raise GameError(f"{self._game!r} must end, but leads from state {state} back to it")
        return replies[position]

    def _answer(self, seat: int, state: int) -> _Law:
        law: _Law = defaultdict(float)
        for action, chance in enumerate(self._chances[seat, state]):
            if chance:
                for end, part in self.after(seat, state, action).items():
                    law[end] += chance * part
        return law

    def _replies_in_cycles(self) -> dict[tuple[int, int], _Law]:
        """Return the law from each position of the other players, in a game with cycles.

        Gaussian elimination: at first the laws hold positions of other players, number k as the
        key (-2 - k, 0.0), or with what is paid before instead of 0. Then each position in turn is
        replaced by its own law in all laws. A law that leads back to its own position, for which
        nothing is paid, is divided by the probability that it does not.
        """
        positions = list(self._chances)
        self._replies = {position: {(-2 - k, 0.0): 1.0} for k, position in enumerate(positions)}
        laws = [self._answer(*position) for position in positions]
        for k, law in enumerate(laws):
            stays = law.pop((-2 - k, 0.0), 0.0)
            for end in law:
                law[end] /= 1 - stays
            for other in laws:
                keys = [(-2 - k, 0.0)]
                if self._pays_early:
                    keys = [key for key in other if key[0] == -2 - k]
                for key in keys:
                    if chance := other.pop(key, 0.0):
                        for (after, later), part in law.items():
                            other[after, key[1] + later] += chance * part
        return dict(zip(positions, laws, strict=True))


class SparseLaw(NamedTuple):
    """The decision process of an agent: the opponents' replies are part of its transitions.

    The last state is the end: it is absorbing under every action and pays nothing. Illegal actions
    lead to it at the worst payoff.

    Attributes:
        transitions: a ``scipy.sparse.csr_array`` of probabilities, shape
            (state * action, next state); action a of state s is in row s * num_actions + a.
        rewards: expected reward of an action, shape (state, action), in the reward mode.
        legal: whether an action is legal, shape (state, action).
        initial: law of the agent's first state, shape (state,).
        states: number in the game of each state but the end, shape (state - 1,).
    """

    transitions: Any
    rewards: FloatArray
    legal: BoolArray
    initial: FloatArray
    states: IntArray

    def per_action(self) -> list[Any]:
        """Give the transitions of each action, matrices of shape (state, next state)."""
        num_actions = self.rewards.shape[1]
        return [self.transitions[action::num_actions] for action in range(num_actions)]

    def as_dict(self) -> Transitions:
        """Give the law as a dictionary in the form of ``P``, with expected rewards.

        Raises:
            SizeError: if it would take more memory than the limit.
        """
        law, num_actions = self.transitions, self.rewards.shape[1]
        check_memory("entries of a dictionary", law.nnz, ROW)
        ends, after = law.indptr.tolist(), law.indices.tolist()
        over = (law.indices == len(self.states)).tolist()
        chances, rewards = law.data.tolist(), self.rewards.ravel().tolist()
        rows = [
            list(zip(chances[i:j], after[i:j], repeat(reward), over[i:j], strict=False))
            for i, j, reward in zip(ends[:-1], ends[1:], rewards, strict=True)
        ]
        return {
            state: dict(enumerate(rows[state * num_actions : (state + 1) * num_actions]))
            for state in range(len(self.initial))
        }


def sparse_law(task: Task, reward: RewardMode = "outcome") -> SparseLaw:
    """Return the law of the agent's next state for each move, after the opponents' replies.

    Args:
        task: the agent's decision problem.
        reward: the reward mode (see ``Engine``). "regret" and "shaped" have the same expected
            rewards.

    Raises:
        ModuleNotFoundError: if SciPy is not installed.
        SizeError: if the matrices would take more memory than the limit.
    """
    game, order = task.game, order_of(task.game)  # raises if the game is none
    own = states_of(game, task.seat)
    listing = _Listing(task, own, order)
    transitions = _product(listing.of_agent(), listing.until_agent())
    rewards = np.zeros((len(own) + 1, game.num_actions))
    rewards[:-1] = _paid_until_agent(task, own)
    if reward != "outcome":
        values = np.append(solve(task).found.at(task.seat, own), 0.0)
        rewards += times(transitions, values).reshape(rewards.shape) - values[:, None]
    legal = np.append(game.mask(own), np.ones((1, game.num_actions), dtype=bool), axis=0)
    return SparseLaw(transitions, rewards, legal, np.append(task.initial[own], 0.0), own)


class _Listing:
    """Moves as matrices of probabilities; the columns are the next positions.

    The columns are the agent's states, the end, and the positions of other players after which the
    agent may move again; the remaining positions of other players count as the end.
    """

    def __init__(self, task: Task, own: IntArray, order: Order) -> None:
        self._sparse, self._order = scipy_sparse("sparse_P"), order
        self._task, self._game, self._own = task, task.game, own
        self._end = len(own)
        self._others = [(other, states) for other, states in self._between() if len(states)]
        self._places = np.full((task.game.num_players, task.game.num_states), self._end)
        self._width = self._end + 1
        self._places[task.seat, own] = np.arange(len(own))
        for other, states in self._others:
            self._places[other, states] = self._width + np.arange(len(states))
            self._width += len(states)
        most = int(task.game.mask(own).sum())
        for other, states in self._others:  # a move in each state, or every legal move
            alone = task.policies[other].is_deterministic
            most += len(states) if alone else int(task.game.mask(states).sum())
        outcomes_each = int((task.game.laws > 0).sum(axis=1).max())
        check_memory("entries of sparse_P", most * outcomes_each, LISTED)

    def _between(self) -> Iterator[tuple[int, IntArray]]:
        """Give the states of each other player between the agent's first and last stage."""
        stages = self._order.stages
        first, last = 0, stages.max()
        if not self._game.has_cycles:
            of_agent = stages[self._task.seat, self._own]
            first, last = of_agent.min(), of_agent.max()
        for other in self._task.others:
            yield other, np.flatnonzero((stages[other] >= first) & (stages[other] <= last))

    def of_agent(self) -> Any:
        """List the agent's actions, those in the end last: shape (state * action, column)."""
        actions = np.arange(self._game.num_actions)
        end = np.full_like(actions, self._end)
        stays = self._matrix(actions, end, np.ones(len(actions)), len(actions))
        return self._sparse.vstack([*self._pieces(self._task.seat, self._own), stays], "csr")

    def until_agent(self) -> Any:
        """Give the law of the agent's next state from each column, shape (column, state)."""
        arrived = self._sparse.eye_array(self._end + 1, format="csr")
        if not self._others:
            return arrived
        moves = [piece for others in self._others for piece in self._pieces(*others)]
        replies = self._sparse.vstack(moves, "csr")
        power, found = replies[:, self._end + 1 :], replies[:, : self._end + 1]
        for _ in range(DOUBLINGS):
            if not power.nnz:
                return self._sparse.vstack([arrived, found], "csr")
            found = found + _product(power, found)
            power = _product(power, power)
            power.eliminate_zeros()  # products that have become 0
        raise GameError(f"{self._game!r} must end, but others move in circles")

    def _pieces(self, mover: int, states: IntArray) -> Iterator[Any]:
        for batch in batches(self._game, states):
            yield self._piece(mover, states[batch])

    def _piece(self, mover: int, states: IntArray) -> Any:
        """List moves: a row for each action of the agent, or for each state of another player."""
        game, seat = self._game, self._task.seat
        if mover == seat:
            weights = game.mask(states).astype(np.float64)
            illegal = np.flatnonzero(weights == 0)
            rows, count = np.flatnonzero(weights), weights.size
        else:
            weights = self._task.policies[mover].probabilities(states)
            illegal = np.arange(0)
            rows, count = np.nonzero(weights)[0], len(weights)
        ways = [(illegal, np.full_like(illegal, self._end), np.ones(len(illegal)))]
        state, action = np.nonzero(weights)
        weight = weights[state, action]
        listed = list_ways(game, mover, states[state], action, FLOATS)
        over = listed.effect.over[:, seat]
        after = self._places[listed.effect.seats, np.where(over, 0, listed.effect.states)]
        chances = weight[listed.moves] * listed.chances
        ways.append((rows[listed.moves], np.where(over, self._end, after), chances))
        froms, tos, chances = (np.concatenate(column) for column in zip(*ways, strict=True))
        return self._matrix(froms, tos, chances, count)

    def _matrix(self, rows: IntArray, columns: IntArray, chances: FloatArray, count: int) -> Any:
        where = rows.astype(np.int32), columns.astype(np.int32)  # SciPy would keep int64
        law = self._sparse.coo_array((chances, where), (count, self._width)).tocsr()
        law.data /= np.repeat(law.sum(axis=1), np.diff(law.indptr))  # some clients allow 10 ulp
        return law


def _product(left: Any, right: Any) -> Any:
    """Multiply two sparse matrices, if the product stays within the limit of memory."""
    most = int(np.diff(right.indptr)[left.indices].sum())
    check_memory("entries of sparse_P", most, ENTRY)
    return times(left, right)


def times(left: Any, right: Any) -> Any:
    """Multiply a sparse matrix by a matrix or a vector, in SciPy's own loops, without BLAS."""
    return left.__matmul__(right)


class _Idle(Policy):
    """Gives every action probability 0, so that the value of its positions is 0."""

    def __init__(self, game: Game) -> None:
        self.shape = (game.num_states, game.num_actions)

    def probabilities(self, states: IntArray) -> Array:
        """Give zeros."""
        return np.zeros((len(states), self.shape[1]))


def _paid_until_agent(task: Task, own: IntArray) -> FloatArray:
    """Compute the expected payoff of each action before the agent moves again, (state, action)."""
    game, seat = task.game, task.seat
    values = FLOATS.values(game.num_players, game.num_states).frozen()
    if task.others:
        idle = Players(game, seat, {**task.policies, seat: _Idle(game)}, partial=True)
        values = sweep_back(idle).values
    rows = np.zeros(game.num_states, dtype=np.int64)
    rows[own] = np.arange(len(own))
    paid = np.empty((len(own), game.num_actions))

    def visit(stage: Stage, expected: Array) -> None:
        paid[rows[stage.states]] = with_illegal(game, stage, expected, FLOATS)

    visit_action_values(game, visit, values, seat, FLOATS)
    return paid


def scipy_sparse(what: str) -> Any:
    """Return the module ``scipy.sparse``, which ``what`` needs.

    Raises:
        ModuleNotFoundError: if SciPy is not installed.
    """
    with needing(what, "scipy"):
        import scipy.sparse
    return scipy.sparse
