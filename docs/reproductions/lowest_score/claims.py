"""The notebook *Dice Game*, number by number, in the order of its cells.

The notebook prints probabilities in percent, rounded to two places. Its rounds and tournaments are
in ``play``, the order of play in ``order``, its advice in words in ``strategy`` and ``choices``.
"""

from collections.abc import Iterator
from functools import cache

from exactdice.games import LowestScore
from exactdice.games.lowest_score import policies as exactly

from ..claim import At, Claim, printed_table
from .choices import choice_claims
from .order import order_claims
from .play import only3s_keeps, play_claims, read, total_worth, words
from .strategy import strategy_claims

TITLE = "The lowest-score game: the notebook Dice Game"
#: Worth of the faces, cells 1 and 8.
PRINTED_WORTH = [1, 2, 0, 4, 5, 6]
#: Worth of rolls, cell 2.
WORTHS = {(1,): 1, (3, 3): 0, (3, 3, 5): 5, (1, 3, 3, 4, 5): 10}
#: The dice kept of 1 3 3 4 5, cell 3.
KEPT = [(3,), (3, 3), (3, 3, 1), (3, 3, 1, 4), (3, 3, 1, 4, 5)]
#: The dice that Only3sBot keeps, cell 5.
ONLY_3S = {(1, 2, 3, 4, 6): 1, (1, 2, 3, 3, 6): 2, (3, 3, 3, 3, 3): 5, (6, 6, 6, 6, 6): 1}


@cache
def _game() -> LowestScore:
    """Return the game of the notebook, which is made when it is first needed."""
    return LowestScore()


def claims() -> list[Claim]:
    """List the claims."""
    parts = (_rules, _expectations, _beating, _survival, _win_or_tie, _choices)
    numbers = [claim for part in parts for claim in part()]
    in_words = (play_claims, order_claims, strategy_claims, choice_claims)
    return [*numbers, *(claim for part in in_words for claim in part(_game()))]


def _rules() -> Iterator[Claim]:
    for face, worth in enumerate(PRINTED_WORTH, start=1):
        yield At(f"cell 1, worth of {face}").number(printed=worth, exact=_game().worth[face - 1])
    for roll, worth in WORTHS.items():
        place = f"cell 2, worth of {words(roll)}"
        yield At(place).number(printed=worth, exact=total_worth(_game(), roll))
    for kept in KEPT:
        exact = _game().by_worth((1, 3, 3, 4, 5))[: len(kept)]
        yield At(f"cell 3, {len(kept)} of 1 3 3 4 5").statement(
            printed=words(kept), exact=words(exact), holds=exact == kept
        )
    for roll, kept_dice in ONLY_3S.items():
        place = f"cell 5, Only3sBot keeps of {words(roll)}"
        yield At(place).number(printed=kept_dice, exact=only3s_keeps(_game(), 0, roll))


def _expectations() -> Iterator[Claim]:
    exact = exactly.expected_score(_game(), 0)
    yield At("cell 8, expected score of 0 dice").number(printed=0, exact=exact)
    exact = exactly.expected_score(_game(), 1)
    yield At("cell 8, expected score of 1 die, assert").number(printed=3, exact=exact)
    yield At("cell 8, expected score of 1 die, print 3.0").number(printed=3, exact=exact)
    for face, worth in enumerate(PRINTED_WORTH, start=1):
        expected = exactly.expected_score_of_roll(_game(), (face,))
        for what in ("taking", "roll"):
            yield At(f"cell 8, {what} {face} expects").number(printed=worth, exact=expected)
    for roll, printed in (((1, 6), "4"), ((1, 1, 6), "5")):
        exact = exactly.expected_score_of_roll(_game(), roll)
        yield At(f"cell 9, roll {words(roll)} expects").number(printed=printed, exact=exact)
    for dice, printed in ((2, "4.39"), (3, "5.23")):
        exact = exactly.expected_score(_game(), dice)
        yield At(f"cell 9, expected score of {dice} dice").number(printed=printed, exact=exact)


def _beating() -> Iterator[Claim]:
    yield _beat("cell 10", "33.33%", 2, 1)
    exact = exactly.beat_chance_of_roll(_game(), 3, (3, 1, 6))
    yield At("cell 10, beat 3 with the roll 3 1 6").number(printed="35.65%", exact=exact)
    for face, chance in enumerate([1, 0, 1, 0, 0, 0], start=1):
        exact = exactly.beat_chance_of_roll(_game(), 2, (face,))
        for what in ("taking", "roll"):
            yield At(f"cell 10, beat 2, {what} {face}").number(printed=chance, exact=exact)
    yield _beat("cell 10, last line", "(cut)", 2, 1)
    yield from _worked_example()
    yield _beat("cell 11, assert", "7.41%", 1, 2)
    rows = printed_table("lowest_score", "beating")
    for row in rows[2:]:
        goal, place = int(row["goal"]), f"cell 11, beat {row['goal']} by taking the 1"
        exact = exactly.beat_chance(_game(), goal - 1, 1)
        yield At(place).number(printed=row["keeping a 1"], exact=exact)
        yield _beat("cell 11", row["two dice"], goal, 2)
    for row in rows:
        yield _beat("cell 12", row["five dice"], int(row["goal"]), 5)


def _worked_example() -> Iterator[Claim]:
    """Check the comment of cell 11 on beating 1: both dice must show 3, at once or in turn."""
    ordered = [(one, two) for one in range(1, 7) for two in range(1, 7)]
    both = sum(total_worth(_game(), roll) == 0 for roll in ordered)
    single = sum(_game().zero_face in roll for roll in ordered) - both
    later = exactly.beat_chance(_game(), 1, 1)
    place = "cell 11, comment"
    yield At(f"{place}, possibilities of two dice").number(printed=36, exact=len(ordered))
    yield At(f"{place}, of which beat 1 at once").number(printed=1, exact=both)
    yield At(f"{place}, of which allow a second turn").number(printed=10, exact=single)
    yield At(f"{place}, chance of the second 3").number(printed="1/6", exact=later)
    yield At(f"{place}, weighted possibilities").number(
        printed="1.666", exact=single * later, recorded="agrees by truncation"
    )
    total = both + single * later
    yield At(f"{place}, in all").number(
        printed="2.666", exact=total, recorded="agrees by truncation"
    )
    yield At(f"{place}, divided by 36").number(printed="0.07407", exact=total / 36)


def _beat(place: str, printed: str, goal: int, dice: int) -> Claim:
    exact = exactly.beat_chance(_game(), goal, dice)
    where = f"{place}, beat {goal} with {dice} fresh {'die' if dice == 1 else 'dice'}"
    return At(where).number(printed=printed, exact=exact)


def _survival() -> Iterator[Claim]:
    for players, printed in ((1, "97.89%"), (2, "95.83%")):
        yield _survive("cell 13, assert", printed, 1, players)
    for row in printed_table("lowest_score", "survival"):
        for players in range(9):
            yield _survive("cell 13, table", row[str(players)], int(row["score"]), players)


def _survive(place: str, printed: str, score: int, players: int) -> Claim:
    one = exactly.survival_chance(_game(), score, 1)
    exact = exactly.survival_chance(_game(), score, players)
    formula = f"({one})^{players}" if players > 1 and one != 1 else ""
    where = f"{place}, s={score}, p={players}"
    return At(where).number(printed=printed, exact=exact, formula=formula)


def _win_or_tie() -> Iterator[Claim]:
    place = "cell 14, assert"
    sure = exactly.win_or_tie_chance(_game(), None, 5, 0, 0)
    where = f"{place}, no score to tie, 5 so far, no dice left"
    yield At(where).number(printed=1, exact=sure)
    lost = exactly.win_or_tie_chance(_game(), 3, 5, 4, 0)
    yield At(f"{place}, 3 to tie, 5 so far, four dice left").number(printed=0, exact=lost)
    perfect, below_2 = (exactly.beat_chance(_game(), goal, 5) for goal in (1, 2))
    survives = exactly.survival_chance(_game(), 1, 4)
    exactly_1 = below_2 - perfect
    wins = exactly.win_or_tie_chance(_game(), 1, 0, 5, 4)
    place = "cell 14, comment"
    yield At(f"{place}, perfect 3s").number(printed="2.11%", exact=perfect)
    yield At(f"{place}, a score below 2").number(printed="7.30%", exact=below_2)
    yield At(f"{place}, exactly 1").number(
        printed="5.19%",
        exact=exactly_1,
        note="as a difference; playing for perfect 3s or for at most 1 are different plays",
    )
    yield At(f"{place}, four players do not beat 1").number(printed="91.83%", exact=survives)
    yield At(f"{place}, 1 and not beaten").number(printed="4.77%", exact=exactly_1 * survives)
    yield At(f"{place}, in all").number(
        printed="6.8%", exact=perfect + exactly_1 * survives, recorded="agrees by truncation"
    )
    where = "cell 14, assert, 1 to tie, five dice, four players after"
    yield At(where).number(printed="6.85%", exact=wins)


def _choices() -> Iterator[Claim]:
    """Check OptimalBot's decisions: the dice it keeps and, where printed, the resulting score."""
    for row in printed_table("lowest_score", "choices"):
        score, after = int(row["score"]), int(row["after"])
        to_tie = int(row["to_tie"]) if row["to_tie"] else None
        roll = read(row["roll"])
        kept = exactly.notebook_choice(_game(), to_tie, score, roll, after)
        where = f"cell {row['cell']}, {to_tie} >= {score} + {row['roll']}, {after} players after"
        yield At(f"{where}, dice kept").number(printed=row["kept"], exact=kept)
        if row["new_score"]:
            total = score + total_worth(_game(), _game().by_worth(roll)[:kept])
            yield At(f"{where}, new score").number(printed=row["new_score"], exact=total)
