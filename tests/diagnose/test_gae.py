"""Bias and noise of advantage estimates, against simulation and against what is known."""

from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Task, evaluate, prepare
from exactdice.core import InputError, SizeError
from exactdice.diagnose import gae
from exactdice.envs import Engine, sparse_law
from exactdice.envs.planners import tabulate_transitions
from exactdice.games import FourTwoOneMatch, Greed, LowestScore, ShutTheBox
from small_games import Rounds

import exactdice

TASKS = [
    Task(Greed(6, 3, tie="stopper"), 1, "random"),
    Task(LowestScore(2, 3, 3, 2, "score"), 1, "random"),
    Task(ShutTheBox(3, 2, 3), 0, "optimal"),
    Task(FourTwoOneMatch(tokens=1, faces=2, tie="replay"), 0, "random"),
    Task(Rounds(players=2, turns=3, others=Fraction(-1, 2)), 0, "random"),
]
#: Pays in every move.
CLIFF = exactdice.from_P(gym.make("CliffWalking-v1", is_slippery=True))


def some_policy(game, seed=0):
    table = np.random.default_rng(seed).random((game.num_states, game.num_actions)) + 0.1
    table *= game.mask(np.arange(game.num_states))
    return table / table.sum(axis=1, keepdims=True)


def own_numbers(task, seed=1):
    return np.random.default_rng(seed).normal(size=task.game.num_states) * 0.3


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_the_right_critic_has_no_bias_and_with_lambda_one_a_critic_is_a_baseline(task):
    policy, critic = some_policy(task.game), own_numbers(task)
    values = evaluate(policy, task).values[task.seat]
    found = gae(task, policy, values, gae_lambda=0.7)
    legal = np.isfinite(found.bias)
    assert legal.sum() > len(found.bias)
    np.testing.assert_allclose(found.bias[legal], 0, atol=1e-12)
    assert found.rms_bias == pytest.approx(0, abs=1e-12)
    assert found.rms_std > 0.01
    assert (found.bias[-1] == 0).all()
    own = sparse_law(prepare(task)).states
    with_one = gae(task, policy, critic, gae_lambda=1.0)
    assert with_one.rms_bias > 0.01
    assert with_one.rms_bias_between_actions == pytest.approx(0, abs=1e-9)
    whole = with_one.bias[:-1]
    baseline = np.broadcast_to((values - critic)[own][:, None], whole.shape)
    np.testing.assert_allclose(whole[legal[:-1]], baseline[legal[:-1]], atol=1e-12)


@pytest.mark.parametrize(
    ("task", "gamma", "gae_lambda"),
    [*((task, *pair) for task in TASKS for pair in ((0.9, 0.6), (1.0, 0.0))), (CLIFF, 0.9, 0.6)],
)
def test_moments_are_those_of_linear_algebra_on_the_law(task, gamma, gae_lambda):
    law, factor = tabulate_transitions(Engine(task, 1)), gamma * gae_lambda
    own, policy, v = sparse_law(prepare(task)).states, some_policy(task.game), own_numbers(task)
    found = gae(task, policy, v, gamma, gae_lambda)
    place = {state: row for row, state in enumerate(own.tolist())}
    ways = [(place[s], a, *way) for s in place for a in law[s] for way in law[s][a]]
    s, a, chance, after, paid, over = (np.array(column) for column in zip(*ways, strict=True))
    on, after = ~over.astype(bool), np.array([place.get(state, 0) for state in after.tolist()])
    policy, v, moves = policy[own], v[own], (len(own), task.game.num_actions)

    def mean(numbers):
        total = np.zeros(moves)
        np.add.at(total, (s, a), chance * numbers)
        return total

    def solved(first, discount):
        """Solve x = first + discount E[mean of x over the policy in the next state]."""
        matrix = np.eye(len(own))
        np.add.at(matrix, (s[on], after[on]), -discount * (policy[s, a] * chance)[on])
        of_states = np.linalg.solve(matrix, (policy * first).sum(axis=1))
        return first + discount * mean(on * of_states[after]), of_states

    off = paid + gamma * on * v[after] - v[s]
    m, of_states = solved(mean(off), factor)
    q, _ = solved(mean(off**2) + 2 * factor * mean(off * on * of_states[after]), factor**2)
    true, values = solved(mean(paid), gamma)
    legal = task.game.mask(own)
    bias = m - (true - values[:, None])
    np.testing.assert_allclose(found.bias[:-1][legal], bias[legal], atol=1e-8)
    std = np.sqrt(np.maximum(q - m**2, 0))
    np.testing.assert_allclose(found.std[:-1][legal], std[legal], atol=1e-6)


def test_rewards_without_luck_have_no_noise_for_optimal_play():
    env = gym.make("exactdice/ShutTheBox-v0", tiles=3, dice=2, sides=3, reward="regret")
    found = gae(env, "optimal", np.zeros(exactdice.as_task(env).game.num_states), gae_lambda=1.0)
    assert found.rms_bias == pytest.approx(0, abs=1e-12)
    assert found.rms_std == pytest.approx(0, abs=1e-9)


def test_wrong_arguments_are_refused(monkeypatch):
    task = TASKS[0]
    with pytest.raises(InputError, match=r"^gae_lambda must be from 0 to 1, got 1\.5$"):
        gae(task, "random", own_numbers(task), gae_lambda=1.5)
    with pytest.raises(InputError, match=r"^values must be of shape \(\d+,\), got \(3,\)$"):
        gae(task, "random", np.zeros(3))
    wanted = r"^values must give numbers of shape \(\d+,\), got \(1,\)$"
    with pytest.raises(InputError, match=wanted):
        gae(task, "random", lambda _: np.zeros(1))
    monkeypatch.setenv("EXACTDICE_LIMIT", "1e-7")
    with pytest.raises(SizeError, match=r"^outcomes of moves must be at most \d+, got [\d,]+:"):
        gae(task, "random", own_numbers(task))


@pytest.mark.parametrize("reward", ["outcome", "shaped", "regret"])
def test_figures_are_in_units_of_scaled_rewards(reward):
    task = Task(Greed(6, 3), 0, "random")
    policy, critic = some_policy(task.game), own_numbers(task)
    plain, scaled = (GameVecEnv(task, 2, reward=reward, reward_scale=scale) for scale in (1, 4.0))
    once, more = gae(plain, policy, critic), gae(scaled, policy, 4 * critic)
    np.testing.assert_allclose(more.bias, 4 * once.bias, atol=1e-12)
    np.testing.assert_allclose(more.std, 4 * once.std, atol=1e-12)
