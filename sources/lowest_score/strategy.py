"""What the notebook *Dice Game* says in words of how to play, beside exact computation.

Statements over OptimalBot's choices are checked in every state and for every score to tie.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import eq, lt

import numpy as np

from ...games import LowestScore
from ..claim import Claim, Verdict, agreement, number
from ..turn import follow_choices, solve_turn
from . import policies as exactly
from .play import table_for, total_worth, words

#: A decision: score to tie, score so far, roll.
Decision = tuple[int | None, int, tuple[int, ...]]


def strategy_claims(game: LowestScore) -> list[Claim]:
    """Check everything."""
    parts = (
        _last_two_dice, _no_regret, _only_3s, _last_player, _expected_total, _scores_to_aim_for,
        _zero_chance, _first_rolls, _keeping_2s, _keeping_1s,
    )  # fmt: skip
    return [claim for part in parts for claim in part(game)]


def _last_two_dice(game: LowestScore) -> Iterator[Claim]:
    goals = range(1, 9)
    reroll = [
        goal for goal in goals
        if exactly.beat_chance(game, goal, 2) > exactly.beat_chance(game, goal - 1, 1)
    ]  # fmt: skip
    keep = [goal for goal in goals if goal not in reroll]
    for place in ("before cell 11", "summary"):
        yield Claim(
            place, "of two dice with a 1, reroll both only within 3 of the goal",
            f"rerolling both is better for {reroll}, keeping the 1 for {keep}",
            agreement(all(goal <= 3 for goal in reroll)), "wrong",
            f"goal 5: {exactly.beat_chance(game, 5, 2)} against {exactly.beat_chance(game, 4, 1)}",
        )  # fmt: skip
    one, two = (exactly.expected_score(game, dice) for dice in (1, 2))
    yield Claim(
        "summary", "otherwise it is better to take the 1 on average",
        f"true: {1 + one} points are expected against {two}", agreement(1 + one < two), "agrees",
    )  # fmt: skip


def _no_regret(game: LowestScore) -> Iterator[Claim]:
    """Read "not regret" in three ways, of two dice left that show a 1 and something else."""
    two, one = exactly.beat_chance(game, 3, 2), exactly.beat_chance(game, 2, 1)
    printed = "we're slightly more likely to not regret rerolling both dice"
    yield Claim(
        "summary, of winning against 3", printed, f"{two} rerolling both, {one} taking the 1",
        agreement(two > one), "agrees", "cell 10; before cell 11 has the other goals",
    )  # fmt: skip
    lower, equal = compare_rerolls(game)
    yield Claim(
        "summary, of ending no higher than by taking the 1", printed,
        f"{lower + equal} = {float(lower + equal):.4f}", agreement(lower + equal > Fraction(1, 2)),
        "agrees", "both rerolled for the least expected total, the other die for itself",
    )  # fmt: skip
    yield Claim(
        "summary, of ending lower rather than higher", printed,
        f"{float(lower):.4f} lower, {float(1 - lower - equal):.4f} higher",
        agreement(lower > 1 - lower - equal), "wrong", f"the same in {float(equal):.4f}",
    )  # fmt: skip


def compare_rerolls(game: LowestScore) -> tuple[Fraction, Fraction]:
    """Compare two dice, rerolled for the least expected total, with a 1 kept and one die rerolled.

    Returns:
        The chances that the two end lower, and that they end equal.
    """
    turn = LowestScore(2, game.faces, game.zero_face, 1).legs[0].turn
    totals = np.arange(turn.num_results)
    kept_and_rolled = [1 + worth for worth in game.worth]
    utilities = [
        [Fraction(sum(compare(total, other) for other in kept_and_rolled), game.faces)
         for compare in (lt, eq)]
        for total in totals.tolist()
    ]  # fmt: skip
    choices = solve_turn(turn, np.array([[Fraction(-total)] for total in totals.tolist()])).choices
    ends = np.array(utilities, dtype=object)
    chances = follow_choices(turn, ends, np.repeat(choices, 2, axis=1)).before_roll(0)
    return chances[0], chances[1]


def _only_3s(game: LowestScore) -> Iterator[Claim]:
    perfect = exactly.beat_chance(game, 1, game.dice)
    yield number("summary, chance of all 3's", "2%", perfect)
    turn = game.legs[0].turn
    ends = np.array([[Fraction(score == 0)] for score in range(game.max_score + 1)], dtype=object)
    choices = exactly.only3s(game)[: turn.num_states, None]  # those of the first player
    only3s = follow_choices(turn, ends, choices).before_roll(0)[0]
    yield Claim(
        "before cell 8", "only 3's becomes optimal as the number of players grows",
        f"it makes a total of 0 as likely as can be: {only3s}", agreement(only3s == perfect),
        "agrees", "with enough players after it no other total survives",
    )  # fmt: skip


def _last_player(game: LowestScore) -> Iterator[Claim]:
    """Check what is said of who has nobody after it, and of the table of cell 13."""
    rolls = _rolls(game)
    ends = np.array([total + total_worth(game, roll) for total, roll in rolls])[:, None]
    sure = ends <= np.arange(game.max_score + 1)  # (roll, score to tie): to keep all dice will do
    everything = np.array([len(roll) for _, roll in rolls])[:, None]
    fewer = sure & (exactly.notebook_choices(game, 0) < everything)
    wins = {
        exactly.win_or_tie_chance(game, to_tie, end, 0, 0)
        for to_tie in range(game.max_score + 1) for end in range(to_tie + 1)
    }  # fmt: skip
    for place, printed in (
        ("before cell 8", "as the very last player it's better to stop rolling as soon as you win"),
        ("before cell 15", "as the last player who can win right now, there's no point in not "
         "picking everything"),
    ):  # fmt: skip
        yield Claim(
            place, printed, "true: it wins for sure", agreement(wins == {1}), "agrees",
            f"{sure.sum():,} states; in {fewer.sum():,} OptimalBot keeps fewer, as that is as sure",
        )  # fmt: skip
    printed = "if you're the last one, then of course you will always win"
    survives = {exactly.survival_chance(game, score, 0) for score in range(game.max_score + 1)}
    yield Claim(
        "before cell 13, of the table", printed, "true: 1 for every score",
        agreement(survives == {1}), "agrees", "the table supposes that those before are beaten",
    )  # fmt: skip
    behind = exactly.win_or_tie_chance(game, 3, 5, 0, 0)
    yield Claim(
        "before cell 13, read as a general claim", printed,
        f"{behind} with a score of 5 and 3 to tie", agreement(behind == 1), "wrong",
        "cell 14 asserts as much",
    )  # fmt: skip
    table = table_for(game, 3)
    after = {table.players - 1 - leg.seat for leg in table.legs}
    yield Claim(
        "cell 19, comment", "with 3 players there is never a player with 3 after",
        f"true: {', '.join(map(str, sorted(after)))}", agreement(3 not in after), "agrees",
    )  # fmt: skip


def _expected_total(game: LowestScore) -> Iterator[Claim]:
    """Look at the smallest expected total: which dice are kept besides a lower one?"""
    turn = game.legs[0].turn
    scores = [[Fraction(-score)] for score in range(game.max_score + 1)]
    kept = solve_turn(turn, np.array(scores)).choices[:, 0] + 1
    besides: dict[tuple[int, bool], list[str]] = {}  # by face, and whether dice are left to roll
    for row, number_kept in zip(turn.observations.tolist(), kept.tolist(), strict=True):
        roll = tuple(filter(None, row[1:]))
        for face in set(roll[1:number_kept]):
            besides.setdefault((face, number_kept < len(roll)), []).append(words(roll))
    expectations: list[tuple[int, bool, str, Verdict]] = [
        (1, True, "it can make sense to take a 1", "agrees"),
        (2, True, "but not to take a 2", "agrees"),
        (2, False, "but not to take a 2", "wrong"),
    ]
    for face, rolls_on, printed, recorded in expectations:
        rolls = besides.get((face, rolls_on), [])
        how = "rolling on" if rolls_on else "ending the turn with it"
        yield Claim(
            f"before cell 9, {how}", f"for the expected total {printed}",
            f"kept besides a lower die, of {rolls[-1]}" if rolls else "never, beside a lower die",
            agreement(bool(rolls) == (face == 1)), recorded, f"in {len(rolls)} states",
        )  # fmt: skip
    several = [roll for roll in besides.get((1, True), []) if roll.startswith("3 1 1 ")]
    yield Claim(
        "before cell 9", "the same goes for taking multiple 1s",
        f"true: two besides a 3 of {several[0]}" if several else "never", agreement(bool(several)),
        "agrees", f"in {len(several)} states",
    )  # fmt: skip


def _scores_to_aim_for(game: LowestScore) -> Iterator[Claim]:
    """Take a score as good that survives more often than a player in that many wins by chance."""
    highest = {
        after: max(
            score for score in range(game.max_score + 1)
            if exactly.survival_chance(game, score, after) > Fraction(1, after + 1)
        )
        for after in (3, 4, 5, 7, 8)
    }  # fmt: skip
    shown = ", ".join(f"{score} with {after} after" for after, score in highest.items())
    for place, printed, wanted in (
        ("before cell 13", "with 4 players a score of 4 is decent, with 8 at most 3",
         {3: 4, 4: 4, 7: 3, 8: 3}),
        ("summary", "4 is a good score to aim for with 4 or 5 players, with 8 rather 3",
         {3: 4, 4: 4, 5: 4, 7: 3, 8: 3}),
    ):  # fmt: skip
        yield Claim(
            place, printed, f"the highest that survives with more than an equal share: {shown}",
            agreement(all(highest[after] == score for after, score in wanted.items())), "agrees",
            "whether the players are counted with or without oneself",
        )  # fmt: skip


def _zero_chance(game: LowestScore) -> Iterator[Claim]:
    hopeless = exactly.win_or_tie_chance(game, 0, 6, 0, 0)
    yield Claim(
        "cell 14, comment in choose_n", "probabilities can never be zero",
        f"{hopeless} with 0 to tie and a last roll of 6", agreement(hopeless != 0), "wrong",
        "harmless: the search starts from -1",
    )  # fmt: skip


def _first_rolls(game: LowestScore) -> Iterator[Claim]:
    """Ask of which first rolls of a turn OptimalBot keeps more than the 3s, or the lowest die."""
    first = [
        (state, roll) for state, (total, roll) in enumerate(_rolls(game))
        if total == 0 and len(roll) == game.dice
    ]  # fmt: skip
    more = {
        after: [
            (to_tie, 0, roll) for to_tie in to_ties for state, roll in first
            if kept[state, to_tie] > max(1, roll.count(game.zero_face))
        ]
        for to_ties, after in ((range(game.max_score + 1), 10), ((2,), 0))
        for kept in [exactly.notebook_choices(game, after)]
    }  # fmt: skip
    shown = exactly.notebook_choice(game, 8, 0, (3, 1, 3, 2, 4), 10)
    yield Claim(
        "before cell 16, of its roll", "with lots of players after you, you only pick the 3's",
        f"true: {shown} of 3 1 3 2 4", agreement(shown == 2), "agrees", "8 to tie, 10 after",
    )  # fmt: skip
    yield Claim(
        "before cell 16, read as a general claim",
        "with lots of players after you, you only pick the 3's",
        f"with 10 after more are kept of {len({roll for *_, roll in more[10]})} first rolls of "
        f"{len(first)}", agreement(not more[10]), "wrong", _shown(more[10]),
    )  # fmt: skip
    at_once = [roll for _, roll in first if total_worth(game, roll) <= 2]
    yield Claim(
        "before cell 17", "as the last player with a really low score to tie, also",
        f"true of the {len(first) - len(at_once)} first rolls that do not tie a 2 at once",
        agreement(all(roll in at_once for *_, roll in more[0])), "agrees", _shown(more[0]),
    )  # fmt: skip


def _keeping_2s(game: LowestScore) -> Iterator[Claim]:
    ending = _taken(game, (3, 2), 4, rolls_on=False)
    yield Claim(
        "after cell 21", "with 4 players after, a 2 can be worth taking if it ends the turn",
        f"true in {len(ending)} cases", agreement(bool(ending)), "agrees", _shown(ending),
    )  # fmt: skip
    rolling_on = [
        decision for after in range(1, 8) for decision in _taken(game, (3, 2), after, rolls_on=True)
    ]
    yield Claim(
        "after cell 21", "but absolutely not if you're going to keep rolling",
        "never with 1 to 7 players after" if not rolling_on else f"in {len(rolling_on)} cases",
        agreement(not rolling_on), "agrees", _shown(rolling_on),
    )  # fmt: skip


def _keeping_1s(game: LowestScore) -> Iterator[Claim]:
    """Check the summary's second line, and the search of cell 24 that finds nothing."""
    for place, printed, lowest in (
        ("before cell 24", "it can make sense to keep a 1 voluntarily and to reroll", (3, 1)),
        ("before cell 24", "even two 1s, and to reroll", (1, 1)),
        ("summary", "even multiple 1s voluntarily, still rolling afterwards", (3, 1, 1)),
    ):
        found = _taken(game, lowest, 1, rolls_on=True)
        yield Claim(
            place, printed, f"true in {len(found)} cases of {words(lowest)} with 1 player after",
            agreement(bool(found)), "agrees", _shown(found),
        )  # fmt: skip


def _taken(
    game: LowestScore, lowest: tuple[int, ...], players_after: int, rolls_on: bool
) -> list[Decision]:
    """List where OptimalBot keeps just the lowest dice, given, of a roll."""
    kept = exactly.notebook_choices(game, players_after)
    return [
        (to_tie, total, roll)
        for state, (total, roll) in enumerate(_rolls(game))
        if roll[: len(lowest)] == lowest and (len(roll) > len(lowest)) == rolls_on
        for to_tie in [None, *range(total, game.max_score + 1)]
        if kept[state, game.max_score if to_tie is None else to_tie] == len(lowest)
    ]


def _rolls(game: LowestScore) -> list[tuple[int, tuple[int, ...]]]:
    """List every score so far with every roll, in order of worth."""
    rows = game.legs[0].turn.observations.tolist()
    return [(total, tuple(filter(None, faces))) for total, *faces in rows]


def _shown(decisions: Sequence[Decision]) -> str:
    """Write the first of some decisions as the notebook does."""
    if not decisions:
        return "every state and score to tie"
    to_tie, total, roll = decisions[0]
    return f"{to_tie} >= {total} + {words(roll)}"
