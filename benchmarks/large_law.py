"""A law that never fits in memory, written and proved piece by piece.

python benchmarks/large_law.py FOLDER             # 10 million states, 500 million outcomes, 8 GB
exactdice prove FOLDER --gamma 0.99 --values V    # of another solver (see clients/petsc_solve.py)
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter

import numpy as np
import scipy.sparse

import exactdice

ACTIONS, OUTCOMES, PIECE, GAMMA = 10, 5, 50_000, 0.99


def pieces(states: int) -> Iterator[tuple[scipy.sparse.csr_array, np.ndarray]]:
    """Draw a random law in pieces."""
    rng = np.random.default_rng(0)
    for first in range(0, states, PIECE):
        count = min(PIECE, states - first)
        cells = count * ACTIONS
        after = np.sort(rng.integers(states, size=(cells, OUTCOMES), dtype=np.int32), axis=1)
        chances = rng.dirichlet(np.ones(OUTCOMES), cells)
        rows = OUTCOMES * np.arange(cells + 1)
        shape = cells, states
        law = scipy.sparse.csr_array((chances.ravel(), after.ravel(), rows), shape=shape)
        yield law, rng.random((count, ACTIONS))


def main(folder: Path, states: int = 10**7) -> None:
    """Write the law, if it is not there, and prove its optimum; say how long it took."""
    begun = perf_counter()
    if not (folder / "g.bin").exists():
        exactdice.write_law(pieces(states), folder)
        print(f"written in {perf_counter() - begun:.0f} s", flush=True)
    size = sum(each.stat().st_size for each in folder.glob("*.bin")) / 1e9
    begun = perf_counter()
    found = exactdice.prove(folder, GAMMA)
    print(found, f"{size:.1f} GB in files, proved in {perf_counter() - begun:.0f} s", sep="\n")
    print(f"{getrusage(RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB of memory at most")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
