"""Exact score of a network against simulation: `.venv/bin/python benchmarks/scoring.py`."""

import gymnasium as gym
import numpy as np
import torch
from exactdice.agents.adapter import ModelPolicy
from exactdice.agents.config import TrainConfig
from exactdice.agents.models import make_env, make_model
from sb3_contrib import MaskablePPO
from timing import compare

import exactdice

GAMES, LANES = 200_000, 4000


def simulate(model: MaskablePPO) -> tuple[float, float]:
    """Play ``GAMES`` games, asking the network at every move: mean outcome, standard error."""
    env = gym.make_vec("exactdice/Greed-v0", LANES, autoreset_mode="SameStep")
    observations, infos = env.reset(seed=0)
    played, outcomes = np.zeros(LANES, dtype=int), []
    while played.min() < GAMES // LANES:
        actions, _ = model.predict(
            observations, deterministic=True, action_masks=infos["action_mask"]
        )
        observations, _, over, _, infos = env.step(actions)
        counted = over & (played < GAMES // LANES)
        if counted.any():
            outcomes.append(infos["final_info"]["outcome"][counted])
        played += over
    results = np.concatenate(outcomes)
    return float(results.mean()), float(results.std() / np.sqrt(len(results)))


def main() -> None:
    """Print everything."""
    torch.set_num_threads(1)
    config = TrainConfig(steps=100_000)
    env = make_env(config)
    model = make_model(config, env).learn(config.steps)
    policy = ModelPolicy(model, env.task.game)
    mean, error = simulate(model)
    score = exactdice.score(model, env)
    print(f"exact {score.value:.6f}, {GAMES:,} games {mean:.6f} +- {1.96 * error:.6f} (95 %)")
    states = np.arange(env.task.game.num_states)
    inputs = env.task.game.observe(states, 0), env.task.game.mask(states)
    compare(
        "a network of two layers of 128 on Greed, M = 100, one thread",
        {
            "exact score, forward pass over 20,402 states included": lambda: exactdice.score(
                model, env
            ),
            "of which the forward pass": lambda: policy(*inputs),
            "exact score and all blunders": lambda: exactdice.score(model, env).blunders(None),
            f"{GAMES:,} games": lambda: simulate(model),
        },
    )


if __name__ == "__main__":
    main()
