"""The rules of the cheat sheets as policies, and what each loses: `python examples/cards.py`.

Each card is a function of a batch of observations and masks, shapes (state, component) and (state,
action), that returns an action for each state. Of Yahtzee five boxes are scored, which takes
seconds; the whole game takes minutes.
"""

from collections.abc import Callable
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import gymnasium as gym
import numpy as np

import exactdice

Card = Callable[[Any, Any], Any]
Dice = tuple[int, ...]


def greed(seen: Any, legal: Any) -> Any:
    """Greed: a quarter of the points that are missing, less a half."""
    own, other, last_turn = seen.T
    ahead, level = own > other, own == other
    turn = np.maximum(np.floor((100 - own) / 4 - 0.5), 1)
    turn = np.where((own >= 97) & (own >= other) | (own == 100), 0, turn)
    last = np.maximum(np.floor(((100 + other) / 2 - own) / 3.5 + 0.5), 1)
    last = np.where(ahead | level & (own >= 97), 0, last)
    most = legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)  # the game allows no more dice
    return np.minimum(np.where(last_turn, last, turn), most).astype(int)


WORTH = np.array([0, 1, 2, 0, 4, 5, 6])  # of each face; 0 for no die


def lowest_score(seen: Any, _: Any) -> Any:
    """The lowest-score game: keep every 3, and all dice that are good enough."""
    total, faces, lowest, to_come = seen[:, 0], seen[:, 1:6], seen[:, 6], seen[:, 7]
    rolled = (faces > 0).sum(axis=1)
    enough = np.array([6, 6, 2, 1, 0, 0])[rolled]  # by number of dice
    keep = ((WORTH[faces] <= enough[:, None]) & (faces > 0)).sum(axis=1)
    final = total + WORTH[faces].sum(axis=1)
    stop = final <= np.minimum(lowest, np.array([99, 5, 4, 3])[to_come])
    return np.maximum(np.where(stop, rolled, keep), 1) - 1


SETS = exactdice.games.ShutTheBox().sets
LAST = {(1, 4), (2, 5), (2, 6)}
ORDER = np.array([max(s, default=0) - 100 * (s in LAST) - 1000 * len(s) for s in SETS])


def shut_the_box(_: Any, legal: Any) -> Any:
    """Shut the Box: few tiles, the largest first, three pairs last."""
    return np.where(legal, ORDER, -9999).argmax(axis=1)


TURN = exactdice.games.FourTwoOne(utility="set")
RANK: dict[Dice, int] = dict(zip(TURN.combinations, np.array(TURN.ranks).tolist(), strict=True))


def winning_faces(pair: Dice, target: int) -> int:
    """Count the faces of a third die that win."""
    return sum(RANK[tuple(sorted((*pair, face)))] > target for face in range(1, 7))


def wanted(dice: Dice, keeps: dict[Dice, int], made: int, imposed: int, target: int) -> list[Dice]:
    """List the dice to have put aside, the most wanted first."""
    if imposed == 0:
        return [*([dice] if RANK[dice] >= RANK[2, 4, 6] else []), (1, 2), (2, 4), (1,), (6,)]
    if target == RANK[1, 2, 4]:
        return [(1, 2), (1, 4), (2, 4), (1,), (2,), (4,)]
    sequence = target >= RANK[1, 2, 3]
    enough = 5 if imposed - made > 1 else 2 if sequence else 4
    pairs = [kept for kept in keeps if len(kept) == 2 and winning_faces(kept, target) >= enough]
    best = sorted(pairs, key=lambda pair: -winning_faces(pair, target))
    return best + ([(1, 1), (2, 4), (1,)] if sequence else [(6,), (1,)])


@cache
def move(seen: Dice, actions: Dice) -> int:
    """Return the action of 421 in one state."""
    held, cast = tuple(filter(None, seen[:2])), seen[2:5]
    keeps = {tuple(sorted(held + tuple(cast[i] for i in TURN.subsets[a]))): a for a in actions}
    if len(keeps) == 1:
        return actions[0]
    dice = tuple(sorted(held + tuple(filter(None, cast))))
    made, imposed, target = seen[5:]
    wishes = [*wanted(dice, keeps, made, imposed, target), held]
    return next(keeps[kept] for kept in wishes if kept in keeps)


def four_two_one(seen: Any, legal: Any) -> Any:
    """A set of 421: good enough, or the pair that wins most often."""
    rows = zip(seen.tolist(), legal, strict=True)
    return np.array([move(tuple(row), tuple(np.flatnonzero(may).tolist())) for row, may in rows])


FACES = np.arange(1, 7)
PAR = np.array([6, 8, 10, 12, 14, 16, 22, 20, 17, 20, 9, 6, 22])
KEPT = np.zeros(6**6, dtype=int)  # the action that keeps some dice
FEWER = (faces for size in range(5) for faces in combinations_with_replacement(range(6), size))
for action, faces in enumerate(FEWER):
    KEPT[sum(6**face for face in faces)] = action


def in_a_row(dice: Any, length: int) -> Any:
    """Return the highest faces in a row among some dice, one die of each, if there are any."""
    kept = np.zeros_like(dice)
    for first in range(7 - length):
        row = (first < FACES) & (first + length >= FACES)
        kept[(dice[:, row] > 0).all(axis=1)] = row
    return kept


def yahtzee(seen: Any, legal: Any) -> Any:
    """Yahtzee: keep one face or four in a row, take the box that is furthest above its par."""
    is_open, left, dice = seen[:, :13] > 0, seen[:, 15], seen[:, 16:22]
    four, five = in_a_row(dice, 4), in_a_row(dice, 5)
    total, most = dice @ FACES, dice.max(axis=1)
    joker = (most == 5) & ~is_open[:, 11]
    points = np.column_stack(
        [
            *(dice * FACES).T,
            *(total * (most >= 3), total * (most >= 4)),
            25 * (joker | (most == 3) & (dice == 2).any(axis=1)),
            *(30 * (joker | four.any(axis=1)), 40 * (joker | five.any(axis=1))),
            *(50 * (most == 5), total),
        ]
    )
    box = np.where(legal[:, 210:], points - PAR, -99).argmax(axis=1)
    made = (points > 0) & is_open  # full house; small straight if the large one is filled; large
    take = (left == 0) | (most == 5) | made[:, 8] | made[:, 9] & ~is_open[:, 10] | made[:, 10]
    weight = np.where(dice > 0, 10 * dice + 15 * is_open[:, :6] + np.arange(6), -1)
    keep = dice * (np.arange(6) == weight.argmax(axis=1)[:, None])
    straight = (most < 3) & four.any(axis=1) & (is_open[:, 9] | is_open[:, 10])
    keep = np.where(straight[:, None], four, keep)
    return np.where(take, 210 + box, KEPT[keep @ 6 ** np.arange(6)])


SEATS = [{"seat": 0}, {"seat": 1}]
#: The tasks of each card: the environment, and keywords.
CARDS: dict[Card, tuple[str, list[dict[str, Any]]]] = {
    greed: ("Greed", [{}]),
    lowest_score: ("LowestScore", [{"seat": seat} for seat in range(4)]),
    shut_the_box: ("ShutTheBox", SEATS),
    four_two_one: ("FourTwoOne", [{"utility": "set", **seat} for seat in SEATS]),
    yahtzee: ("Yahtzee", [{"boxes": "fours,fives,sixes,yahtzee,chance"}]),
}


def main() -> None:
    """Print what each card loses."""
    for card, (game, tasks) in CARDS.items():
        for keywords in tasks:
            score = exactdice.score(card, gym.make(f"exactdice/{game}-v0", **keywords))
            print(game, keywords, f"loses {score.regret:.6f}: {score.normalized:.4f}")


if __name__ == "__main__":
    main()
