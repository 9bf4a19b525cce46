"""The lowest-score game and its match: words, and the notebook's calculators and players.

``test_random_sizes`` has the rules by hand, ``test_claims`` the numbers of the notebook.
"""

from fractions import Fraction

import numpy as np
import pytest
from by_hand_turns import LowestScoreByHand
from exactdice.baselines import Task, expected_payoffs
from exactdice.games import LowestScore, LowestScoreMatch, present
from exactdice.games.lowest_score import policies

import exactdice

GAME = LowestScore()
NONE = GAME.max_score + 1


SHARE, SCORE = {"objective": "share"}, {"objective": "score"}


@pytest.mark.parametrize(
    ("keywords", "known", "words"),
    [
        ({}, [NONE, 3], ", nothing to beat yet, three players to come"),
        ({}, [7, 1], ", 7 to equal or beat, one player to come"),
        ({"players": 1}, [NONE, 0], ""),
        (SHARE, [7, 2, 1], ", 7 to equal or beat, which two players have, one player to come"),
        (SCORE, [NONE, 3], ", no total yet, three players to come"),
        (SCORE, [9, 2], ", 9 the lowest total so far, two players to come"),
    ],
)
def test_a_position_reads_as_a_sentence(keywords, known, words):
    shown = present(LowestScore(**keywords))
    told = shown.describe(np.array([3, 1, 2, 0, 0, 0, *known]))
    assert told == f"3 so far, rolled 1 2{words}"
    told = shown.describe(np.array([4, 3, 1, 6, 0, 0, *known]))
    assert told == f"4 so far, rolled 3 1 6 (a 3 counts 0){words}"


def test_faces_have_the_right_article():
    for faces, zero, words in ((8, 8, "an 8"), (11, 11, "an 11"), (8, 1, "a 1")):
        told = present(LowestScore(1, faces, zero)).describe_rules()
        assert f"A die counts its face, but {words} counts 0." in told


@pytest.mark.parametrize("sizes", [(3, 6, 3), (4, 8, 8), (2, 5, 1)])
def test_expected_scores_and_chances_to_beat_of_other_sizes(sizes):
    game = LowestScore(*sizes)
    hand = LowestScoreByHand(*sizes, 1, "score", [None])
    for dice in range(1, game.dice + 1):
        assert policies.expected_score(game, dice) == -hand.turn((), 0, dice)[0]
    roll = game.by_worth((1, game.faces))
    assert policies.expected_score_of_roll(game, roll) == -hand.node((), 0, roll)[0]
    hand.payoffs = lambda totals: (Fraction(totals[0] < 4),)
    hand.turn.cache_clear()
    hand.node.cache_clear()
    assert policies.beat_chance(game, 4, game.dice) == hand.turn(())[0]
    assert policies.beat_chance_of_roll(game, 4, roll) == hand.node((), 0, roll)[0]


def test_goals_out_of_reach_and_goals_that_nobody_misses():
    beat, tie = policies.beat_chance, policies.win_or_tie_chance
    assert beat(GAME, 0, 3) == policies.beat_chance_of_roll(GAME, -2, (3, 3)) == 0
    assert beat(GAME, 100, 5) == policies.beat_chance_of_roll(GAME, 31, (6,) * 5) == 1
    assert beat(GAME, 1, 0) == policies.survival_chance(GAME, 0, 7) == 1
    assert policies.expected_score(GAME, 0) == 0
    for score in (1, 5, 12):
        assert tie(GAME, score - 1, 0, 5, 0) == beat(GAME, score, 5)
    assert tie(GAME, None, 0, 5, 0) == 1
    assert tie(GAME, 3, 4, 2, 0) == 0


def test_only_3s_keeps_zeros_or_the_lowest_die():
    game = LowestScore(4, 4, 2, 3)
    kept = policies.only3s(game) + 1
    rows = game.observe(np.arange(game.num_states), 0)
    for row, number in zip(rows.tolist(), kept.tolist(), strict=True):
        assert number == max(1, row[1:5].count(2))


def test_line_ups_of_the_wrong_length_are_named():
    with pytest.raises(ValueError, match="opponents or policies must be one or 3, got 2"):
        Task(GAME, 0, ["random", "random"])
    with pytest.raises(ValueError, match=r"must be for seats \[0, 2, 3\], got \[0, 1\]"):
        Task(GAME, 1, {0: "random", 1: "random"})


MATCH = LowestScoreMatch(2, players=3)


def given_away(policy, task):
    return exactdice.solve(task, exact=True).value - exactdice.evaluate(policy, task, True).value


@pytest.mark.parametrize("tie", ["first", "last"])
def test_for_two_players_it_is_all_one_whether_the_winner_or_the_next_begins(tie):
    """As in tennis (Kingston 1976, Anderson 1977), and each round may be played for itself."""
    values = [
        expected_payoffs("equilibrium", Task(LowestScoreMatch(3, 4, 3, 2, 3, starter, tie)), True)
        for starter in ("winner", "next", "same")
    ]
    assert values[0] == values[1] != values[2]
    task = Task(LowestScoreMatch(3, 4, 3, 2, 3, "winner", tie), 1, "equilibrium")
    assert given_away("round", task) == 0


def test_with_more_players_a_round_played_for_itself_loses():
    task = Task(LowestScoreMatch(3, players=3, wins=2), 0, "equilibrium")
    assert 0 < given_away("round", task) < Fraction(1, 100)


def test_positions_and_moves_read_as_sentences():
    seen = np.array([1, 3, 1, 0, 2, 1, 5, 2, 1, 0])
    begins = "0 rounds won to 2 of seat 1 and 1 of seat 2, 1 so far, rolled 3 1 (a 3 counts 0), "
    last, first = present(MATCH), present(LowestScoreMatch(2, players=3, tie="first"))
    assert last.describe(seen) == f"{begins}5 of seat 2 to equal or beat, one player to come"
    assert first.describe(seen) == f"{begins}5 of seat 2 to beat, one player to come"
    assert last.describe_action(0) == "keeps the lowest die"
    assert last.describe_move(seen, 0) == "keeps 3"
    assert last.tell(seen, 1, 0) == "keeps 3 1: 2 in all"


def test_who_is_beaten_for_sure_keeps_all_dice_and_has_no_chance():
    game = LowestScore(3, 4, 3, 3)
    for to_tie, so_far in ((-1, 0), (2, 3), (0, game.max_score + 1)):
        assert policies.notebook_choice(game, to_tie, so_far, [1, 2], 1) == 2
        assert policies.win_or_tie_chance(game, to_tie, so_far, 0, 1) == 0
    assert policies.win_or_tie_chance(game, -1, 0, 2, 1) == 0
    assert policies.win_or_tie_chance(game, None, game.max_score + 1, 0, 0) == 1
    assert policies.notebook_choice(GAME, 3, 4, (6, 6), 2) == 2
    notebook = exactdice.evaluate("notebook", Task(GAME, 1, "notebook")).policy
    assert notebook.actions[GAME.encode(np.array([4, 1, 6, 0, 0, 0, 3, 2]))] == 1
