"""The match of the lowest-score game; its values by hand are in ``test_random_sizes``."""

from fractions import Fraction

import numpy as np
import pytest
from exactdice.baselines import Task, expected_payoffs
from exactdice.games import LowestScoreMatch, present
from exactdice.games.lowest_score.policies import beat_chance_of_roll

import exactdice

GAME = LowestScoreMatch(players=3)


def given_away(policy, task):
    return exactdice.solve(task, exact=True).value - exactdice.evaluate(policy, task, True).value


def after_last_die(game, seat, wins, total, best, holder, turns_after):
    """Move on from a single die that is kept, which ends the turn."""
    seen = [total, 1, *[0] * (game.dice - 1), *wins, best, holder, turns_after, seat]
    state = game.encode(np.array([seen]))
    assert state[0] >= 0
    move = game.advance(np.array([seat]), state, np.array([0]), np.array([0]))
    return move, game.observe(move.states, int(move.seats[0]))[0, game.dice + 1 :].tolist()


@pytest.mark.parametrize(("starter", "begins"), [("winner", 2), ("next", 1), ("same", 0)])
def test_who_begins_the_next_round(starter, begins):
    """Seat 0 has begun the first round, and seat 2, the last to play, wins it with 3."""
    game = LowestScoreMatch(players=3, starter=starter)
    move, seen = after_last_die(game, 2, (0, 0, 0), 2, 4, 1, 0)
    assert move.seats.tolist() == [begins]
    wins = [int(seat == 2) for seat in range(3)]
    assert seen == [*wins[begins:], *wins[:begins], game.nothing, 0, 2, begins]


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


@pytest.mark.parametrize("tie", ["first", "last"])
def test_one_round_is_won_with_a_lower_total_or_a_tie_that_counts(tie):
    """Against two totals that are known, who plays last has to beat the lower one, or to tie."""
    game = LowestScoreMatch(4, players=3, wins=1, tie=tie)
    solution = exactdice.solve(Task(game, 2, "random"), exact=True)
    for best in range(1, 12):
        goal = best + 1 if tie == "last" else best
        seen = [0, 3, 1, 6, 6, 0, 0, 0, best, 2, 0, 2]
        chance = beat_chance_of_roll(game.round, goal, (3, 1, 6, 6))
        assert max(solution.action_values(np.array(seen))) == chance


def test_positions_and_moves_read_as_sentences():
    seen = np.array([1, 3, 1, 0, 0, 0, 0, 2, 1, 5, 2, 1, 0])
    begins = "0 rounds won to 2 of seat 1 and 1 of seat 2, 1 so far, rolled 3 1 (a 3 counts 0), "
    assert (
        present(GAME).describe(seen) == begins + "5 of seat 2 to equal or beat, one player to come"
    )
    first = LowestScoreMatch(players=3, tie="first")
    assert present(first).describe(seen) == begins + "5 of seat 2 to beat, one player to come"
    assert (present(GAME).describe_action(0), present(GAME).describe_move(seen, 0)) == (
        "keeps the lowest die",
        "keeps 3",
    )
    assert present(GAME).tell(seen, 1, 0) == "keeps 3 1: 2 in all"
    two = LowestScoreMatch()
    assert present(two).describe(np.array([0, 1, 1, 2, 5, 6, 1, 2, two.nothing, 0, 1, 1])) == (
        "1 round won to 2, 0 so far, rolled 1 1 2 5 6, nothing to beat yet, one player to come"
    )


def test_the_title_counts_the_rounds():
    titles = [present(LowestScoreMatch(1, 2, 1, 2, wins)).title for wins in (1, 2)]
    assert titles == ["The lowest score, one round", "The lowest score, first to 2 rounds"]


def test_a_match_of_one_round_is_told_without_a_next_round():
    match = LowestScoreMatch(2, 3, 3, wins=1)
    assert list(present(match).describe_rules())[-2:] == [
        "The lowest total wins it; of equal totals the last to be rolled wins.",
        "The winner of the round wins the match.",
    ]
    seen = np.array([0, 1, 2, 0, 0, match.nothing, 0, 1, 0])
    assert (
        present(match).describe(seen)
        == "0 so far, rolled 1 2, nothing to beat yet, one player to come"
    )
    labels = [row.label for row in present(match).board(0, seen, ("you", "other"))]
    assert labels == ["rolled", "kept so far", "lowest so far", "still to play"]
