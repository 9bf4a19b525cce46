"""The turn of the lowest-score game as tables, and an estimate of the cost of its games."""

from collections.abc import Sequence
from math import log2

import numpy as np

from ...core.dice import combinations, redundancy
from ...core.sizes import Cost, choose, turn_cost
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


def cost_of_turns(
    exact: bool,
    dice: float,
    faces: float,
    zero_face: float,
    players: float,
    contexts: tuple[float, float],
    seen: float = 4,
    rounds: float = 1,
) -> Cost:
    """Estimate states, memory and time of a game of these turns (see ``sizes``).

    Args:
        exact: whether the game is solved without rounding.
        dice: dice of each player.
        faces: faces of each die.
        zero_face: the face worth zero.
        players: number of players.
        contexts: number of contexts of the largest leg, and of all legs.
        seen: number of components of an observation, those of the dice aside.
        rounds: the largest number of rounds in a game.
    """
    most = faces - (zero_face == faces)
    rolled = range(int(min(dice, MANY)), 0, -1)
    afterstates = [(dice - left) * most + 1 for left in rolled]  # of each layer
    casts = [choose(left + faces - 1, left) for left in rolled]
    turn_states = [number * shown for number, shown in zip(afterstates, casts, strict=True)]
    return turn_cost(
        exact=exact,
        players=players,
        states=sum(turn_states) * contexts[1],
        actions=dice,
        seen=dice + seen,
        turn_states=sum(turn_states),
        layer=(afterstates[-1], max(turn_states)),
        afterstates=sum(afterstates),
        rolls=casts[0],
        contexts=contexts,
        results=dice * most + 1,
        bits=rounds * players * dice * (dice + 1) / 2 * log2(faces),
    )
