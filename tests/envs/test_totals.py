"""Environments of games whose moves pay before the end: rewards are paid as they are scored."""

from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from exactdice.baselines import Task, evaluate
from exactdice.envs.api.encoding import Encoding
from exactdice.envs.engine.lanes import RuleLanes
from exactdice.envs.engine.table_lanes import ArrayLanes, PlainLanes
from exactdice.envs.engine.tables import process_of
from planning import require_same_law
from playing import require_same_play
from random_games import RandomGame
from small_games import Rounds
from tabled import require_same_games, require_tables

import exactdice

TASKS = [
    Task(Rounds(), 0),
    Task(Rounds(2, 4), 0, "random"),
    Task(Rounds(2, 4, Fraction(-1)), 1, "random"),
    Task(Rounds(3, 7, Fraction(-1, 3)), 1, "random"),
    Task(RandomGame(0, 1, has_cycles=False, pays=True), 0),
    Task(RandomGame(3, 2, has_cycles=False, pays=True), 0, "random"),
    Task(RandomGame(5, 2, has_cycles=False, pays=True), 1, "optimal"),
    Task(RandomGame(7, 2, has_cycles=True, pays=True), 0, "random"),
    Task(RandomGame(11, 2, has_cycles=True, pays=True), 1, "optimal"),
]
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.game}-{task.seat}")
kinds = pytest.mark.parametrize("kind", [RuleLanes, ArrayLanes, PlainLanes])


def lanes_of(task, kind, count):
    return kind(task, count, Encoding(task.game.observation_sizes))


@each_task
def test_the_tables_are_the_rules(task):
    assert (process_of(task).node_gains is None) == (task is TASKS[-1])  # no node of it pays
    require_tables(task)


@each_task
@pytest.mark.parametrize("reward", ["outcome", "regret"])
def test_the_sparse_law_is_the_dictionary(task, reward):
    require_same_law(task, reward)


@each_task
@kinds
def test_sampled_games_have_mean_and_deviation_of_the_exact_answer(task, kind):
    """Mean and mean square of the totals of 4,000 games of uniform play, within 5 errors."""
    count, rng = 4000, np.random.default_rng(1)
    lanes, everyone = lanes_of(task, kind, count), np.arange(count)
    lanes.start(everyone, rng)
    totals, playing = np.zeros(count), everyone
    while len(playing):
        legal = lanes.masks()[playing]
        weights = legal * rng.random(legal.shape)
        ends = lanes.move(playing, weights.argmax(axis=1), rng)
        totals[playing] += ends.rewards
        np.testing.assert_allclose(ends.payoffs, totals[playing], atol=1e-12)
        playing = playing[~ends.over]
    found = evaluate("random", task)
    spread = float(found.variance) ** 0.5
    assert totals.mean() == pytest.approx(float(found.value), abs=5 * spread / count**0.5 + 1e-12)
    squares = (totals - float(found.value)) ** 2
    error = 5 * squares.std() / count**0.5 + 1e-12
    assert squares.mean() == pytest.approx(spread**2, abs=error)
    assert found._variance_of_sum() == pytest.approx(spread**2)


@each_task
def test_arrays_and_plain_numbers_play_the_same_games(task):
    require_same_games(task, 9, 100)


@pytest.fixture
def env_id(own_games):  # noqa: ARG001  it forgets the game afterwards
    exactdice.register(Rounds)
    return "exactdice/Rounds-v0"


KEYWORDS = {"players": 2, "turns": 6, "others": Fraction(-1, 2), "opponent": "random"}


@pytest.mark.parametrize("reward", ["outcome", "regret", "shaped"])
@pytest.mark.parametrize("seat", [0, 1])
def test_scalar_vector_and_sb3_pay_alike(env_id, reward, seat):
    payoffs = require_same_play(env_id, 60, **KEYWORDS, reward=reward, seat=seat)
    assert len(set(payoffs)) > 1


def test_an_illegal_action_is_the_worst_that_may_follow(env_id):
    env = gym.make(env_id, turns=3)
    low = env.unwrapped.task.game.payoff_range[0]
    _, info = env.reset(seed=0)
    _, first, over, _, info = env.step(0)
    assert first > 0
    assert not over
    while info["action_mask"][1]:
        _, more, over, _, info = env.step(1)
        assert more == 0
    _, paid, over, _, info = env.step(1)
    assert (paid, over, info["illegal_action"]) == (low, True, True)
    assert info["outcome"] == first + low
