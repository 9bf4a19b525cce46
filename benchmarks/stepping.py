"""Speed of the environments at random play: `.venv/bin/python benchmarks/stepping.py`."""

from collections.abc import Callable

import gymnasium as gym
import numpy as np
from exactdice.agents.learners.vec_env import GameVecEnv
from stable_baselines3.common.vec_env import DummyVecEnv
from timing import compare

ENV = "exactdice:exactdice/Greed-v0"
STEPS = 200_000


def play(step: Callable[[np.ndarray], object], lanes: int, steps: int) -> Callable[[], None]:
    """Prepare a function that makes a number of moves in all."""
    actions = np.random.default_rng(0).integers(0, 10, (steps // lanes, lanes))

    def run() -> None:
        for chosen in actions:
            step(chosen)

    return run


def main() -> None:
    """Print everything, scaled to the same number of moves."""
    few = STEPS // 20
    for lanes in (8, 256, 1024):
        ours = gym.make_vec(ENV, lanes)
        theirs = gym.make_vec(ENV, lanes, vectorization_mode="sync")
        sb3 = GameVecEnv(ours.unwrapped.task, lanes)
        dummy = DummyVecEnv([lambda: gym.make(ENV)] * lanes)
        for env in (ours, theirs, sb3, dummy):
            env.reset()
        times = compare(
            f"{few:,} moves in {lanes} games",
            {
                "GameVectorEnv": play(ours.step, lanes, few),
                "gymnasium's SyncVectorEnv": play(theirs.step, lanes, few),
                "GameVecEnv": play(sb3.step, lanes, few),
                "stable-baselines3's DummyVecEnv": play(dummy.step, lanes, few),
            },
            rounds=3,
        )
        rates = ", ".join(f"{name} {few // lanes * lanes / t:,.0f}" for name, t in times.items())
        print(f"  moves a second: {rates}")


if __name__ == "__main__":
    main()
