"""Payoffs that add up: moves that pay before the end.

Values and variances of such games are those of the listing: ``tests/test_testing.py``.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from exactdice.baselines import (
    Task,
    evaluate,
    outcome_distribution,
    score,
    solve,
)
from exactdice.core.moves import extremes
from exactdice.games import EXACT, FourTwoOneMatch, GameError, InputError, LowestScoreMatch
from random_games import RandomGame
from small_games import Coins, Rounds


@pytest.mark.parametrize(
    "game",
    [
        LowestScoreMatch(2, 2, 1, 2, wins=2),
        FourTwoOneMatch(2, faces=2, charge_casts=1, discharge_casts=2),
    ],
    ids=lambda game: game.name,
)
def test_the_sweep_for_variances_agrees_with_the_law_in_cycles(game):
    for seat in range(game.num_players):
        found = evaluate("random", Task(game, seat, "random"), exact=True)
        assert found._variance_of_sum() == found.variance


ROUNDS = [Rounds(), Rounds(2, 4), Rounds(2, 4, Fraction(-1)), Rounds(3, 4, Fraction(-1, 3))]


@pytest.mark.parametrize("game", ROUNDS, ids=repr)
def test_the_range_of_turns_that_pay_is_that_of_the_listing(game):
    low, high = [], []
    for seat in range(game.num_players):
        least, most = extremes(game, seat, EXACT)
        low += [least[stage].min() for stage in game.stages()]
        high += [most[stage].max() for stage in game.stages()]
    assert game.exact_range == (min(low), max(high))
    assert game.zero_sum == (game.others == -1)


def test_solitaire_rounds_by_hand():
    """Of one turn faces 2 and 3 are kept: 1, 2 and 3 come with 1/16, 1/2 + 1/8 and 1/4 + 1/16."""
    best = solve(Task(Rounds(turns=1)), exact=True)
    law = {1: Fraction(1, 16), 2: Fraction(10, 16), 3: Fraction(5, 16)}
    assert best.value == Fraction(9, 4)
    assert best.variance == sum((face - best.value) ** 2 * chance for face, chance in law.items())
    assert Rounds().exact_range == (1, 4 + 4 + 6)  # two faces of 2 make the 3 count twice


def test_turns_in_cycles_pay_only_what_they_settle():
    class Endless(Rounds):
        has_cycles = True

        def _leg(self, number):
            leg = super()._leg(number)
            return replace(leg, blocks=np.zeros(2, dtype=int))

    with pytest.raises(GameError, match="a result of a game with cycles must pay nothing where no"):
        Endless()


def test_there_is_no_law_of_totals():
    task = Task(RandomGame(0, 1, has_cycles=False, pays=True))
    assert score("random", task).outcomes is None
    assert score("random", task).as_dict()["outcomes"] is None
    with pytest.raises(InputError, match="game must pay at its end alone .* of Random Game does"):
        outcome_distribution("random", task)


def test_coins_by_hand():
    best = solve(Task(Coins()), exact=True)
    assert best.value == 20
    assert best.variance == sum(Fraction(3 * k + 4, 2) ** 2 for k in range(5))
    assert best.action_values([1]).tolist() == [Fraction(2 + 33, 2), Fraction(5 + 33, 2)]
    take = score(np.zeros(5, dtype=int), Task(Coins()))
    assert (take.value, take.regret) == (7.5, 12.5)
    assert take.deviation == pytest.approx(sum((k + 1) ** 2 / 4 for k in range(5)) ** 0.5)
    assert take.costs == pytest.approx([k + 1 - 0.5 for k in range(5)])


def test_an_illegal_action_pays_what_is_worst_from_there_on():
    class Held(Coins):
        def mask(self, states):
            return np.stack([states >= 0, states != 2], axis=1)

    dares = evaluate(np.ones(5, dtype=int), Task(Held()), masked=False, exact=True)
    assert dares.value == Fraction(1) + Fraction(5, 2) - 5
    assert dares.variance == sum(Fraction(3 * k + 4, 2) ** 2 for k in range(2))
