"""Exact score of a network against simulation: `.venv/bin/python benchmarks/scoring.py`.

Simulation goes on until its standard error is 0.001. For a tenth of the error it needs a hundred
times as many games.
"""

import sys

import gymnasium as gym
import numpy as np
import torch
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.models import make_env, make_model
from exactdice.core import Table
from exactdice.core.positions import states_of
from exactdice.games import present
from sb3_contrib import MaskablePPO
from timing import HEAD, compare, rows

import exactdice

LANES = 4096
ERROR = 0.001


def simulate(model: MaskablePPO, game: str) -> int:
    """Play games, asking the network at every move, until the standard error is small enough.

    Returns:
        The number of games.
    """
    env = gym.make_vec(f"exactdice/{game}-v0", LANES, autoreset_mode="SameStep")
    observations, infos = env.reset(seed=0)
    games, total, squares, reached = 0, 0.0, 0.0, np.inf
    while reached > ERROR:
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
    return games


def main() -> None:
    """Print the table of Greed, or of the games that are named."""
    torch.set_num_threads(1)
    found = [row for game in sys.argv[1:] or ["Greed"] for row in time_scores(game)]
    print(Table(HEAD, found, texts=2).markdown(aligned=True))


def time_scores(game: str) -> list[list[str]]:
    """Train a network for a little, and time its score and a simulation of its games."""
    config = TrainConfig(game=game, steps=100_000)
    env = make_env(config)
    model = make_model(config, env).learn(config.total_steps)
    policy = ModelPolicy(model, env.task.game)
    states = states_of(env.task.game, 0)
    inputs = env.task.game.observe(states, 0), env.task.game.mask(states)
    simulated = []
    ways = {
        f"exact score, forward pass over {len(states):,} states included": (
            lambda: exactdice.score(model, env)
        ),
        "of which the forward pass": lambda: policy(*inputs),
        "exact score and all blunders": lambda: exactdice.score(model, env).blunders(None),
        f"simulation to a standard error of {ERROR}": (
            lambda: simulated.append(simulate(model, game))
        ),
    }
    what = f"a network of two layers of 128, {present(env.task.game).words}"
    found = rows(what, compare(what, ways, rounds=3))
    found[-1][1] += f", {simulated[0]:,} games"
    return found


if __name__ == "__main__":
    main()
