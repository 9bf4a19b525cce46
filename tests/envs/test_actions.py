"""What counts as an action."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.games import InputError

import exactdice  # noqa: F401  registers the environments

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
    env.step(0)  # the game goes on
    with pytest.raises(InputError, match="actions must be 2 integers, got an array of"):
        vector.step(np.array([action, action]))


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.array], ids=repr)
def test_integers_of_any_kind_are_actions(env, kind):
    ours = env.step(1)
    env.reset(seed=0)
    theirs = env.step(kind(1))
    assert np.array_equal(ours[0], theirs[0])
    assert ours[1:4] == theirs[1:4]


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
