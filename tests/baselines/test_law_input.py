"""Laws as people give them: which fraction a float stands for, and every form of a table."""

import re
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
import scipy.sparse
import torch
from exactdice.baselines.law.numbers import DENOMINATOR, plain_law, rational
from exactdice.envs import GameEnv
from exactdice.games import InputError
from hypothesis import example, given
from hypothesis import strategies as st

import exactdice

#: (action, state, next state) and (state, action); and the value of its optimum at gamma .9.
MOVES = np.array([[[0.5, 0.5], [0, 1]], [[1, 0], [0, 1]]])
PAID = np.array([[1.0, 0.0], [2.0, 0.0]])
VALUE = Fraction(200, 11)
#: What is paid by each move, (action, state, next state).
EACH = np.broadcast_to(PAID.T[:, :, None], MOVES.shape)
SPARSE = [
    getattr(scipy.sparse, kind + end)
    for kind in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    for end in ("_array", "_matrix")
]


def value(law, initial=0, **options):
    return exactdice.solve(exactdice.from_P(law, initial, **options), exact=True).value


def test_a_float_stands_for_the_number_that_its_author_means():
    for number, text in (
        *((1e15 + 0.5, "1000000000000000.5"), (100000000.00003, "100000000.00003")),
        *((14 / 17, "14/17"), (1 / 999983, "1/999983"), (0.1 + 0.2, "3/10")),
        *((1e-20, "1e-20"), (5e-324, "5e-324"), (2.0**-30, "1/1073741824"), (2.0**70, str(2**70))),
    ):
        assert (rational(number), rational(-number)) == (Fraction(text), -Fraction(text))


@given(st.integers(-(10**12), 10**12), st.integers(1, DENOMINATOR))
@example(1, 999983)
def test_floats_of_small_fractions_stand_for_them(above, below):
    fraction = Fraction(above, below)
    if fraction.denominator * max(abs(fraction.numerator), fraction.denominator) < DENOMINATOR**2:
        found = rational(float(fraction))
        assert found in (fraction, Fraction(f"{float(fraction):.12g}"))
        assert found == fraction or fraction.denominator > 9000  # no short decimal is so near


@given(st.integers(-(10**12) + 1, 10**12 - 1), st.integers(-40, 40))
def test_floats_of_short_decimals_stand_for_them(digits, exponent):
    assert rational(float(f"{digits}e{exponent}")) == digits * Fraction(10) ** exponent


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(3.0000000000000004)
@example(4.234567890123456e-309)
def test_every_float_is_next_to_its_fraction(number):
    most = abs(Fraction(number)) / 2**49 + Fraction(1, 2**1074)
    assert abs(rational(number) - Fraction(number)) <= most


def test_sums_of_coarse_floats_become_one():
    chances = np.array([0.123456789, 1 - 0.123456789 - 3e-7], dtype=np.float32)
    assert sum(plain_law(chances)) == 1
    assert plain_law(np.array([0.25, 0.7], dtype=np.float32)) == [Fraction(1, 4), Fraction(7, 10)]


FORMS = {
    "lists": MOVES.tolist(),
    "generator": (matrix for matrix in MOVES.tolist()),
    "fractions": [[[Fraction(1, 2), Fraction(1, 2)], [0, 1]], [[1, 0], [0, 1]]],
    "float32": MOVES.astype(np.float32),
    "objects": MOVES.astype(object),
    "tensor": torch.tensor(MOVES, dtype=torch.float32, requires_grad=True),
    "eye": [scipy.sparse.csr_array(MOVES[0]), scipy.sparse.eye_array(2)],
    "twice": [
        scipy.sparse.coo_array(([0.25, 0.25, 0.5, 1], ([0, 0, 0, 1], [0, 0, 1, 1])), shape=(2, 2)),
        scipy.sparse.eye_array(2, dtype=bool),
    ],
    **{kind.__name__: [kind(matrix) for matrix in MOVES] for kind in SPARSE},
}


@pytest.mark.parametrize("form", FORMS)
def test_matrices_in_every_form(form):
    assert value(FORMS[form], gamma=0.9, rewards=PAID) == VALUE


REWARDS = {
    "(state,)": PAID[:, 0],
    "rows": list(PAID),
    "lists": PAID.tolist(),
    "fractions": [[Fraction(1), 0], [2, 0]],
    "float32": PAID.astype(np.float32),
    "tensor": torch.tensor(PAID),
    "sparse": scipy.sparse.coo_array(PAID),
    "each": EACH,
    "some sparse": [scipy.sparse.dia_array(EACH[0]), EACH[1]],
    **{kind.__name__: [kind(paid) for paid in EACH] for kind in SPARSE},
}


@pytest.mark.parametrize("form", REWARDS)
def test_rewards_in_every_form(form):
    assert value(MOVES, gamma=0.9, rewards=REWARDS[form]) == VALUE


def test_a_law_in_several_forms_is_one_game():
    given = MOVES, [*map(scipy.sparse.csr_array, MOVES)], np.asfortranarray(MOVES)
    games = [exactdice.from_P(law, 0, rewards=PAID, gamma=0.9).game for law in given]
    assert games[0] == games[1] == games[2] != exactdice.from_P(MOVES, 0, 0.8, rewards=PAID).game


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    names = {"index": ["a", "b"], "columns": ["a", "b"]}
    frames = [pandas.DataFrame(matrix, **names) for matrix in MOVES]
    assert value(frames, gamma=0.9, rewards=pandas.DataFrame(PAID)) == VALUE
    assert value(MOVES, pandas.Series([1.0, 0.0]), gamma=0.9, rewards=frames[0] @ PAID) > 0


def test_coarse_floats_of_matrices_stand_for_fractions():
    chances = np.array([[[1 / 3, 2 / 3], [0, 1]]], dtype=np.float32)
    law = exactdice.from_P(chances, 0, np.float32(0.9), rewards=np.array([0.1, 0], np.float32))
    assert exactdice.solve(law, exact=True).value == Fraction(1, 10) / (1 - Fraction(3, 10))


def test_numbers_of_numpy_and_fractions_in_a_dictionary_are_exact():
    third, tiny = Fraction(np.int64(1), np.int64(3)), Fraction(1, 10**9 + 7)
    ways = [(third, 0, tiny, np.True_), (np.float32(2 / 3), 1.0, np.int64(0), 1)]
    law = {np.int64(0): {0: ways}, 1: {0: [(1, 0, 0, False), (0.0, None, None, None)]}}
    assert value(law, np.int64(0)) == tiny / 3


END = [(1, 0, 0, True)]
#: What is given for the outcomes of action 0 in state 0, and what is shown of it.
CELLS = [(None, "None"), ("ends", "'ends'"), ([(1, 0, 0)], "(1, 0, 0)")]
CELLS += [
    ([way], str(way))
    for way in [
        *[(None, 0, 0, True), (1, 0.9, 0, True), (1, [0], 0, True), (1, 0, "1", True)],
        *[(1, 0, float("inf"), True), (1, 0, 0, "False"), (1, 0, 0, 2)],
    ]
]
LAWS = [
    ({}, "P must have the states 0 to 0, got [] ..."),
    ({0: {0: END}, "end": {0: END}}, "P must have the states 0 to 1, got [0, 'end'] ..."),
    ({0: None}, "P must have the actions 0 to 0 in each state, got None in state 0"),
    ({0: {}}, "P must have the actions 0 to 0 in each state, got [] in state 0"),
    ({0: {0: END, "up": END}}, "actions 0 to 1 in each state, got [0, 'up'] in state 0"),
    *[({0: {0: cell}}, f"got {shown} for action 0 in state 0") for cell, shown in CELLS],
    ([], "for each action a matrix of shape (state, next state), got 0 of shapes []"),
    (5, "for each action a matrix of shape (state, next state), got 1 of shapes [()]"),
    (MOVES[0], "got 2 of shapes [(2,), (2,)]"),
    ([np.eye(2), np.eye(3)], "got 2 of shapes [(2, 2), (3, 3)]"),
    ([[[None, 1], [0, 1]]], "P must be numbers from -1e+300 to 1e+300, got None"),
    ([[["a", "b"], ["c", "d"]]], "P must be numbers, got <U1 of shape (2, 2)"),
    ([[[1.0], [1.0, 2.0]]], "P must be numbers in rows of one length"),
    ("FrozenLake-v1", "P must be numbers, got <U13 of shape ()"),
    (None, "P must be numbers, got nothing (None)"),
    ([np.full((2, 2), np.nan)], "probabilities must be from 0 to 1, got nan for action 0"),
]


@pytest.mark.parametrize(("law", "said"), LAWS)
def test_laws_of_other_forms_are_named(law, said):
    rewards = None if isinstance(law, dict) else [0, 0]
    with pytest.raises(InputError, match=re.escape(said)):
        exactdice.from_P(law, 0, rewards=rewards)


OPTIONS = [
    ({"initial": "a"}, "initial must be numbers, got <U1 of shape ()"),
    ({"initial": [None, 1]}, "initial must be numbers from -1e+300 to 1e+300, got None"),
    ({"initial": 0.5}, "initial must be a state from 0 to 1, got 0.5"),
    ({"initial": {0: 1}}, "initial must be numbers, got object"),
    ({"gamma": ".5"}, "gamma must be a number from 0 to 1, got '.5'"),
    ({"gamma": float("nan")}, "gamma must be a number from 0 to 1, got nan"),
    ({"horizon": 5.0}, "horizon must be an integer of at least 1, got 5.0"),
    ({"legal": [1, 1]}, "legal must be of shape (2, 2), got (2,)"),
    ({"legal": [[1, 0.5], [1, 1]]}, "legal must be True or False, got 1.0 0.5 1.0 1.0"),
    ({"title": 5}, "title must be a text, got 5"),
    ({"rewards": [None, 1]}, "rewards must be numbers from -1e+300 to 1e+300, got None"),
    ({"rewards": [[10**400, 0], [0, 0]]}, "rewards must be numbers from -1e+300 to 1e+300"),
    ({"rewards": [float("inf"), 0]}, "rewards must be from -1e+300 to 1e+300, got inf"),
    ({"rewards": [*map(scipy.sparse.eye_array, (2, 3))]}, "or (2, 2, 2), got (2, 3, 3)"),
]


@pytest.mark.parametrize(("options", "said"), OPTIONS)
def test_arguments_of_other_kinds_are_named(options, said):
    with pytest.raises(InputError, match=re.escape(said)):
        exactdice.from_P(MOVES, **{"initial": 0, "rewards": PAID, **options})


def test_environments_of_this_project_have_a_law_too():
    env = gym.make("exactdice/Greed-v0", max_score=4, max_dice=3, opponent="random")
    law = exactdice.from_P(env)
    assert exactdice.solve(law).value == pytest.approx(exactdice.solve(env).value, abs=1e-12)
    assert law.game.title.startswith("exactdice/Greed-v0, game Greed")
    with pytest.raises(InputError, match="P needs at most 20000 pairs of state and action"):
        exactdice.from_P(GameEnv("Greed"))


def test_an_environment_with_a_law_alone_begins_where_it_is_said():
    env = type("Coin", (gym.Env,), {"P": {0: {0: [(0.5, 0, 3, True), (0.5, 0, 0, True)]}}})()
    assert value(env) == Fraction(3, 2)
    with pytest.raises(InputError, match="env must have P and initial_state_distrib, got <Coin"):
        exactdice.from_P(env)
