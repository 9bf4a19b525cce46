"""Random play, and the three kinds of environments side by side."""

import gymnasium as gym
import numpy as np
import pytest
from exactdice.agents.learners.vec_env import GameVecEnv


def legal_action(mask, rng):
    return int(rng.choice(np.flatnonzero(mask)))


def random_actions(masks, rng, wild=0.05):
    """Mostly legal actions, now and then any."""
    legal = np.array([legal_action(mask, rng) for mask in masks])
    anything = rng.integers(0, masks.shape[1], len(masks))
    return np.where(rng.random(len(masks)) < wild, anything, legal)


def require_same_play(env_id, moves=300, **keywords):
    """Compare one lane of stable-baselines3, and of a vector, with the scalar environment.

    Returns:
        The payoffs of the games.
    """
    scalar = gym.make(env_id, **keywords).unwrapped
    same, payoffs, returned = GameVecEnv(scalar.task, 1, scalar.reward_mode), [], 0.0
    same.seed(6)
    following = gym.make_vec(env_id, 1, **keywords)
    observation, _ = scalar.reset(seed=6)
    assert (observation == same.reset()[0]).all()
    assert (observation == following.reset(seed=6)[0][0]).all()
    rng = np.random.default_rng(7)
    for _ in range(moves):
        action = random_actions(scalar.action_masks()[None], rng)
        observation, reward_now, over, _, info = scalar.step(action[0])
        others, rewards, dones, infos = same.step(action)
        nexts, next_rewards, next_over, _, next_infos = following.step(action)
        assert (nexts[0] == observation).all()
        assert (next_rewards[0], next_over[0]) == (reward_now, over)
        assert (rewards[0], dones[0]) == (np.float32(reward_now), over)
        returned += reward_now
        if over:
            assert infos[0]["outcome"] == info["outcome"] == next_infos["outcome"][0]
            assert infos[0]["episode"]["l"] >= 1
            assert infos[0]["episode"]["r"] == pytest.approx(returned)
            assert scalar.reward_mode != "outcome" or info["outcome"] == pytest.approx(returned)
            payoffs.append(info["outcome"])
            returned, (observation, _) = 0.0, scalar.reset()
            nexts, next_rewards, next_over, _, _ = following.step(action)  # resets, ignores action
            assert (nexts[0] == observation).all()
            assert (next_rewards[0], next_over[0]) == (0, False)
        assert (others[0] == observation).all()
    return payoffs
