"""The notebook *Dice Game*: its numbers, and OptimalBot against a transcription of its code."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from exactdice.baselines import Task
from exactdice.games import LowestScore
from exactdice.games.lowest_score.policies import notebook

import exactdice
from docs.reproductions.lowest_score import order, strategy


def test_the_winner_of_a_round_for_two_begins_the_next():
    """The seats' shares of the win, round by round of the table."""
    chain = order.moves_first_next(LowestScore(2, 3, 3), 2)
    shares = exactdice.expected_payoffs(
        "notebook", Task(LowestScore(2, 3, 3, 2, "share")), exact=True
    )
    assert chain.tolist() == [shares, shares[::-1]]
    assert sum(shares) == 1


def test_rerolling_two_dice_beside_a_1_by_enumeration():
    """The higher of two dice is rolled again if it is worth more than 3, the mean of one die."""
    worths = (1, 2, 0, 4, 5, 6)
    lower = equal = Fraction(0)
    for one, two, again, other in product(worths, repeat=4):
        low, high = sorted((one, two))
        total = low + (again if high > 3 else high)
        lower += Fraction(total < 1 + other, 6**4)
        equal += Fraction(total == 1 + other, 6**4)
    assert strategy.compare_rerolls(LowestScore()) == (lower, equal)


class Transcribed:
    """The notebook's calculators, cells 8 to 14, with its caches but without its messages."""

    def __init__(self, dice, faces, zero_face):
        self.num_dice, self.faces, self.zero_face = dice, faces, zero_face
        self.p_beat, self.p_beat_with_roll = cache(self._p_beat), cache(self._p_beat_with_roll)
        self.p_win_or_tie, self.choose_n = cache(self._p_win_or_tie), cache(self._choose_n)

    def worth(self, die):
        return 0 if die == self.zero_face else die

    def ordered(self, roll):
        return tuple(sorted(roll, key=self.worth))

    def rolls(self, dice):
        return [self.ordered(roll) for roll in product(range(1, self.faces + 1), repeat=dice)]

    def possible_cuts(self, ordered_roll):
        values = [self.worth(die) for die in ordered_roll]
        for cut in range(1, len(ordered_roll) + 1):
            yield cut, sum(values[:cut]), len(ordered_roll) - cut

    def _p_beat_with_roll(self, goal, roll):
        if goal <= 0:
            return 0
        if not roll:
            return 1
        return max(
            self.p_beat(goal - value, rerolled) for _, value, rerolled in self.possible_cuts(roll)
        )

    def _p_beat(self, goal, num_dice):
        if goal <= 0:
            return 0
        if num_dice == 0:
            return 1
        total, count = 0, 0
        for roll in self.rolls(num_dice):
            total += self.p_beat_with_roll(goal, roll)
            count += 1
        return total / count

    def p_winning(self, your_score, num_players):
        return (1 - self.p_beat(your_score, self.num_dice)) ** num_players

    def _p_win_or_tie(self, score_to_tie, score_so_far, dice_remaining, players_after):
        if score_to_tie is not None and score_to_tie < score_so_far:
            return 0
        if dice_remaining == 0:
            return self.p_winning(score_so_far, players_after)
        total, count = 0, 0
        for roll in self.rolls(dice_remaining):
            n, new_score = self.choose_n(score_to_tie, score_so_far, roll, players_after)
            total += self.p_win_or_tie(score_to_tie, new_score, dice_remaining - n, players_after)
            count += 1
        return total / count

    def _choose_n(self, score_to_tie, score_so_far, roll, players_after):
        if score_to_tie is not None and score_to_tie < score_so_far:
            return len(roll), score_so_far + sum(map(self.worth, roll))
        best_p, choice = -1, None
        for n, value, rerolled in self.possible_cuts(roll):
            p = self.p_win_or_tie(score_to_tie, score_so_far + value, rerolled, players_after)
            if p > best_p:
                best_p, choice = p, (n, score_so_far + value)
        return choice


def _decisions(game):
    """List what OptimalBot keeps in each state, after (score to tie, score so far, roll, after)."""
    kept = notebook(game) + 1
    observations = game.observe(np.arange(game.num_states), 0).tolist()
    for (total, *rest), number in zip(observations, kept.tolist(), strict=True):
        best, after = rest[game.dice :]
        to_tie = None if best > game.max_score else best
        yield (to_tie, total, tuple(filter(None, rest[: game.dice])), after), number


@pytest.mark.parametrize(
    "sizes",
    [(3, 6, 3, 3), (4, 4, 2, 3), (2, 8, 8, 4), pytest.param((5, 6, 3, 8), marks=pytest.mark.slow)],
)
def test_optimal_bot_plays_as_the_notebooks_code_in_every_state(sizes):
    code = Transcribed(*sizes[:3])
    for decision, number in _decisions(LowestScore(*sizes)):
        assert number == code.choose_n(*decision)[0], decision
