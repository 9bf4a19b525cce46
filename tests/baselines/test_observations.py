"""Solutions read observations as the environment shows them, and refuse all others by name."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
import torch as th
from exactdice.baselines import Task
from exactdice.core.positions import states_of
from exactdice.envs import MaskInObservation
from exactdice.games import FourTwoOne, Greed, InputError
from gymnasium.wrappers import DtypeObservation, FlattenObservation, TimeLimit

import exactdice

ENCODINGS = ("integer", "one_hot", "one_hot_float", "thermometer", "scaled")
NO_OBSERVATIONS = [
    pytest.param(["a", 0, 0], id="a text in it"),
    pytest.param(None, id="None"),
    pytest.param([[1], [2, 3], 0], id="ragged"),
    pytest.param([np.nan, 0, 0], id="NaN"),
    pytest.param([0.101, 0.12, 0], id="between two"),
    pytest.param([10**30, 0, 0], id="huge"),
    pytest.param([0, 0], id="too few"),
    pytest.param([[0, 0, 0]], id="a batch"),
    pytest.param({"observation": [0, 0, 0]}, id="a dictionary"),
    pytest.param(th.zeros(3, device="meta"), id="a tensor elsewhere"),
]


def greed(**keywords):
    return gym.make("exactdice/Greed-v0", max_score=20, **keywords)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_observations_are_read_in_the_encoding_of_the_environment(encoding):
    env = greed(encoding=encoding)
    plain = exactdice.solve(Task(Greed(20)))
    answers = exactdice.solve(env), exactdice.evaluate("optimal", env)
    seen = plain.task.game.observe(np.arange(0, plain.task.game.num_states, 41), 0)
    for numbers, shown in zip(seen, env.unwrapped.sight.show(seen), strict=True):
        values = plain.action_values(numbers)
        for answer in answers:
            assert (answer.action_values(shown) == values).all()
            assert (answer.action_values(shown.tolist()) == values).all()
        assert (answers[0].optimal_actions(shown) == plain.optimal_actions(numbers)).all()


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("observation", NO_OBSERVATIONS)
def test_what_the_environment_never_shows_is_refused(encoding, observation):
    solution = exactdice.solve(greed(encoding=encoding))
    with pytest.raises(InputError, match="observation must be"):
        solution.action_values(observation)
    with pytest.raises(InputError, match="observation must be"):
        solution.optimal_actions(observation)


def test_floats_are_taken_for_integers_only_if_they_are_whole():
    solution = exactdice.solve(Task(Greed(20)))
    assert (solution.action_values([10.0, 12.0, 0.0]) == solution.action_values([10, 12, 0])).all()
    with pytest.raises(InputError, match=r"must be \(own score, other score, last"):
        solution.action_values([0, 0])
    with pytest.raises(InputError, match=r"whole numbers, got \[10\.5, 12\.0, 0\.0\]"):
        solution.action_values([10.5, 12, 0])
    with pytest.raises(InputError, match=r"got \[True, False, False\]"):
        solution.action_values([True, False, False])


def test_a_wide_observation_is_not_told_number_by_number():
    solution = exactdice.solve(greed(encoding="one_hot"))
    with pytest.raises(InputError, match=r"44 numbers .*, got an array of float64 and shape \(44"):
        solution.action_values(np.full(44, 0.5))


def test_an_observation_of_another_seat_is_refused():
    solution = exactdice.solve(Task(FourTwoOne(utility="set"), 0))
    theirs = solution.task.game.observe(states_of(solution.task.game, 1)[:1], 1)[0]
    with pytest.raises(InputError, match="the player in seat 0 may meet"):
        solution.action_values(theirs)


@pytest.mark.parametrize(
    "wrapper", [FlattenObservation, lambda env: DtypeObservation(env, np.int32)]
)
def test_observations_that_wrappers_change_are_refused_by_their_name(wrapper):
    env = wrapper(greed())
    shown, _ = env.reset(seed=0)
    with pytest.raises(InputError, match=r"wrappers of env change it \((Flatten|Dtype)Observation"):
        exactdice.solve(env).optimal_actions(shown)
    harmless = TimeLimit(greed(), 1000)
    assert exactdice.solve(harmless).optimal_actions([0, 0, 0]).tolist() == [4]


@pytest.mark.parametrize(("library", "key"), [("rllib", "observations"), ("tianshou", "obs")])
def test_a_dictionary_with_a_mask_is_read(library, key):
    env = MaskInObservation(greed(encoding="scaled"), library)
    solution, (shown, _) = exactdice.solve(env), env.reset(seed=0)
    assert solution.optimal_actions(shown).tolist() == [4]
    assert solution.optimal_actions(shown[key]).tolist() == [4]
    with pytest.raises(InputError, match=f"observation must have the key {key}, got the keys seen"):
        solution.optimal_actions({"seen": shown[key]})


def test_what_agents_of_pettingzoo_see_is_read():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = exactdice.pettingzoo.env("Greed", encoding="scaled", max_score=20)
    env.reset(seed=0)
    solution = exactdice.solve(env)
    assert solution.optimal_actions(env.observe("player_0")).tolist() == [4]
    with pytest.raises(InputError, match="observation must be one that env shows"):
        solution.optimal_actions([10, 12, 0])
