"""Environments of others whose law is known, as Gymnasium makes them."""

import json
import pickle
import re
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.core import GAMES
from exactdice.envs import GameEnv, find_game
from exactdice.games import GameError, InputError
from gymnasium.utils.env_checker import check_env

import exactdice

LAKE = "FrozenLake-v1"
#: Environment, keywords, and the optimum within its limit and without one, by value iteration of
#: another program in floats.
OPTIMA = [
    (LAKE, {}, 0.7441902878, Fraction(14, 17)),
    (LAKE, {"map_name": "8x8", "max_episode_steps": 200}, 0.9132201502, 1),
    (LAKE, {"is_slippery": False}, 1, 1),
    ("Taxi-v4", {}, 7.93, Fraction(793, 100)),
    ("CliffWalking-v1", {}, -13, -13),
]


@pytest.mark.parametrize(("name", "keywords", "limited", "free"), OPTIMA)
def test_optima_of_toy_text(name, keywords, limited, free):
    env = gym.make(name, **keywords)
    within, without = exactdice.solve(env), exactdice.solve(env.unwrapped)
    assert within.value == pytest.approx(limited, abs=5e-9)
    assert without.value == pytest.approx(float(free), abs=1e-9)
    assert without.error_bound < 1e-9
    assert exactdice.solve(env.unwrapped, exact=True).value == free


def test_a_stationary_policy_within_the_limit_is_simulated():
    env = gym.make(LAKE)
    policy = exactdice.solve(env.unwrapped).policy.likeliest(np.arange(16))
    score = exactdice.score(policy, env)
    assert score.optimum == pytest.approx(0.7441902878)
    assert score.value < score.optimum - 1e-3  # the best stationary policy does not see the time
    wins = []
    for seed in range(2000):
        state, _ = env.reset(seed=seed)
        over = cut = False
        while not over and not cut:
            state, reward, over, cut, _ = env.step(int(policy[state]))
        wins.append(reward)
    assert abs(np.mean(wins) - score.value) < 4 * np.std(wins) / len(wins) ** 0.5
    assert "within 100 moves" in str(score)
    assert "without a limit of moves" in str(exactdice.score(policy, env.unwrapped))


def test_policies_that_never_end():
    cliff = gym.make("CliffWalking-v1")
    with pytest.raises(InputError, match=r"in state 36 of CliffWalking-v1: give a horizon"):
        exactdice.score(np.full(48, 3), cliff)
    assert exactdice.score(np.full(48, 3), exactdice.from_P(cliff, horizon=50)).value == -50
    lake = gym.make(LAKE, is_slippery=False)
    assert exactdice.score(np.full(16, 0), lake.unwrapped).value == 0  # nothing is paid on the way


def test_occupancies_are_the_means_of_simulated_visits():
    env = gym.make(LAKE).unwrapped
    visits = exactdice.occupancy("random", env)
    games, met = 1000, np.zeros(16)
    env.reset(seed=0)
    for _ in range(games):
        state, over = env.reset()[0], False
        while not over:
            met[state] += 1
            state, _, over, _, _ = env.step(env.np_random.integers(4))
    assert np.allclose(met / games, visits, atol=0.1)


def test_masks_of_toy_text_are_legal_actions():
    env = gym.make("Taxi-v4").unwrapped
    legal = [env.action_mask(state) for state in range(500)]
    masked = exactdice.from_P(env, legal=legal, horizon=200)
    assert exactdice.solve(masked).value == pytest.approx(7.93)
    free = exactdice.from_P(env, horizon=200)
    assert exactdice.score("random", masked).value > exactdice.score("random", free).value


@pytest.mark.parametrize(
    ("law", "options", "said"),
    [
        ({0: {0: [(0.5, 0, 0, True)]}}, {}, "sum to 1, got a sum of 0.5 for action 0 in state 0"),
        ({0: {0: [(1.0, 3, 0, True)]}}, {}, "states from 0 to 0, got (1.0, 3, 0, True)"),
        ({0: {0: [(1.0, 0, 0)]}}, {}, "got (1.0, 0, 0)"),
        ({0: {0: [(1.0, -1, 0, True)]}}, {}, "states from 0 to 0, got (1.0, -1, 0, True)"),
        ({1: {0: [(1.0, 0, 0, True)]}}, {}, "P must have the states 0 to 0"),
        ({0: {0: [(1.0, 0, float("nan"), True)]}}, {}, "finite reward, terminated"),
        ({0: {0: [(1.0, 0, 1, False)]}}, {}, "must be able to end, and no moves lead from state 0"),
        ({0: {0: [(1.0, 0, 1, True)]}}, {"initial": 2}, "initial must be a state from 0 to 0"),
        ({0: {0: [(1.0, 0, 1, True)]}}, {"initial": [0.5]}, "initial must be 1 probabilities"),
        ({0: {0: [(1.0, 0, 1, True)]}}, {"gamma": 1.5}, "gamma must be from 0 to 1, got 1.5"),
        ({0: {0: [(1.0, 0, 1, True)]}}, {"horizon": 0}, "horizon must be an integer of at least 1"),
        ({0: {0: [(1.0, 0, 1, True)]}}, {"rewards": [1]}, "rewards must be left out"),
        ([np.eye(2)], {}, "rewards must be given with matrices"),
        ([np.eye(2)], {"rewards": np.zeros(3)}, "rewards must be of shape (2,), (2, 1) or"),
        ({0: {0: []}}, {}, "a state must have an action with an outcome, got none in state 0"),
    ],
)
def test_mistakes_are_named(law, options, said):
    with pytest.raises((GameError, InputError), match=re.escape(said)):
        exactdice.from_P(law, **{"initial": 0, **options})


@pytest.mark.usefixtures("own_games")
def test_the_command_line_knows_environments_by_their_ids(prints, run):
    words = ("solve", "gym:FrozenLake-v1", "--env")
    assert "optimal value 0.640719270" in prints(*words, "map_name", "8x8")
    assert "optimal value 14/17" in prints(*words, "horizon", "0", "--exact")
    assert "without a limit of moves" in prints("score", "random", *words[1:], "horizon", "0")
    assert run("solve", "gym:CartPole-v1")[2].strip().endswith("which CartPole-v1 has not")
    assert "doesn't exist" in run("solve", "gym:Nothing-v0")[2]
    assert run("solve", *words[1:], "map_name", "9x9")[2].endswith("made: KeyError: '9x9'\n")


@pytest.mark.usefixtures("own_games")
def test_commands_write_json_and_files_about_environments_of_others(prints, run, tmp_path):
    lake, table, held = "gym:FrozenLake-v1", tmp_path / "actions.npy", tmp_path / "held.npz"
    np.save(table, np.full(16, 2))
    told = json.loads(prints("score", str(table), lake, "--json"))
    assert told["blunders"][0]["observation"].keys() == {"state"}
    assert "those with state 4." in prints("score", "random", lake)  # numbers have no order
    for words in (("solve", lake), ("compare", str(table), "random", lake), ("describe", lake)):
        assert json.loads(prints(*words, "--json"))
    table.write_text("no array")
    said = "must be an array of numbers that numpy.save wrote"
    assert said in run("score", str(table), lake)[2]
    game = find_game(lake)()
    exactdice.score(np.full(16, 2), exactdice.Task(game)).save(held)
    assert ": holds, value" in prints("verify", str(held), lake)
    GAMES.pop(game.name)
    assert "place of another game follows, FILE.py:CLASS or gym:ID" in run("verify", str(held))[2]
    with pytest.raises(InputError, match="must be of a game with a name and keywords of numbers"):
        exactdice.score("random", gym.make(LAKE)).save(held)


@pytest.mark.usefixtures("own_games")
def test_rows_of_bits_are_audited_by_the_encoding(run):
    bits = np.zeros((1, 1, 16), dtype=np.float32)
    bits[0, 0, 4] = 1
    columns = dict.fromkeys(("actions", "rewards", "terminated"), np.zeros((1, 1)))
    np.savez("record.npz", observations=bits, **columns)
    words = ("audit", "record.npz", "gym:FrozenLake-v1")
    assert "has env the encoding one_hot_float, or FlattenObservation?" in run(*words)[2]
    told = run(*words, "--env", "encoding", "one_hot_float")[1]
    assert "holds      rewards" in told
    assert "unchecked  update: a file holds no gradient step" in told


def test_networks_embed_states_or_are_told_of_their_bits():
    env = gym.make(LAKE)
    embeds, bits = torch.nn.Embedding(16, 4), torch.nn.Linear(16, 4, bias=False)
    with torch.no_grad():
        bits.weight.copy_(embeds.weight.T)
    found = exactdice.score(bits, gym.wrappers.FlattenObservation(env))
    assert exactdice.score(embeds, env).value == found.value
    with pytest.raises(InputError, match=r"has its env the wrapper FlattenObservation\?$"):
        exactdice.score(bits, env)
    with pytest.raises(InputError, match="must accept the observations of env"):
        exactdice.score(embeds, gym.wrappers.FlattenObservation(env))


def test_a_task_is_an_environment():
    task = exactdice.from_P(gym.make(LAKE), gamma=0.9)
    env = GameEnv(task)
    check_env(env, skip_render_check=True)
    assert exactdice.solve(env).value == exactdice.solve(task).value
    with pytest.raises(InputError, match="seat and keywords must be left out, as the task has"):
        GameEnv(task, seat=1)
    with pytest.raises(
        InputError, match=r"game must be one of .* got 'Gred'; did you mean Greed\?"
    ):
        GameEnv("Gred")
    with pytest.raises(InputError, match=r"did you mean gym:FrozenLake-v1\?"):
        find_game(LAKE)


@pytest.mark.usefixtures("own_games")
def test_games_of_ids_are_pickled_and_equal():
    kind = find_game("gym:FrozenLake-v1")
    game = kind(map_name="8x8", horizon=50)
    assert pickle.loads(pickle.dumps(game)) == game != kind(horizon=50)
    law = exactdice.as_task(gym.make(LAKE)).game
    assert pickle.loads(pickle.dumps(law)) == law


def test_environments_without_a_law_are_refused():
    with pytest.raises(TypeError, match="exactdice environment"):
        exactdice.solve(gym.make("Blackjack-v1"))
    with pytest.raises(InputError, match="must have P"):
        exactdice.from_P(gym.make("CartPole-v1"))
    scaled = gym.wrappers.TransformReward(gym.make(LAKE), lambda reward: 2 * reward)
    with pytest.raises(InputError, match="TransformReward"):
        exactdice.solve(scaled)
    counted = gym.wrappers.TransformObservation(
        gym.make(LAKE), lambda seen, calls=[0]: calls.append(seen) or len(calls), None
    )
    with pytest.raises(InputError, match="must show a state alike every time"):
        exactdice.score(exactdice.from_network(lambda seen: np.eye(4)[seen % 4], counted), counted)
    with pytest.raises(InputError, match=r"\(state, moves\)"):
        exactdice.solve(gym.make(LAKE)).action_values(0)


def test_tables_by_state_are_named_and_their_blunders_are_of_states():
    """An agent does not see the time within the limit: its mistakes of a state are one."""
    env, table = gym.make(LAKE), np.random.default_rng(0).random((16, 4))
    shapes = r"shape \(16, 4\) \(state, action\) or integers of shape \(16,\), got float64 of sha"
    for wrong, shown in ((table.T, r"pe \(4, 16\)"), (table[:, 0], r"pe \(16,\)")):
        with pytest.raises(InputError, match=shapes + shown):
            exactdice.score(wrong, env)
    with pytest.raises(InputError, match=r"values, give policy\.argmax\(axis=1\)$"):
        exactdice.score(table, env)
    for played in (env, env.unwrapped):
        score = exactdice.score(table.argmax(axis=1), played)
        found = score.blunders(None)
        assert len({blunder.observation for blunder in found}) == len(found) <= 11
        assert sum(blunder.cost for blunder in found) == pytest.approx(score.regret)
        costs = [blunder.cost for blunder in found]
        assert costs == sorted(costs, reverse=True)
