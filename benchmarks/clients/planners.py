"""What planners of other people find in the sparse law of default games, and in how many seconds.

In an environment of its own, as bettermdptools asks for an older numpy than it needs:

    python -m venv .venv-planners
    .venv-planners/bin/pip install . scipy quantecon pymdptoolbox
    .venv-planners/bin/pip install --no-deps bettermdptools
    .venv-planners/bin/python benchmarks/clients/planners.py
    .venv-planners/bin/python benchmarks/clients/planners.py quantecon Greed

The second form runs one planner on one game. Greed at its default size takes three gigabytes, and
six in pymdptoolbox.
"""

import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version

import gymnasium as gym
import numpy as np
from exactdice.envs import SparseLaw

import exactdice

GAMES = ["FourTwoOne", "LowestScore", "ShutTheBox", "Greed"]
#: More moves than the agent makes in any of these games.
MOVES = 110
#: pymdptoolbox checks a sparse matrix by making dense ones; of more states it is kept from it.
LARGEST_DENSE = 10_000


def quantecon(law: SparseLaw) -> np.ndarray:
    """Backward induction over state-action pairs, without discount."""
    from quantecon.markov import DiscreteDP, backward_induction

    states, actions = np.divmod(np.arange(law.rewards.size), law.rewards.shape[1])
    process = DiscreteDP(law.rewards.ravel(), law.transitions, 1.0, states, actions)
    return backward_induction(process, MOVES)[0][0]


def pymdptoolbox(law: SparseLaw) -> np.ndarray:
    """Value iteration, a matrix for each action."""
    from mdptoolbox import util
    from mdptoolbox.mdp import ValueIteration

    if len(law.initial) > LARGEST_DENSE:
        util.check = lambda *_: None
    planner = ValueIteration(law.per_action(), law.rewards, 1.0, epsilon=1e-12)
    planner.run()
    return np.array(planner.V)


def bettermdptools(law: SparseLaw) -> np.ndarray:
    """Value iteration on a dictionary, as of toy-text environments."""
    from bettermdptools.algorithms.planner import Planner

    return Planner(law.as_dict()).value_iteration_vectorized(dtype=np.float64)[0]


PLANNERS: list[Callable[[SparseLaw], np.ndarray]] = [quantecon, pymdptoolbox, bettermdptools]
#: Too large: a dictionary of 240 million tuples takes 36 GB.
TOO_LARGE = {("bettermdptools", "Greed")}


def main(wanted: list[str]) -> None:
    """Print a row of a table for each planner and game."""
    warnings.simplefilter("ignore")
    print("| game | planner | states | entries | law made, s | planned, s | value | off by |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for game in [game for game in GAMES if game in wanted] or GAMES:
        env = gym.make(f"exactdice/{game}-v0")
        optimum = float(exactdice.solve(env).value)
        started = time.perf_counter()
        law = env.unwrapped.sparse_P
        made = time.perf_counter() - started
        size = f"{len(law.initial):,} | {law.transitions.nnz:,} | {made:.2f}"
        for planner in [one for one in PLANNERS if one.__name__ in wanted] or PLANNERS:
            name = planner.__name__
            if (name, game) in TOO_LARGE:
                continue
            started = time.perf_counter()
            value = float(law.initial @ planner(law))
            seconds = time.perf_counter() - started
            print(
                f"| {game} | {name} {version(name)} | {size} | {seconds:.1f} | {value:.15f} "
                f"| {abs(value - optimum):.0e} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
