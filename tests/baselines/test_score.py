"""Scores: regret and its decomposition, against simulation and by identities."""

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task
from exactdice.baselines.scoring.figure import nines
from exactdice.games import Greed
from hypothesis import given, settings
from hypothesis import strategies as st

import exactdice


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 2**32), st.booleans())
def test_blunders_of_any_table_sum_to_its_regret(limit, sides, seed, masked):
    game = Greed(limit, sides)
    legal = game.mask(np.arange(game.num_states))
    table = np.random.default_rng(seed).random(legal.shape) * (legal if masked else 1)
    table /= table.sum(axis=1, keepdims=True)
    score = exactdice.score(table, Task(game, 0, "random"), masked=masked)
    assert score.regret >= -1e-12
    every = score.blunders(None)
    assert score.blunders(10) == every[:10]
    assert score.optimal_share == pytest.approx(1 - sum(b.occupancy for b in every) / score.moves)
    costs = [blunder.cost for blunder in every]
    assert sum(costs) == pytest.approx(score.regret, abs=1e-10)
    assert costs == sorted(costs, reverse=True)


def test_a_blunder_says_what_happened():
    env = gym.make("exactdice/Greed-v0", max_score=10, sides=3)
    table = exactdice.solve(env).policy.actions.copy()
    table[0] = 3  # the opening move, which is always met
    (blunder,) = exactdice.score(table, env).blunders()
    assert blunder.observation == (0, 0, 0)
    assert (blunder.action, blunder.best_action, blunder.occupancy) == (3, 1, 1)
    assert blunder.best_value == exactdice.solve(env).value
    assert blunder.cost == pytest.approx(blunder.best_value - blunder.value, abs=1e-15)


@pytest.mark.parametrize(
    ("normalized", "expected"),
    [(0.0, 0.0), (0.9, 1.0), (0.999, 3.0), (-9.0, -1.0), (1 - 2e-9, 8.69897), (1.0, 9.0)],
)
def test_nines_count_the_nines_of_a_normalised_score(normalized, expected):
    assert nines(normalized) == pytest.approx(expected, abs=1e-6)
