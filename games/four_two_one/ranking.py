"""421's ranking of three dice: tokens (Table 5) and hierarchy (54) of Albarede 2024."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from ...core.dice import combinations
from ...core.types import IntArray, frozen

Combination: TypeAlias = tuple[int, ...]  # faces in growing order


def tokens(faces: Combination) -> int:
    """Give the tokens that a highest combination of three dice transfers (Table 5)."""
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
    """Rank the combinations of three dice by (54), 0 the lowest, in lexicographic order.

    421, then 111, then f11 and fff by falling f, then the sequences and the others, each by the
    number that their falling faces form.
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
