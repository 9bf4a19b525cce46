"""Critics, action values and advantages against exact values, which other functions compute."""

from fractions import Fraction
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import Task, evaluate, occupancy, prepare, solve
from exactdice.core import InputError, SizeError
from exactdice.diagnose import critic, gae, overestimation
from exactdice.envs import Engine, MaskInObservation, sparse_law
from exactdice.envs.planners import tabulate_transitions
from exactdice.games import FourTwoOneMatch, Greed, present
from recording import TASKS
from small_games import Rounds
from torch import nn

import exactdice

MATCH = Task(FourTwoOneMatch(2, "loser", "replay", 1, 2, faces=2), 0, "random")
ROUNDS = Task(Rounds(players=2, turns=5, others=Fraction(-1, 2)), 1, "random")  # pay before the end
EVERY = [*TASKS, MATCH, ROUNDS]
GREED = {"max_score": 6, "sides": 3, "opponent": "random"}


def values_of(policy, task):
    return evaluate(policy, task).values[task.seat]


def moved(table):
    """Estimates that are wrong everywhere."""
    return table + np.random.default_rng(0).normal(0.1, 0.3, table.shape)


@pytest.mark.parametrize("task", TASKS, ids=repr)
@pytest.mark.parametrize("policy", ["random", "optimal"])
def test_the_figures_are_weighted_by_occupancy(task, policy):
    """Whatever the critic says of states that are never met."""
    values, met = values_of(policy, task), occupancy(policy, task)
    exact = critic(task, policy, np.where(met > 0, values, 9.0))
    assert (exact.bias, exact.rmse, exact.explained_variance) == (0, 0, 1)
    given = moved(values)
    wrong, weights = given - values, met / met.sum()
    found = critic(task, policy, given)
    assert found.bias == pytest.approx(weights @ wrong)
    assert found.rmse == pytest.approx(np.sqrt(weights @ wrong**2))
    on = met > 0
    left, whole = (np.cov(of[on], aweights=met[on], ddof=0) for of in (wrong, values))
    assert found.explained_variance == pytest.approx(1 - left / whole)
    worst = np.argsort(-met * wrong**2)[:3]
    states = task.game.encode(np.array([each.observation for each in found.worst(3)]))
    listed = [(each.given, each.exact) for each in found.worst(3)]
    assert states.tolist() == worst.tolist()
    assert listed == [*zip(given[worst], values[worst], strict=True)]
    assert len(found.worst()) == 5


def test_words_name_the_state_and_both_values():
    task = Task(Greed(6, 3), 0, "random")
    values = values_of("random", task).copy()
    first = task.game.encode(np.array([[0, 0, 0]]))[0]
    values[first] += 1
    (worst,) = critic(task, "random", values).worst(1)
    assert (worst.observation, worst.action, worst.occupancy) == ((0, 0, 0), None, 1)
    said = f"0 points to 0; estimate {values[first]:.4f}, exact value {values[first] - 1:.4f}, met"
    assert worst.words == f"{said} in 100.00% of games"
    cyclic = TASKS[3]
    (worst,) = critic(cyclic, "random", values_of("random", cyclic) + 1).worst(1)
    assert f"met {worst.occupancy:.4f} times a game" in worst.words


@pytest.mark.parametrize("scale", [1.0, 1e-14])
def test_without_variance_the_explained_share_is_one_or_nothing(scale):
    """Regrets of optimal play are all 0."""
    env = GameVecEnv(Task(Greed(6, 3), 0, "random"), 2, reward="regret", reward_scale=scale)
    constant = np.full(env.task.game.num_states, 0.5 * scale)
    found = critic(env, "optimal", constant)
    assert (len(found.states) > 5, found.explained_variance) == (True, 1)
    assert np.ptp(found.exact) < 1e-12 * scale
    uneven = critic(env, "optimal", np.arange(len(constant)) * 0.1 * scale)
    assert uneven.explained_variance == 0


def test_a_function_and_a_module_see_what_the_environment_shows():
    env = gym.make("exactdice/Greed-v0", encoding="one_hot_float", **GREED)
    task = env.unwrapped.task
    width = env.observation_space.shape[0]
    weights = np.linspace(-1, 1, width)
    shown = env.unwrapped.sight.show(task.game.observe(np.arange(task.game.num_states), 0))
    by_array = critic(env, "random", shown @ weights)
    module = nn.Linear(width, 1, bias=False).double().requires_grad_(False)
    module.weight[:] = torch.as_tensor(weights)
    for seen_by, given in (
        (env, lambda seen: (seen @ weights)[:, None]),
        (env, module),
        (MaskInObservation(env, "torchrl"), module),  # as a policy sees it
    ):
        found = critic(seen_by, "random", given)
        assert found.rmse == pytest.approx(by_array.rmse, abs=1e-12)
    assert by_array.rmse > 0.1
    actions = env.action_space.n
    wide = np.outer(weights, np.linspace(0.5, 1, actions))
    one, other = overestimation(env, shown @ wide), overestimation(env, lambda seen: seen @ wide)
    assert one.against_optimum.mean == pytest.approx(other.against_optimum.mean)
    torch.manual_seed(0)
    model = nn.Linear(width, actions)  # its policy is its law
    drawn, fixed = (evaluate(model, env, deterministic=kind).values[0] for kind in (False, True))
    assert critic(env, model, drawn).rmse == 0
    assert critic(env, model, fixed).rmse > 0.01


def greedy_of(q, task):
    return np.where(task.game.mask(np.arange(task.game.num_states)), q, -np.inf).argmax(axis=1)


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_action_values_are_those_of_the_greedy_policy_and_of_the_optimum(task):
    q = moved(solve(task).table)
    actions = greedy_of(q, task)
    met = occupancy(actions, task)
    states = np.flatnonzero(met)
    met, chosen = met[states], actions[states]
    found = overestimation(task, q)
    own, best = evaluate(actions, task).table, solve(task).table
    for part, table in (found.against_own_policy, own), (found.against_optimum, best):
        errors = q[states, chosen] - table[states, chosen]
        assert part.mean == pytest.approx(errors @ met / met.sum())
        assert part.largest == pytest.approx(errors.max())
        first, place = part.worst(1)[0], np.argmax(errors * met)
        assert task.game.encode(np.array([first.observation]))[0] == states[place]
        assert first.action == chosen[place]
        assert first.exact == pytest.approx(table[states[place], first.action])
    assert found.against_own_policy.mean >= found.against_optimum.mean


def test_the_smallest_of_equal_actions_is_taken_and_illegal_ones_never():
    task = TASKS[0]
    mask = task.game.mask(np.arange(task.game.num_states))
    found = overestimation(task, np.where(mask, 0.5, 7.0)).against_own_policy
    assert (found.given == 0.5).all()
    assert found.actions.tolist() == mask.argmax(axis=1)[found.states].tolist()
    (worst,) = found.worst(1)
    seen, shown = np.array(worst.observation), present(task.game)
    said = f"{shown.describe(seen)}: {shown.describe_move(seen, worst.action)}; estimate 0.5000, ex"
    assert worst.words.startswith(said)


of_critic, of_q = partial(critic, TASKS[0], "random"), partial(overestimation, TASKS[0])
of_gae = partial(gae, TASKS[0], "random")
STATES = TASKS[0].game.num_states
EXACT = critic(TASKS[0], "random", np.zeros(STATES))
WRONG = [
    (of_critic, [np.zeros(3)], r"^values must be of shape \(\d+,\), got \(3,\)$"),
    (of_critic, [lambda seen: seen], r"^values must give .* of shape \(\d+,\), got \(\d+, 3\)$"),
    (of_critic, [lambda seen: np.full(len(seen), np.nan)], "^values must be finite, got nan at "),
    (of_critic, [nn.Linear(2, 1)], r"^values must take .* of shape \(\d+, 3\): RuntimeErr"),
    (of_critic, [nn.Linear(3, 2)], r"^values must give .* of shape \(\d+,\), got \(\d+, 2\)$"),
    (of_critic, [None], r"^values must be numbers, got nothing \(None\)$"),
    (of_critic, [np.zeros(STATES), 1.5], r"^gamma must be from 0 to 1, got 1\.5"),
    (of_q, [np.zeros(3)], r"^q must be of shape \(\d+, \d+\), got \(3,\)$"),
    (of_q, [lambda seen: seen[:, 0]], r"^q must give numbers of shape \(\d+, \d+\), got \(\d+,\)$"),
    (of_q, [lambda seen: np.full((len(seen), 4), np.nan)], "^q must be finite, got nan at "),
    (of_gae, [np.zeros(STATES), 1.0, 1.5], r"^gae_lambda must be from 0 to 1, got 1\.5$"),
    (of_gae, [np.zeros(3)], r"^values must be of shape \(\d+,\), got \(3,\)$"),
    (of_gae, [lambda _: np.zeros(1)], r"^values must give numbers of shape \(\d+,\), got \(1,\)$"),
    (EXACT.worst, [-1], "^count must be at least 0, got"),
    (EXACT.worst, [1.5], "^count must be an integer, got"),
    (EXACT.worst, ["3"], "^count must be an integer, got"),
]


@pytest.mark.parametrize(("call", "given", "words"), WRONG)
def test_wrong_estimates_and_numbers_are_refused(call, given, words):
    with pytest.raises(InputError, match=words):
        call(*given)


@pytest.mark.parametrize(
    ("task", "gamma"), [(MATCH, 0.0), (MATCH, 0.6), (MATCH, 0.99), (MATCH, 1.0), (ROUNDS, 1.0)]
)
@pytest.mark.parametrize("reward", ["outcome", "regret", "shaped"])
def test_values_of_scaled_rewards_are_those_of_the_linear_equations(task, reward, gamma):
    env = GameVecEnv(task, 2, reward=reward, reward_scale=3.0)
    law = sparse_law(prepare(task), reward)
    count, actions = law.rewards.shape
    transitions = law.transitions.toarray().reshape(count, actions, count)
    rewards = 3 * law.rewards

    def solved(policy):
        chances = np.append(policy[law.states], np.eye(actions)[:1], axis=0)
        moved = np.einsum("sa,san->sn", chances, transitions) * (np.arange(count) < count - 1)
        return np.linalg.solve(np.eye(count) - gamma * moved, (chances * rewards).sum(axis=1))

    policy = some_policy(task.game)
    found = critic(env, policy, np.zeros(task.game.num_states), gamma)
    places = np.searchsorted(law.states, found.states)
    np.testing.assert_allclose(found.exact, solved(policy)[places], atol=1e-12)
    best = np.zeros(count)
    for _ in range(60):
        q = np.where(law.legal, rewards + gamma * transitions @ best, -np.inf)
        best = np.append(q[:-1].max(axis=1), 0.0)
    guesses = np.random.default_rng(1).random(policy.shape)
    over = overestimation(env, guesses, gamma)
    own = rewards + gamma * transitions @ solved(np.eye(actions)[greedy_of(guesses, task)])
    for part, table in ((over.against_optimum, q), (over.against_own_policy, own)):
        places = np.searchsorted(law.states, part.states)
        np.testing.assert_allclose(part.exact, table[places, part.actions], atol=1e-12)


CLIFF = exactdice.from_P(gym.make("CliffWalking-v1", is_slippery=True))


def some_policy(game, seed=0):
    table = np.random.default_rng(seed).random((game.num_states, game.num_actions)) + 0.1
    table *= game.mask(np.arange(game.num_states))
    return table / table.sum(axis=1, keepdims=True)


def own_numbers(task, seed=1):
    return np.random.default_rng(seed).normal(size=task.game.num_states) * 0.3


@pytest.mark.parametrize("task", EVERY, ids=repr)
def test_the_right_critic_has_no_bias_and_with_lambda_one_a_critic_is_a_baseline(task):
    policy, critic = some_policy(task.game), own_numbers(task)
    values = evaluate(policy, task).values[task.seat]
    found = gae(task, policy, values, gae_lambda=0.7)
    legal = np.isfinite(found.bias)
    assert legal.sum() > len(found.bias)
    np.testing.assert_allclose(found.bias[legal], 0, atol=1e-12)
    assert found.rms_bias == pytest.approx(0, abs=1e-12)
    assert found.rms_std > 0.01
    assert not found.bias[-1].any()
    own = sparse_law(prepare(task)).states
    with_one = gae(task, policy, critic, gae_lambda=1.0)
    assert with_one.rms_bias > 0.01
    assert with_one.rms_bias_between_actions == pytest.approx(0, abs=1e-9)
    off = with_one.bias[:-1] - (values - critic)[own][:, None]
    np.testing.assert_allclose(off[legal[:-1]], 0, atol=1e-12)


@pytest.mark.parametrize(
    ("task", "gamma", "gae_lambda"),
    [*((task, *pair) for task in EVERY for pair in ((0.9, 0.6), (1.0, 0.0))), (CLIFF, 0.9, 0.6)],
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


def test_moves_beyond_the_limit_are_refused(monkeypatch):
    monkeypatch.setenv("EXACTDICE_LIMIT", "1e-7")
    with pytest.raises(SizeError, match=r"^outcomes of moves must be at most \d+, got [\d,]+:"):
        gae(TASKS[0], "random", own_numbers(TASKS[0]))


@pytest.mark.parametrize("reward", ["outcome", "shaped", "regret"])
def test_figures_are_in_units_of_scaled_rewards(reward):
    task = Task(Greed(6, 3), 0, "random")
    policy, critic = some_policy(task.game), own_numbers(task)
    plain, scaled = (GameVecEnv(task, 2, reward=reward, reward_scale=scale) for scale in (1, 4.0))
    once, more = gae(plain, policy, critic), gae(scaled, policy, 4 * critic)
    np.testing.assert_allclose(more.bias, 4 * once.bias, atol=1e-12)
    np.testing.assert_allclose(more.std, 4 * once.std, atol=1e-12)


def test_games_that_last_too_long_for_a_recursion_are_refused(monkeypatch):
    """Random play on the cliff falls back to the start thousands of times before a game ends."""
    env, nothing = gym.make("CliffWalking-v1"), np.zeros(48)
    monkeypatch.setattr("exactdice.diagnose.advantages.MOST_PASSES", 1000)
    with pytest.raises(SizeError, match="games of this policy are too long: .* give a gamma below"):
        gae(env, "random", nothing, gamma=1)
    assert gae(env, "random", nothing, gamma=0.9).rms_std > 0
