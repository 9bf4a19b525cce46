"""Training in JAX with observations as bits, or as integers that the first product reads.

`python benchmarks/jax_training.py` trains the seeds of examples/ppo_jax.py both ways, in turns, and
prints processor seconds: a training loop has networks and gradients beside the moves. With bits the
gradient of the first layer is a product of matrices, with integers a sum into rows of the kernel.
"""

import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import ppo_jax  # which asks XLA for one thread  # isort: skip
import jax
import numpy as np
from exactdice.core import Table

import exactdice.jax

GAMES = ("Greed", "LowestScore", "ShutTheBox", "FourTwoOne")
FORMS = ("one_hot_float", "integer")
MOVES, SEEDS, ROUNDS = 50_000, 4, 3


def program(game: str, form: Any) -> tuple[Any, tuple[Any, ...]]:
    """Compile the training of some seeds; give the program and its arguments."""
    env, params = exactdice.jax.make(game, encoding=form)
    options = ppo_jax.Options(game=game, moves=MOVES, seeds=SEEDS, marks=0)
    updates = options.moves // (options.lanes * options.length)
    given = params, None, jax.vmap(jax.random.key)(np.arange(SEEDS))
    train = jax.vmap(partial(ppo_jax.train, env, options, updates), (None, None, 0))
    return jax.jit(train).lower(*given).compile(), given


def main() -> None:
    """Print the table."""
    rows = []
    for game in GAMES:
        programs = [program(game, form) for form in FORMS]
        spent: list[list[float]] = [[], []]
        for _ in range(ROUNDS):
            for times, (run, given) in zip(spent, programs, strict=True):
                begun = time.process_time()
                jax.block_until_ready(run(*given))
                times.append(time.process_time() - begun)
        bits, whole = map(median, spent)
        rows.append([game, f"{bits:.2f}", f"{whole:.2f}", f"{bits / whole:.2f}"])
    what = f"{jax.devices()[0].device_kind}, {SEEDS} seeds, {MOVES:,} moves each"
    print(Table([what, "bits", "integers", "times as fast"], rows).markdown(aligned=True))


if __name__ == "__main__":
    main()
