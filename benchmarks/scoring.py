"""Exact score of a network against simulation: `.venv/bin/python benchmarks/scoring.py`.

Simulation goes on until its standard error is 0.001 and, with --slow, 0.0001.
"""

import argparse
import time

import gymnasium as gym
import numpy as np
import torch
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.models import make_env, make_model
from exactdice.core.positions import states_of
from exactdice.games import GAMES, present
from sb3_contrib import MaskablePPO
from timing import compare

import exactdice

LANES = 4096


def simulate(model: MaskablePPO, game: str, error: float) -> tuple[float, float, int]:
    """Play games, asking the network at every move, until the standard error is small enough.

    Returns:
        Mean outcome, its standard error, number of games.
    """
    env = gym.make_vec(f"exactdice/{game}-v0", LANES, autoreset_mode="SameStep")
    observations, infos = env.reset(seed=0)
    games, total, squares, reached = 0, 0.0, 0.0, np.inf
    while reached > error:
        actions, _ = model.predict(
            observations, deterministic=True, action_masks=infos["action_mask"]
        )
        observations, _, over, _, infos = env.step(actions)
        if over.any():
            outcomes = infos["final_info"]["outcome"][over]
            games += len(outcomes)
            total, squares = total + outcomes.sum(), squares + (outcomes**2).sum()
        if games > LANES:  # before that, short games would weigh too much
            reached = np.sqrt((squares / games - (total / games) ** 2) / games)
    return total / games, float(reached), games


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", choices=list(GAMES), default=["Greed"], nargs="+")
    parser.add_argument("--slow", action="store_true", help="simulate to 0.0001 too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for game in arguments.game:
        time_scores(game, (1e-3, 1e-4) if arguments.slow else (1e-3,))


def time_scores(game: str, errors: tuple[float, ...]) -> None:
    """Train a network for a little, and print what its score takes and what simulations do."""
    config = TrainConfig(game=game, steps=100_000)
    env = make_env(config)
    model = make_model(config, env).learn(config.total_steps)
    policy = ModelPolicy(model, env.task.game)
    states = states_of(env.task.game, 0)
    inputs = env.task.game.observe(states, 0), env.task.game.mask(states)
    score = exactdice.score(model, env)
    exact = compare(
        f"a network of two layers of 128 on {present(env.task.game).words}, one thread",
        {
            f"exact score, forward pass over {len(states):,} states included": (
                lambda: exactdice.score(model, env)
            ),
            "of which the forward pass": lambda: policy(*inputs),
            "exact score and all blunders": lambda: exactdice.score(model, env).blunders(None),
        },
    )
    first, forward, _ = exact.values()
    print(f"  beyond the forward pass: {first - forward:.4f} s")
    print(f"\nexact value {score.value:.6f}; simulated until the standard error is")
    for error in errors:
        start = time.perf_counter()
        mean, _, games = simulate(model, game, error)
        seconds = time.perf_counter() - start
        print(
            f"  {error:g}: {games:>12,} games, mean {mean:.6f} {seconds:26.4f} s "
            f"ratio {seconds / first:8.2f}"
        )


if __name__ == "__main__":
    main()
