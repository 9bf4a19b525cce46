"""Moves listed state by state, in flat arrays."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np

from ...core import Array, BoolArray, FloatArray, GameError, IntArray, frozen
from ...core.block_moves import in_a_row, index_type, sums
from ...core.positions import pieces
from .graphs import strong_components
from .numbers import near

#: Number of ways in a piece of a sweep, about: its arrays fit in the caches of processors.
PIECE = 2**16
#: Probabilities whose sum is off by 1 in this number at most are divided by it.
MOST_OFF = 10**9


@dataclass(frozen=True)
class Listing:
    """All moves of a game, in flat arrays, with numbers as they are given: floats or fractions."""

    movers: IntArray  # the player to move in each state, shape (state,)
    seen: IntArray  # the observation of each state, shape (state, component)
    first: IntArray  # the states in which a game may begin, shape (first state,)
    start: Array  # their probabilities as fractions, shape (first state,)
    counts: IntArray  # number of ways of each action, shape (state, action); 0 if it is illegal
    targets: IntArray  # the state that a way leads to; -1 if the game is over, shape (way,)
    chances: Array  # of each way; those of a move sum to 1, shape (way,)
    paid: Array  # what a way pays the player who moves, shape (way,)
    gamma: Fraction = Fraction(1)  # discount: the chance that the game goes on after a move

    @cached_property
    def legal(self) -> BoolArray:
        """Which actions are legal, shape (state, action)."""
        return self.counts > 0

    @cached_property
    def firsts(self) -> IntArray:
        """The first way of each cell, state * number of actions + action, and their number."""
        return sums(self.counts.ravel()).astype(index_type(len(self.targets)), copy=False)

    @cached_property
    def sources(self) -> IntArray:
        """The state of each way, shape (way,)."""
        states = np.arange(len(self.counts), dtype=self.targets.dtype)
        return frozen(np.repeat(states, self.counts.sum(axis=1)))

    @property
    def cells(self) -> IntArray:
        """The cell of each way, shape (way,)."""
        return np.repeat(np.arange(self.counts.size), self.counts.ravel())

    def pieces(self, chosen: IntArray | None = None) -> Iterator[tuple[IntArray, Any, IntArray]]:
        """Divide cells that have ways: cells, their ways, and the first of each among them.

        They are all cells, whose ways are a slice, or ``chosen`` ones, (cell,), of ways (way,).
        """
        counts, firsts = self.counts.ravel(), self.firsts
        step, end = max(1, PIECE * int(np.count_nonzero(counts)) // int(firsts[-1])), len(counts)
        for first in range(0, end if chosen is None else len(chosen), step):
            ways: slice | IntArray
            if chosen is None:
                cells = first + np.flatnonzero(counts[first : first + step])
                ways = slice(firsts[first], firsts[min(first + step, end)])
                begins = firsts[cells] - firsts[first]
            else:
                cells = chosen[first : first + step]
                ways, begins = in_a_row(firsts, cells), sums(counts[cells])[:-1]
            if len(cells):
                yield cells, ways, begins

    def most(self, numbers: Callable[[Any], FloatArray]) -> FloatArray:
        """Give the largest number of the ways of each state, (state,), asked for in pieces."""
        firsts, found = self.firsts[:: self.counts.shape[1]], np.empty(len(self.counts))
        for own in pieces(len(found), max(1, PIECE * len(found) // int(firsts[-1]))):
            first, ways = firsts[own][0], slice(*firsts[[own.start, min(own.stop, len(found))]])
            found[own] = np.maximum.reduceat(numbers(ways), firsts[:-1][own] - first)
        return found

    def circles(self, allowed: BoolArray) -> BoolArray:
        """Find the end components: the actions with which play can stay for ever, (state, action).

        Of the ``allowed`` actions, shape (state, action), they are those whose ways all stay in a
        strongly connected component of such actions (de Alfaro 1997, *Formal Verification of
        Probabilistic Systems*, section 3.3).
        """
        cells, sources, targets = self.cells, self.sources, self.targets
        inside = (allowed & self.legal).ravel()
        inside[cells[targets < 0]] = False
        while inside.any():
            used = inside[cells]
            parts = strong_components(sources[used], targets[used], len(self.movers))
            leave = used & (parts[sources] != parts[targets])
            if not leave.any():
                break
            inside[cells[leave]] = False
        return inside.reshape(self.legal.shape)


def exact_law(chances: Sequence[Any]) -> list[Fraction]:
    """Read a law: its numbers are fractions together, or all stand for the floats that they are."""
    law = [found for chance in chances if (found := near(chance)) is not None]
    if len(law) < len(chances):
        law = [Fraction(chance) for chance in chances]
    whole = lcm(*(chance.denominator for chance in law))
    parts = [chance.numerator * (whole // chance.denominator) for chance in law]
    total = sum(parts)
    return [Fraction(part, total) for part in parts]


def read_start(chances: Sequence[Any]) -> Array:
    """Read the law of the first states, (first state,), as fractions."""
    if not (min(chances) > 0 and abs(sum(chances) - 1) * MOST_OFF <= 1):
        raise no_law(chances, "of first states")
    found: Array = np.empty(len(chances), dtype=object)
    found[:] = exact_law(chances)
    return found


def no_law(chances: Any, named: str) -> GameError:
    """Make the error for chances that are no law."""
    least, total = min(chances), float(sum(chances))
    got = f"a sum of {total:.10g}" if least > 0 else str(float(least))
    return GameError(f"probabilities must be above 0 and sum to 1, got {got} {named}")
