"""Checks of chance: no alarm for what is right, one for loaded dice and for other policies."""

import numpy as np
import pytest
from exactdice.diagnose import Transitions, audit
from recording import play, rollout, transitions

#: Audits of a test below; the chance of an alarm in one of them is at most 0.004.
AUDITS = 40


@pytest.fixture(scope="module")
def long():
    return play("Greed", steps=400, max_score=12, sides=3)


def test_right_records_raise_no_alarm():
    for seed in range(AUDITS):
        env, arrays = play("LowestScore", seed=seed, dice=2, faces=4, players=2, seat=seed % 2)
        report = audit(env, rollout(arrays), policy="random")
        assert report.ok, str(report)
        assert {"outcomes", "beginnings", "policy", "visits"} <= report.held.keys()


def test_loaded_dice_are_noticed(long):
    """Half the moves that end a game are left out."""
    env, arrays = long
    record = transitions(arrays)
    keep = ~record.terminated | (np.random.default_rng(0).random(len(record.actions)) > 0.5)
    kept = {name: array[keep] for name, array in vars(record).items() if np.ndim(array)}
    report = audit(env, Transitions(**kept))
    assert [found.check for found in report.findings] == ["outcomes"]
    assert "must be about" in report.findings[0].words


def test_rewards_that_are_possible_and_never_paid_are_noticed(long):
    """Nearly every game may be lost: no reward of 0 is wrong alone."""
    env, arrays = long
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
    states = game.encode(arrays["observations"].reshape(-1, 3))
    uniform, actions = law(game, np.ones(game.num_actions)), np.arange(game.num_actions)
    chances = uniform[states, arrays["actions"].ravel()].reshape(arrays["actions"].shape)
    record = rollout(arrays, log_probs=np.log(chances))
    assert audit(env, record, policy=uniform).held["log_probs"] == chances.size
    never = law(game, np.where(actions == 1, 1e-300, 1.0))  # action 1 was taken
    assert "log_probs" in {each.check for each in audit(env, record, policy=never).findings}
    found = audit(env, record, policy=law(game, 1 + 0.02 * actions)).findings
    (mistake,) = (each.mistake for each in found if each.check == "log_probs")
    assert mistake == "log-probs-temperature"  # the uniform law is any law, divided by much
    updated = law(game, 1 + 0.02 * actions**2)  # no power of another law that is not uniform
    record = rollout(
        arrays, log_probs=np.log(updated[states, arrays["actions"].ravel()]).reshape(chances.shape)
    )
    found = audit(env, record, policy=law(game, 1 + 0.02 * actions)).findings
    (told,) = (each for each in found if each.check == "log_probs")
    assert told.mistake is None
    assert "divided by recorded ones is 1.0" in told.words


def test_actions_and_visits_of_a_policy_that_plays_differently_are_noticed():
    """Even if each recorded action could have been drawn."""
    env, arrays = play("Greed", steps=60, lanes=32, max_score=20)
    report = audit(env, rollout(arrays), policy="random")
    assert report.ok
    assert report.held["visits"] > 100
    timid = np.zeros((env.unwrapped.task.game.num_states, env.unwrapped.task.game.num_actions))
    timid[:, :2] = 0.5
    words = {found.check: found.words for found in audit(env, rollout(arrays), timid).findings}
    assert words["policy"].startswith("action ")
    assert words["visits"].startswith("the number of games that meet ")


def test_visits_of_too_many_states_are_said_to_be_unchecked(long, monkeypatch):
    monkeypatch.setattr("exactdice.diagnose.audits.chance.MOST_STATES", 100)
    env, arrays = long
    report = audit(env, rollout(arrays), policy="random")
    assert "visits" not in report.held
    assert "more than 100 states" in report.unchecked["visits"]


def test_log_probabilities_near_zero_may_be_rounded(long):
    """Logits are larger, and rounded: the logarithm of 1 - 1e-8 may be given as 0."""
    env, arrays = long
    one = {name: array[:1, :1] for name, array in arrays.items()}
    game = env.unwrapped.task.game
    chances = np.where(game.mask(np.arange(game.num_states)), 1e-9, 0.0)
    state = game.encode(one["observations"].reshape(1, 3)).item()
    chances[state, one["actions"].item()] = 1.0
    chances /= np.maximum(chances.sum(axis=1, keepdims=True), 1e-300)
    report = audit(env, rollout(one, log_probs=np.zeros((1, 1))), policy=chances)
    assert report.held["log_probs"] == 1
