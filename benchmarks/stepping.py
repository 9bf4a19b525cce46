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
from exactdice.core import Table
from exactdice.games import GAMES
from pettingzoo.classic import tictactoe_v3

from exactdice import pettingzoo

PEER = "FrozenLake-v1"
ROUNDS = 5
#: Lanes of the vectors that are compared, and moves of each way in a round.
WIDTHS = (8, 1024)
MOVES = (10_000, 40_000, 100_000, 400_000, 200_000)


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


def play_many(env_id: str, lanes: int, **keywords: Any) -> Callable[[int], float]:
    """Do the same with a vector, in the mode that `gym.make_vec` gives it."""
    env = gym.make_vec(env_id, lanes, **keywords)
    info = env.reset(seed=0)[1]
    noise = np.random.default_rng(0).random((16, lanes, env.single_action_space.n))

    def play(moves: int) -> float:
        nonlocal info
        clock, made, waiting = Clock(), 0, np.zeros(lanes, dtype=bool)
        for step in range(moves // lanes):
            actions = (noise[step % 16] * info.get("action_mask", 1)).argmax(axis=1)
            _, _, over, cut, info = clock(env.step, actions)
            made += lanes - np.count_nonzero(waiting)
            waiting = over | cut
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


def play_for_all(env: Any) -> Callable[[int], float]:
    """Do the same with an environment of PettingZoo, whose agents are all asked."""
    noise = np.random.default_rng(0).random((1000, 64))

    def play(moves: int) -> float:
        made, start = 0, time.process_time()
        while made < moves:
            env.reset(seed=made)
            for _ in env.agent_iter():
                seen, _, over, cut, _ = env.last()
                legal = seen["action_mask"]
                choice = (noise[made % 1000, : len(legal)] * legal).argmax()
                env.step(None if over or cut else int(choice))
                made += not (over or cut)
        return made / (time.process_time() - start)

    return play


def beside_tic_tac_toe() -> None:
    """Print how fast Greed is for two agents of PettingZoo, choice of actions included."""
    ways = [play_for_all(env) for env in (pettingzoo.env("Greed"), tictactoe_v3.env())]
    rates = [[way(5000) for way in ways] for _ in range(ROUNDS)]
    ratio = median(ours / theirs for ours, theirs in rates)
    print(f"\nGreed in PettingZoo: {ratio:.2f} times as fast as its tic-tac-toe")


def main() -> None:
    """Print a table of ratios to FrozenLake in the same rounds, and moves a second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", nargs="+", default=list(GAMES), choices=list(GAMES))
    parser.add_argument("--reward", default="outcome", choices=["outcome", "regret", "shaped"])
    options = parser.parse_args()
    games, reward = options.games, options.reward
    peers = [play_one(PEER), *(play_many(PEER, lanes) for lanes in WIDTHS)]
    head = ["one", *(f"{lanes:,} lanes" for lanes in WIDTHS)]
    head += ["moves a second: one", "4,096 lanes", "1,024 in SB3"]
    rows = []
    for game in games:
        env_id = f"exactdice:exactdice/{game}-v0"
        ways = [
            play_one(env_id, reward=reward),
            *(play_many(env_id, lanes, reward=reward) for lanes in WIDTHS),
            play_many(env_id, 4096, reward=reward),
            play_in_sb3(env_id, 1024, reward),
        ]
        sizes = MOVES[: len(ways)]
        ratios, rates = [], []
        for _ in range(ROUNDS):
            found = [way(moves) for way, moves in zip(ways, sizes, strict=True)]
            theirs = [peer(moves) for peer, moves in zip(peers, sizes, strict=False)]
            ratios.append([mine / other for mine, other in zip(found, theirs, strict=False)])
            rates.append(found)
        times = [f"{median(column):.2f}" for column in zip(*ratios, strict=True)]
        shown = [f"{median(column):,.0f}" for column in zip(*rates, strict=True)]
        rows.append([game, *times, shown[0], *shown[-2:]])
    print(f"times as fast as {PEER}, in vectors of as many lanes; and moves a second\n")
    print(Table(["game", *head], rows).markdown(aligned=True))
    beside_tic_tac_toe()
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
