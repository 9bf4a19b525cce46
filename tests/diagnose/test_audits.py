"""Audits of records: right ones hold, each planted mistake is named, and chance is checked."""

from fractions import Fraction
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.baselines import Task
from exactdice.core import InputError
from exactdice.core.sampling import draw
from exactdice.core.sweeps import checked_advance
from exactdice.diagnose import EpsilonGreedy, Rollout, Transitions, audit
from exactdice.games import Greed
from gymnasium.vector import AutoresetMode
from recording import BASIC, at_random, cut_rollout, play, play_cut, rollout, transitions
from thinning import at_once

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
    assert ("SAME_STEP" in str(report)) == (mode == AutoresetMode.NEXT_STEP)
    assert report.held["rewards"] > 100
    assert "chance" in report.unchecked


def shifted(arrays, name, by, axis=0):
    return arrays | {name: np.roll(arrays[name], by, axis=axis)}


def mixed(arrays, *names):
    time, lanes = arrays["actions"].shape
    mixed = {name: arrays[name].swapaxes(0, 1).reshape(time, lanes, -1) for name in names}
    return arrays | {name: mixed[name].reshape(arrays[name].shape) for name in names}


def penalised(arrays):
    changes = np.linspace(0.5, 0.9, 60)[:, None] * (np.arange(8) == 3)
    return arrays | {"rewards": arrays["rewards"] + changes}


#: Changes of right records, the name of the mistake and words of the finding.
CHANGES = [
    (partial(shifted, name="actions", by=-1), "shifted-actions", ""),
    (partial(shifted, name="rewards", by=-1), "shifted-rewards", ""),
    (partial(shifted, name="rewards", by=3, axis=1), "lanes-mixed", ""),
    (lambda given: mixed(given, *BASIC), "lanes-mixed", ""),
    (lambda given: mixed(given, "actions"), "lanes-mixed", ""),
    (penalised, None, "What they have in common: lane 3."),
]


@pytest.mark.parametrize(("change", "mistake", "words"), CHANGES)
def test_a_mistake_that_no_mutant_of_the_learners_shows_is_named(greed, change, mistake, words):
    env, arrays = greed
    report = audit(env, rollout(change(arrays)))
    assert report.findings[0].mistake == mistake, str(report)
    assert report.findings[0].words.endswith(words)


@pytest.mark.parametrize("lanes", [5, 64])
def test_rows_of_many_environments_in_a_replay_buffer_are_known(lanes):
    env, arrays = play("Greed", lanes=lanes, mode=AutoresetMode.NEXT_STEP, max_score=12, sides=3)
    (found,) = audit(env, transitions(arrays)).findings
    assert found.mistake == "autoreset"
    assert f"each of the {lanes} environments" in found.words
    env, arrays = play("Greed", lanes=lanes, max_score=12, sides=3)
    for name in ("actions", "rewards", "terminated"):
        found, *_ = audit(env, transitions(shifted(arrays, name, 1))).findings
        assert found.mistake == f"shifted-{name}".replace("terminated", "ends")
        assert f"one step of {lanes} environments" in found.words


def test_another_opponent_and_another_reward_are_named():
    _env, arrays = play("Greed", max_score=12, sides=3, opponent="if_else", reward="regret")
    other, _ = play("Greed", max_score=12, sides=3, opponent="terminal", reward="regret")
    found, *_ = audit(other, rollout(arrays)).findings
    assert found.mistake == "wrong-task"
    assert "against if_else" in found.words
    plain, _ = play("Greed", max_score=12, sides=3, opponent="if_else")
    (found,) = audit(plain, rollout(arrays)).findings
    assert (found.check, found.mistake) == ("rewards", "reward-mode")


def test_values_are_those_of_the_critic_a_function_or_a_module(greed):
    env, arrays = greed
    module, function = torch.nn.Linear(3, 1), lambda seen: seen @ np.array([0.1, -0.05, 0.3])
    seen = torch.tensor(arrays["observations"], dtype=torch.float32)
    of_module, of_function = module(seen).detach().numpy(), function(arrays["observations"])
    for critic, values in (module, of_module), (function, of_function):
        right = rollout(arrays, values=values)
        assert audit(env, right, critic=critic).held["values"] == 480
        (found,) = audit(env, rollout(arrays, values=values * 1.1 + 0.02), critic=critic).findings
        assert found.mistake == "values-scaled"
        assert "values" in audit(env, right).unchecked
    with pytest.raises(InputError, match="critic must be a function of observations, got a list"):
        audit(env, right, critic=[0.0])


SIZES = {"ShutTheBox": {"tiles": 4, "sides": 3}, "FourTwoOneMatch": {"tokens": 2, "faces": 3}}
SIZES |= {"Yahtzee": {"boxes": "chance"}, "Greed": {"max_score": 12}}


@pytest.mark.parametrize("name", SIZES)
def test_one_wrong_step_is_found_and_has_no_name(name):
    env, arrays = play(name, steps=20, **SIZES[name])
    arrays["observations"][9, 3] = arrays["observations"][0, 3] + 1
    report = audit(env, rollout(arrays))
    assert {found.mistake for found in report.findings} == {None}
    assert "with other keywords of the environment, such as its size" in report.notes[0]


def full(arrays):
    """Give all that a rollout may hold, with the numbers of a critic that says 0."""
    zeros = np.zeros(arrays["rewards"].shape)
    given = {name: zeros.copy() for name in ("values", "advantages", "log_probs")}
    return given | {"last_values": zeros[0]} | {name: arrays[name].astype(float) for name in BASIC}


def nothing(seen):
    return np.zeros(len(seen))


@pytest.mark.parametrize("name", ["rewards", "values", "log_probs", "observations"])
def test_what_is_no_number_is_found_and_all_else_is_checked(greed, name):
    env, arrays = greed
    given = full(arrays)
    given[name][3, 2] = np.nan
    report = audit(env, Rollout(**given), "random", nothing)
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
    record = Rollout(**full(arrays) | {"gamma": 1.0} | changes)
    with pytest.raises(InputError, match=f"^{message}"):
        audit(env, record, "random", nothing)


def both_seats(game, steps, lanes, seed):
    """Play a game of two players at random; record the moves of both, as one agent's."""
    rng, every = np.random.default_rng(seed), np.arange(lanes)
    starts, law = game.initial_law()
    begin = lambda: rng.choice(starts, size=lanes, p=law.astype(float))  # noqa: E731
    seats, states, rows = np.zeros(lanes, np.int64), begin(), []
    for _ in range(steps):
        actions = at_random(None, game.mask(states), rng)
        move = checked_advance(game, seats, states, actions, draw(game, states, actions, rng))
        over = move.over[every, seats]
        seen = [game.observe(states[k : k + 1], seats[k])[0] for k in range(lanes)]
        rows.append((seen, actions, np.where(over, move.payoffs[every, seats], 0.0), over))
        seats, states = np.where(over, 0, move.seats), np.where(over, begin(), move.states)
    return Rollout(*map(np.array, zip(*rows, strict=True)))


@pytest.mark.parametrize("opponent", ["random", "optimal"])
def test_a_record_of_both_seats_is_named(opponent):
    game = Greed(12, 3)
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
    won = arrays["terminated"] & (arrays["rewards"] > 0)
    assert audit(env, rollout(arrays | {"terminated": won})).findings  # the limit ends games


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


@pytest.mark.parametrize(("name", "of"), [("observations", "after"), ("after", "observations")])
def test_stale_observations_of_as_many_environments_as_may_be_are_named(name, of):
    env, arrays = play("Greed", steps=3, lanes=30, max_score=12, sides=3)
    found, *_ = audit(env, transitions(arrays | {name: arrays[of]})).findings
    assert found.mistake.startswith("stale")
    assert "30 rows: one step of 30 environments" in found.words


@pytest.fixture(scope="module")
def long():
    return play("Greed", steps=400, max_score=12, sides=3)


def test_loaded_dice_and_possible_rewards_that_are_never_paid_are_noticed(long):
    """Half the moves that end a game are left out; nearly every game may be lost."""
    env, arrays = long
    record = transitions(arrays)
    keep = ~record.terminated | (np.random.default_rng(0).random(len(record.actions)) > 0.5)
    kept = {name: array[keep] for name, array in vars(record).items() if np.ndim(array)}
    (found,) = audit(env, Transitions(**kept)).findings
    assert found.check == "outcomes"
    assert "must be about" in found.words
    (found,) = audit(env, rollout(arrays | {"rewards": arrays["rewards"] * 0})).findings
    assert found.check in ("rewards", "outcomes")
    lost = arrays["rewards"] * (np.random.default_rng(1).random(arrays["rewards"].shape) > 0.5)
    checks = {found.check for found in audit(env, rollout(arrays | {"rewards": lost})).findings}
    assert checks & {"rewards", "outcomes"}


def law(game, weights):
    """Return the law that takes legal actions by weights, (action,)."""
    table = game.mask(np.arange(game.num_states)) * np.asarray(weights, dtype=float)
    return table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)


def test_log_probabilities_are_the_policys(long):
    env, arrays = long
    game = env.unwrapped.task.game
    states = game.encode(arrays["observations"].reshape(-1, 3)).reshape(arrays["actions"].shape)
    uniform, actions = law(game, np.ones(game.num_actions)), np.arange(game.num_actions)

    def audited(recorded, policy):
        record = rollout(arrays, log_probs=np.log(recorded[states, arrays["actions"]]))
        report = audit(env, record, policy=policy)
        return report, [each for each in report.findings if each.check == "log_probs"]

    assert audited(uniform, uniform)[0].held["log_probs"] == states.size
    assert audited(uniform, law(game, np.where(actions == 1, 1e-300, 1.0)))[1]  # it was taken
    (found,) = audited(uniform, law(game, 1 + 0.02 * actions))[1]
    assert found.mistake == "log-probs-temperature"  # the uniform law is any law, divided by much
    updated = law(game, 1 + 0.02 * actions**2)  # no power of another law that is not uniform
    (found,) = audited(updated, law(game, 1 + 0.02 * actions))[1]
    assert found.mistake is None
    assert "divided by recorded ones is 1.0" in found.words
    # Logits are larger, and rounded: the logarithm of 1 - 1e-8 may be given as 0.
    one = {name: array[:1, :1] for name, array in arrays.items()}
    sure = law(game, np.where(actions == one["actions"], 1.0, 1e-9))
    report = audit(env, rollout(one, log_probs=np.zeros((1, 1))), policy=sure)
    assert report.held["log_probs"] == 1


def test_actions_and_visits_of_another_policy_are_noticed_in_not_too_many_states(monkeypatch):
    """Even if each recorded action could have been drawn."""
    env, arrays = play("Greed", steps=60, lanes=32, max_score=20)
    report = audit(env, rollout(arrays), policy="random")
    assert report.ok
    assert report.held["visits"] > 100
    assert {"outcomes", "beginnings", "policy"} <= report.held.keys()
    game = env.unwrapped.task.game
    timid = law(game, np.arange(game.num_actions) < 2)
    words = {found.check: found.words for found in audit(env, rollout(arrays), timid).findings}
    assert words["policy"].startswith("action ")
    assert words["visits"].startswith("the number of games that meet ")
    monkeypatch.setattr("exactdice.diagnose.audits.chance.MOST_STATES", 100)
    report = audit(env, rollout(arrays), policy="random")
    assert "visits" not in report.held
    assert "more than 100 states" in report.unchecked["visits"]


def test_visits_are_those_of_no_policy_where_epsilon_falls():
    falling = np.linspace(1, 0, 100)
    turns = iter(falling)

    def choose(seen, masks, rng):
        return np.where(rng.random(len(seen)) < next(turns), at_random(seen, masks, rng), 0)

    env, arrays = play("Greed", steps=100, max_score=12, sides=3, choose=choose)
    stop = np.eye(1, env.unwrapped.task.game.num_actions)
    epsilon = np.repeat(falling[:, None], 8, axis=1)
    policy = EpsilonGreedy(lambda seen: stop.repeat(len(seen), axis=0), epsilon)
    report = audit(env, rollout(arrays), policy)
    assert report.ok, str(report)
    assert report.held["policy"]
    assert "visits" not in report.held


#: Games of others, within a limit of moves, and their keywords.
LAWS = {"FrozenLake-v1": {}, "Taxi-v4": {}, "CliffWalking-v1": {"is_slippery": True}}


def mistakes(report):
    return {(found.check, found.mistake) for found in report.findings}


@pytest.mark.parametrize("name", at_once("FrozenLake-v1".__eq__, LAWS))
def test_right_records_within_a_limit_hold_and_mistakes_are_named(name):
    make = partial(gym.make, name, max_episode_steps=50, **LAWS[name])
    env, arrays = make(), play_cut(make)
    states, actions = env.unwrapped.observation_space.n, env.action_space.n
    uniform = np.full((states, actions), 1 / actions)
    for given in (cut_rollout(arrays), transitions(arrays)):
        report = audit(env, given, uniform)
        assert report.ok, str(report)
        assert report.held["rewards"] > 0.9 * arrays["rewards"].size
        assert {"outcomes", "policy"} <= report.held.keys()
        assert report.held.get("visits", 1)
    ends = {"terminated": arrays["terminated"] | arrays["truncated"]}
    planted = {
        "shifted-rewards": {"rewards": np.roll(arrays["rewards"], 1, axis=0)},
        "rewards-affine": {"rewards": arrays["rewards"] + 1},
        "lanes-mixed": {"actions": np.roll(arrays["actions"], 1, axis=1)},
        "truncation-as-end": ends | {"truncated": np.zeros_like(ends["terminated"])},
    }
    if name != "FrozenLake-v1":  # whose rewards are 0 and 1, and whose games end soon
        planted["rewards-clipped"] = {"rewards": np.sign(arrays["rewards"])}
    for wanted, changes in planted.items():
        cut = wanted == "truncation-as-end" and not arrays["truncated"].any()
        found = mistakes(audit(env, cut_rollout(arrays | changes)))
        assert {mistake for _, mistake in found} == (set() if cut else {wanted})


@pytest.mark.parametrize("reward", ["outcome", "shaped", "regret"])
def test_games_of_two_players_that_pay_both_in_every_turn(own_games, reward):
    own_games("small_games:Rounds")
    keywords = {"players": 2, "turns": 6, "others": Fraction(-1, 2), "seat": 1}
    env, arrays = play("Rounds", reward=reward, **keywords)
    for record in (rollout(arrays), transitions(arrays)):
        report = audit(env, record)
        assert report.ok, str(report)
        assert report.held["rewards"] > 0.95 * arrays["rewards"].size
    shifted = arrays | {"rewards": np.roll(arrays["rewards"], 1, axis=0)}
    assert mistakes(audit(env, rollout(shifted))) == {("rewards", "shifted-rewards")}
    if reward == "outcome":  # a payment that the move may have, but with another probability
        high = np.where(arrays["rewards"] == 1.0, 2.0, arrays["rewards"])
        assert not audit(env, rollout(arrays | {"rewards": high})).ok
