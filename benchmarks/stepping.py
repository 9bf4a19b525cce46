"""Speed of the environments at random legal play: `.venv/bin/python benchmarks/stepping.py`.

Only `step` and `reset` are timed, not the choice of actions. FrozenLake, single games and vectors
take turns in one process, so that a slow minute hits all of them. Where a vector spends a step on
beginning a game, that is no move.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import gymnasium as gym
import numpy as np
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.games import GAMES

PEER = "FrozenLake-v1"
ROUNDS = 7


class Clock:
    """Adds up what some calls take."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Make a call."""
        start = time.perf_counter()
        answer = call(*arguments)
        self.seconds += time.perf_counter() - start
        return answer


def play_one(env_id: str, **keywords: Any) -> Callable[[int], float]:
    """Prepare a function that plays single games, as `gym.make` wraps them: moves a second."""
    env = gym.make(env_id, **keywords)
    env.reset(seed=0)
    noise = np.random.default_rng(0).random((1000, env.action_space.n))

    def play(moves: int) -> float:
        clock = Clock()
        info = clock(env.reset)[1]
        for move in range(moves):
            action = int((noise[move % 1000] * info.get("action_mask", 1)).argmax())
            *_, over, truncated, info = clock(env.step, action)
            if over or truncated:
                info = clock(env.reset)[1]
        return moves / clock.seconds

    return play


def play_many(env_id: str, lanes: int, reward: str) -> Callable[[int], float]:
    """Do the same with a vector, in the mode that `gym.make_vec` gives it."""
    env = gym.make_vec(env_id, lanes, reward=reward)
    info = env.reset(seed=0)[1]
    noise = np.random.default_rng(0).random((16, lanes, env.single_action_space.n))

    def play(moves: int) -> float:
        nonlocal info
        clock, made, waiting = Clock(), 0, np.zeros(lanes, dtype=bool)
        for step in range(moves // lanes):
            actions = (noise[step % 16] * info["action_mask"]).argmax(axis=1)
            _, _, over, _, info = clock(env.step, actions)
            made += lanes - np.count_nonzero(waiting)
            waiting = over
        return made / clock.seconds

    return play


def play_in_sb3(env_id: str, lanes: int, reward: str) -> Callable[[int], float]:
    """Do the same with stable-baselines3's interface."""
    env = GameVecEnv(gym.make(env_id).unwrapped.task, lanes, reward)
    env.reset()
    noise = np.random.default_rng(0).random((16, lanes, env.action_space.n))

    def play(moves: int) -> float:
        clock = Clock()
        for step in range(moves // lanes):
            actions = (noise[step % 16] * env.action_masks()).argmax(axis=1)
            clock(env.step, actions)
        return moves // lanes * lanes / clock.seconds

    return play


def main() -> None:
    """Print moves a second, and ratios to FrozenLake in the same rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", nargs="+", default=list(GAMES), choices=list(GAMES))
    parser.add_argument("--reward", default="outcome", choices=["outcome", "regret", "shaped"])
    options = parser.parse_args()
    games, reward = options.games, options.reward
    peer = play_one(PEER)
    print(f"{'moves a second':<18}{'gym.make':>10}{'/ ' + PEER:>16}", end="")
    print("".join(f"{name:>14}" for name in ("8 lanes", "8 in SB3", "1,024 in SB3", "4,096 lanes")))
    for game in games:
        env_id = f"exactdice:exactdice/{game}-v0"
        ways = [
            (play_one(env_id, reward=reward), 10_000),
            (play_many(env_id, 8, reward), 40_000),
            (play_in_sb3(env_id, 8, reward), 40_000),
            (play_in_sb3(env_id, 1024, reward), 200_000),
            (play_many(env_id, 4096, reward), 400_000),
        ]
        rounds = [(peer(10_000), *(way(moves) for way, moves in ways)) for _ in range(ROUNDS)]
        rates = [median(column) for column in zip(*rounds, strict=True)]
        ratio = median(ours / theirs for theirs, ours, *_ in rounds)
        print(f"{game:<18}{rates[1]:>10,.0f}{ratio:>16.2f}", end="")
        print("".join(f"{rate:>14,.0f}" for rate in rates[2:]), flush=True)
    print(f"{PEER:<18}{median(peer(10_000) for _ in range(ROUNDS)):>10,.0f}")
    making(games)


def making(games: list[str]) -> None:
    """Print what the first and the tenth copy of an environment cost, in milliseconds."""
    print("\nms to make a copy, the first and the tenth, with the rewards outcome and regret")
    for game in games:
        found = []
        for reward in ("outcome", "regret"):
            seconds = []
            for _ in range(10):
                start = time.perf_counter()
                gym.make(f"exactdice:exactdice/{game}-v0", reward=reward)
                seconds.append(time.perf_counter() - start)
            found += [seconds[0], seconds[-1]]
        print(f"{game:<18}" + "".join(f"{1000 * taken:>12,.2f}" for taken in found))


if __name__ == "__main__":
    main()
