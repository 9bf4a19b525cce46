"""Right records are not complained of, and each planted mistake is named."""

import dataclasses

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.baselines import Task
from exactdice.core import InputError
from exactdice.core.sampling import draw
from exactdice.core.sweeps import checked_advance
from exactdice.diagnose import Rollout, audit
from exactdice.games import Greed
from gymnasium.vector import AutoresetMode
from recording import BASIC, at_random, play, rollout, transitions

import exactdice

GAMES = [
    ("Greed", {"max_score": 12, "sides": 3}),
    ("Greed", {"max_score": 9, "seat": 1, "opponent": "if_else", "reward": "regret"}),
    ("LowestScore", {"dice": 2, "faces": 4, "players": 3, "seat": 1}),
    ("LowestScore", {"dice": 2, "objective": "score", "reward": "shaped"}),
    ("ShutTheBox", {"tiles": 4, "encoding": "one_hot_float"}),
    ("FourTwoOne", {"faces": 3, "reward": "regret", "encoding": "thermometer"}),
    ("FourTwoOneMatch", {"tokens": 2, "faces": 2, "encoding": "scaled"}),
]


@pytest.fixture(scope="module")
def greed():
    return play("Greed", max_score=12, sides=3)


@pytest.mark.parametrize(("name", "keywords"), GAMES)
def test_right_records_hold(name, keywords):
    env, arrays = play(name, **keywords)
    for record in (rollout(arrays), transitions(arrays)):
        report = audit(env, record)
        assert report.ok, str(report)
        assert {"observations", "actions", "transitions", "rewards"} <= report.held.keys()
        assert not report.notes


def test_an_autoreset_in_the_next_step_is_named_in_later_rollouts_too():
    env, arrays = play("Greed", mode=AutoresetMode.NEXT_STEP, max_score=12, sides=3)
    later = {name: array[7:] for name, array in arrays.items()}
    assert arrays["terminated"][6].any()
    for given in (arrays, later):
        report = audit(env, rollout(given))
        assert {found.mistake for found in report.findings} == {"autoreset"}
        (found,) = (found for found in report.findings if found.check == "transitions")
        assert 0 < found.count <= given["terminated"][:-1].sum() + 8
        assert "cannot lead to" in found.words
        assert "SAME_STEP" in str(report)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("make", [rollout, transitions])
def test_an_autoreset_and_illegal_actions_are_told_apart(make, mode):
    """Algorithms without masks, such as CleanRL's, have both at once."""
    env, arrays = play("Greed", mode=mode, masked=False, max_score=12, sides=3)
    report = audit(env, make(arrays))
    named = {found.check: found.mistake for found in report.findings}
    expected = {"actions": "illegal-action"}
    if mode == AutoresetMode.NEXT_STEP:
        expected |= {"transitions": "autoreset"}
        expected |= {"first states": "autoreset"} if make is rollout else {}
    assert named == expected
    assert report.held["rewards"] > 100
    assert "chance" in report.unchecked


def shifted(arrays, name, by, axis=0):
    return arrays | {name: np.roll(arrays[name], by, axis=axis)}


def mixed(arrays, *names):
    time, lanes = arrays["actions"].shape
    return arrays | {
        name: arrays[name].swapaxes(0, 1).reshape(time, lanes, *arrays[name].shape[2:])
        for name in names
    }


@pytest.mark.parametrize(
    ("mistake", "change", "details"),
    [
        ("shifted-actions", shifted, ("actions", -1)),
        ("shifted-rewards", shifted, ("rewards", -1)),
        ("lanes-mixed", shifted, ("rewards", 3, 1)),
        ("lanes-mixed", mixed, BASIC),
        ("lanes-mixed", mixed, ("actions",)),
    ],
)
def test_a_mistake_that_no_mutant_of_the_learners_shows_is_named(greed, mistake, change, details):
    env, arrays = greed
    report = audit(env, rollout(change(arrays, *details)))
    assert report.findings[0].mistake == mistake, str(report)


@pytest.mark.parametrize("lanes", [5, 64])
def test_rows_of_many_environments_in_a_replay_buffer_are_known(lanes):
    env, arrays = play("Greed", lanes=lanes, mode=AutoresetMode.NEXT_STEP, max_score=12, sides=3)
    (found,) = audit(env, transitions(arrays)).findings
    assert found.mistake == "autoreset"
    assert f"each of the {lanes} environments" in found.words
    env, arrays = play("Greed", lanes=lanes, max_score=12, sides=3)
    for name in ("actions", "rewards", "terminated"):
        report = audit(env, transitions(shifted(arrays, name, 1)))
        assert report.findings[0].mistake == f"shifted-{name}".replace("terminated", "ends")
        assert f"one step of {lanes} environments" in report.findings[0].words


def test_another_opponent_and_another_reward_are_named():
    _env, arrays = play("Greed", max_score=12, sides=3, opponent="if_else", reward="regret")
    other, _ = play("Greed", max_score=12, sides=3, opponent="terminal", reward="regret")
    report = audit(other, rollout(arrays))
    assert report.findings[0].mistake == "wrong-task"
    assert "against if_else" in report.findings[0].words
    plain, _ = play("Greed", max_score=12, sides=3, opponent="if_else")
    (found,) = audit(plain, rollout(arrays)).findings
    assert (found.check, found.mistake) == ("rewards", "reward-mode")


def test_a_constant_factor_of_rewards_is_said(greed):
    env, arrays = greed
    report = audit(env, rollout(arrays | {"rewards": 2.5 * arrays["rewards"]}))
    assert report.ok
    assert report.notes == ["rewards are those of the game times 2.5"]


def test_values_are_those_of_the_critic_a_function_or_a_module(greed):
    env, arrays = greed
    module = torch.nn.Linear(3, 1)
    for critic in (module, lambda seen: seen @ np.array([0.1, -0.05, 0.3])):
        seen = torch.tensor(arrays["observations"], dtype=torch.float32)
        values = np.asarray(critic(seen if critic is module else arrays["observations"]).tolist())
        right = rollout(arrays, values=values)
        assert audit(env, right, critic=critic).held["values"] == 480
        scaled = dataclasses.replace(right, values=values * 1.1 + 0.02)
        (found,) = audit(env, scaled, critic=critic).findings
        assert found.mistake == "values-scaled"
        assert "values" in audit(env, right).unchecked
    with pytest.raises(InputError, match="critic must be a function of observations, got a list"):
        audit(env, right, critic=[0.0])


@pytest.mark.parametrize(
    ("name", "keywords"),
    [
        ("ShutTheBox", {"tiles": 4, "sides": 3}),
        ("FourTwoOneMatch", {"tokens": 2, "faces": 3}),
        ("Yahtzee", {"boxes": "chance"}),
        ("Greed", {"max_score": 12}),
    ],
)
def test_one_wrong_step_is_found_and_has_no_name(name, keywords):
    env, arrays = play(name, steps=20, **keywords)
    arrays["observations"][9, 3] = arrays["observations"][0, 3] + 1
    report = audit(env, rollout(arrays))
    assert {found.mistake for found in report.findings} == {None}
    assert "with other keywords of the environment, such as its size" in report.notes[0]


@pytest.mark.parametrize("name", ["rewards", "values", "log_probs", "observations"])
def test_what_is_no_number_is_found_and_all_else_is_checked(greed, name):
    env, arrays = greed
    zeros = np.zeros(arrays["rewards"].shape)
    given = {key: zeros.copy() for key in ("values", "advantages", "log_probs")}
    given |= {"last_values": zeros[0]} | {key: arrays[key].astype(float) for key in BASIC}
    given[name][3, 2] = np.nan
    report = audit(env, Rollout(**given), "random", lambda seen: np.zeros(len(seen)))
    found = {each.check: each for each in report.findings}
    assert (found["finite"].count, found["finite"].of) == (1, 480)
    assert found["finite"].words == f"{name} has nan in row 3, 2."
    assert found.keys() <= {"finite", "log_probs", "advantages"}
    assert report.held["actions"] == 480 - (name in ("rewards", "observations"))
    assert {"transitions", "outcomes", "policy"} <= report.held.keys()


WRONG = [
    ({"actions": np.zeros((59, 8))}, r"actions must be of shape \(60, 8\), got \(59, 8\)"),
    ({"actions": np.full((60, 8), -1)}, r"actions must be from 0 to \d+, got -1 to"),
    ({"observations": np.zeros((60, 8, 4))}, r"observations must be of shape \(60, 8, 3\), got"),
    ({"terminated": np.full((60, 8), 2)}, "terminated must be 0 or 1, got 2"),
    ({"advantages": np.zeros(5)}, r"advantages must be of shape \(60, 8\), got \(5,\)"),
    ({"log_probs": np.zeros(5)}, r"log_probs must be of shape \(60, 8\), got \(5,\)"),
    ({"values": np.zeros((59, 8))}, r"values must be of shape \(60, 8\), got \(59, 8\)"),
    ({"gamma": "0.99"}, "gamma must be from 0 to 1, got a str"),
    ({"gamma": 99}, "gamma must be from 0 to 1, got 99"),
    ({"gae_lambda": np.ones(3)}, "gae_lambda must be from 0 to 1, got a ndarray"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_wrong_arrays_of_a_rollout_are_named(greed, changes, message):
    env, arrays = greed
    zeros = np.zeros(arrays["rewards"].shape)
    given = {name: zeros.copy() for name in ("values", "advantages", "log_probs")}
    given |= {"last_values": zeros[0], "gamma": 1.0} | {name: arrays[name].copy() for name in BASIC}
    with pytest.raises(InputError, match=f"^{message}"):
        audit(
            env,
            Rollout(**given | changes),
            policy="random",
            critic=lambda seen: np.zeros(len(seen)),
        )


def both_seats(game, steps, lanes, seed):
    """Play a game of two players at random; record the moves of both, as one agent's."""
    rng, every = np.random.default_rng(seed), np.arange(lanes)
    starts, law = game.initial_law()
    seats, states = np.zeros(lanes, np.int64), rng.choice(starts, size=lanes, p=law.astype(float))
    rows = []
    for _ in range(steps):
        actions = at_random(None, game.mask(states), rng)
        move = checked_advance(game, seats, states, actions, draw(game, states, actions, rng))
        over = move.over[every, seats]
        seen = np.array(
            [game.observe(states[lane : lane + 1], seats[lane])[0] for lane in range(lanes)]
        )
        rows.append((seen, actions, np.where(over, move.payoffs[every, seats], 0.0), over))
        fresh = rng.choice(starts, size=lanes, p=law.astype(float))
        seats, states = np.where(over, 0, move.seats), np.where(over, fresh, move.states)
    return Rollout(*map(np.array, zip(*rows, strict=True)))


@pytest.mark.parametrize("opponent", ["random", "optimal"])
@pytest.mark.parametrize("game", [Greed(12, 3), Greed(7, 4)], ids=repr)
def test_a_record_of_both_seats_is_named(game, opponent):
    report = audit(Task(game, 0, opponent), both_seats(game, 40, 8, seed=1), "random")
    assert {found.mistake for found in report.findings} == {"seats-mixed"}
    assert "law of the other player" in report.unchecked["chance"]


@pytest.mark.parametrize("name", ["FrozenLake-v1", "Taxi-v4"])
@pytest.mark.parametrize("encoding", ["integer", "one_hot", "scaled"])
def test_records_that_show_the_moves_within_a_limit_are_read(name, encoding):
    """By the environment that shows them; in integers by its task, too."""
    task = exactdice.from_P(gym.make(name), horizon=8)
    env, arrays = play(task, lanes=3, encoding=encoding)
    for seen_by in (env, task) if encoding == "integer" else (env,):
        for record in (rollout(arrays), transitions(arrays)):
            report = audit(seen_by, record)
            assert report.findings == []
            assert report.held["transitions"] > 0
    ended = dataclasses.replace(
        rollout(arrays), terminated=arrays["terminated"] & (arrays["rewards"] > 0)
    )
    assert audit(env, ended).findings  # the limit ends games


@pytest.mark.parametrize("limit", [None, 8])
def test_numbers_of_states_with_a_last_axis_of_one_are_read(limit):
    """As buffers of stable-baselines3 have them; the environment shows no time, its task may."""
    env = gym.make("FrozenLake-v1")
    moves = transitions(play(exactdice.from_P(env, horizon=None))[1])
    assert moves.observations.shape == (480, 1)
    for seen_by in (env, exactdice.from_P(env, horizon=limit)):
        report = audit(seen_by, moves)
        assert report.findings == []
        assert report.held["transitions"] == 480
