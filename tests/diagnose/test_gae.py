"""Bias and noise of advantage estimates, against simulation and against what is known."""

from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Task, evaluate, prepare
from exactdice.core import InputError, SizeError
from exactdice.diagnose import gae
from exactdice.envs import sparse_law
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


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_lambda_zero_is_one_step(task):
    """Bias: gamma E[v(s') - V(s')] - (v(s) - V(s)); no noise but that of one step."""
    policy, critic = some_policy(task.game), own_numbers(task)
    found, law = gae(task, policy, critic, gae_lambda=0.0), sparse_law(prepare(task))
    true = evaluate(policy, task).values[task.seat][law.states]
    off = np.append(critic[law.states] - true, 0.0)
    bias = (law.transitions @ off).reshape(found.bias.shape) - off[:, None]
    legal = np.isfinite(found.bias)
    np.testing.assert_allclose(found.bias[legal], bias[legal], atol=1e-12)


@pytest.mark.parametrize(("gamma", "factor"), [(1.0, 0.95), (0.9, 0.5)])
@pytest.mark.parametrize("task", [TASKS[0], TASKS[3]], ids=repr)
def test_moments_are_those_of_simulated_estimates(task, gamma, factor):
    """Games are played by the law of ``sparse_P``, whose rewards are only of ends here."""
    rng, law = np.random.default_rng(0), sparse_law(prepare(task))
    policy, critic = some_policy(task.game), own_numbers(task)
    found = gae(task, policy, critic, gamma, factor)
    v, count = np.append(critic[law.states], 0.0), task.game.num_actions
    transitions, end = law.transitions.toarray().cumsum(axis=1), len(law.states)
    paid = law.rewards.ravel() / np.maximum(law.transitions.toarray()[:, end], 1e-300)
    chosen = np.append(policy[law.states], np.eye(1, count), axis=0).cumsum(axis=1)
    games, start = 40_000, int(np.argmax(law.initial))
    action = int(np.flatnonzero(law.legal[start])[-1])
    states, actions = np.full(games, start), np.full(games, action)
    estimates, weight = np.zeros(games), np.ones(games)
    while weight.any():
        rows = states * count + actions
        below = transitions[rows] / transitions[rows, -1:]
        after = (rng.random(games)[:, None] > below).sum(axis=1)
        ended = after == end
        # Payoffs are 0 or 1 here: a coin tells which.
        rewards = np.where(ended, rng.random(games) < paid[rows], 0.0)
        estimates += weight * (rewards + gamma * v[after] * ~ended - v[states])
        weight = np.where(ended, 0.0, weight * gamma * factor)
        states = np.where(ended, end, after)
        actions = (rng.random(games)[:, None] > chosen[states]).sum(axis=1).clip(0, count - 1)
    mean = found.bias[start, action] + _advantage(law, policy, gamma)[start, action]
    std = found.std[start, action]
    assert abs(estimates.mean() - mean) < 5 * std / np.sqrt(games)
    assert estimates.std() == pytest.approx(std, rel=0.03)


def test_moments_are_those_of_a_law_that_pays_in_every_move():
    """The law of CliffWalking on ice, by linear algebra on ``P``."""
    env = gym.make("CliffWalking-v1", is_slippery=True).unwrapped
    law, states, actions, gamma, factor = env.P, 48, 4, 0.9, 0.9 * 0.6
    rng = np.random.default_rng(0)
    policy, v = rng.dirichlet(np.ones(actions), size=states), rng.normal(size=states) * 5
    found = gae(env, policy, v, gamma, 0.6)
    ways = [(s, a, *way) for s in law for a in law[s] for way in law[s][a]]
    s, a, chance, after, paid, over = (np.array(column) for column in zip(*ways, strict=True))
    on, moves = ~over.astype(bool), (states, actions)

    def mean(numbers):
        total = np.zeros(moves)
        np.add.at(total, (s, a), chance * numbers)
        return total

    def solved(first, discount):
        """Solve x = first + discount E[mean of x over the policy in the next state]."""
        matrix = np.zeros((states, states))
        np.add.at(matrix, (s[on], after[on]), (policy[s, a] * chance)[on])
        of_states = np.linalg.solve(
            np.eye(states) - discount * matrix, (policy * first).sum(axis=1)
        )
        return first + discount * mean(on * of_states[after]), of_states

    off = paid + gamma * on * v[after] - v[s]
    m, of_states = solved(mean(off), factor)
    q, _ = solved(mean(off**2) + 2 * factor * mean(off * on * of_states[after]), factor**2)
    true, values = solved(mean(paid), gamma)
    np.testing.assert_allclose(found.bias[:-1], m - (true - values[:, None]), atol=1e-8)
    np.testing.assert_allclose(found.std[:-1], np.sqrt(q - m**2), atol=1e-6)


def _advantage(law, policy, gamma):
    chosen = np.append(policy[law.states], np.eye(1, policy.shape[1]), axis=0)
    moves = law.transitions.toarray().reshape(*chosen.shape, -1)[..., :-1]  # the last state is over
    on, paid = np.einsum("sa,sat->st", chosen, moves)[:-1], (chosen * law.rewards).sum(axis=1)[:-1]
    values = np.linalg.solve(np.eye(len(on)) - gamma * on, paid)
    return law.rewards[:-1] + gamma * moves[:-1] @ values - values[:, None]


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
