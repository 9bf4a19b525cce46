"""The notebook's calculators and players; its own numbers are in ``test_claims``."""

from fractions import Fraction

import numpy as np
import pytest
from by_hand_turns import LowestScoreByHand
from exactdice.baselines import Task
from exactdice.games import LowestScore
from exactdice.games.lowest_score.policies import (
    beat_chance,
    beat_chance_of_roll,
    expected_score,
    expected_score_of_roll,
    notebook_choice,
    only3s,
    survival_chance,
    win_or_tie_chance,
)

import exactdice

GAME = LowestScore()


def test_known_expected_scores():
    known = ["3", "79/18", "2261/432", "544369/93312", "504205555/80621568"]
    assert [expected_score(GAME, dice) for dice in range(6)] == [0, *map(Fraction, known)]


@pytest.mark.parametrize("sizes", [(3, 6, 3), (4, 8, 8), (2, 5, 1)])
def test_expected_scores_and_chances_to_beat_of_other_sizes(sizes):
    game = LowestScore(*sizes)
    hand = LowestScoreByHand(*sizes, 1, "score", [None])
    for dice in range(1, game.dice + 1):
        assert expected_score(game, dice) == -hand.turn((), 0, dice)[0]
    roll = game.by_worth((1, game.faces))
    assert expected_score_of_roll(game, roll) == -hand.node((), 0, roll)[0]
    hand.payoffs = lambda totals: (Fraction(totals[0] < 4),)
    hand.turn.cache_clear()
    hand.node.cache_clear()
    assert beat_chance(game, 4, game.dice) == hand.turn(())[0]
    assert beat_chance_of_roll(game, 4, roll) == hand.node((), 0, roll)[0]


def test_goals_out_of_reach_and_goals_that_nobody_misses():
    assert beat_chance(GAME, 0, 3) == beat_chance_of_roll(GAME, -2, (3, 3)) == 0
    assert beat_chance(GAME, 100, 5) == beat_chance_of_roll(GAME, 31, (6,) * 5) == 1
    assert beat_chance(GAME, 1, 0) == 1
    assert survival_chance(GAME, 0, 7) == 1


def test_chance_to_win_or_tie_is_the_chance_to_beat_when_nobody_follows():
    for score in (1, 5, 12):
        assert win_or_tie_chance(GAME, score - 1, 0, 5, 0) == beat_chance(GAME, score, 5)
    assert win_or_tie_chance(GAME, None, 0, 5, 0) == 1
    assert win_or_tie_chance(GAME, 3, 4, 2, 0) == 0


def test_who_cannot_tie_any_more_keeps_everything():
    assert notebook_choice(GAME, 3, 4, (6, 6), 2) == 2
    policy = exactdice.evaluate("notebook", Task(GAME, 1, "notebook")).policy
    state = GAME.encode(np.array([[4, 1, 6, 0, 0, 0, 3, 2]]))
    assert policy.actions[state] == 1


def test_only_3s_keeps_zeros_or_the_lowest_die():
    game = LowestScore(4, 4, 2, 3)
    kept = only3s(game) + 1
    rows = game.observe(np.arange(game.num_states), 0)
    for row, number in zip(rows.tolist(), kept.tolist(), strict=True):
        assert number == max(1, row[1:5].count(2))


def test_every_seat_may_play_every_policy_of_the_source():
    line_up = ["notebook", "only3s", "random", "equilibrium"]
    chances = exactdice.expected_payoffs(line_up, Task(GAME))
    assert 1 <= sum(chances) < 1.3  # ties count for all
    assert chances[3] > chances[0] > chances[1] > chances[2]
    shared = LowestScore(3, 4, 2, 4, "share")
    assert sum(exactdice.expected_payoffs(line_up, Task(shared), exact=True)) == 1


def test_line_ups_of_the_wrong_length_are_named():
    with pytest.raises(ValueError, match="opponents or policies must be one or 3, got 2"):
        Task(GAME, 0, ["random", "random"])
    with pytest.raises(ValueError, match=r"must be for seats \[0, 2, 3\], got \[0, 1\]"):
        Task(GAME, 1, {0: "random", 1: "random"})
