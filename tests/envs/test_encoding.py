"""Encodings of observations."""

from typing import get_args

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.core.positions import states_of
from exactdice.envs import EncodingName, encoding_of
from exactdice.envs.encoding import Encoding
from exactdice.games import Greed, LowestScore, ShutTheBox
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.preprocessing import preprocess_obs

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


def test_an_unknown_encoding_is_named():
    with pytest.raises(ValueError, match="encoding must be one of 'integer', 'one_hot', "):
        gym.make("exactdice/Greed-v0", encoding="two_hot")
