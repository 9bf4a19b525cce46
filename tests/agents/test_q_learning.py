"""The tabular learner."""

import numpy as np
import pytest
from exactdice.agents.q_learning import QLearning, QTable
from exactdice.agents.vec_env import GameVecEnv
from exactdice.baselines import Task
from exactdice.games import FourTwoOne, Greed, ShutTheBox

import exactdice


@pytest.mark.parametrize(
    "game", [Greed(8, 3), ShutTheBox(4, 2, 3), FourTwoOne(2, 4, 2, utility="sum")], ids=repr
)
def test_it_finds_the_optimum_of_small_games(game):
    env = GameVecEnv(Task(game), 64)
    model = QLearning(QTable, env, seed=0).learn(400_000)
    score = exactdice.score(model, env)
    assert score.normalized > 0.998
    start = int(np.argmax(env.task.initial))
    best = np.max(model.policy.of(np.array([start])))
    assert best == pytest.approx(exactdice.solve(env).values[0, start], abs=0.05)


def test_values_are_means_of_what_came_of_an_action():
    """With omega 1 and one update at a time the value is the mean of its targets."""
    model = QLearning(QTable, GameVecEnv(Task(Greed(8, 3)), 1), omega=1.0, seed=0)
    for target in (1.0, 0.0, 0.0, 1.0, 1.0):
        model._learn(np.array([5]), np.array([2]), np.array([target]))
    assert model.policy.values[5, 2] == pytest.approx(0.6)
    assert model.policy.visits[5, 2] == 5
    assert model.policy.visits.sum() == 5


def test_equal_moves_of_one_step_count_as_often_as_they_came():
    model = QLearning(QTable, GameVecEnv(Task(Greed(8, 3)), 1), initial_value=1.0, seed=0)
    model.policy.visits[5, 2] = 100
    model._learn(np.array([5, 5, 5]), np.array([2, 2, 2]), np.array([0.0, 0.0, 0.0]))
    assert model.policy.values[5, 2] == pytest.approx((1 - 103**-0.77) ** 3)


def test_only_legal_actions_are_taken_and_learnt_from():
    env = GameVecEnv(Task(Greed(10, 3)), 8)
    model = QLearning(QTable, env, seed=0).learn(2000)
    game = env.task.game
    assert model.policy.visits.numpy()[~game.mask(np.arange(game.num_states))].sum() == 0
    assert model.policy.visits.sum() == model.num_timesteps >= 2000
