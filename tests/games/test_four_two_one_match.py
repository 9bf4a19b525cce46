"""The match of 421 and its players of one round, against a second computation by hand."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from by_hand_match import Match, Rules, in_phase, one_round, optimal
from exactdice.baselines import Task, occupancy, solve
from exactdice.baselines.policies.names import source_policy
from exactdice.baselines.problem.equilibrium import equilibrium
from exactdice.core.sweeps import Sweeps, sweeps_for
from exactdice.games import FourTwoOne, FourTwoOneMatch, present
from exactdice.games.four_two_one.match_policies import payoffs
from small_games import SMALL
from thinning import later

import exactdice

match = cache(FourTwoOneMatch)
#: Keywords that change one rule of the default match.
RULES = {"starter": ["winner", "alternate", "same"], "tie": ["replay"], "short_pot": ["spill"]}
RULES |= {"four_two_one": [8, 11], "charge_casts": [1, 2], "discharge_casts": [1, 2]}
VARIANTS = [{name: value} for name, values in RULES.items() for value in values]
VARIANTS += [{"tokens": 21}]


class Listed(FourTwoOneMatch):
    """A match whose moves are listed one by one."""


sweeps_for(Listed)(Sweeps)


@pytest.mark.parametrize("size", SMALL["FourTwoOneMatch"])
def test_blocks_sweep_as_listed_ones_do(size):
    """Values and visits, with the opponent free and at random."""
    game, listed = FourTwoOneMatch(**size), Listed(**size)
    for seat, opponent in ((0, "optimal"), (1, "random")):
        ours, theirs = Task(game, seat, opponent), Task(listed, seat, opponent)
        np.testing.assert_allclose(solve(ours).values, solve(theirs).values, atol=1e-14)
        met, wanted = (occupancy("random", task) for task in (ours, theirs))
        np.testing.assert_allclose(met, wanted, atol=1e-14)


CASTS = {"charge_casts": 2, "discharge_casts": 2}


@pytest.mark.parametrize(
    ("tokens", "variant"),
    [
        later((1, {"charge_casts": 2, "tie": "replay"})),
        (2, CASTS | {"starter": "winner", "four_two_one": 1}),
        later((2, CASTS | {"starter": "same", "short_pot": "spill"})),
        *[pytest.param(n, {"tie": "replay"}, marks=pytest.mark.slow) for n in (1, 2)],
    ],
)
def test_small_matches_are_worth_what_they_are_by_hand(tokens, variant):
    """Exactly, in every token state, of a computation that shares no code."""
    game = FourTwoOneMatch(tokens=tokens, **variant)
    by_hand = Match(Rules(tokens=tokens, **variant))
    assert solve(Task(game), exact=True).value == by_hand.value()
    values = equilibrium(game, exact=True).values[0]
    for number, (pot, own, other) in enumerate(game.token_states.tolist()):
        phase = game.phases[0 if pot else -1]
        firsts, law = phase.round.initial_law()
        inside = number - phase.first_tokens
        begun = phase.first_state + inside * phase.round.num_states + firsts
        assert (values.at(0, begun) * law).sum() == by_hand.values[0, (pot, own, other)]


@pytest.mark.slow
def test_the_default_match_is_solved_exactly():
    """A fraction that is a fixed point in integers, and the one by hand."""
    value = solve(Task(FourTwoOneMatch()), exact=True).value
    assert float(value) == 0.558056165827787875623643
    assert value == Match(Rules()).value()
    assert [len(str(part)) for part in (value.numerator, value.denominator)] == [237, 237]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_is_worth_what_it_is_by_hand(variant):
    game = FourTwoOneMatch(**variant)
    solution = solve(Task(game))
    value = float(Match(Rules(**variant), exact=False).value())
    assert solution.value == pytest.approx(value, abs=solution.error_bound + 1e-11)


REPLAYED = [{"tokens": 3, "tie": "replay", "starter": begins} for begins in ("winner", "alternate")]


@pytest.mark.parametrize("variant", [{}, *VARIANTS[:7], *REPLAYED], ids=str)
def test_rounds_are_settled_as_by_hand(variant):
    """Whoever wins, whatever the pot: tokens, the end of the match, and who begins the next one."""
    game, rules = match(charge_casts=1, discharge_casts=1, **variant), Rules(**variant)
    rng = np.random.default_rng(0)
    for phase in game.phases:
        results, tokens = phase.round.combinations, phase.tokens.tolist()
        for at in rng.integers((len(tokens), len(results), len(results)), size=(500, 3)).tolist():
            over, follower_wins, follower_begins, then = (table[*at] for table in phase.settlement)
            found = int(not follower_wins)
            if not over:
                found = not follower_begins, tuple(game.token_states[then].tolist())
            number, own, to_beat = at
            assert found == rules.after(tuple(tokens[number]), results[to_beat], results[own])


def test_a_position_of_the_default_match_reads_as_a_sentence():
    game = match()
    assert (len(game.token_states), game.num_states) == (76, 76 * 61_824)
    assert (game.token_states[:, 0] == 0).sum() == 10
    shown, every = present(game), len(game.phases[0].round.subsets) - 1
    first = np.array([11, 0, 0, 0, 0, 1, 2, 4, 1, 0, 56])
    seen = np.array([0, 3, 8, 0, 0, 1, 4, 4, 2, 3, 55])
    last = np.array([0, 1, 10, 0, 0, 1, 4, 4, 1, 1, 54])
    state = game.encode(np.array([[0, 3, 8, 1, 0, 4, 4, 0, 2, 0, 56]]))
    assert state[0] >= 0
    assert [*map(shown.describe, (game.observe(state, 0)[0], first, seen, last))] == [
        "discharge, 3 tokens to 8, second cast: 4 4 beside 1",
        "charge, 11 in the pot, 0 tokens to 0, first cast: 4 2 1 beside nothing",
        "discharge, 3 tokens to 8, second cast: 4 4 1 beside nothing, 4 2 1 in three casts to beat",
        "discharge, 1 token to 10, first cast: 4 4 1 beside nothing, 1 1 1 in one cast to beat",
    ]
    assert shown.tell(last, every, 0) == "puts aside 4 4 1: 4 4 1 in one cast"
    assert shown.describe_move(seen, 0) == "puts aside nothing"
    assert shown.describe_move(seen, every) == "puts aside 4 4 1"


def test_the_table_of_worths_lists_what_each_combination_is_worth():
    table = present(FourTwoOneMatch(1, four_two_one=8)).worth_table()
    assert table[:3] == [("4 2 1", "8 tokens"), ("1 1 1", "7 tokens"), ("6 1 1, 6 6 6", "6 tokens")]
    assert table[-2] == ("2 1 1, 2 2 2, 6 5 4, 5 4 3, 4 3 2, 3 2 1", "2 tokens")
    assert table[-1] == ("all others", "1 token")
    order = [words for words, _ in present(FourTwoOne(utility="set")).worth_table()]
    assert order[:2] == ["4 2 1", "1 1 1"]
    assert order[3] == "6 5 4, 5 4 3, 4 3 2, 3 2 1"
    assert present(FourTwoOne(utility="sum")).worth_table() == ()


AIMS = ["transfer", "net", "capped", "set"]
SAME = {"charge_casts": 1, "discharge_casts": 2, "starter": "same", "short_pot": "spill"}
LATER = [{}, {"charge_casts": 2, "tie": "replay"}, {"tokens": 2} | SAME]
KEYWORDS = [{"tokens": 1, "charge_casts": 2}]
KEYWORDS += [pytest.param({"tokens": 1} | rules, marks=pytest.mark.slow) for rules in LATER]


@cache
def best_by_hand(**keywords):
    return optimal(Match(Rules(**keywords)))


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("keywords", KEYWORDS)
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
    keywords = {"tokens": 2, "charge_casts": 1, "discharge_casts": 1}
    rules, task = Rules(**keywords), Task(FourTwoOneMatch(**keywords))
    best = best_by_hand(**keywords)
    by_hand = Match(rules, (in_phase(phase, one_round(rules, "net"), best), best))
    assert exactdice.evaluate(f"net:{phase}", task, exact=True).value == by_hand.value(0)


#: What a player of one round loses in the default match, and to the player who plays to beat it.
LOSSES = [
    ("transfer", 0.035135077284796, 0.036311986397289),
    ("net", 0.027053958029822, 0.027860991887823),
    ("capped", 0.022541633104445, 0.023645557860261),
    ("set", 0.124755277486903, 0.131839847147751),
]


@pytest.mark.slow
@pytest.mark.parametrize(("aim", "loss", "to_best"), LOSSES)
def test_the_losses_of_the_default_match(aim, loss, to_best):
    game = FourTwoOneMatch()
    policy, (states, law) = source_policy(game, aim, 0), game.initial_law()
    wins = exactdice.evaluate(policy, Task(game, 0, {1: equilibrium(game).policies[1]})).values
    assert 1 / 2 - (wins[:, states] @ law).mean() == pytest.approx(loss, abs=1e-12)
    beaten = exactdice.solve(Task(game, 0, {1: policy})).values
    assert (beaten[:, states] @ law).mean() - 1 / 2 == pytest.approx(to_best, abs=1e-12)


def test_what_a_round_pays_in_each_reading():
    game = FourTwoOneMatch()
    charge, discharge = game.phases
    high, low = map(charge.round.combinations.index, ((1, 2, 4), (1, 2, 2)))
    net = payoffs(game, charge, "net")
    found = [set(net[at].tolist()) for at in ((low, high), (high, low), (low, low))]
    assert found == [{10}, {-10}, {1}]  # ties lose who follows
    pots = game.token_states[: discharge.first_tokens, 0]
    assert (payoffs(game, charge, "capped")[low, high] == np.minimum(10, pots)).all()
    own, other = game.token_states[discharge.first_tokens :, 1:].T
    capped = payoffs(game, discharge, "capped")
    assert (capped[low, high] == np.minimum(10, own)).all()
    assert (capped[high, low] == -np.minimum(10, other)).all()
    assert (payoffs(FourTwoOneMatch(tie="replay"), charge, "set")[low, low] == 0).all()


def test_one_token_is_the_set_with_ties_lost_and_its_discharge_a_name_of_no_phase():
    game = FourTwoOneMatch(tokens=1)
    assert solve(Task(game), exact=True).value == Fraction(16789720505, 26121388032)
    actions = source_policy(game, "net:discharge", 0).actions
    assert (actions == equilibrium(game).policies[0].actions).all()
    with pytest.raises(ValueError, match="phase must be one of charge, discharge, got 'end'"):
        source_policy(game, "net:end", 0)
