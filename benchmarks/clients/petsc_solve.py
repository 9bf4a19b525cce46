"""Solve a law in files by inexact policy iteration on PETSc, over MPI, as madupite does.

mpirun -n 2 python3 petsc_solve.py FOLDER GAMMA VALUES     # python3-petsc4py of Debian
exactdice prove FOLDER --gamma GAMMA --values VALUES

Each round chooses actions by the values, and solves the system of that policy by GMRES to a part of
what it misses. The values are written as a vector of PETSc; they prove nothing by themselves.
"""

import sys

import numpy as np
from petsc4py import PETSc

#: Rounds at most, the change of values that ends them, and the part that GMRES may leave.
ROUNDS, CLOSE, PART = 100, 1e-9, 1e-3


def load(place: str, sizes: tuple[tuple[int, int], tuple[int, int]] | None = None) -> PETSc.Mat:
    """Read a matrix; sizes of rows and of columns are what this process keeps of them, and all."""
    matrix, viewer = PETSc.Mat().create(), PETSc.Viewer().createBinary(place, "r")
    matrix.setType("aij")
    if sizes is not None:
        matrix.setSizes(sizes)
    return matrix.load(viewer)


def solve(folder: str, gamma: float) -> PETSc.Vec:
    """Find about the optimal values."""
    rewards = load(f"{folder}/g.bin")
    first, after = rewards.getOwnershipRange()
    states, (count, actions) = after - first, rewards.getSize()
    sizes = ((states * actions, count * actions), (states, count))
    chances, every = load(f"{folder}/P.bin", sizes), np.arange(first, after)
    paid = rewards.getValues(every.astype(PETSc.IntType), range(actions))
    values, worth = chances.createVecs()
    one = values.duplicate()
    one.set(1.0)
    for turn in range(ROUNDS):
        chances.mult(values, worth)
        expected = paid + gamma * worth.array.reshape(states, actions)
        right = values.duplicate()
        right.array = expected.max(axis=1) - values.array
        change = right.norm(PETSc.NormType.INFINITY)
        PETSc.Sys.Print(f"round {turn}: values change by {change:.3g}")
        if change < CLOSE:
            break
        choices = expected.argmax(axis=1)
        rows = PETSc.IS().createGeneral((every * actions + choices).astype(PETSc.IntType))
        columns = PETSc.IS().createStride(states, first, 1)
        system = PETSc.Mat().createAIJ(((states, count), (states, count)), nnz=1)
        system.setDiagonal(one)
        system.assemble()
        system.axpy(-gamma, chances.createSubMatrix(rows, columns))
        right.array = paid[np.arange(states), choices]
        solver = PETSc.KSP().create()
        solver.setOperators(system)
        solver.setType("gmres")
        solver.setInitialGuessNonzero(True)
        solver.setTolerances(rtol=PART * min(1.0, change))
        solver.solve(right, values)
    return values


if __name__ == "__main__":
    found = solve(sys.argv[1], float(sys.argv[2]))
    found.view(PETSc.Viewer().createBinary(sys.argv[3], "w"))
