"""The laws of moves that planners read and audits compare with, and what planners find."""

import sys
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
from exactdice.games import (
    FourTwoOneMatch,
    Greed,
    LowestScore,
    LowestScoreMatch,
    Move,
    ShutTheBox,
    SizeError,
)
from small_games import Bare, Rounds

import exactdice

#: Default sizes, where ``P`` is refused or long, and Greed in one that takes no time.
GAMES = [
    ("FourTwoOne", {}),
    ("FourTwoOne", {"utility": "set"}),
    ("LowestScore", {}),
    ("LowestScore", {"seat": 2, "dice": 4, "objective": "score"}),
    ("ShutTheBox", {}),
    ("ShutTheBox", {"seat": 1, "tiles": 6, "opponent": "random"}),
    ("Greed", {"max_score": 30}),
    ("Greed", {"max_score": 12, "reward": "regret"}),
    ("Greed", {"max_score": 12, "reward": "shaped"}),
]


def iterate(law, most=10_000):
    """Do value iteration until nothing changes: values, and the smallest best action."""
    values = np.zeros(len(law.initial))
    for _ in range(most):
        table = law.rewards + (law.transitions @ values).reshape(law.rewards.shape)
        if (values == table.max(axis=1)).all():
            return values, np.where(law.legal, table, -np.inf).argmax(axis=1)
        values = table.max(axis=1)
    raise AssertionError("values must settle")


@pytest.mark.parametrize(("name", "keywords"), GAMES)
def test_value_iteration_finds_the_optimum(name, keywords):
    env = gym.make(f"exactdice/{name}-v0", **keywords)
    law = env.unwrapped.sparse_P
    values, actions = iterate(law)
    optimum = exactdice.solve(env).value
    best = 0 if "reward" in keywords else optimum
    assert law.initial @ values == pytest.approx(best, abs=1e-12)
    plan = dict(zip(law.states.tolist(), actions.tolist(), strict=False))
    assert exactdice.score(plan, env).value == pytest.approx(optimum, abs=1e-12)


def test_every_row_is_a_law_to_the_last_digits():
    """Some planners refuse rows that miss 1 by more than 2.2e-15."""
    law = sparse_law(prepare(gym.make("exactdice/LowestScore-v0").unwrapped.task))
    assert np.abs(law.transitions.sum(axis=1) - 1).max() < 2e-15


@pytest.mark.parametrize(
    ("size", "limit", "message"),
    [
        (30, "0.001", r"outcomes of moves must be at most 133,333, got .*MB"),  # as it is listed
        (60, "0.025", "must be at most .*, got .*MB"),  # but moves fit
    ],
)
def test_a_law_or_replies_without_room_are_refused(monkeypatch, size, limit, message):
    env = gym.make("exactdice/Greed-v0", max_score=size)
    monkeypatch.setenv("EXACTDICE_LIMIT", limit)
    with pytest.raises(SizeError, match=message):
        _ = env.unwrapped.sparse_P


def test_a_dictionary_without_room_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="P needs at most 20000 pairs of state and action, got"):
        _ = gym.make("exactdice/Greed-v0").unwrapped.P
    law = gym.make("exactdice/Greed-v0", max_score=20).unwrapped.sparse_P
    monkeypatch.setenv("EXACTDICE_LIMIT", "0.001")
    with pytest.raises(SizeError, match="entries of a dictionary must be at most 53,333, got"):
        law.as_dict()


def test_without_scipy_it_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(
        ModuleNotFoundError, match="sparse_P needs more libraries .scipy.*: pip install scipy"
    ):
        _ = gym.make("exactdice/FourTwoOne-v0").unwrapped.sparse_P


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
