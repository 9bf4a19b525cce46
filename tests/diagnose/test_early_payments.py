"""Audits of games that pay before their end, and of environments within a limit of moves."""

from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
from exactdice.diagnose import Rollout, Transitions, audit
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from recording import play, rollout, transitions

LIMIT, LANES, STEPS = 50, 8, 200
NAMES = "observations", "actions", "rewards", "terminated", "truncated", "final_observations"
LAWS = {"FrozenLake-v1": {}, "Taxi-v4": {}, "CliffWalking-v1": {"is_slippery": True}}


def played(name, seed=0, **keywords):
    """Play at random within a limit of moves; return environment and arrays of (time, lane)."""
    made = [lambda: gym.make(name, max_episode_steps=LIMIT, **keywords)] * LANES
    env = SyncVectorEnv(made, autoreset_mode=AutoresetMode.SAME_STEP)
    rng, rows = np.random.default_rng(seed), []
    seen, _ = env.reset(seed=seed)
    for _ in range(STEPS):
        actions = rng.integers(env.single_action_space.n, size=LANES)
        after, rewards, ended, cut, infos = env.step(actions)
        final = np.zeros(LANES, dtype=int)
        for lane in np.flatnonzero(infos.get("_final_obs", [])):
            final[lane] = infos["final_obs"][lane]
        rows.append((seen, actions, rewards, ended, cut, final))
        seen = after.copy()
    arrays = map(np.array, zip(*rows, strict=True))
    return made[0](), dict(zip(NAMES, arrays, strict=True), last_observations=seen)


@pytest.fixture(scope="module", params=LAWS)
def record(request):
    return played(request.param, **LAWS[request.param])


def mistakes(report):
    return {(found.check, found.mistake) for found in report.findings}


def test_right_records_within_a_limit_hold(record):
    env, arrays = record
    states, actions = env.unwrapped.observation_space.n, env.action_space.n
    at_random = np.full((states, actions), 1 / actions)
    after = np.roll(arrays["observations"], -1, axis=0)
    after[-1] = arrays["last_observations"]
    after = np.where(arrays["truncated"], arrays["final_observations"], after)
    columns = arrays["observations"], arrays["actions"], arrays["rewards"], after
    flat = [column.ravel() for column in (*columns, arrays["terminated"])]
    buffer = Transitions(*flat, truncated=arrays["truncated"].ravel())
    for given in (Rollout(**arrays), buffer):
        report = audit(env, given, at_random)
        assert report.ok, str(report)
        assert report.held["rewards"] > 0.9 * arrays["rewards"].size
        assert {"outcomes", "policy"} <= report.held.keys()
        assert report.held.get("visits", 1)


def test_mistakes_within_a_limit_are_named(record):
    env, arrays = record
    ends = {"terminated": arrays["terminated"] | arrays["truncated"]}
    planted = {
        "shifted-rewards": {"rewards": np.roll(arrays["rewards"], 1, axis=0)},
        "rewards-affine": {"rewards": arrays["rewards"] + 1},
        "lanes-mixed": {"actions": np.roll(arrays["actions"], 1, axis=1)},
        "truncation-as-end": ends | {"truncated": np.zeros_like(ends["terminated"])},
    }
    if env.spec.id != "FrozenLake-v1":  # whose rewards are 0 and 1, and whose games end soon
        planted["rewards-clipped"] = {"rewards": np.sign(arrays["rewards"])}
    for name, changes in planted.items():
        cut = name == "truncation-as-end" and not arrays["truncated"].any()
        found = mistakes(audit(env, Rollout(**(arrays | changes))))
        assert {mistake for _, mistake in found} == (set() if cut else {name})


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
