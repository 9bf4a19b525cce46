"""The law of recorded moves against the whole law of the environment."""

from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task, prepare, solve
from exactdice.baselines.policies.kinds import UniformPolicy
from exactdice.core import EXACT, InputError
from exactdice.core.positions import legal_moves
from exactdice.envs import from_P, sparse_law
from exactdice.envs.law import MoveLaw
from exactdice.games import FourTwoOneMatch, Greed, LowestScore, LowestScoreMatch, Move, ShutTheBox
from small_games import Bare, Rounds

TASKS = [
    Task(Greed(9, 3), 1, "random"),
    Task(LowestScore(2, 3, 3, 3), 1, "notebook"),
    Task(LowestScore(2, 4, players=1), 0),
    Task(LowestScoreMatch(2, 3, players=2, wins=2), 1, "random"),
    Task(ShutTheBox(4, 2, 3), 1, "optimal"),
    Task(FourTwoOneMatch(tokens=2, faces=2), 0, "random"),
    Task(Rounds(players=2, turns=3, others=Fraction(-1, 2)), 0, "random"),
    from_P(gym.make("Taxi-v4")),
    from_P(gym.make("CliffWalking-v1", is_slippery=True)),
]


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_the_law_of_moves_is_that_of_sparse_p(task):
    whole, count = sparse_law(prepare(task)), task.game.num_actions
    rows, actions = legal_moves(task.game, whole.states)
    some = np.random.default_rng(0).permutation(len(rows))[:300]
    law = MoveLaw(prepare(task), whole.states[rows[some]], actions[some])
    kept = sum(matrix.nnz for matrix in vars(law).values() if hasattr(matrix, "nnz"))
    assert kept <= law._outcomes  # the law of whole replies has up to forty times as many
    wanted = whole.transitions.toarray()[rows[some] * count + actions[some]]
    numbers = np.random.default_rng(1).random(len(whole.states) + 1)
    places = np.searchsorted(whole.states, law.states)
    of_results = np.append(numbers[places], np.full(len(law.payoffs), numbers[-1]))
    np.testing.assert_allclose(law.mean(of_results), wanted @ numbers, atol=1e-14)
    moves, states = np.nonzero(wanted[:, :-1] > -1)
    found = law.chances(moves, law.results(whole.states[states]))
    np.testing.assert_allclose(found, wanted[:, :-1].ravel(), atol=1e-14)
    rewards = whole.rewards[:-1].ravel()[rows[some] * count + actions[some]]
    np.testing.assert_allclose(law.mean(law.paid), rewards, atol=1e-12)
    every = np.arange(law.num_results)
    moves, results = np.repeat(np.arange(len(some)), len(every)), np.tile(every, len(some))
    each = law.chances(moves, results, paid=True).reshape(len(some), -1)
    np.testing.assert_allclose(each, law.mean(np.eye(len(every))), atol=1e-14)
    ends = np.full(len(law.payoffs), -1)
    np.testing.assert_array_equal(law.results(np.append(law.states, ends), law.paid), every)


def test_what_has_no_tables_is_refused(monkeypatch):
    monkeypatch.setattr("exactdice.envs.engine.tables.LIMIT", 1000)
    task = Task(Greed(9, 4), 0, "random")
    with pytest.raises(InputError, match="must have tables of its moves to be audited"):
        MoveLaw(prepare(task), np.array([0]), np.array([1]))


class Waiting(Bare):
    """Player 1 waits at place 1 with probability 5/8 a move; then player 0 ends the game."""

    name, has_cycles = "Waiting", True
    num_players, num_states, num_actions = 2, 3, 1
    observation_sizes, observation_names = (3,), ("place",)
    payoff_range, zero_sum = (0.0, 1.0), True
    laws = np.array([[1.0, 0.0], [0.625, 0.375]])

    def exact_laws(self):
        return np.array([[Fraction(chance) for chance in law] for law in self.laws])

    def law(self, states, actions):
        return (states == 1).astype(int)

    def initial_law(self):
        return np.array([0]), np.array([Fraction(1)])

    def advance(self, seats, states, actions, outcomes):
        over = np.stack([states == 2] * 2, axis=1)
        after = np.where(states == 0, 1, np.where(outcomes == 0, 1, 2))
        return Move((after == 1).astype(int), after, np.where(over, [1.0, 0.0], 0.0), over)

    def stages(self):
        return [(0, np.array([0])), (1, np.array([1])), (0, np.array([2]))]

    def block(self, seat, states):
        return np.zeros_like(states), np.full(len(states), seat == 1)


def test_the_law_of_an_opponent_who_may_wait_for_ever_is_found():
    """The chances of waiting longer and longer end at the smallest float, which never gets 0."""
    task = Task(Waiting(), 0, "random")
    law = MoveLaw(prepare(task), np.array([0]), np.array([0]))
    np.testing.assert_allclose(law.mean(np.ones(law.num_results)), 1)


def test_a_policy_that_may_change_is_listed_and_not_audited(monkeypatch):
    monkeypatch.setattr(UniformPolicy, "is_table", False)
    problem, state = prepare(Task(Greed(6, 3), 0, "random")), np.array([0])
    with pytest.raises(InputError, match="the policy of an opponent is no table"):
        MoveLaw(problem, state, state)
    assert MoveLaw(problem, state, state, asked=True).num_results


def test_a_problem_is_computed_exactly_if_that_is_asked():
    problem = prepare(Task(Greed(6, 3), 0, "random"))
    assert prepare(problem) is problem
    assert type(solve(problem, exact=True).value) is Fraction
    assert prepare(prepare(problem.task, exact=True)).arithmetic == EXACT
