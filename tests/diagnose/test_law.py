"""The law of recorded moves against the whole law of the environment."""

import numpy as np
import pytest
from exactdice.baselines import Task
from exactdice.core import InputError
from exactdice.core.positions import legal_moves
from exactdice.diagnose.law import MoveLaw
from exactdice.envs import sparse_law
from exactdice.envs.engine.tables import process_of
from exactdice.games import FourTwoOneMatch, Greed, LowestScore, LowestScoreMatch, ShutTheBox

TASKS = [
    Task(Greed(9, 3), 1, "random"),
    Task(LowestScore(2, 3, 3, 3), 1, "notebook"),
    Task(LowestScore(2, 4, players=1), 0),
    Task(LowestScoreMatch(2, 3, players=2, wins=2), 1, "random"),
    Task(ShutTheBox(4, 2, 3), 1, "optimal"),
    Task(FourTwoOneMatch(tokens=2, faces=2), 0, "random"),
]


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_the_law_of_moves_is_that_of_sparse_p(task):
    whole, count = sparse_law(task), task.game.num_actions
    rows, actions = legal_moves(task.game, whole.states)
    some = np.random.default_rng(0).permutation(len(rows))[:300]
    law = MoveLaw(task, whole.states[rows[some]], actions[some])
    wanted = whole.transitions.toarray()[rows[some] * count + actions[some]]
    numbers = np.random.default_rng(1).random(len(whole.states) + 1)
    places = np.searchsorted(whole.states, law.states)
    of_results = np.append(numbers[places], np.full(len(law.payoffs), numbers[-1]))
    np.testing.assert_allclose(law.mean(of_results), wanted @ numbers, atol=1e-14)
    moves, states = np.nonzero(wanted[:, :-1] > -1)
    found = law.chances(moves, law.results(whole.states[states]))
    np.testing.assert_allclose(found, wanted[:, :-1].ravel(), atol=1e-14)
    paid = np.append(np.zeros(len(law.states)), law.payoffs)
    rewards = whole.rewards[:-1].ravel()[rows[some] * count + actions[some]]
    np.testing.assert_allclose(law.mean(paid), rewards, atol=1e-12)


def test_what_has_no_tables_is_refused(monkeypatch):
    monkeypatch.setattr("exactdice.envs.engine.builder.LIMIT", 1000)
    task = Task(Greed(9, 4), 0, "random")
    assert process_of(task) is None
    with pytest.raises(InputError, match="must have tables of its moves to be audited"):
        MoveLaw(task, np.array([0]), np.array([1]))
