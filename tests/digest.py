"""Digests of exact answers: what has to be the same, to the last bit, on every processor.

``test_processors.py`` runs this file in processes that imitate other machines.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from exactdice.agents.learners.q_learning import QLearning, QTable
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.baselines import policy_names
from exactdice.envs import find_game
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

import exactdice

#: Small games, of which everything is asked; of the default sizes it is the solution alone.
SMALL: list[tuple[str, dict[str, Any]]] = [
    ("Greed", {"max_score": 14, "sides": 3, "seat": 1, "opponent": "if_else"}),
    ("LowestScore", {"dice": 2, "faces": 4, "players": 3, "seat": 1, "objective": "share"}),
    ("LowestScore", {"dice": 3, "players": 2, "objective": "score"}),
    ("LowestScoreMatch", {"dice": 2, "players": 3, "wins": 2, "starter": "next", "seat": 2}),
    ("ShutTheBox", {"tiles": 5, "sides": 3, "seat": 1}),
    ("FourTwoOne", {"faces": 4, "casts": 3}),
    ("FourTwoOne", {"faces": 3, "casts": 2, "utility": "set", "seat": 1}),
    ("FourTwoOneMatch", {"tokens": 2, "faces": 2, "charge_casts": 1, "tie": "replay"}),
    ("Pig", {"target": 6, "opponent": "hold:4"}),
]
PIG = f"{Path(__file__).parent.parent / 'examples/pig.py'}:Pig"
DEFAULTS = ["Greed", "LowestScore", "ShutTheBox", "FourTwoOne"]
P_LIMIT = 5_000  # pairs of state and action
STEPS, LANES = 20_000, 512  # of Q-learning


def enabled_features() -> list[str]:
    """List the instruction sets beyond the lowest that numpy uses in this process."""
    return [name for name in __cpu_dispatch__ if __cpu_features__[name]]


def random_table(game: Any) -> Any:
    """Make a stochastic policy whose probabilities are no round numbers."""
    states = np.arange(game.num_states)
    weights = np.random.default_rng(7).random((len(states), game.num_actions)) * game.mask(states)
    return weights / weights.sum(axis=1, keepdims=True)


def solution(env: Any) -> tuple[Any, ...]:
    """Solve an environment."""
    solved = exactdice.solve(env)
    return solved.value, solved.values, solved.policy.actions, solved.optimal


def everything(env: Any) -> Iterator[tuple[str, Any]]:
    """Ask a small environment everything."""
    game = env.task.game
    yield "solve", solution(env)
    for name in policy_names(game):
        if ":" not in name:
            yield f"evaluate {name}", exactdice.evaluate(name, env).values
    if game.name in ("Greed", "FourTwoOne"):
        yield "strength", exactdice.evaluate("strength:0.3", env).values
    table = random_table(game)
    evaluation = exactdice.evaluate(table, env)
    yield "evaluate", (evaluation.value, evaluation.value_before_play, evaluation.table)
    yield "occupancy", exactdice.occupancy(table, env)
    yield "outcomes", exactdice.outcome_distribution(table, env)
    score = exactdice.score(table, env)
    yield "score", (score.as_dict(), score.blunders(None))
    if game.num_states * game.num_actions <= P_LIMIT:
        yield "P", (env.P, env.initial_state_distrib)
    law = env.sparse_P
    yield "sparse_P", (law.transitions.indices, law.transitions.data, law.rewards)
    model = QLearning(QTable, GameVecEnv(env.task, LANES), seed=0).learn(STEPS)
    yield "Q-learning", (model.policy.values.numpy(), model.policy.visits.numpy())


def answers() -> Iterator[tuple[str, Any]]:
    """Give every answer with a name that says what was asked."""
    find_game(PIG)
    for name in DEFAULTS:
        yield f"{name}: solve", solution(gym.make(f"exactdice/{name}-v0"))
    for name, keywords in SMALL:
        env = gym.make(f"exactdice/{name}-v0", reward="regret", **keywords).unwrapped
        for asked, answer in everything(env):
            yield f"{name} {keywords}: {asked}", answer


def digest(answer: Any) -> str:
    """Hash every bit of an answer."""
    found = hashlib.sha256()
    for part in answer if isinstance(answer, tuple) else (answer,):
        found.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return found.hexdigest()


if __name__ == "__main__":
    digests = {asked: digest(answer) for asked, answer in answers()}
    json.dump({"features": enabled_features(), "digests": digests}, sys.stdout)
