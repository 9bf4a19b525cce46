"""The agent's transition law for planners: as a dictionary, ``P``, and as sparse matrices."""

from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..baselines import Problem, solve
from ..core import BoolArray, FloatArray, Game, InputError, IntArray
from ..core.contract import require_worst
from ..core.positions import states_of
from ..core.sizes import check_memory
from .engine.engine import Engine, RewardMode
from .law import MoveLaw, times

Transitions: TypeAlias = dict[int, dict[int, list[tuple[float, int, float, bool]]]]

#: Largest number of pairs of state and action in ``P``.
LIMIT = 20_000
#: Bytes of an entry of a dictionary.
ROW = 150


def check_listable(game: Game) -> None:
    """Raise an ``InputError`` if the moves of a game are too many for a dictionary."""
    pairs = game.num_states * game.num_actions
    if pairs > LIMIT:
        raise InputError(
            f"P needs at most {LIMIT} pairs of state and action, got {pairs}: use sparse_P, "
            "exactdice.solve, which needs no table, or a smaller game"
        )


def tabulate_transitions(engine: Engine) -> Transitions:
    """Return the law of the agent's next state for each move, after the opponents' replies.

    The states are the game's and one further state, the end. A move that ends the game leads to the
    end; the end leads to itself and pays nothing, so that a planner may ignore ``terminated``.
    States in which the agent is never to move lead to the end too; no move leads to them.
    """
    game = engine.game
    check_listable(game)
    transitions: Transitions = {
        state: {action: [(1.0, game.num_states, 0.0, True)] for action in range(game.num_actions)}
        for state in range(game.num_states + 1)
    }
    own = states_of(game, engine.task.seat)
    rows, actions = np.nonzero(game.mask(own))
    states, law = own[rows], MoveLaw(engine.problem, own[rows], actions, asked=True)
    moves, results, chances, _ = law.transitions()
    chances = chances / np.bincount(moves, chances)[moves]  # some clients allow 10 ulp
    rows, illegal = np.nonzero(~game.mask(own))
    if len(rows):
        require_worst(game)
    chances = np.append(chances, np.ones(len(rows)))
    before, actions = np.append(states[moves], own[rows]), np.append(actions[moves], illegal)
    after: IntArray = np.append(law.after[results], np.full(len(rows), -1))
    paid = np.append(law.paid[results], np.full(len(rows), game.payoff_range[0]))
    over = after < 0
    rewards = engine.rewards(before, actions, paid, np.where(over, before, after), over)
    after[over] = game.num_states
    for state in own.tolist():
        transitions[state] = {action: [] for action in range(game.num_actions)}
    columns = (each.tolist() for each in (before, actions, chances, after, rewards, over))
    for state, action, *entry in zip(*columns, strict=True):
        transitions[state][action].append(tuple(entry))
    return transitions


class SparseLaw(NamedTuple):
    """The decision process of an agent: the opponents' replies are part of its transitions.

    The last state is the end: it is absorbing under every action and pays nothing. Illegal actions
    lead to it at the worst payoff.
    """

    # A ``scipy.sparse.csr_array`` of probabilities, (state * action, next state): action a of state
    # s is in row s * num_actions + a.
    transitions: Any
    rewards: FloatArray  # (state, action) expected reward, in the reward mode
    legal: BoolArray  # (state, action)
    initial: FloatArray  # (state,) law of the agent's first state
    states: IntArray  # (state - 1,) number in the game of each state but the end

    def per_action(self) -> list[Any]:
        """Give the transitions of each action, matrices of shape (state, next state)."""
        num_actions = self.rewards.shape[1]
        return [self.transitions[action::num_actions] for action in range(num_actions)]

    def as_dict(self) -> Transitions:
        """Give the law as a dictionary in the form of ``P``, with expected rewards."""
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


def sparse_law(problem: Problem, reward: RewardMode = "outcome") -> SparseLaw:
    """Return the law of the agent's next state for each move, after the opponents' replies.

    The reward modes "regret" and "shaped" have the same expected rewards.
    """
    _ = problem.first  # checks the game before its states are listed
    game, own = problem.game, states_of(problem.game, problem.seat)
    rows, actions = np.nonzero(game.mask(own))
    law, end = MoveLaw(problem, own[rows], actions, asked=True), len(own)
    legal = np.append(game.mask(own), np.ones((1, game.num_actions), dtype=bool), axis=0)
    columns = np.where(law.after < 0, end, np.searchsorted(own, law.after))
    places = rows * game.num_actions + actions
    transitions = law.grouped(columns, end + 1, places, legal.size)
    rewards = np.full(legal.shape, game.payoff_range[0])
    rewards[rows, actions], rewards[end] = law.mean(law.paid), 0.0
    if reward != "outcome":
        values = np.append(solve(problem).found.at(problem.seat, own), 0.0)
        rewards += times(transitions, values).reshape(rewards.shape) - values[:, None]
    return SparseLaw(transitions, rewards, legal, np.append(problem.initial[own], 0.0), own)
