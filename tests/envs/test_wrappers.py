"""What wrappers of an environment do to its scores: followed exactly, or refused by name."""

import gc
import weakref
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from exactdice.envs import MaskInObservation
from gymnasium.wrappers import (
    Autoreset,
    ClipReward,
    DelayObservation,
    FlattenObservation,
    FrameStackObservation,
    NormalizeObservation,
    NormalizeReward,
    OrderEnforcing,
    RecordEpisodeStatistics,
    TimeLimit,
    TransformAction,
    TransformObservation,
)
from gymnasium.wrappers import vector as vector_wrappers
from stable_baselines3 import PPO

import exactdice

SIZES = {"max_score": 10, "sides": 3}


def make(**keywords):
    return gym.make("exactdice/Greed-v0", **SIZES, **keywords)


VALUE = exactdice.solve(make()).value


def test_harmless_wrappers_change_nothing():
    harmless = (
        OrderEnforcing,
        RecordEpisodeStatistics,
        Autoreset,
        partial(TimeLimit, max_episode_steps=32),
    )
    wrapped = [wrap(make()) for wrap in harmless]
    wrapped += [MaskInObservation(RecordEpisodeStatistics(make(encoding="scaled")), "tianshou")]
    several = gym.make_vec("exactdice/Greed-v0", 3, **SIZES)
    wrapped += [vector_wrappers.RecordEpisodeStatistics(several)]
    assert [exactdice.solve(env).value for env in wrapped] == [VALUE] * 6


@pytest.mark.parametrize(
    ("wrap", "name"),
    [
        (lambda env: TimeLimit(env, 1), "TimeLimit ends games after 1 moves"),
        (lambda env: TimeLimit(env, 31), r"31 moves of the agent, and Greed.* may take 32"),
        (lambda env: TransformAction(env, lambda dice: 6 - dice, env.action_space), "TransformAct"),
        (lambda env: ClipReward(env, 0, 0.5), "ClipReward"),
        (NormalizeReward, "NormalizeReward"),
        (lambda env: DelayObservation(env, 1), "DelayObservation"),
        (lambda env: FrameStackObservation(env, 2), "FrameStackObservation"),
        (gym.Wrapper, "the wrapper Wrapper may change"),
    ],
    ids=lambda value: "" if callable(value) else value.split()[0],
)
def test_what_changes_the_game_is_refused_by_name(wrap, name):
    env = wrap(make())
    for ask in (
        exactdice.solve,
        lambda env: exactdice.score("random", env),
        lambda env: exactdice.occupancy("random", env),
        lambda env: exactdice.best_response("random", env),
        lambda env: exactdice.payoff_matrix({"a": "random", "b": "if_else"}, env),
    ):
        with pytest.raises(ValueError, match=name):
            ask(env)
    assert exactdice.solve(env.unwrapped).value == VALUE


def network(seen):
    """Prefer some dice, in a way that depends on every feature."""
    rows = np.asarray(seen, dtype=float).reshape(len(seen), -1)
    weights = np.sin(np.outer(np.arange(1, rows.shape[1] + 1), np.arange(1, 8)))
    return np.stack([np.cos(row[:, None] * weights).sum(axis=0) for row in rows])


def played(env, states):
    """Ask the network in the environment itself, put into each state in turn."""
    bare = env.unwrapped
    layers = []
    while env is not bare:
        layers.insert(0, env)
        env = env.env
    with bare.elsewhere():
        for state in states:
            bare.go_to(int(state))
            seen = bare._engine.lanes.observations()[0]
            for layer in layers:
                seen = layer.observation(seen) if hasattr(layer, "observation") else seen
            legal = bare.action_masks()
            yield int(np.where(legal, network(np.asarray(seen)[None])[0], -np.inf).argmax())


def masked(env):
    """Show the mask too, which a wrapper asks the environment for, in one array."""
    return FlattenObservation(MaskInObservation(env, "rllib"))


def frozen(env):
    env = NormalizeObservation(env)
    env.reset(seed=0)
    for _ in range(100):
        if any(env.step(env.unwrapped.action_masks().nonzero()[0][-1])[2:4]):
            env.reset()
    env.update_running_mean = False
    return env


@pytest.mark.parametrize(
    "wrap",
    [
        FlattenObservation,
        masked,
        frozen,
        lambda env: masked(RecordEpisodeStatistics(env)),
        lambda env: TransformObservation(env, lambda seen: seen[::-1] + 1, env.observation_space),
    ],
    ids=["flattened", "with mask", "normalised", "two", "mirrored"],
)
def test_observations_are_pushed_through_wrappers(wrap):
    env = wrap(make())
    game = env.unwrapped.task.game
    states = np.arange(game.num_states)
    actions = np.array(list(played(env, states)))
    bare = exactdice.score(exactdice.from_network(network, make()), make()).value
    env.reset(seed=5)
    env.step(1)
    before = env.unwrapped._engine.lanes.states()
    found = exactdice.score(exactdice.from_network(network, env), env).value
    assert found == exactdice.score(actions, make()).value
    assert found != bare
    assert env.unwrapped._engine.lanes.states() == before  # the game goes on where it was


def test_what_shows_a_state_differently_is_refused():
    rng = np.random.default_rng(0)
    space = gym.spaces.Box(-1, 20, (3,))
    noisy = TransformObservation(make(), lambda seen: seen + rng.normal(size=3), space)
    with pytest.raises(ValueError, match="show a state alike every time.*TransformObservation"):
        exactdice.score(exactdice.from_network(network, noisy), noisy)
    running = NormalizeObservation(make())
    with pytest.raises(ValueError, match="set its update_running_mean to False"):
        exactdice.score(exactdice.from_network(network, running), running)
    named = TransformObservation(
        make(), lambda seen: {"seen": seen}, gym.spaces.Dict({"seen": space})
    )
    with pytest.raises(ValueError, match="env must show arrays, got observations of Dict"):
        exactdice.solve(named)


def test_other_environments_are_refused():
    with pytest.raises(TypeError, match="exactdice environment or have P, got .*CartPole"):
        exactdice.solve(gym.make("CartPole-v1"))
    several = gym.make_vec("exactdice/Greed-v0", 2, vectorization_mode="sync", **SIZES)
    with pytest.raises(TypeError, match=r"pass one, such as env\.envs\[0\]"):
        exactdice.solve(several)
    assert exactdice.solve(several.envs[0]).value == VALUE


@pytest.mark.parametrize(
    ("library", "names", "kind"),
    [
        ("rllib", ["action_mask", "observations"], np.float32),
        ("tianshou", ["mask", "obs"], np.bool_),
        ("torchrl", ["action_mask", "observation"], np.bool_),
    ],
)
def test_the_mask_is_put_into_the_observation_as_a_library_wants_it(library, names, kind):
    env = MaskInObservation(RecordEpisodeStatistics(make(encoding="one_hot_float")), library)
    assert sorted(env.observation_space) == names
    mask, shown = sorted(names, key=lambda name: "obs" in name)
    observation, info = env.reset(seed=4)
    over = False
    while not over:
        assert env.observation_space.contains(observation)
        assert observation[mask].dtype == kind
        assert observation[mask].tolist() == info["action_mask"].tolist()
        assert np.array_equal(observation[shown], env.unwrapped._engine.lanes.observations()[0])
        action = int(observation[mask].nonzero()[0][-1])
        observation, _, over, _, info = env.step(action)
    with pytest.raises(ValueError, match="library must be one of 'rllib', 'tianshou', 'torchrl'"):
        MaskInObservation(make(), "cleanrl")


def test_a_model_that_was_given_the_mask_is_refused():
    env = MaskInObservation(make(encoding="scaled"), "rllib")
    model = PPO("MultiInputPolicy", env, device="cpu")
    with pytest.raises(ValueError, match="model must be trained for .*, got one for Dict"):
        exactdice.score(model, env)


def test_cached_results_hold_no_environment():
    class Same(gym.ObservationWrapper):
        def observation(self, observation):
            return observation

    def ask():
        env = Same(gym.make("exactdice/Greed-v0", max_score=9, seat=1))
        exactdice.solve(env)
        exactdice.score(lambda _, legal: legal.argmax(axis=1), env).blunders(2)
        exactdice.baselines.describe(env)
        return weakref.ref(env)

    env = ask()
    gc.collect()
    assert env() is None
