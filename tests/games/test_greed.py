"""The rules of Greed and the ways to play that its source tells of, against enumeration."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from by_hand import ByHand, section_7
from exactdice.baselines import Task
from exactdice.baselines.problem.equilibrium import equilibrium
from exactdice.core.plain import PlainRules, plain_rules
from exactdice.core.sampling import InverseLaws, draw
from exactdice.core.sweeps import Sweeps, sweeps_of
from exactdice.core.types import Stage
from exactdice.games import EXACT, FLOATS, Greed, present
from exactdice.games.greed import GreedSweeps, PlainGreed
from exactdice.games.greed.policies import if_else, terminal_rating, terminal_search
from exactdice.games.greed.sweeps import GreedBlock
from thinning import every_third

import exactdice

SMALL = [(1, 1), (1, 6), (4, 3), (6, 2)]
HALF = Fraction(1, 2)
#: What a tie pays to who takes the last turn and to who stopped before, by rule.
TIES = {"half": (HALF, HALF), "lost": (0, 0), "stopper": (0, 1), "chaser": (1, 0)}


RULES = [{}, {"max_dice": 3}, *({"tie": tie} for tie in TIES)]
#: Each rule in two sizes at once, and in all of them with the slow tests.
SIZED = [
    pytest.param(size, rules, marks=[pytest.mark.slow] * ((row + column) % 3 > 0))
    for row, size in enumerate(SMALL)
    for column, rules in enumerate(RULES)
]


@pytest.mark.parametrize(("size", "keywords"), every_third(SIZED))
def test_rules_in_plain_numbers_are_those_in_arrays(size, keywords):
    """In every state, for every action and every outcome."""
    game = Greed(*size, **keywords)
    plain, arrays = plain_rules(game), PlainRules(game)
    assert isinstance(plain, PlainGreed)
    for state, seat in product(range(game.num_states), (0, 1)):
        np.testing.assert_array_equal(plain.mask(state), arrays.mask(state), strict=True)
        seen = plain.observe(state, seat)
        np.testing.assert_array_equal(seen, arrays.observe(state, seat), strict=True)
        for action in np.flatnonzero(plain.mask(state)).tolist():
            ends = np.cumsum(game.laws[action])
            for chance in ((ends + np.append(0, ends[:-1])) / 2).tolist():  # one of each outcome
                found = plain.advance(seat, state, action, chance)
                move = arrays.advance(seat, state, action, chance)
                assert found._replace(seat=0, state=0) == move._replace(
                    seat=0, state=0, payoffs=tuple(move.payoffs), over=tuple(move.over)
                )
                assert all(found.over) or (found.seat, found.state) == (move.seat, move.state)


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize(("limit", "sides"), [*SMALL, (7, 12)])
def test_the_equilibrium_under_every_rule_for_ties_agrees_with_enumeration(limit, sides, tie):
    game = Greed(limit, sides, tie=tie)
    hand = ByHand(limit, sides, section_7(limit, sides), tie=TIES[tie])
    values, floats = (equilibrium(game, exact).values for exact in (True, False))
    for state, (own, other, last) in enumerate(game.observe(np.arange(game.num_states), 0)):
        pair = hand.ratings(0, int(own), int(other), int(last))
        for seat in (0, 1):
            for place, rating in ((seat, pair[0]), (1 - seat, pair[1])):
                assert values[seat][place, state] == rating
                assert floats[seat][place, state] == pytest.approx(float(rating), abs=1e-14)


def test_where_both_lose_a_tie_the_game_is_not_zero_sum():
    assert [Greed(5, 3, tie=tie).zero_sum for tie in TIES] == [True, False, True, True]
    task = Task(Greed(10, 3, tie="lost"))
    first, second = exactdice.expected_payoffs("optimal", task, exact=True)
    assert first + second < 1
    assert first == exactdice.solve(task, exact=True).value


def test_sampling_survives_the_largest_uniform_number():
    class Top:
        def random(self, size):
            return np.full(size, np.nextafter(1, 0))

    game = Greed(100, 6)
    dice = np.arange(game.num_actions)
    zeros = np.zeros_like(dice)
    outcomes = InverseLaws(game.laws).draw(dice, Top())
    assert (game.laws[dice, outcomes] > 0).all()
    assert (draw(game, zeros, dice, Top()) == outcomes).all()


def test_positions_and_moves_read_as_sentences():
    shown, seen = present(Greed()), np.array([57, 63, 0])
    last = shown.describe(np.array([1, 0, 1]))
    assert shown.describe(seen) == "57 points to 63"
    assert last == "1 point to 0, the last turn as the other has stopped"
    moves = [shown.describe_action(dice) for dice in (0, 1, 12)]
    assert moves == ["stops", "rolls 1 die", "rolls 12 dice"]
    told = [shown.tell(seen, dice, outcome) for dice, outcome in ((0, 0), (12, 43), (12, 44))]
    assert told == ["stops", "rolls 12 dice: 43", "rolls 12 dice: 44, bust with 101"]


@pytest.mark.parametrize("sizes", [(20, 6), (10, 6, 30)])
@pytest.mark.parametrize("player", [0, 1])
def test_floats_end_games_exactly_where_it_is_possible_and_keep_small_chances(sizes, player):
    """Differences of chances near 1 left 2e-16 for what is impossible, and 0 for what is not."""
    game = Greed(*sizes)

    def ends(arithmetic):
        stage = Stage(0, np.arange(game.num_states), np.ones(game.num_states))
        listed = GreedBlock(game, player, arithmetic).settled(stage)
        return {tuple(map(float, key)): chance for *key, chance in zip(*listed, strict=True)}

    floats, exact = ends(FLOATS), ends(EXACT)
    assert floats.keys() == exact.keys()
    assert all(abs(floats[key] / chance - 1) < 1e-14 for key, chance in exact.items())


class BustWins(Greed):
    def advance(self, seats, states, actions, outcomes):
        move = super().advance(seats, states, actions, outcomes)
        bust = self.scores(states)[0] + outcomes > self.max_score
        return move._replace(payoffs=np.where(bust[:, None], 1 - move.payoffs, move.payoffs))


def test_a_game_with_other_rules_is_not_swept_by_the_rules_that_it_inherits_from():
    game = BustWins(4, 3)
    assert type(sweeps_of(game)) is Sweeps
    assert type(sweeps_of(type("Renamed", (Greed,), {})(4, 3))) is GreedSweeps
    values = [exactdice.solve(Task(rules(4, 3))).value for rules in (BustWins, Greed)]
    assert values[0] > 0.8 > values[1]  # who is bust wins


def test_the_if_else_chain_follows_its_documented_thresholds():
    game, chosen = Greed(100, 6), if_else(Greed(100, 6))
    for observation, dice in (
        ([60, 50, 1], 0),  # ahead in the last turn
        ([50, 70, 1], 10),  # 35 points to the middle, 10 dice of 3.5
        ([95, 80, 0], 0),  # comfortably ahead
        ([0, 0, 0], 16),  # 16 dice cannot exceed 100
        *(([99, 100, 1], 1), ([95, 96, 0], 1), ([95, 95, 0], 0)),
    ):
        assert chosen[game.encode(np.array(observation))] == dice, observation


def test_section_5_is_optimal_in_every_last_turn_and_equation_1_is_the_recursion():
    game = Greed(100, 6)
    solution = exactdice.solve(Task(game))
    _, ratings = terminal_search(game)
    last = solution.values[0][game.num_states // 2 :]
    np.testing.assert_allclose(ratings.ravel(), last, atol=1e-12)
    game = Greed(10, 3)
    last, table = np.arange(121, 242), exactdice.evaluate("random", Task(game)).table
    for dice in range(game.num_actions):
        legal = game.mask(last)[:, dice]
        ratings = terminal_rating(game, dice).ravel()
        np.testing.assert_allclose(ratings[legal], table[last[legal], dice], atol=1e-14)
