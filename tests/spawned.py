"""What a spawned process runs, beside the tests: it imports neither them nor their libraries."""

import sys
import time

import gymnasium as gym
import numpy as np


def first_move(env):
    """Begin a game and make the first legal move: what is seen before and after it."""
    observation, info = env.reset(seed=3)
    return [observation.tolist(), env.step(np.argmax(info["action_mask"]))[0].tolist()]


def put_first_move(env_id, sizes, queue):
    """Put the first move into a queue, and whether the package was known before."""
    known = "exactdice" in sys.modules
    queue.put([*first_move(gym.make(env_id, **sizes)), known])


def ends(_job, _connection):
    """End without an answer, as a process does that the system kills."""
    sys.exit(9)


def sleeps(_job, _connection):
    """Take too long."""
    time.sleep(60)
