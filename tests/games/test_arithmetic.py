"""Both arithmetics: what is multiplied by a scale inside a sweep; the laws of sums of dice."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from exactdice.core.dice import sum_counts, sum_laws
from exactdice.core.sweeps import sweeps_of
from exactdice.games import EXACT, FourTwoOne, Greed, LowestScore, Move, ShutTheBox
from hypothesis import given, settings
from hypothesis import strategies as st
from small_games import Bare
from sweeping import backward

import exactdice

GAMES = [Greed(5, 3), ShutTheBox(4, 2, 3), LowestScore(2, 3, 2, 2), FourTwoOne(3, 2, 2, "set")]


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_sweeps_compute_with_integers(game):
    """Where the values of actions are decided on, none is a fraction."""
    kinds = set()

    def look(stage, expected):
        legal = game.mask(stage.states)
        kinds.update(map(type, expected[legal]))
        assert stage.scale.shape == stage.states.shape
        return expected[np.arange(len(legal)), legal.argmax(axis=1)]

    backward(sweeps_of(game), look, 0, EXACT)
    assert kinds == {int}


class Tosses(Bare):
    """Toss a coin 60 times; a head, with probability 1/3, pays 7."""

    name, num_players, num_states, num_actions, zero_sum = "Tosses", 1, 60, 1, False
    observation_sizes, observation_names, payoff_range = (60,), ("tosses",), (0.0, 420.0)
    laws = np.array([[1 / 3, 2 / 3]])

    def __init__(self, one):
        self.one = one

    def exact_laws(self):
        return np.array([[Fraction(self.one(n), self.one(3)) for n in (1, 2)]], dtype=object)

    def stages(self):
        return [(0, np.array([toss])) for toss in range(60)]

    def advance(self, seats, states, actions, outcomes):
        paid, over = np.where(outcomes == 0, 7.0, 0.0)[:, None], states[:, None] == 59
        return Move(seats, np.minimum(states + 1, 59), paid, over)

    def exact_advance(self, seats, states, actions, outcomes):
        move = self.advance(seats, states, actions, outcomes)
        paid = np.empty(move.payoffs.shape, dtype=object)
        paid.flat[:] = [Fraction(self.one(paid)) for paid in move.payoffs.ravel().astype(int)]
        return move._replace(payoffs=paid)


@pytest.mark.parametrize("one", [int, np.int64, np.int32])
def test_numpys_integers_become_pythons(one):
    """Inside a fraction they overflowed, with a warning at most."""
    found = exactdice.evaluate("random", exactdice.Task(Tosses(one)), exact=True)
    assert (found.value, found.variance) == (140, 60 * Fraction(2, 9) * 49)


@settings(max_examples=40)
@given(st.integers(1, 40), st.integers(1, 20))
def test_counts_agree_with_theorem_1(dice, sides):
    for total, count in enumerate(sum_counts(dice, sides)):
        terms = [
            (-1) ** k * comb(dice, k) * comb(total - sides * k - 1, dice - 1)
            for k in range((total - dice) // sides + 1)
        ]
        assert count == (sum(terms) if total >= dice else 0)


@settings(max_examples=40)
@given(st.integers(0, 60), st.integers(1, 20))
def test_float_laws_agree_with_counts(dice, sides):
    law = sum_laws(dice, sides)[dice]
    exact = [float(Fraction(count, sides**dice)) for count in sum_counts(dice, sides)]
    np.testing.assert_allclose(law[: len(exact)], exact, rtol=1e-13, atol=0)
    assert law.sum() == pytest.approx(1, abs=1e-13)


WRONG = [
    (-1, 6, "dice must be at least 0, got -1"),
    (1, 0, "sides must be at least 1, got 0"),
    (1.5, 6, r"dice must be an integer, got 1\.5"),
]


@pytest.mark.parametrize("function", [sum_counts, sum_laws])
@pytest.mark.parametrize(("dice", "sides", "message"), WRONG)
def test_bad_arguments_are_named(function, dice, sides, message):
    with pytest.raises(ValueError, match=message):
        function(dice, sides)
