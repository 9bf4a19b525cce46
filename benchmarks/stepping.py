"""Speed of environments at random legal play: `.venv/bin/python benchmarks/stepping.py`.

Only `step` and `reset` are timed, not the choice of actions. Before each way FrozenLake plays in
the same process, alone or in a vector of as many lanes, so that a slow minute hits both. Where a
vector spends a step on beginning a game, that is no move. OpenSpiel and EnvPool stand beside if
they are installed.
"""

import sys
import time
from collections.abc import Callable
from importlib import import_module
from statistics import median
from typing import Any

import gymnasium as gym
import numpy as np
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.core import Table
from exactdice.games import GAMES
from pettingzoo.classic import tictactoe_v3

from exactdice import pettingzoo

FROZEN_LAKE = "FrozenLake-v1"
PEERS = ("Taxi-v4", "Blackjack-v1", "CartPole-v1")
ROUNDS = 5
#: Seconds of a round, about, and the lanes of the vectors; None for a single environment.
SECONDS = 0.4
LANES = (None, 8, 1024, 4096)
#: A way to play: a function of moves that returns moves a second.
Way = Callable[[int], float]


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


def play_one(env: gym.Env[Any, Any]) -> Way:
    """Prepare a function that plays single games, as `gym.make` wraps them."""
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


def play_many(env: Any, lanes: int, actions: int) -> Way:
    """Do the same with a vector that spends a step on beginning a game."""
    info = env.reset()[1]
    noise = np.random.default_rng(0).random((16, lanes, actions))

    def play(moves: int) -> float:
        nonlocal info
        clock, made, waiting = Clock(), 0, np.zeros(lanes, dtype=bool)
        for step in range(moves // lanes):
            chosen = (noise[step % 16] * info.get("action_mask", 1)).argmax(axis=1)
            _, _, over, cut, info = clock(env.step, chosen)
            made += lanes - np.count_nonzero(waiting)
            waiting = over | cut
        return made / clock.seconds

    return play


def play_in_sb3(env_id: str, lanes: int) -> Way:
    """Do the same with stable-baselines3's interface."""
    env = GameVecEnv(gym.make(env_id).unwrapped.task, lanes, "outcome")
    env.reset()
    noise = np.random.default_rng(0).random((16, lanes, env.action_space.n))

    def play(moves: int) -> float:
        clock = Clock()
        for step in range(moves // lanes):
            actions = (noise[step % 16] * env.action_masks()).argmax(axis=1)
            clock(env.step, actions)
        return moves // lanes * lanes / clock.seconds

    return play


def play_for_all(env: Any) -> Way:
    """Do the same with an environment of PettingZoo, whose agents are all asked."""
    noise = np.random.default_rng(0).random((1000, 64))

    def play(moves: int) -> float:
        clock, made = Clock(), 0
        while made < moves:
            clock(env.reset, made)
            for _ in env.agent_iter():
                seen, _, over, cut, _ = clock(env.last)
                legal = seen["action_mask"]
                choice = int((noise[made % 1000, : len(legal)] * legal).argmax())
                clock(env.step, None if over or cut else choice)
                made += not (over or cut)
        return made / clock.seconds

    return play


def play_in_openspiel(game: Any) -> Way:
    """Do the same with a state of OpenSpiel, which lists the actions and the outcomes of chance."""
    noise = np.random.default_rng(0).random(1000)

    def play(moves: int) -> float:
        clock, made, drawn = Clock(), 0, 0
        while made < moves:
            state = clock(game.new_initial_state)
            while not clock(state.is_terminal):
                chance = clock(state.is_chance_node)
                listed = clock(state.chance_outcomes if chance else state.legal_actions)
                drawn, made = drawn + 1, made + (not chance)
                chosen = listed[int(noise[drawn % 1000] * len(listed))]
                clock(state.apply_action, chosen[0] if chance else chosen)
        return made / clock.seconds

    return play


def in_gymnasium(env_id: str) -> dict[int | None, Way]:
    """Prepare an environment alone, and in the vectors that Gymnasium makes of it."""
    env = gym.make(env_id)
    many = {lanes: gym.make_vec(env_id, lanes) for lanes in LANES if lanes}
    actions = env.action_space.n
    return {None: play_one(env)} | {n: play_many(it, n, actions) for n, it in many.items()}


def ways() -> dict[str, dict[int | None, Way]]:
    """Prepare everything, by name and number of lanes."""
    found = {name: in_gymnasium(f"exactdice:exactdice/{name}-v0") for name in GAMES}
    found["Greed in SB3"] = {1024: play_in_sb3("exactdice:exactdice/Greed-v0", 1024)}
    found |= {f"Gymnasium's {name}": in_gymnasium(name) for name in (FROZEN_LAKE, *PEERS)}
    for name, env in {"Greed": pettingzoo.env("Greed"), "tic-tac-toe": tictactoe_v3.env()}.items():
        found[f"PettingZoo, {name}"] = {None: play_for_all(env)}
    try:
        found["OpenSpiel, Pig"] = {
            None: play_in_openspiel(import_module("pyspiel").load_game("pig"))
        }
    except ModuleNotFoundError:
        print("without OpenSpiel, which is not installed", file=sys.stderr)
    try:
        made = import_module("envpool").make_gymnasium
    except ModuleNotFoundError:
        print("without EnvPool, which is not installed", file=sys.stderr)
    else:
        for name in (FROZEN_LAKE, "CartPole-v1"):
            pools = {n: made(name, num_envs=n, num_threads=1) for n in LANES if n}
            found[f"EnvPool's {name}"] = {
                n: play_many(pool, n, pool.action_space.n) for n, pool in pools.items()
            }
    return found


def timed(way: Way, lanes: int | None) -> Callable[[], float]:
    """Have a way play for about ``SECONDS``: as many moves as a short trial says."""
    least = 4 * (lanes or 100)
    moves = max(least, int(SECONDS * way(least)))
    return lambda: way(moves)


def main() -> None:
    """Print a table of ratios to FrozenLake in the same rounds, and moves a second."""
    rows = []
    peers = {lanes: timed(way, lanes) for lanes, way in in_gymnasium(FROZEN_LAKE).items()}
    for name, found in ways().items():
        own = {lanes: timed(way, lanes) for lanes, way in found.items()}
        rates: dict[int | None, list[float]] = {lanes: [] for lanes in own}
        ratios: dict[int | None, list[float]] = {lanes: [] for lanes in own}
        for _ in range(ROUNDS):
            for lanes, way in own.items():
                theirs = peers[lanes]()
                rates[lanes].append(way())
                ratios[lanes].append(rates[lanes][-1] / theirs)
        times = [f"{median(ratios[n]):.2f}" if n in own else "" for n in LANES]
        shown = [f"{median(rates[n]):,.0f}" if n in own else "" for n in LANES]
        rows.append([name, *times, *shown])
        print(*rows[-1], file=sys.stderr, flush=True)
    one, *many = (f"{lanes:,}" if lanes else "one" for lanes in LANES)
    head = ["", one, *(f"{lanes} lanes" for lanes in many), f"moves a second: {one}", *many]
    print(Table(head, rows).markdown(aligned=True))


if __name__ == "__main__":
    main()
