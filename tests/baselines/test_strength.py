"""Policies of graded strength: their law is a softmax, and their share the normalised score."""

import math

import numpy as np
import pytest
from exactdice.baselines import Task, as_policy, cache, make_task
from exactdice.baselines.problem import strength
from exactdice.baselines.problem.strength import _exponential
from exactdice.core import kept
from exactdice.games import FourTwoOne, Greed, InputError
from small_games import SIZED
from thinning import every_third

import exactdice

GAME = Greed(7, 3)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_law_of_each_state_is_a_softmax_of_its_action_values(seat, share):
    task = Task(GAME, seat)
    table, law = exactdice.solve(task).table, as_policy(f"strength:{share}", task)
    chances, slopes = law.probabilities(np.arange(GAME.num_states)), []
    for values, row in zip(table, chances, strict=True):
        top = values.argmax()
        lost = values[top] - values
        apart = np.flatnonzero((row > 0) & (lost > 1e-6))
        slopes += [math.log(row[top] / row[n]) / lost[n] for n in apart]
    assert len(slopes) > 5
    assert slopes == pytest.approx([slopes[0]] * len(slopes), rel=1e-6)  # one temperature


@pytest.mark.parametrize(("name", "keywords"), every_third(SIZED))
def test_the_share_means_the_same_in_every_game(name, keywords):
    task = make_task(name, **keywords)
    for seat in range(task.game.num_players):
        try:
            task = Task(task.game, seat, "optimal")
            optimum = exactdice.solve(task).value
        except InputError:  # no equilibrium is computed for this game
            with pytest.raises(InputError, match="an equilibrium must be of a game"):
                exactdice.score("strength:0.4", task)
            continue
        if optimum - exactdice.evaluate("random", task).value > 1e-9:
            assert exactdice.score("strength:0.4", task).normalized == pytest.approx(0.4, abs=2e-9)


def test_the_ends_are_random_play_and_the_equilibrium():
    task = Task(GAME, 0, "strength:1")
    assert exactdice.solve(task).value == exactdice.solve(Task(GAME)).value
    for name, same in (("strength:0", "random"), ("strength:1", "equilibrium")):
        for exact in (False, True):
            value = exactdice.evaluate(name, Task(GAME), exact=exact).value
            assert value == exactdice.evaluate(same, Task(GAME), exact=exact).value


def test_a_stronger_opponent_leaves_less():
    shares = ["strength:0", "strength:0.25", "strength:0.5", "strength:0.75", "strength:1"]
    values = [exactdice.solve(Task(GAME, 0, share)).value for share in shares]
    assert values == sorted(values, reverse=True)
    exact = exactdice.solve(Task(GAME, 0, shares[2]), exact=True).value
    assert float(exact) == pytest.approx(values[2], abs=1e-12)


def test_a_share_must_be_a_number_from_0_to_1_and_without_choices_one_of_them():
    for share in ("", "strong", "-0.1", "1.01", "nan", "inf"):
        with pytest.raises(InputError, match=r"strength must be a number from 0 \(random\) to 1"):
            Task(GAME, 0, f"strength:{share}")
    task = Task(FourTwoOne(dice=1, faces=2, casts=1, utility="sum"))
    with pytest.raises(InputError, match="strength must be 0 or 1 in seat 0 of .* got 0.5"):
        exactdice.score("strength:0.5", task)


def test_the_exponential_is_that_of_the_library():
    numbers = -np.concatenate([np.linspace(0, 1, 97), np.linspace(1, 699, 97)])
    assert _exponential(numbers) == pytest.approx(np.exp(numbers), rel=1e-12)
    assert (_exponential(np.array([-701.0, -1e300, 0.0])) == [0, 0, 1]).all()


def test_an_inverse_temperature_is_searched_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv(kept.VARIABLE, str(tmp_path))
    monkeypatch.setattr(kept, "LONG", 0.0)
    game, searched = Greed(13), []
    root = strength._root
    monkeypatch.setattr(strength, "_root", lambda miss: searched.append(1) or root(miss))
    tables = []
    for share in (0.25, 0.25, 0.5):
        cache.clear_cache()  # as in another process
        policy = strength.strength_policy(game, share, 1)
        tables.append(policy.probabilities(np.arange(game.num_states)))
    assert (tables[0] == tables[1]).all()
    assert (tables[0] != tables[2]).any()
    assert len(searched) == 2
