"""The notebook *Dice Game*, number by number, in the order of its cells.

Chances are printed in percent, rounded to two places. Its rounds and tournaments are in ``play``,
what the order of play is worth in ``order``, what it says in words of how to play in ``strategy``.
"""

from collections.abc import Iterator
from fractions import Fraction

from ...games import LowestScore
from ..claim import Claim, Verdict, agreement, number
from . import policies as exactly
from .order import order_claims
from .play import only3s_keeps, play_claims, total_worth, words
from .strategy import strategy_claims

TITLE = "The lowest-score game: the notebook Dice Game"
GAME = LowestScore()

#: Worth of rolls, cell 2.
WORTHS = {(1,): 1, (3, 3): 0, (3, 3, 5): 5, (1, 3, 3, 4, 5): 10}
#: What is kept of 1 3 3 4 5, cell 3.
KEPT = [(3,), (3, 3), (3, 3, 1), (3, 3, 1, 4), (3, 3, 1, 4, 5)]
#: What Only3sBot keeps, cell 5.
ONLY_3S = {(1, 2, 3, 4, 6): 1, (1, 2, 3, 3, 6): 2, (3, 3, 3, 3, 3): 5, (6, 6, 6, 6, 6): 1}
#: Chance to beat a goal by keeping a 1 and rolling one die, and by rolling two, cell 11.
TWO_DICE = {
    8: ("100.00%", "86.11%"), 7: ("83.33%", "80.56%"), 6: ("66.67%", "68.06%"),
    5: ("50.00%", "56.94%"), 4: ("50.00%", "45.37%"), 3: ("33.33%", "35.65%"),
    2: ("16.67%", "19.91%"), 1: ("0.00%", "7.41%"),
}  # fmt: skip
#: Chance to beat a goal with five dice, cell 12.
FIVE_DICE = {
    10: "87.64%", 9: "81.16%", 8: "72.45%", 7: "61.89%", 6: "49.93%", 5: "38.23%", 4: "26.71%",
    3: "16.21%", 2: "7.30%", 1: "2.11%",
}  # fmt: skip
#: Chance that a score survives p = 0, 1, ..., 8 later players, cell 13. The print is cut at s = 2.
SURVIVAL = {
    10: "100.00% 12.36% 1.53% 0.19% 0.02% 0.00% 0.00% 0.00% 0.00%",
    9: "100.00% 18.84% 3.55% 0.67% 0.13% 0.02% 0.00% 0.00% 0.00%",
    8: "100.00% 27.55% 7.59% 2.09% 0.58% 0.16% 0.04% 0.01% 0.00%",
    7: "100.00% 38.11% 14.52% 5.53% 2.11% 0.80% 0.31% 0.12% 0.04%",
    6: "100.00% 50.07% 25.07% 12.55% 6.28% 3.15% 1.57% 0.79% 0.39%",
    5: "100.00% 61.77% 38.15% 23.57% 14.56% 8.99% 5.55% 3.43% 2.12%",
    4: "100.00% 73.29% 53.72% 39.38% 28.86% 21.15% 15.50% 11.36% 8.33%",
    3: "100.00% 83.79% 70.21% 58.83% 49.30% 41.31% 34.61% 29.00% 24.30%",
    2: "100.00% 92.70% 85.93% 79.66% 73.84% 68.45% 63.45% 58.82% 5(cut)",
    1: " ".join(["(cut)"] * 9),
    0: " ".join(["(cut)"] * 9),
}
#: OptimalBot's decisions: cell, score to tie, score so far, roll, players after, dice kept.
CHOICES: list[tuple[str, int | None, int, tuple[int, ...], int, int]] = [
    ("15", 8, 0, (3, 1, 3, 2, 4), 0, 5),
    ("16", 8, 0, (3, 1, 3, 2, 4), 10, 2),
    ("17", 2, 0, (3, 1, 3, 2, 4), 0, 2),
    ("19", None, 4, (1,), 2, 1),
    ("19", 7, 4, (1,), 1, 1),
    ("19", 8, 3, (1,), 0, 1),
    ("21", 9, 2, (3, 2), 4, 2),
    ("24", 7, 2, (3, 1, 4), 1, 2),
    ("24", 7, 2, (3, 1, 1), 1, 3),
    ("24", 7, 1, (1, 1, 4), 1, 2),
]
#: Score that the decision leads to, by cell.
NEW_SCORES = {"15": 7, "16": 0, "17": 0}


def claims() -> list[Claim]:
    """Check everything."""
    parts = (_rules, _expectations, _beating, _survival, _win_or_tie, _choices)
    numbers = [claim for part in parts for claim in part()]
    return [*numbers, *play_claims(GAME), *order_claims(GAME), *strategy_claims(GAME)]


def _integer(place: str, printed: int, exact: int) -> Claim:
    return number(place, str(printed), Fraction(exact), "agrees")


def _rules() -> Iterator[Claim]:
    for face, worth in enumerate([1, 2, 0, 4, 5, 6], start=1):
        yield _integer(f"cell 1, worth of {face}", worth, GAME.worth[face - 1])
    for roll, worth in WORTHS.items():
        yield _integer(f"cell 2, worth of {words(roll)}", worth, total_worth(GAME, roll))
    for kept in KEPT:
        exact = GAME.by_worth((1, 3, 3, 4, 5))[: len(kept)]
        yield Claim(
            f"cell 3, {len(kept)} of 1 3 3 4 5", words(kept), words(exact),
            agreement(exact == kept), "agrees",
        )  # fmt: skip
    for roll, kept_dice in ONLY_3S.items():
        place = f"cell 5, Only3sBot keeps of {words(roll)}"
        yield _integer(place, kept_dice, only3s_keeps(GAME, 0, roll))


def _expectations() -> Iterator[Claim]:
    yield _integer("cell 8, expected score of 0 dice", 0, int(exactly.expected_score(GAME, 0)))
    for place in ("assert", "print 3.0"):
        expected = exactly.expected_score(GAME, 1)
        yield number(f"cell 8, expected score of 1 die, {place}", "3", expected, "agrees")
    for face, worth in enumerate([1, 2, 0, 4, 5, 6], start=1):
        expected = exactly.expected_score_of_roll(GAME, (face,))
        for what in ("taking", "roll"):
            place = f"cell 8, {what} {face} expects"
            yield number(place, str(worth), expected, "agrees")
    for roll, printed in (((1, 6), "4"), ((1, 1, 6), "5")):
        expected = exactly.expected_score_of_roll(GAME, roll)
        yield number(f"cell 9, roll {words(roll)} expects", printed, expected, "agrees")
    for dice, printed in ((2, "4.39"), (3, "5.23")):
        expected = exactly.expected_score(GAME, dice)
        yield number(f"cell 9, expected score of {dice} dice", printed, expected)


def _beating() -> Iterator[Claim]:
    yield _beat("cell 10", "33.33%", 2, 1)
    exact = exactly.beat_chance_of_roll(GAME, 3, (3, 1, 6))
    yield number("cell 10, beat 3 with the roll 3 1 6", "35.65%", exact)
    for face, chance in enumerate([1, 0, 1, 0, 0, 0], start=1):
        exact = exactly.beat_chance_of_roll(GAME, 2, (face,))
        for what in ("taking", "roll"):
            yield number(f"cell 10, beat 2, {what} {face}", str(chance), exact, "agrees")
    yield _beat("cell 10, last line", "(cut)", 2, 1)
    yield from _worked_example()
    yield _beat("cell 11, assert", "7.41%", 1, 2)
    for goal, (keep, reroll) in TWO_DICE.items():
        one = exactly.beat_chance(GAME, goal - 1, 1)
        yield number(f"cell 11, beat {goal} by taking the 1", keep, one, _rounded(keep, one))
        yield _beat("cell 11", reroll, goal, 2)
    for goal, printed in FIVE_DICE.items():
        yield _beat("cell 12", printed, goal, 5)


def _worked_example() -> Iterator[Claim]:
    """Beating 1 with two dice, in the comment of cell 11: both show 3, now or one after one."""
    ordered = [(one, two) for one in range(1, 7) for two in range(1, 7)]
    both = sum(total_worth(GAME, roll) == 0 for roll in ordered)
    single = sum(GAME.zero_face in roll for roll in ordered) - both
    later = exactly.beat_chance(GAME, 1, 1)
    place = "cell 11, comment"
    yield _integer(f"{place}, possibilities of two dice", 36, len(ordered))
    yield _integer(f"{place}, of which beat 1 at once", 1, both)
    yield _integer(f"{place}, of which allow a second turn", 10, single)
    yield number(f"{place}, chance of the second 3", "1/6", later, "agrees")
    yield number(
        f"{place}, weighted possibilities", "1.666", single * later, "agrees by truncation"
    )
    total = both + single * later
    yield number(f"{place}, in all", "2.666", total, "agrees by truncation")
    yield number(f"{place}, divided by 36", "0.07407", total / 36)


def _beat(place: str, printed: str, goal: int, dice: int) -> Claim:
    exact = exactly.beat_chance(GAME, goal, dice)
    where = f"{place}, beat {goal} with {dice} fresh {'die' if dice == 1 else 'dice'}"
    return number(where, printed, exact, _rounded(printed, exact))


def _rounded(printed: str, exact: Fraction) -> Verdict:
    """Expect a printed chance to be exact where two places of a percentage suffice."""
    if printed.endswith("(cut)"):
        return "garbled"
    whole = (exact * 10_000).denominator == 1
    return "agrees" if whole else "agrees by rounding"


def _survival() -> Iterator[Claim]:
    for players, printed in ((1, "97.89%"), (2, "95.83%")):
        yield _survive("cell 13, assert", printed, 1, players)
    for score, row in SURVIVAL.items():
        for players, printed in enumerate(row.split()):
            yield _survive("cell 13, table", printed, score, players)


def _survive(place: str, printed: str, score: int, players: int) -> Claim:
    one = exactly.survival_chance(GAME, score, 1)
    exact = exactly.survival_chance(GAME, score, players)
    formula = f"({one})^{players}" if players > 1 and one != 1 else ""
    where = f"{place}, s={score}, p={players}"
    return number(where, printed, exact, _rounded(printed, exact), formula=formula)


def _win_or_tie() -> Iterator[Claim]:
    place = "cell 14, assert"
    sure = exactly.win_or_tie_chance(GAME, None, 5, 0, 0)
    yield number(f"{place}, no score to tie, 5 so far, no dice left", "1", sure, "agrees")
    lost = exactly.win_or_tie_chance(GAME, 3, 5, 4, 0)
    yield number(f"{place}, 3 to tie, 5 so far, four dice left", "0", lost, "agrees")
    perfect, below_2 = (exactly.beat_chance(GAME, goal, 5) for goal in (1, 2))
    survives = exactly.survival_chance(GAME, 1, 4)
    exactly_1 = below_2 - perfect
    wins = exactly.win_or_tie_chance(GAME, 1, 0, 5, 4)
    place = "cell 14, comment"
    yield number(f"{place}, perfect 3s", "2.11%", perfect)
    yield number(f"{place}, a score below 2", "7.30%", below_2)
    yield number(
        f"{place}, exactly 1", "5.19%", exactly_1,
        note="as a difference; playing for perfect 3s or for at most 1 are different plays",
    )  # fmt: skip
    yield number(f"{place}, four players do not beat 1", "91.83%", survives)
    yield number(f"{place}, 1 and not beaten", "4.77%", exactly_1 * survives)
    yield number(f"{place}, in all", "6.8%", perfect + exactly_1 * survives, "agrees by truncation")
    yield number("cell 14, assert, 1 to tie, five dice, four players after", "6.85%", wins)


def _choices() -> Iterator[Claim]:
    for cell, to_tie, score, roll, after, printed in CHOICES:
        kept = exactly.notebook_choice(GAME, to_tie, score, roll, after)
        where = f"cell {cell}, {to_tie} >= {score} + {words(roll)}, {after} players after"
        yield _integer(f"{where}, dice kept", printed, kept)
        if cell in NEW_SCORES:
            total = score + total_worth(GAME, GAME.by_worth(roll)[:kept])
            yield _integer(f"{where}, new score", NEW_SCORES[cell], total)
