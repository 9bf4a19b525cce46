"""What a spawned process runs, beside the tests: it imports neither them nor their libraries."""

import os
import subprocess
import sys
import time

import gymnasium as gym
import numpy as np


def first_move(env):
    """Begin a game and make the first legal move: what is seen before and after it."""
    observation, info = env.reset(seed=3)
    return [observation.tolist(), env.step(np.argmax(info["action_mask"]))[0].tolist()]


def first_moves(games):
    """Give whether the package was known before, and the first moves of games."""
    known = "exactdice" in sys.modules
    return [known, *(first_move(gym.make(env_id, **sizes)) for env_id, sizes in games)]


def ends(*_job):
    """End without an answer, as a process does that the system kills."""
    os._exit(9)


def sleeps(*_job):
    """Take too long."""
    time.sleep(60)


def printed_by(code):
    """Run a program in a process of its own that ends well, and give what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
