"""Small tasks, and records of play, as arrays and as the records that audits take."""

import gymnasium as gym
import numpy as np
from exactdice.baselines import Task
from exactdice.diagnose import Rollout, Transitions
from exactdice.envs import GameVectorEnv
from exactdice.games import FourTwoOneMatch, Greed, LowestScore, ShutTheBox
from gymnasium.vector import AutoresetMode, SyncVectorEnv

TASKS = [
    Task(Greed(5, 3), 0, "random"),
    Task(LowestScore(2, 3, players=3), 1, "random"),
    Task(ShutTheBox(4, 2, 3, objective="sum"), 0),
    Task(FourTwoOneMatch(tokens=2, faces=2), 1, "random"),
]

SAME_STEP = AutoresetMode.SAME_STEP
BASIC = "observations", "actions", "rewards", "terminated"


def at_random(_, masks, rng):
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


def play(
    name, steps=60, lanes=8, mode=SAME_STEP, seed=0, masked=True, choose=at_random, **keywords
):
    """Play by a function of (observations, masks, generator); return environment and arrays.

    The arrays, by name, are of shape (time, lane, ...). In place of a name, a task may be given.
    """
    keywords |= {"num_envs": lanes, "autoreset_mode": mode}
    if isinstance(name, Task):
        env = GameVectorEnv(name, **keywords)
    else:
        env = gym.make_vec(f"exactdice/{name}-v0", **keywords)
    rng = np.random.default_rng(seed)
    seen, info = env.reset(seed=seed)
    rows = []
    for _ in range(steps):
        masks = np.asarray(info["action_mask"], dtype=bool) | (not masked)
        actions = choose(seen, masks, rng)
        after, rewards, ended, _, info = env.step(actions)
        rows.append((seen.copy(), actions, rewards, ended, after.copy()))
        seen = after
    return env, dict(zip((*BASIC, "after"), map(np.array, zip(*rows, strict=True)), strict=True))


def play_cut(make, steps=200, lanes=8, seed=0, masked=False, seeds=None):
    """Play environments that cut games at random; return arrays by name, of shape (time, lane).

    Each lane may have its seed given; the actions are drawn by ``seed``.
    """
    env = SyncVectorEnv([make] * lanes, autoreset_mode=SAME_STEP)
    rng, rows = np.random.default_rng(seed), []
    seen, info = env.reset(seed=seeds or seed)
    every = np.ones((lanes, env.single_action_space.n))
    for _ in range(steps):
        actions = at_random(seen, info["action_mask"] if masked else every, rng)
        after, rewards, ended, cut, info = env.step(actions)
        final = after.copy()
        for lane in np.flatnonzero(ended | cut):
            final[lane] = info["final_obs"][lane]
        rows.append((seen, actions, rewards, ended, final, cut & ~ended))
        seen = after.copy()
    names = (*BASIC, "after", "truncated")
    arrays = dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))
    return arrays | {"last": seen}


def rollout(arrays, **numbers):
    return Rollout(*(arrays[name] for name in BASIC), **numbers)


def cut_rollout(arrays, **numbers):
    last, final = arrays["last"], arrays["after"]
    cut = {"truncated": arrays["truncated"], "final_observations": final, "last_observations": last}
    return rollout(arrays, **cut, **numbers)


def transitions(arrays):
    names = "observations", "actions", "rewards", "after", "terminated", "truncated"
    flat = (arrays[name].reshape(-1, *arrays[name].shape[2:]) for name in names if name in arrays)
    return Transitions(*flat)
