"""The worth in tokens (Table 5) and the rank (54) of combinations of three dice, Albarede 2024."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from ...core.dice import combinations
from ...core.types import IntArray, frozen

Combination: TypeAlias = tuple[int, ...]  # faces in growing order


def tokens(faces: Combination) -> int:
    """Return the tokens that a combination of three dice is worth (Table 5)."""
    if faces == (1, 2, 4):
        return 10
    if faces == (1, 1, 1):
        return 7
    if faces[:2] == (1, 1) or faces[0] == faces[2]:
        return faces[2]
    if faces[0] + 2 == faces[1] + 1 == faces[2]:
        return 2
    return 1


def hierarchy(faces: int) -> IntArray:
    """Return the rank by (54), 0 the lowest, of the combinations in lexicographic order.

    From the highest down the order is 421, 111, then f11 and fff by falling f, then the sequences,
    then all others; the last two by the number that their falling faces form.
    """

    def height(combination: Combination) -> tuple[int, Sequence[int]]:
        worth = tokens(combination)
        paired = combination[:2] == (1, 1)
        if combination == (1, 2, 4):
            return 5, ()
        if combination == (1, 1, 1):
            return 4, ()
        if paired or combination[0] == combination[2]:
            return 3, (combination[2], paired)
        return (2 if worth == 2 else 1), combination[::-1]

    order = sorted(combinations(3, faces), key=height)
    places = {combination: place for place, combination in enumerate(order)}
    return frozen(np.array([places[combination] for combination in combinations(3, faces)]))
