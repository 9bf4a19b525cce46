"""Both arithmetics: what is multiplied by a scale inside a sweep."""

from fractions import Fraction

import numpy as np
import pytest
from exactdice.core.sweeps import sweeps_of
from exactdice.games import EXACT, FLOATS, FourTwoOne, Greed, LowestScore, Move, ShutTheBox, Stage
from small_games import Bare
from sweeping import backward

import exactdice

GAMES = [Greed(5, 3), ShutTheBox(4, 2, 3), LowestScore(2, 3, 2, 2), FourTwoOne(3, 2, 2, "set")]


def first_legal(game):
    def decide(stage, expected):
        chosen = game.mask(stage.states).argmax(axis=1)
        return expected[np.arange(len(chosen)), chosen]

    return decide


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_sweeps_compute_with_integers(game):
    """Where the values of actions are decided on, none is a fraction."""
    kinds = set()
    decide = first_legal(game)

    def look(stage, expected):
        kinds.update(map(type, expected[game.mask(stage.states)]))
        assert stage.scale.shape == stage.states.shape
        return decide(stage, expected)

    backward(sweeps_of(game), look, 0, EXACT)
    assert kinds == {int}


def test_values_are_compared_in_the_scale_of_a_stage():
    values = EXACT.values(1, 3)
    values.put((0, slice(None)), np.array([1, 2, 9], dtype=object), 6)
    for scale, wanted in ((6, [1, 2, 9]), (12, [2, 4, 18]), (1, [Fraction(1, 6), Fraction(1, 3)])):
        stage = Stage(0, np.arange(len(wanted)), np.full(len(wanted), scale, dtype=object))
        assert values.at_stage(stage).tolist() == wanted


def test_the_scale_of_whole_numbers_is_the_smallest():
    numbers = np.array([Fraction(1, 4), Fraction(5, 6), 2], dtype=object)
    whole, scale = EXACT.whole(numbers)
    assert (whole.tolist(), scale) == ([3, 10, 24], 12)
    assert FLOATS.whole(numbers.astype(float))[1] == 1


class Tosses(Bare):
    """Toss a coin 60 times; a head, with probability 1/3, pays 7."""

    name, num_players, num_states, num_actions, zero_sum = "Tosses", 1, 60, 1, False
    observation_sizes, observation_names, payoff_range = (60,), ("tosses",), (0.0, 420.0)
    laws = np.array([[1 / 3, 2 / 3]])

    def __init__(self, one):
        self.one = one

    def exact_laws(self):
        return np.array([[Fraction(self.one(n), self.one(3)) for n in (1, 2)]], dtype=object)

    def mask(self, states):
        return np.ones((len(states), 1), dtype=bool)

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
