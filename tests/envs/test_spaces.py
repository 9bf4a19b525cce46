"""What environments show and take: encodings of observations, what counts as an action."""

from typing import get_args

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.core.positions import states_of
from exactdice.envs import EncodingName, encoding_of
from exactdice.envs.encoding import Encoding
from exactdice.games import Greed, InputError, LowestScore, ShutTheBox
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.preprocessing import preprocess_obs

import exactdice  # noqa: F401  registers the environments

NAMES = get_args(EncodingName)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("game", [Greed(7, 3), LowestScore(2, 3, 3, 3), ShutTheBox(4, 2, 3)])
def test_every_observation_is_in_the_space_and_comes_back_from_it(game, name):
    encoding = Encoding(game.observation_sizes, name)
    observations = game.observe(states_of(game, 0), 0)
    features = encoding.encode(observations)
    assert all(encoding.space.contains(feature) for feature in features)
    assert np.array_equal(encoding.decode(features), observations)
    assert len(np.unique(features, axis=0)) == len(observations)
    assert not np.shares_memory(features, observations)


def test_what_the_bits_say():
    seen = np.array([[2, 0]])
    assert Encoding((4, 2), "one_hot").encode(seen).tolist() == [[0, 0, 1, 0, 1, 0]]
    assert Encoding((4, 2), "thermometer").encode(seen).tolist() == [[1, 1, 0, 0]]
    assert Encoding((5, 2), "scaled").encode(seen).tolist() == [[0.5, 0.0]]


def test_one_hot_is_what_stable_baselines3_makes_of_integers():
    game = Greed(5, 3)
    observations = game.observe(np.arange(game.num_states), 0)
    integer, one_hot = (Encoding(game.observation_sizes, name) for name in ("integer", "one_hot"))
    theirs = preprocess_obs(torch.as_tensor(integer.encode(observations)), integer.space)
    assert np.array_equal(theirs.numpy(), one_hot.encode(observations))
    floats = Encoding(game.observation_sizes, "one_hot_float").encode(observations)
    assert floats.dtype == np.float32
    assert np.array_equal(theirs.numpy(), floats)


def test_a_space_tells_its_encoding():
    sizes = Greed(7, 3).observation_sizes
    for name in NAMES:
        assert encoding_of(Encoding(sizes, name).space, sizes).name == name
    assert encoding_of(gym.spaces.Discrete(3), sizes) is None
    for name in ("integer", "one_hot", "one_hot_float"):  # a single observation
        assert encoding_of(Encoding((1, 1), name).space, (1, 1)).name == name
    for name in ("thermometer", "scaled"):
        with pytest.raises(ValueError, match="'one_hot_float', got "):
            Encoding((1, 1), name)


def test_the_id_for_programs_that_want_floats_is_that_of_the_game_with_another_encoding():
    env = gym.make("exactdice:exactdice/Greed-OneHot-v0", max_score=7)
    assert env.observation_space == gym.spaces.Box(0, 1, (8 + 8 + 2,))
    assert env.unwrapped.task == gym.make("exactdice/Greed-v0", max_score=7).unwrapped.task
    assert gym.make_vec("exactdice/Greed-OneHot-v0", 3).reset(seed=0)[0].dtype == np.float32


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("error")
def test_all_encodings_play_the_same_games_and_the_checker_finds_nothing(name):
    check_env(gym.make("exactdice/Greed-v0", max_score=7, encoding=name).unwrapped)
    plain, encoded = (
        gym.make_vec("exactdice/LowestScore-v0", num_envs=4, encoding=kind)
        for kind in ("integer", name)
    )
    decode = Encoding(plain.unwrapped.task.game.observation_sizes, name).decode
    seen, features = (envs.reset(seed=3)[0] for envs in (plain, encoded))
    for _ in range(20):
        assert np.array_equal(decode(features), seen)
        actions = np.zeros(4, dtype=int)
        (seen, rewards, *_), (features, same, *_) = plain.step(actions), encoded.step(actions)
        assert np.array_equal(rewards, same)


#: ``operator.index`` takes truth values of torch for integers, and under numpy 2.0 those of numpy.
NONE = [1.0, 1.9, "1", b"1", True, np.True_, None, float("nan"), np.float32(0), np.array([0])]
NONE += [np.array(True), torch.tensor(True)]


@pytest.fixture
def env():
    env = gym.make("exactdice/Greed-v0", max_score=10).unwrapped
    env.reset(seed=0)
    return env


@pytest.fixture
def vector():
    vector = gym.make_vec("exactdice/Greed-v0", 2, max_score=10).unwrapped
    vector.reset(seed=0)
    return vector


@pytest.mark.parametrize("action", NONE, ids=repr)
def test_what_is_no_integer_is_no_action(env, vector, action):
    with pytest.raises(InputError, match="action must be an integer, got"):
        env.step(action)
    env.step(np.array(0, dtype=np.uint8))  # the game goes on
    with pytest.raises(InputError, match="actions must be 2 integers, got an array of"):
        vector.step(np.array([action, action]))


def test_an_action_outside_the_space_is_named(env):
    for action, shown in ((-1, "-1"), (4, "4"), (10**30, r"10\^30"), (-(10**5000), r"-10\^5000")):
        with pytest.raises(InputError, match=f"action must be from 0 to 3, got {shown}"):
            env.step(action)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([[1, 2], [1]], "actions must be 2 integers, got none: "),
        ([1, 10**30], "actions must be 2 integers, got an array of object"),
        ([1], r"actions must be 2 integers, got an array of int64 and shape \(1,\)"),
        ([3, 4], "actions must be from 0 to 3, got 4"),
        ([2, True], r"actions must be 2 integers, got an array of bool and shape \(2,\)"),
    ],
)
def test_what_is_wrong_with_actions_is_said_in_one_line(vector, actions, message):
    with pytest.raises(InputError, match=message) as refusal:
        vector.step(actions)
    assert "\n" not in str(refusal.value)
