"""The optimum of MiniGrid's levels, by ``exactdice.explore``: `python benchmarks/worlds.py`.

Each value is computed a second time, by code that shares nothing with the package: backward
induction over the moves of the simulator, with a state of the script's own, and MiniGrid's formula
of the reward; and 2,000 games of the environment itself must pay and show what the law does. It
needs the extra ``minigrid``.

python benchmarks/worlds.py MiniGrid-Empty-5x5-v0 MiniGrid-DoorKey-5x5-v0:8    # eight levels of it
"""

import copy
import sys
from collections.abc import Hashable
from resource import RUSAGE_SELF, getrusage
from time import perf_counter
from typing import Any

import gymnasium as gym
import minigrid
import numpy as np
from exactdice.core import Table
from minigrid.wrappers import ImgObsWrapper

import exactdice

LEVELS = [
    *("MiniGrid-Empty-5x5-v0", "MiniGrid-Empty-8x8-v0", "MiniGrid-LavaGapS5-v0"),
    *("MiniGrid-SimpleCrossingS9N1-v0", "MiniGrid-DoorKey-5x5-v0", "MiniGrid-DoorKey-5x5-v0:8"),
    *("MiniGrid-DoorKey-6x6-v0", "MiniGrid-KeyCorridorS3R1-v0", "MiniGrid-FourRooms-v0"),
]
#: Actions of MiniGrid, and games of each level that are played again.
ACTIONS, GAMES = 7, 2000


def key_of(env: Any) -> Hashable:
    """Return what makes a state, after the page on MiniGrid's observations."""
    bare = env.unwrapped
    things = [
        (x.encode(), x.contains and x.contains.encode()) if x else None for x in bare.grid.grid
    ]
    return (
        str(things),
        tuple(map(int, bare.agent_pos)),
        bare.agent_dir,
        str(bare.carrying and bare.carrying.encode()),
    )


def simulated(env_id: str, levels: int) -> tuple[float, float]:
    """Return the value of the best policy and of a random one by the simulator itself."""
    states: dict[Hashable, int] = {}
    copies, moves, won, begun = [], [], [], []
    for seed in range(levels):
        env = gym.make(env_id)
        env.reset(seed=seed)
        begun.append(states.setdefault(key_of(env), len(states)))
        copies += [env] * (len(states) > len(copies))
    for env in copies:  # which grow
        after = []
        for action in range(ACTIONS):
            other = copy.deepcopy(env)
            other.unwrapped.step_count = 0
            _, reward, over, _, _ = other.step(action)
            if over:
                after.append(-2 if reward else -1)
                continue
            after.append(states.setdefault(key_of(other), len(states)))
            copies += [other] * (len(states) > len(copies))
        moves.append(after)
    ways, limit = np.array(moves), copies[0].unwrapped.max_steps
    best, blind = np.zeros(len(states)), np.zeros(len(states))
    for made in range(limit, 0, -1):
        won = (ways == -2) * (1 - 0.9 * made / limit)
        best, blind = ((won + np.where(ways < 0, 0, found[ways])) for found in (best, blind))
        best, blind = best.max(axis=1), blind.mean(axis=1)
    return float(best[begun].mean()), float(blind[begun].mean())


def replay(task: exactdice.Task, env: gym.Env[Any, Any], levels: int) -> None:
    """Play games of the environment at random, in which the law must show and pay the same."""
    game: Any = task.game
    first, draws = np.cumsum(game.counts.ravel()) - game.counts.ravel(), np.random.default_rng(0)
    for number in range(GAMES):
        seen, _ = env.reset(seed=number % levels)
        states, totals, paid, over = np.flatnonzero(game.initial), np.zeros(1), 0.0, False
        for _ in range(game.horizon):  # levels may begin alike
            same = (game.view.shown[states] == seen).reshape(len(states), -1).all(axis=1) | over
            states, totals = states[same], np.broadcast_to(totals, same.shape)[same]
            action = int(draws.integers(ACTIONS)) if not over else 0
            ways = first[states * ACTIONS + action]
            states, totals = game.successors[ways], totals + game.rewards[ways]
            if not over:
                seen, reward, ended, cut, _ = env.step(action)
                paid, over = paid + float(reward), ended or cut
        assert np.isclose(totals, paid, rtol=0, atol=1e-9).any(), (number, totals, paid)


def row(level: str) -> list[Any]:
    """Return the row of the table of a level."""
    env_id, _, count = level.partition(":")
    levels, began = int(count or 1), perf_counter()
    env = ImgObsWrapper(gym.make(env_id))
    task = exactdice.explore(env, range(levels))
    listed = perf_counter() - began
    found = exactdice.score("random", task)
    solved = perf_counter() - began - listed
    second = simulated(env_id, levels)
    assert np.allclose((found.optimum, found.value), second, rtol=0, atol=1e-9), second
    replay(task, env, levels)
    alone = exactdice.memoryless(task, 200)
    images = f"{alone.value:.6f}" + (alone.bound > alone.value) * f" to {alone.bound:.6f}"
    view, name = task.game.view, env_id if levels == 1 else f"{env_id}, {levels} levels"
    memory = getrusage(RUSAGE_SELF).ru_maxrss // 1024
    figures = f"{found.optimum:.6f}", images, f"{found.value:.6f}", f"{listed:.1f}", f"{solved:.1f}"
    return [name, task.game.rows, view.different, *figures, memory]


if __name__ == "__main__":
    header = [
        "level",
        "states",
        "images",
        "optimum",
        "by images alone",
        "random",
        "list, s",
        "solve and score, s",
        "MB so far",
    ]
    rows = [row(level) for level in sys.argv[1:] or LEVELS]
    print(f"minigrid {minigrid.__version__}")
    print(Table(header, rows).markdown(aligned=True))
