"""Players of one round in the match of 421, against a computation that shares no code."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from by_hand_match import Match, Rules, in_phase, one_round, optimal
from exactdice.baselines import Task
from exactdice.baselines.policies.names import source_policy
from exactdice.baselines.problem.equilibrium import equilibrium
from exactdice.games import FourTwoOneMatch
from exactdice.games.four_two_one.match_policies import payoffs

import exactdice

AIMS = ["transfer", "net", "capped", "set"]
KEYWORDS = [
    {"tokens": 1},
    {"tokens": 1, "charge_casts": 2, "tie": "replay"},
    {"tokens": 2, "charge_casts": 1, "discharge_casts": 2, "starter": "same", "short_pot": "spill"},
]


@pytest.fixture(scope="module")
def equilibrium_of_default():
    return equilibrium(FourTwoOneMatch()).policies


@cache
def best_by_hand(**keywords):
    """Solve a match by hand, once for all tests."""
    return optimal(Match(Rules(**keywords)))


@pytest.mark.parametrize(
    ("aim", "keywords"),
    [
        pytest.param(aim, keywords, marks=pytest.mark.slow if number else [])
        for aim in AIMS
        for number, keywords in enumerate(KEYWORDS)
    ],
)
def test_a_player_of_one_round_wins_as_often_as_by_hand(keywords, aim):
    rules, task = Rules(**keywords), Task(FourTwoOneMatch(**keywords))
    by_hand = Match(rules, (one_round(rules, aim), best_by_hand(**keywords)))
    evaluation = exactdice.evaluate(aim, task, exact=True)
    assert evaluation.value == by_hand.value(0)
    states, law = task.game.initial_law()
    following = sum(law.tolist() * evaluation.values[1, states], Fraction(0))
    assert abs(following - (1 - by_hand.value(1))) < 1e-15  # of the law in floats


@pytest.mark.parametrize("phase", ["charge", "discharge"])
def test_a_player_of_one_round_in_one_phase_wins_as_often_as_by_hand(phase):
    keywords = {"tokens": 2, "charge_casts": 2, "discharge_casts": 2}
    rules, task = Rules(**keywords), Task(FourTwoOneMatch(**keywords))
    best = best_by_hand(**keywords)
    by_hand = Match(rules, (in_phase(phase, one_round(rules, "net"), best), best))
    assert exactdice.evaluate(f"net:{phase}", task, exact=True).value == by_hand.value(0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("aim", "loss", "to_best"),
    [
        ("transfer", 0.035135077284796, 0.036311986397289),
        ("net", 0.027053958029822, 0.027860991887823),
        ("capped", 0.022541633104445, 0.023645557860261),
        ("set", 0.124755277486903, 0.131839847147751),
    ],
)
def test_the_losses_of_the_default_match(aim, loss, to_best, equilibrium_of_default):
    game = FourTwoOneMatch()
    policy, (states, law) = source_policy(game, aim, 0), game.initial_law()
    wins = exactdice.evaluate(policy, Task(game, 0, {1: equilibrium_of_default[1]})).values
    assert 1 / 2 - (wins[:, states] @ law).mean() == pytest.approx(loss, abs=1e-12)
    beaten = exactdice.solve(Task(game, 0, {1: policy})).values
    assert (beaten[:, states] @ law).mean() - 1 / 2 == pytest.approx(to_best, abs=1e-12)


def test_what_a_round_pays_in_each_reading():
    game = FourTwoOneMatch()
    charge, discharge = game.phases
    number = {faces: place for place, faces in enumerate(charge.round.combinations)}
    high, low = number[1, 2, 4], number[1, 2, 2]
    assert set(payoffs(game, charge, "net")[low, high].tolist()) == {10}
    assert set(payoffs(game, charge, "net")[high, low].tolist()) == {-10}
    assert set(payoffs(game, charge, "net")[low, low].tolist()) == {1}  # ties lose who follows
    pots = game.token_states[: discharge.first_tokens, 0]
    assert (payoffs(game, charge, "capped")[low, high] == np.minimum(10, pots)).all()
    own, other = game.token_states[discharge.first_tokens :, 1:].T
    assert (payoffs(game, discharge, "capped")[low, high] == np.minimum(10, own)).all()
    assert (payoffs(game, discharge, "capped")[high, low] == -np.minimum(10, other)).all()
    assert (payoffs(FourTwoOneMatch(tie="replay"), charge, "set")[low, low] == 0).all()


def test_phases_have_two_names():
    with pytest.raises(ValueError, match="phase must be one of charge, discharge, got 'end'"):
        exactdice.evaluate("net:end", Task(FourTwoOneMatch(tokens=1)))


def test_one_token_has_no_discharge():
    game = FourTwoOneMatch(tokens=1)
    actions = source_policy(game, "net:discharge", 0).actions
    assert (actions == equilibrium(game).policies[0].actions).all()
