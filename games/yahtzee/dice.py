"""Multisets of up to five dice, and the rolls that complete a kept multiset to five dice.

A *multiset* has up to five dice. The 462 multisets are numbered by increasing size, and multisets
of one size lexicographically by their faces in increasing order. The first 210 multisets, of at
most four dice, are the *kept* ones; the last 252, of five dice, are the *rolled* ones. With the
dice thrown one by one, the expected value of a kept multiset is

    E(k) = (E(k + 1) + E(k + 2) + ... + E(k + 6)) / 6,      E(d) = V(d) if d has five dice,

where k + f is k with one more die of face f. So 210 means of six numbers replace 4,116 products,
one for each kept multiset and each roll that completes it.
"""

from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np

from ...core import Array, BoolArray, IntArray, frozen
from ...core.dice import combinations, redundancy

DICE, FACES = 5, 6
#: Number of multisets of each size from 0 to 5.
SIZES = tuple(comb(size + FACES - 1, size) for size in range(DICE + 1))
#: Number of the first multiset of each size, then the number of all multisets.
FIRSTS = tuple(sum(SIZES[:size]) for size in range(DICE + 2))
#: Number of kept multisets, and number of rolled multisets.
KEEPS, ROLLS = FIRSTS[DICE], SIZES[DICE]


class Dice(NamedTuple):
    """Tables of all multisets, of integers unless stated otherwise."""

    counts: IntArray  # (multiset, face) number of dice of each face
    sizes: IntArray  # (multiset,) number of dice
    more: IntArray  # (kept, face) number of the multiset with one more die of a face
    # (kept, outcome) index, among the rolled multisets, of the five dice after a roll. Outcome j of
    # n rolled dice is multiset j of those of size n.
    completed: IntArray
    parts: BoolArray  # (rolled, kept) whether a kept multiset is a part of a rolled one
    # (rolled, part) these parts of each rolled multiset, in increasing order, padded with -1.
    proper: IntArray
    ways: Array  # (n, outcome) number of ordered rolls of n dice that give each outcome


@cache
def dice() -> Dice:
    """Return the tables; they are computed once."""
    sets = [faces for size in range(DICE + 1) for faces in combinations(size, FACES)]
    number, every = {faces: i for i, faces in enumerate(sets)}, range(1, FACES + 1)
    counts = np.array([[faces.count(face) for face in every] for faces in sets])
    more = [[number[tuple(sorted((*kept, f)))] for f in every] for kept in sets[:KEEPS]]
    completed = np.zeros((KEEPS, ROLLS), dtype=np.int64)
    for kept, faces in enumerate(sets[:KEEPS]):
        rolled = sets[FIRSTS[DICE - len(faces)] : FIRSTS[DICE - len(faces) + 1]]
        both = [number[tuple(sorted(faces + others))] - KEEPS for others in rolled]
        completed[kept, : len(both)] = both
    ways = np.zeros((DICE + 1, ROLLS), dtype=object)
    for size in range(DICE + 1):
        ways[size, : SIZES[size]] = [redundancy(faces) for faces in combinations(size, FACES)]
    parts = (counts[:KEEPS] <= counts[KEEPS:, None]).all(axis=2)
    order = np.argsort(~parts, axis=1, kind="stable")
    listed = np.where(np.take_along_axis(parts, order, axis=1), order, -1)
    proper = listed[:, : parts.sum(axis=1).max()]
    tables = counts, counts.sum(axis=1), np.array(more), completed, parts, proper, ways
    return Dice(*map(frozen, tables))
