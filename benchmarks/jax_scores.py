"""Scores of random networks in JAX beside those of the core (`python benchmarks/jax_scores.py`).

Each network has two layers of 64 units and plays a default game against the optimal opponent. The
seconds of JAX are those of the program without compiling it; those of the core include the network.
"""

import sys
import time
from functools import partial
from itertools import pairwise

import gymnasium as gym
import jax

import exactdice.jax

PIG = "examples/pig.py:Pig"
GAMES = ("Greed", "LowestScore", "ShutTheBox", "FourTwoOne", "LowestScoreMatch", "FourTwoOneMatch")


def network(weights: list[jax.Array], seen: jax.Array) -> jax.Array:
    """Give the logits of a network for observations."""
    for matrix in weights[:-1]:
        seen = jax.nn.relu(seen @ matrix)
    return seen @ weights[-1]


def main() -> None:
    """Print a line for each game, or for those that are named."""
    print(f"{'':<20}{'difference':>12}{'law, MB':>9}{'JAX, s':>8}{'core, s':>9}")
    for game in sys.argv[1:] or (*GAMES, PIG):
        env = exactdice.jax.make(game)[0]
        law = env.exact_law()
        sizes = env.observation_space().shape[0], 64, 64, env.num_actions
        keys = jax.random.split(jax.random.key(1), 3)
        shapes = zip(keys, pairwise(sizes), strict=True)
        weights = [2 * jax.random.normal(key, shape) / shape[0] ** 0.5 for key, shape in shapes]
        run = jax.jit(
            lambda law, weights: exactdice.jax.exact_score(law, partial(network, weights))
        )
        program = run.lower(law, weights).compile()
        begun = time.perf_counter()
        found = jax.block_until_ready(program(law, weights))
        done = time.perf_counter()
        task = gym.make(f"exactdice/{env.name}-v0", encoding=env.encoding)
        score = exactdice.score(exactdice.from_network(partial(network, weights), task), task)
        core = time.perf_counter() - done
        size = sum(table.nbytes for table in jax.tree.leaves(law)) / 1e6
        print(f"{env.name:<20}{abs(float(found.value) - score.value):>12.1e}", end="")
        print(f"{size:>9.0f}{done - begun:>8.2f}{core:>9.1f}", flush=True)


if __name__ == "__main__":
    main()
