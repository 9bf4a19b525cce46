"""Scores: regret and its decomposition, and the scale of exploitability of self-play."""

from math import log10

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task, score_self_play
from exactdice.baselines.scoring.figure import nines
from exactdice.games import FourTwoOne, FourTwoOneMatch, Greed, LowestScore, ShutTheBox
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import random_law

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


GAMES = [
    Greed(6, 3),
    Greed(4, 2),
    ShutTheBox(4, 2, 3),
    FourTwoOne(3, 2, 2, utility="set"),
    FourTwoOneMatch(2, faces=2, charge_casts=1, discharge_casts=2),
    FourTwoOneMatch(1, faces=2, charge_casts=2, discharge_casts=1, tie="replay"),
]


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_the_scale_of_exploitability_goes_from_random_play_to_the_equilibrium(game):
    task = Task(game, 1, "random")  # the opponent does not matter
    least, most = (score_self_play(name, task) for name in ("random", "equilibrium"))
    assert (least.normalized, most.normalized) == pytest.approx((0, 1), abs=1e-12)
    assert (least.nines, most.nines) == (pytest.approx(0), 9)
    assert least.random == pytest.approx(least.exploitability)
    assert sum(most.guaranteed) == pytest.approx(sum(game.payoff_range))
    table = random_law(game, np.random.default_rng(0)).argmax(axis=1)
    some = score_self_play(table, task)
    assert some.exploitability == pytest.approx(exactdice.exploitability(table, Task(game)))
    assert some.nines == pytest.approx(-log10(some.exploitability / least.exploitability))
    worst = [exactdice.best_response(table, Task(game, seat)) for seat in (0, 1)]
    assert some.guaranteed == pytest.approx(
        [sum(game.payoff_range) - reply.value_before_play for reply in worst]
    )


def test_where_every_move_is_forced_random_play_is_an_equilibrium():
    found = score_self_play("random", Task(Greed(1, 1, max_dice=0)))
    assert (found.exploitability, found.normalized, found.nines) == (0, 1, 9)


@pytest.mark.parametrize("game", [FourTwoOne(), LowestScore(2, 3, 3, 3)])
def test_exploitability_is_of_two_players(game):
    with pytest.raises(ValueError, match="game must be zero-sum with two players"):
        score_self_play("random", Task(game))
