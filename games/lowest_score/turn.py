"""The turn of the lowest-score game as tables."""

from collections.abc import Sequence

import numpy as np

from ...core.dice import combinations, redundancy
from ...core.sizes import choose
from ...core.turn import Turn

MANY = 1000  # dice; every limit on sizes is lower

#: An afterstate: (dice left to roll, total kept).
Afterstate = tuple[int, int]


def worths(faces: int, zero_face: int) -> list[int]:
    """Return the worth of each face in points, from face 1 on."""
    return [0 if face == zero_face else face for face in range(1, faces + 1)]


def by_worth(roll: tuple[int, ...], worth: Sequence[int]) -> tuple[int, ...]:
    """Sort the faces of a roll by worth.

    Args:
        roll: faces.
        worth: worth of each face in points, entry 0 that of face 1.
    """
    return tuple(sorted(roll, key=lambda face: worth[face - 1]))


def list_afterstates(dice: int, worth: Sequence[int]) -> list[Afterstate]:
    """List the afterstates of a turn, from the first roll on.

    Args:
        dice: dice of each player.
        worth: worth of each face in points, entry 0 that of face 1.
    """
    most = max(worth)
    left = range(dice, 0, -1)
    return [(rolled, total) for rolled in left for total in range((dice - rolled) * most + 1)]


def lay_out(dice: int, worth: Sequence[int]) -> Turn:
    """Make the tables of a turn; its results are totals.

    Args:
        dice: dice of each player.
        worth: worth of each face in points, entry 0 that of face 1.
    """
    afterstates, max_score = list_afterstates(dice, worth), dice * max(worth)
    numbers = {afterstate: number for number, afterstate in enumerate(afterstates)}
    for total in range(max_score + 1):
        numbers[0, total] = total  # the result
    casts = [combinations(left, len(worth)) for left in range(dice, 0, -1)]  # by law
    rolls = np.zeros((dice, max(map(len, casts))), dtype=object)
    for row, outcomes in enumerate(casts):
        rolls[row, : len(outcomes)] = [redundancy(cast) for cast in outcomes]
    law = np.array([dice - left for left, _ in afterstates])  # law k rolls k dice fewer than all
    leads_to: list[list[int]] = []
    seen: list[list[int]] = []
    for left, total in afterstates:
        for cast in casts[dice - left]:
            ordered = by_worth(cast, worth)
            kept = np.cumsum([worth[face - 1] for face in ordered])
            following = [numbers[left - i - 1, total + int(kept[i])] for i in range(left)]
            leads_to.append(following + [0] * (dice - left))
            seen.append([total, *ordered, *[0] * (dice - left)])
    observations = np.array(seen)
    rolled = (observations[:, 1:] > 0).sum(axis=1)[:, None]  # dice rolled, (state, 1)
    kept_dice = 1 + np.arange(dice)
    legal, ends = kept_dice <= rolled, kept_dice == rolled
    return Turn(rolls, law, law, legal, ends, np.array(leads_to), observations, max_score + 1)


def count_turn(dice: float, faces: float, zero_face: float) -> tuple[float, float]:
    """Count the states and the results of a turn before it is made.

    Args:
        dice: dice of each player.
        faces: faces of each die.
        zero_face: the face worth zero.
    """
    most = faces - (zero_face == faces)
    rolled = range(1, int(min(dice, MANY)) + 1)
    states = sum(((dice - left) * most + 1) * choose(left + faces - 1, left) for left in rolled)
    return states, dice * most + 1
