"""Claims about the advice that the notebook *Dice Game* gives in words.

The notebook's statements about OptimalBot's choices are in ``choices``.
"""

from collections.abc import Iterator
from fractions import Fraction
from operator import eq, lt

import numpy as np
from exactdice.core.solved_turn import solve_turn
from exactdice.games import LowestScore
from exactdice.games.lowest_score import policies as exactly

from ..claim import At, Claim
from .choices import rolls_of
from .play import table_for, total_worth, words


def strategy_claims(game: LowestScore) -> list[Claim]:
    """List the claims."""
    parts = (
        _last_two_dice,
        _no_regret,
        _only_3s,
        _last_player,
        _later_players,
        _expected_total,
        _scores_to_aim_for,
        _zero_chance,
    )
    return [claim for part in parts for claim in part(game)]


def _last_two_dice(game: LowestScore) -> Iterator[Claim]:
    goals = range(1, 9)
    reroll = [
        goal
        for goal in goals
        if exactly.beat_chance(game, goal, 2) > exactly.beat_chance(game, goal - 1, 1)
    ]
    keep = [goal for goal in goals if goal not in reroll]
    for place in ("before cell 11", "summary"):
        yield At(place).mistake(
            printed="of two dice with a 1, reroll both only within 3 of the goal",
            exact=f"rerolling both is better for {reroll}, keeping the 1 for {keep}",
            holds=all(goal <= 3 for goal in reroll),
            note=f"goal 5: {exactly.beat_chance(game, 5, 2)} against "
            f"{exactly.beat_chance(game, 4, 1)}",
        )
    one, two = (exactly.expected_score(game, dice) for dice in (1, 2))
    yield At("summary").statement(
        printed="otherwise it is better to take the 1 on average",
        exact=f"true: {1 + one} points are expected against {two}",
        holds=1 + one < two,
    )


def _no_regret(game: LowestScore) -> Iterator[Claim]:
    """Check three readings of "not regret", for two dice of which one shows a 1."""
    two, one = exactly.beat_chance(game, 3, 2), exactly.beat_chance(game, 2, 1)
    printed = "we're slightly more likely to not regret rerolling both dice"
    yield At("summary, of winning against 3").statement(
        printed=printed,
        exact=f"{two} rerolling both, {one} taking the 1",
        holds=two > one,
        note="cell 10; before cell 11 has the other goals",
    )
    lower, equal = compare_rerolls(game)
    yield At("summary, of ending no higher than by taking the 1").statement(
        printed=printed,
        exact=f"{lower + equal} = {float(lower + equal):.4f}",
        holds=lower + equal > Fraction(1, 2),
        note="both rerolled for the least expected total, the other die for itself",
    )
    yield At("summary, of ending lower rather than higher").mistake(
        printed=printed,
        exact=f"{float(lower):.4f} lower, {float(1 - lower - equal):.4f} higher",
        holds=lower > 1 - lower - equal,
        note=f"the same in {float(equal):.4f}",
    )


def compare_rerolls(game: LowestScore) -> tuple[Fraction, Fraction]:
    """Compare rerolling both dice, for the smallest expected total, with keeping a 1.

    Returns:
        The probability that rerolling both ends lower, and that both ways end equal.
    """
    turn = LowestScore(2, game.faces, game.zero_face, 1).legs[0].turn
    totals = np.arange(turn.num_results)
    kept_and_rolled = [1 + worth for worth in game.worth]
    utilities = [
        [
            Fraction(sum(compare(total, other) for other in kept_and_rolled), game.faces)
            for compare in (lt, eq)
        ]
        for total in totals.tolist()
    ]
    choices = solve_turn(turn, np.array([[Fraction(-total)] for total in totals.tolist()])).choices
    ends = np.array(utilities, dtype=object)
    chances = solve_turn(turn, ends, choices=np.repeat(choices, 2, axis=1)).before_roll(0)
    return chances[0], chances[1]


def _only_3s(game: LowestScore) -> Iterator[Claim]:
    perfect = exactly.beat_chance(game, 1, game.dice)
    yield At("summary, chance of all 3's").number(printed="2%", exact=perfect)
    turn = game.legs[0].turn
    ends = np.array([[Fraction(score == 0)] for score in range(game.max_score + 1)], dtype=object)
    choices = exactly.only3s(game)[: turn.num_states, None]  # those of the first player
    only3s = solve_turn(turn, ends, choices=choices).before_roll(0)[0]
    yield At("before cell 8").statement(
        printed="only 3's becomes optimal as the number of players grows",
        exact=f"it makes a total of 0 as likely as can be: {only3s}",
        holds=only3s == perfect,
        note="with enough players after it no other total survives",
    )


def _last_player(game: LowestScore) -> Iterator[Claim]:
    """Check the advice for the last player."""
    rolls = rolls_of(game)
    ends = np.array([total + total_worth(game, roll) for total, roll in rolls])[:, None]
    sure = ends <= np.arange(
        game.max_score + 1
    )  # (roll, score to tie): keeping all dice wins or ties
    everything = np.array([len(roll) for _, roll in rolls])[:, None]
    fewer = sure & (exactly.notebook_choices(game, 0) < everything)
    wins = {
        exactly.win_or_tie_chance(game, to_tie, end, 0, 0)
        for to_tie in range(game.max_score + 1)
        for end in range(to_tie + 1)
    }
    said = {
        "before cell 8": "as the very last player it's better to stop rolling as soon as you win",
        "before cell 15": "as the last player who can win right now, there's no point in not "
        "picking everything",
    }
    for place, printed in said.items():
        yield At(place).statement(
            printed=printed,
            exact="true: it wins for sure",
            holds=wins == {1},
            note=f"{sure.sum():,} states; in {fewer.sum():,} OptimalBot keeps fewer, as that is as "
            "sure",
        )


def _later_players(game: LowestScore) -> Iterator[Claim]:
    """Check the statements about the table of cell 13, and its numbers of later players."""
    printed = "if you're the last one, then of course you will always win"
    survives = {exactly.survival_chance(game, score, 0) for score in range(game.max_score + 1)}
    yield At("before cell 13, of the table").statement(
        printed=printed,
        exact="true: 1 for every score",
        holds=survives == {1},
        note="the table supposes that those before are beaten",
    )
    behind = exactly.win_or_tie_chance(game, 3, 5, 0, 0)
    yield At("before cell 13, read as a general claim").mistake(
        printed=printed,
        exact=f"{behind} with a score of 5 and 3 to tie",
        holds=behind == 1,
        note="cell 14 asserts as much",
    )
    table = table_for(game, 3)
    after = {table.players - 1 - leg.seat for leg in table.legs}
    yield At("cell 19, comment").statement(
        printed="with 3 players there is never a player with 3 after",
        exact=f"true: {', '.join(map(str, sorted(after)))}",
        holds=3 not in after,
    )


def _expected_total(game: LowestScore) -> Iterator[Claim]:
    """List which dice play for the smallest expected total keeps besides a lower die."""
    turn = game.legs[0].turn
    scores = [[Fraction(-score)] for score in range(game.max_score + 1)]
    kept = solve_turn(turn, np.array(scores)).choices[:, 0] + 1
    besides: dict[tuple[int, bool], list[str]] = {}  # by face, and whether dice are left to roll
    for row, number_kept in zip(turn.observations.tolist(), kept.tolist(), strict=True):
        roll = tuple(filter(None, row[1:]))
        for face in set(roll[1:number_kept]):
            besides.setdefault((face, number_kept < len(roll)), []).append(words(roll))
    ones, twos, last_twos = (besides.get(key, []) for key in ((1, True), (2, True), (2, False)))
    yield At("before cell 9, rolling on").statement(
        printed="for the expected total it can make sense to take a 1",
        exact=_besides(ones),
        holds=bool(ones),
        note=f"in {len(ones)} states",
    )
    yield At("before cell 9, rolling on").statement(
        printed="for the expected total but not to take a 2",
        exact=_besides(twos),
        holds=not twos,
        note=f"in {len(twos)} states",
    )
    yield At("before cell 9, ending the turn with it").mistake(
        printed="for the expected total but not to take a 2",
        exact=_besides(last_twos),
        holds=not last_twos,
        note=f"in {len(last_twos)} states",
    )
    several = [roll for roll in ones if roll.startswith("3 1 1 ")]
    yield At("before cell 9").statement(
        printed="the same goes for taking multiple 1s",
        exact=f"true: two besides a 3 of {several[0]}" if several else "never",
        holds=bool(several),
        note=f"in {len(several)} states",
    )


def _besides(rolls: list[str]) -> str:
    return f"kept besides a lower die, of {rolls[-1]}" if rolls else "never, beside a lower die"


def _scores_to_aim_for(game: LowestScore) -> Iterator[Claim]:
    """Check which scores are good: they survive more often than one in the number of players."""
    highest = {
        after: max(
            score
            for score in range(game.max_score + 1)
            if exactly.survival_chance(game, score, after) > Fraction(1, after + 1)
        )
        for after in (3, 4, 5, 7, 8)
    }
    shown = ", ".join(f"{score} with {after} after" for after, score in highest.items())
    exact = f"the highest that survives with more than an equal share: {shown}"
    note = "whether the players are counted with or without oneself"
    yield At("before cell 13").statement(
        printed="with 4 players a score of 4 is decent, with 8 at most 3",
        exact=exact,
        holds=all(highest[after] == score for after, score in {3: 4, 4: 4, 7: 3, 8: 3}.items()),
        note=note,
    )
    yield At("summary").statement(
        printed="4 is a good score to aim for with 4 or 5 players, with 8 rather 3",
        exact=exact,
        holds=highest == {3: 4, 4: 4, 5: 4, 7: 3, 8: 3},
        note=note,
    )


def _zero_chance(game: LowestScore) -> Iterator[Claim]:
    hopeless = exactly.win_or_tie_chance(game, 0, 6, 0, 0)
    yield At("cell 14, comment in choose_n").mistake(
        printed="probabilities can never be zero",
        exact=f"{hopeless} with 0 to tie and a last roll of 6",
        holds=hopeless != 0,
        note="harmless: the search starts from -1",
    )
