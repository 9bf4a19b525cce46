"""The scale of exploitability of policies that play both seats."""

from math import log10

import numpy as np
import pytest
from exactdice.baselines import Task, score_self_play
from exactdice.games import FourTwoOne, FourTwoOneMatch, Greed, LowestScore, ShutTheBox
from random_games import random_law

import exactdice

GAMES = [
    Greed(6, 3),
    Greed(4, 2),
    ShutTheBox(4, 2, 3),
    FourTwoOne(3, 2, 2, utility="set"),
    FourTwoOneMatch(2, faces=2, charge_casts=1, discharge_casts=2),
    FourTwoOneMatch(1, faces=2, charge_casts=2, discharge_casts=1, tie="replay"),
]


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_the_scale_of_exploitability_goes_from_random_play_to_the_equilibrium(game):
    task = Task(game, 1, "random")  # the opponent does not matter
    least, most = (score_self_play(name, task) for name in ("random", "equilibrium"))
    assert (least.normalized, most.normalized) == pytest.approx((0, 1), abs=1e-12)
    assert (least.nines, most.nines) == (pytest.approx(0), 9)
    assert least.random == pytest.approx(least.exploitability)
    assert sum(most.guaranteed) == pytest.approx(sum(game.payoff_range))
    table = random_law(game, np.random.default_rng(0)).argmax(axis=1)
    some = score_self_play(table, task)
    assert some.exploitability == pytest.approx(exactdice.exploitability(table, Task(game)))
    assert some.nines == pytest.approx(-log10(some.exploitability / least.exploitability))
    worst = [exactdice.best_response(table, Task(game, seat)) for seat in (0, 1)]
    assert some.guaranteed == pytest.approx(
        [sum(game.payoff_range) - reply.value_before_play for reply in worst]
    )


def test_where_every_move_is_forced_random_play_is_an_equilibrium():
    found = score_self_play("random", Task(Greed(1, 1, max_dice=0)))
    assert (found.exploitability, found.normalized, found.nines) == (0, 1, 9)


@pytest.mark.parametrize("game", [FourTwoOne(), LowestScore(2, 3, 3, 3)])
def test_exploitability_is_of_two_players(game):
    with pytest.raises(ValueError, match="game must be zero-sum with two players"):
        score_self_play("random", Task(game))
