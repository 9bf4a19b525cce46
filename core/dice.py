"""Laws of fair dice: of their sum, and of their faces in growing order (combinations).

The number of ordered rolls of n dice with s sides that have the sum t is the coefficient of x^t in
(x + x^2 + ... + x^s)^n (Addis 2023, Lemma 1). The polynomial is multiplied out one die at a time:
this adds non-negative numbers only, so that floats lose no digits, as they would in the alternating
sum of Theorem 1.
"""

from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial, prod
from random import Random

import numpy as np

from .checks import at_least
from .presentation import Die, dice_of
from .progress import tell
from .types import FloatArray


def sum_counts(dice: int, sides: int) -> list[int]:
    """Count the ordered rolls of dice by their sum: entry t counts those with sum t."""
    at_least("dice", dice, 0)
    at_least("sides", sides, 1)
    counts = [1]
    for _ in range(dice):
        longer = [0] * (len(counts) + sides)
        for total, count in enumerate(counts):
            for face in range(1, sides + 1):
                longer[total + face] += count
        counts = longer
    return counts


_ways = lru_cache(maxsize=256)(sum_counts)  # its lists are only read


def sum_laws(max_dice: int, sides: int) -> FloatArray:
    """Tabulate the law of the sum of 0, 1, ..., ``max_dice`` dice (Addis 2023, Theorem 1).

    Row n, column t is the probability that n dice show the sum t, shape (max_dice + 1, max_dice *
    sides + 1).
    """
    at_least("max_dice", max_dice, 0)
    at_least("sides", sides, 1)
    laws = np.zeros((max_dice + 1, max_dice * sides + 1))  # (dice, sum)
    laws[0, 0] = 1.0
    for dice in range(1, max_dice + 1):
        before = laws[dice - 1, : (dice - 1) * sides + 1]
        if sides < len(before):
            for face in range(1, sides + 1):
                laws[dice, face : face + len(before)] += before
                tell(face, sides, f"faces of {dice} dice")
        else:  # the same sums in the same order, of smaller totals later
            for total in range(len(before))[::-1]:
                laws[dice, total + 1 : total + 1 + sides] += before[total]
        laws[dice] /= sides
    return laws


def combinations(dice: int, faces: int) -> list[tuple[int, ...]]:
    """List the combinations of some dice, faces in growing order, in lexicographic order."""
    at_least("dice", dice, 0)
    at_least("faces", faces, 1)
    return list(combinations_with_replacement(range(1, faces + 1), dice))


def redundancy(combination: tuple[int, ...]) -> int:
    """Count the ordered rolls that show a combination (Albarede 2024, section 2.1, equation 1)."""
    repeats = (combination.count(face) for face in set(combination))
    return factorial(len(combination)) // prod(factorial(count) for count in repeats)


def dice_with_sum(total: int, dice: int, sides: int, *told: int) -> tuple[Die, ...]:
    """Draw the faces of dice with a known sum, for a game whose outcomes are sums.

    Each ordered roll with the sum is equally likely; equal seeds (``told``) give equal faces.
    """
    choose, faces = Random(repr((total, dice, sides, told))), []  # noqa: S311  for pictures only
    for left in range(dice - 1, -1, -1):
        ways = _ways(left, sides)
        possible = [face for face in range(1, sides + 1) if 0 <= total - face < len(ways)]
        weights = [ways[total - face] for face in possible]
        faces += choose.choices(possible, weights)
        total -= faces[-1]
    return dice_of(faces)
