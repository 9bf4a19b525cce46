"""Games are equal if their arguments have the same content, and do not change once made."""

import copy
import pickle
import random
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest
from exactdice.baselines import Task, solve
from exactdice.games import FourTwoOne, GameError, Greed
from small_games import Walk


class Weighted(Walk):
    """A walk whose coin shows 1 as often as the mean of some weights says."""

    def __init__(self, weights=(0.5,)):
        self.step, self.weights = 1, weights
        self.chance = Fraction(float(np.mean(np.asarray(weights, dtype=float))))
        self.laws = self.exact_laws().astype(float)

    def exact_laws(self):
        return np.array([[1 - self.chance, self.chance]], dtype=object)

    def __repr__(self):
        return "Weighted()"

    @cached_property
    def found_later(self):
        return 2 * self.step


def long(last):
    weights = np.full(2000, 0.25)
    weights[1000] = last
    return weights


class Opaque:
    """Equal to itself only, and shown as any other."""

    def __repr__(self):
        return "Opaque()"

    def __array__(self, dtype=None, copy=None):
        return np.array([0.5])


@dataclass(frozen=True)
class Pair:
    """Compared by what it holds, and shown as any other."""

    first: float = 0.5

    def __float__(self):
        return self.first

    def __repr__(self):
        return "Pair()"


APART = [
    (long(0.5), long(-1500.0)),
    (np.array([0.123456789]), np.array([0.1234567891])),
    (np.array([0.5]), np.array([[0.5]])),
    (np.array([0.5]), np.array([0.5], dtype=np.float32)),
    ([0.5], (0.5,)),
    ((1,), (1.0,)),
    ((1,), (True,)),
    ((np.array([0.0]),), (np.array([1.0]),)),
    ((Pair(0.25),), (Pair(0.5),)),
]


@pytest.mark.parametrize(("one", "other"), APART, ids=range(len(APART)))
def test_games_whose_arguments_differ_are_not_the_same(one, other):
    """They got each other's answers where ``repr`` shows no difference."""
    assert Weighted(one) != Weighted(other)
    for arguments in (one, other):
        game, again = Weighted(arguments), Weighted(copy.deepcopy(arguments))
        assert (again, hash(again)) == (game, hash(game))


class Forgets(Walk):
    def __init__(self, step=1, cells=4):
        self.step = step


@dataclass
class Plain(Walk):
    step: int = 1


REFUSED = [
    (Forgets, "kept as an attribute of its name: .*'cells'"),
    (Plain, "Plain must keep the __eq__ and __hash__ of Game"),
    (lambda: Walk(Opaque()), "step must be made of numbers, .*, got a Opaque"),
    (lambda: Walk(random.Random(0)), "step must be made of numbers, .*, got a Random"),
    (lambda: Walk((Opaque(),)), "step must be made of numbers, .*, got a Opaque"),
    (lambda: Walk([{"a": Opaque()}]), "step must be made of numbers, .*, got a Opaque"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_what_cannot_be_told_apart_is_refused(make, message):
    with pytest.raises(GameError, match=message):
        make()


def test_a_game_does_not_change():
    game = Weighted(np.array([0.5, 0.25]))
    with pytest.raises(GameError, match="chance must stay as it was when the game was made"):
        game.chance = Fraction(1)
    with pytest.raises(GameError, match="step must stay as it was when the game was made"):
        del game.step
    for array in (game.weights, game.laws, Walk().laws):
        with pytest.raises(ValueError, match="read-only"):
            array.flat[0] = 1
    assert game.found_later == 2  # cached properties go on working
    weights = np.array([0.5, 0.25])
    held = [weights]
    game, nested = Weighted(weights), Weighted(held)
    weights[0] = 1
    held.append(weights)  # the game has copies
    assert game == Weighted(np.array([0.5, 0.25]))
    assert nested == Weighted([np.array([0.5, 0.25])])


@pytest.mark.parametrize("weights", [[0.5], ([0.5],)])
def test_a_list_that_is_changed_in_place_is_found_out(weights):
    game = Weighted(weights)
    assert solve(Task(game, 0, "random")).value
    (game.weights if isinstance(game.weights, list) else game.weights[0]).append(0.25)
    with pytest.raises(GameError, match="weights must stay as it was when the game was made"):
        solve(Task(game, 0, "random"))


def test_copies_are_equal():
    arguments = [0.5, Pair(0.5), [0.5], np.array([0.25]), (np.float32(0.5),)]
    for game in (*map(Weighted, arguments), FourTwoOne(2, 2, 2, [[1, 2]] * 3), Greed(3)):
        for again in (copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
            assert (again, hash(again)) == (game, hash(game))
