"""Sparse systems of linear equations, those of the chains of policies (see ``chain``).

The diagonal of the matrix, the chances to leave a state, is given beside the moves to others.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from ...core import Array, FloatArray, IntArray
from ...core.errors import needing
from ..law.graphs import strong_components
from .rounding import UNIT

#: Systems of up to so many unknowns are factored.
FEW = 500
#: Of others, sweeps at most, and sweeps between checks. The part of what is missed that is left
#: after a jump, and after so many sweeps.
MOST_SWEEPS, CHECKED, SHRINKS, PATIENCE = 500, 5, 0.1, 40
#: Steps of BiCGSTAB at most, and the part of the right side that may be left.
STEPS, NEAR = 1000, 1e-9
#: Solutions that are added up at most, each of the system for what the last ones miss; and the part
#: of the numbers in it, in roundings, that may be missed.
REFINED, MISSED = 4, 8


def scipy_sparse(what: str = "a game whose moves lead back") -> Any:
    """Return ``scipy.sparse``, with its linear algebra, which ``what`` needs."""
    with needing(what, "scipy"):
        import scipy.sparse
        import scipy.sparse.linalg
    return scipy.sparse


class System:
    """The system leaves x = right + moves x, in floats, for any right sides."""

    def __init__(
        self,
        moves: Any,  # a sparse matrix (state, state) with no entries in the diagonal
        leaves: FloatArray,  # the chances to leave, (state,)
        # strongly connected components, (state,), of which moves lead to smaller ones, if known
        parts: IntArray | None = None,
    ) -> None:
        self._moves, self._leaves, self._parts = moves, leaves, parts

    @cached_property
    def _order(self) -> IntArray | None:
        """The states, so that moves lead to earlier ones, (state,); None if there are cycles."""
        moves, count = self._moves, len(self._leaves)
        if count <= FEW or (np.diff(moves.indptr) > 0).all():
            return None
        if (np.bincount(moves.indices, minlength=count) > 0).all():
            return None
        if (parts := self._parts) is None:
            edges = moves.tocoo()
            parts = strong_components(edges.row, edges.col, count)
        apart = np.bincount(parts).max() == 1
        return np.argsort(parts) if apart else None

    @cached_property
    def _solver(self) -> Callable[[FloatArray], Any]:
        sparse, order = scipy_sparse(), self._order
        if order is None:
            return solver((sparse.diags_array(self._leaves) - self._moves).tocsr())
        edges = self._moves.tocoo()
        places = np.empty_like(edges.row, shape=len(order))
        places[order] = np.arange(len(order))
        entries = np.append(-edges.data, self._leaves)
        at = tuple(np.append(places[each], places) for each in (edges.row, edges.col))
        return solver(sparse.coo_array((entries, at), self._moves.shape).tocsc(), order)

    def solve(
        self,
        right: FloatArray,  # (state,)
        near: FloatArray | None = None,  # numbers from which a large system is solved, (state,)
        rough: float = 0.0,  # the part of ``right`` that may be missed
    ) -> FloatArray:
        """Give the solution, (state,)."""
        found, missed, part = np.zeros(len(right)), right, 1.0 if right.any() else 0.0
        if len(right) > FEW and self._order is None:
            found = self._swept(right, found if near is None else near, rough)
            missed, part = self._missed(right, found, rough)
        for _ in range(REFINED):
            if not part > MISSED * UNIT:
                break
            most = np.abs(missed).max()
            found = found + most * self._solver(missed / most)  # of tiny numbers products vanish
            missed, part = self._missed(right, found, rough)
        return found

    def _missed(
        self, right: FloatArray, found: FloatArray, rough: float
    ) -> tuple[FloatArray, float]:
        """Give what is missed in each row, and its largest part of the numbers that are added.

        A ``rough`` part of the right side does not count.
        """
        own = self._leaves * found
        missed, size = right - own + self._moves @ found, np.abs(right) + np.abs(own)
        size += self._moves @ np.abs(found)
        counted = np.abs(missed) - rough * np.abs(right)
        return missed, float((counted / np.where(size > 0, size, 1.0)).max())

    def _swept(self, right: FloatArray, found: FloatArray, rough: float) -> FloatArray:
        """Sweep x = (right + moves x) / leaves while what is missed becomes small soon.

        Often what a sweep changes becomes, in the long run, always the same but for a factor near
        1, as with a discount: then a jump adds all that would follow (Aitken 1926).
        """
        change = along = np.zeros(len(right))
        least, last, jump = inf, 0, 0.0  # the part that is missed at most, and the sweep since when
        for turn in range(MOST_SWEEPS):
            before = change
            if turn % CHECKED:
                change = (right - self._leaves * found + self._moves @ found) / self._leaves
            else:
                missed, part = self._missed(right, found, rough)
                if not (part > MISSED * UNIT and turn - last <= PATIENCE):
                    break
                if part < SHRINKS * least:
                    least, last = part, turn
                change = missed / self._leaves
                factor = float((change @ before) / (before @ before or 1.0))
                rest = np.abs(change - factor * before).max()
                if rest < SHRINKS * (1 - factor) * np.abs(change).max():
                    along, jump = change, factor / (1 - factor) / float(change @ change)
                change = change + jump * (change @ along) * along
            found = found + change
        return found


def solver(matrix: Any, order: IntArray | None = None) -> Callable[[FloatArray], Any]:
    """Return a function that solves a sparse system, in a library whose last bits may differ.

    The factors of a large matrix may have no room: steps of BiCGSTAB (van der Vorst 1992) come
    first, which end soon where games do. A triangular matrix, given in an ``order`` of the
    unknowns, (unknown,), is its own factor, whose columns, of few numbers each, go one by one.
    """
    linalg, count, factors = scipy_sparse().linalg, matrix.shape[0], list[Any]()
    large, how = count > FEW and order is None, dict[str, Any]()
    if order is None:
        order = np.arange(count)
    else:
        how = {"permc_spec": "NATURAL", "diag_pivot_thresh": 0.0, "panel_size": 1}

    def solve(right: FloatArray) -> Any:
        # Where few numbers are not 0 the products of the method may vanish: begin anywhere then.
        for begin in (
            (None, np.random.default_rng(0).random(count)) if large and not factors else ()
        ):
            found, failed = linalg.bicgstab(matrix, right, begin, rtol=NEAR, maxiter=STEPS)
            if not failed:
                return found
        if not factors:
            try:
                factors.append(linalg.splu(matrix.tocsc(), **how))
            except RuntimeError:  # of a matrix that rounding has made singular
                return np.full(count, np.nan)
        found = np.empty(count)
        found[order] = factors[0].solve(right[order])
        return found

    return solve


def eliminated(
    rows: IntArray, columns: IntArray, weights: Array, right: Array, leaves: Array
) -> Array:
    """Solve leaves x = right + A x in fractions, by putting in one unknown after the other."""
    solved = right.copy()
    known: list[dict[int, Any]] = [{} for _ in right]
    users: list[set[int]] = [set() for _ in right]
    for row, column, weight in zip(rows.tolist(), columns.tolist(), weights, strict=True):
        known[row][column] = known[row].get(column, 0) + weight
        users[column].add(row)
    for place, equation in enumerate(known):
        factor = 1 / Fraction(leaves[place] - equation.pop(place, 0))
        solved[place] *= factor
        for column in equation:
            equation[column] *= factor
        for other in users[place] - {place}:
            part = known[other].pop(place)
            solved[other] += part * solved[place]
            for column, weight in equation.items():
                known[other][column] = known[other].get(column, 0) + part * weight
                users[column].add(other)
    return solved
