"""Scores: regret and its parts, in sentences too, and the scale of exploitability of self-play."""

from math import log10

import gymnasium as gym
import numpy as np
import pytest
from checkout import ROOT
from exactdice.baselines import Task, make_task, score_self_play
from exactdice.baselines.scoring.figure import nines
from exactdice.baselines.scoring.summary import lost, pays_wins, result, summary, worst_part
from exactdice.games import FourTwoOne, FourTwoOneMatch, Greed, LowestScore, ShutTheBox
from random_games import random_law

import exactdice


def test_a_blunder_says_what_happened():
    env = gym.make("exactdice/Greed-v0", max_score=10, sides=3)
    table = exactdice.solve(env).policy.actions.copy()
    table[0] = 3  # the opening move, which is always met
    (blunder,) = exactdice.score(table, env).blunders()
    assert blunder.observation == (0, 0, 0)
    assert (blunder.action, blunder.best_action, blunder.occupancy) == (3, 1, 1)
    assert blunder.best_value == exactdice.solve(env).value
    assert blunder.cost == pytest.approx(blunder.best_value - blunder.value, abs=1e-15)


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
    worst = [exactdice.best_response(table, Task(game, seat)).value_before_play for seat in (0, 1)]
    assert some.guaranteed == pytest.approx(sum(game.payoff_range) - np.array(worst))


def test_nines_count_the_nines_of_a_normalised_score_which_is_1_if_every_move_is_forced():
    found = [nines(normalized) for normalized in (0.0, 0.9, 0.999, -9.0, 1 - 2e-9, 1.0)]
    assert found == pytest.approx([0, 1, 3, -1, 8.69897, 9], abs=1e-6)
    forced = score_self_play("random", Task(Greed(1, 1, max_dice=0)))
    assert (forced.exploitability, forced.normalized, forced.nines) == (0, 1, 9)


@pytest.mark.parametrize("game", [FourTwoOne(), LowestScore(2, 3, 3, 3), Greed(4, 3, tie="lost")])
def test_exploitability_is_of_two_players_who_play_for_the_same_stake(game):
    for ask in (score_self_play, exactdice.exploitability):
        with pytest.raises(ValueError, match="game must be zero-sum with two players"):
            ask("random", Task(game))


GREED = make_task("Greed", max_score=30)


def erring(task, condition):
    """Score a policy that is optimal but where ``condition`` holds of the observations."""
    states, best = np.arange(task.game.num_states), exactdice.solve(task).policy.actions
    errs = condition(task.game.observe(states, 0)) & task.game.mask(states)[:, 0]
    return exactdice.score(np.where(errs, 0, best), task)


PARTS = [
    (lambda seen: seen[:, 2] == 1, "last turns"),
    (lambda seen: seen[:, 0] >= 20, "own score 20 to 25"),  # from 26 on, stopping is best
    (lambda seen: (seen[:, 1] >= 6) & (seen[:, 1] <= 8), "other's score 6 to 8"),
]


@pytest.mark.parametrize(("condition", "words"), PARTS)
def test_the_part_where_a_policy_errs_is_found(condition, words):
    part = worst_part(erring(GREED, condition))
    assert words in part.words
    assert part.regret > 0.75
    assert part.decisions < part.regret - 0.4


def test_a_game_without_a_map_is_divided_by_what_the_agent_observes(own_games):
    own_games(f"{ROOT / 'examples/pig.py'}:Pig")
    scored = exactdice.score("hold:4", make_task("Pig", target=10, sides=4))
    assert any(name in worst_part(scored).words for name in scored.task.game.observation_names)


def test_a_summary_says_how_good_and_what_to_mend():
    good, mend = summary(exactdice.score("if_else", make_task("Greed")))
    way, loss = good.split(": ")
    assert way == "It goes 74.1 % of the way from random play to the optimum"
    assert loss == "it loses 86 wins in a thousand games."
    assert mend.startswith("44 % of that is lost in 29 % of its decisions: those with own score")
    first = summary(exactdice.score("random", GREED))[0]
    assert first.startswith("It plays as well as uniformly random play: it loses ")
    (best,) = summary(exactdice.score("optimal", GREED))
    assert best == "It is optimal: no decision costs anything."
    (good, _) = summary(exactdice.score("notebook", make_task("LowestScore")))
    assert "99.9" in good  # not 100


def test_wins_are_of_games_that_one_wins_from_others():
    assert pays_wins(Greed())
    assert pays_wins(ShutTheBox(tiles=3))
    assert not pays_wins(FourTwoOne(utility="goal:421"))
    assert not pays_wins(LowestScore(objective="score", players=2))
    assert [result(payoff, Greed()) for payoff in (1, 0.5, 0)] == ["win", "tie", "loss"]
    assert result(1.0, FourTwoOne()) == "1"
    assert lost(0.0008, Greed()) == "0.8 wins in a thousand games"
    assert lost(2.06, FourTwoOne()) == "a payoff of 2.1 a game"
