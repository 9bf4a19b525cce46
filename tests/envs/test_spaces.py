"""The spaces of environments, and scores of agents behind wrappers."""

import gc
import weakref
from functools import partial
from typing import get_args

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.baselines import prepare
from exactdice.baselines.law.cut import CutGame
from exactdice.core.positions import states_of
from exactdice.envs import EncodingName, MaskInObservation, encoding_of
from exactdice.envs.encoding import Encoding
from exactdice.envs.law import MoveLaw
from exactdice.games import FourTwoOneMatch, Greed, InputError, LowestScore, ShutTheBox
from gymnasium import wrappers
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics, TransformObservation
from stable_baselines3 import PPO
from stable_baselines3.common.preprocessing import preprocess_obs
from thinning import later

import exactdice
from exactdice.testing import check_game

NAMES = get_args(EncodingName)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("game", [Greed(7, 3), LowestScore(2, 3, 3, 3), ShutTheBox(4, 2, 3)])
def test_every_observation_is_in_the_space_and_comes_back_from_it(game, name):
    encoding = Encoding(game.observation_sizes, name)
    observations = game.observe(states_of(game, 0), 0)
    features = encoding.encode(observations)
    assert all(encoding.space.contains(feature) for feature in features)
    assert np.array_equal(encoding.decode(features), observations)
    assert len(np.unique(features, axis=0)) == len(observations)
    assert not np.shares_memory(features, observations)


def test_what_numbers_say_and_one_hot_is_what_stable_baselines3_makes_of_integers():
    seen = np.array([[2, 0]])
    assert Encoding((4, 2), "thermometer").encode(seen).tolist() == [[1, 1, 0, 0]]
    assert Encoding((5, 2), "scaled").encode(seen).tolist() == [[0.5, 0.0]]
    integer = Encoding((4, 2), "integer")
    theirs = preprocess_obs(torch.as_tensor(integer.encode(seen)), integer.space)
    assert theirs.tolist() == [[0, 0, 1, 0, 1, 0]]
    for name in ("one_hot", "one_hot_float"):
        assert np.array_equal(Encoding((4, 2), name).encode(seen), theirs)
    scaled = Encoding((5, 2), "scaled")
    assert scaled.read([0.25, 1.0]).tolist() == [1, 1]
    for wrong in (-0.25, -1.0, 1.25):
        with pytest.raises(InputError, match="^observation must be one that env shows, 2 numbers"):
            scaled.read([wrong, 1.0])


def test_a_space_tells_its_encoding():
    sizes = Greed(7, 3).observation_sizes
    for name in NAMES:
        assert encoding_of(Encoding(sizes, name).space, sizes).name == name
    assert encoding_of(gym.spaces.Discrete(3), sizes) is None
    for name in ("integer", "one_hot", "one_hot_float"):  # a single observation
        assert encoding_of(Encoding((1, 1), name).space, (1, 1)).name == name
    for name in ("thermometer", "scaled"):
        with pytest.raises(ValueError, match="'one_hot_float', got "):
            Encoding((1, 1), name)


def test_the_id_for_programs_that_want_floats_is_that_of_the_game_with_another_encoding():
    env = gym.make("exactdice:exactdice/Greed-OneHot-v0", max_score=7)
    assert env.observation_space == gym.spaces.Box(0, 1, (8 + 8 + 2,))
    assert env.unwrapped.task == gym.make("exactdice/Greed-v0", max_score=7).unwrapped.task
    assert gym.make_vec("exactdice/Greed-OneHot-v0", 3).reset(seed=0)[0].dtype == np.float32


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("error")
def test_all_encodings_play_the_same_games_and_the_checker_finds_nothing(name):
    check_env(gym.make("exactdice/Greed-v0", max_score=7, encoding=name).unwrapped)
    plain, encoded = (
        gym.make_vec("exactdice/LowestScore-v0", num_envs=4, encoding=kind)
        for kind in ("integer", name)
    )
    decode = Encoding(plain.unwrapped.task.game.observation_sizes, name).decode
    seen, features = (envs.reset(seed=3)[0] for envs in (plain, encoded))
    for _ in range(20):
        assert np.array_equal(decode(features), seen)
        actions = np.zeros(4, dtype=int)
        (seen, rewards, *_), (features, same, *_) = plain.step(actions), encoded.step(actions)
        assert np.array_equal(rewards, same)


SIZES = {"max_score": 10, "sides": 3}


def make(**keywords):
    return gym.make("exactdice/Greed-v0", **SIZES, **keywords)


VALUE = exactdice.solve(make()).value
#: ``operator.index`` takes truth values of torch for integers, and under numpy 2.0 those of numpy.
NONE = [1.0, 1.9, "1", b"1", True, np.True_, None, float("nan"), np.float32(0), np.array([0])]
NONE += [np.array(True), torch.tensor(True)]
INTEGERS = "actions must be 2 integers, got"


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        *((none, "action must be an integer, got") for none in NONE),
        *((np.array([none, none]), f"{INTEGERS} an array of") for none in NONE),
        (-1, "action must be from 0 to 6, got -1"),
        (7, "action must be from 0 to 6, got 7"),
        (10**30, r"action must be from 0 to 6, got 10\^30"),
        pytest.param(-(10**5000), r"action must be from 0 to 6, got -10\^5000", id="long"),
        ([[1, 2], [1]], f"{INTEGERS} none: "),
        ([1, 10**30], f"{INTEGERS} an array of object"),
        ([1], rf"{INTEGERS} an array of int64 and shape \(1,\)"),
        ([6, 7], "actions must be from 0 to 6, got 7"),
        ([2, True], rf"{INTEGERS} an array of bool and shape \(2,\)"),
    ],
)
def test_what_is_wrong_with_actions_is_said_in_one_line(actions, message):
    is_one = message.startswith("action ")
    env = make() if is_one else gym.make_vec("exactdice/Greed-v0", 2, **SIZES)
    env.unwrapped.reset(seed=0)
    with pytest.raises(InputError, match=message) as refusal:
        env.unwrapped.step(actions)
    assert "\n" not in str(refusal.value)
    env.unwrapped.step(np.uint8(0) if is_one else [0, 0])  # the game goes on


def test_harmless_wrappers_change_nothing():
    several = gym.make_vec("exactdice/Greed-v0", 3, **SIZES)
    for env in (
        wrappers.OrderEnforcing(make()),
        wrappers.Autoreset(RecordEpisodeStatistics(make())),
        wrappers.TimeLimit(make(), max_episode_steps=32),
        MaskInObservation(RecordEpisodeStatistics(make(encoding="scaled")), "tianshou"),
        wrappers.vector.RecordEpisodeStatistics(several),
    ):
        assert exactdice.solve(env).value == VALUE


@pytest.mark.parametrize(
    ("wrap", "name"),
    [
        (
            lambda env: wrappers.TimeLimit(FlattenObservation(env), 31),
            "behind wrappers: TimeLimit ends games of Greed.* after 31 moves",
        ),
        (lambda env: wrappers.TransformAction(env, int, env.action_space), "TransformAction"),
        (lambda env: wrappers.ClipReward(env, 0, 0.5), "ClipReward"),
        (lambda env: wrappers.ClipReward(wrappers.TimeLimit(env, 3), 0, 0.5), "ClipReward"),
        (wrappers.NormalizeReward, "NormalizeReward"),
        (lambda env: wrappers.DelayObservation(env, 1), "DelayObservation"),
        (lambda env: wrappers.FrameStackObservation(env, 2), "FrameStackObservation"),
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


@pytest.mark.parametrize(("limit", "game"), [(1, "Greed"), (3, "Greed"), (2, "FourTwoOne")])
def test_a_limit_of_moves_is_part_of_the_game(limit, game):
    own = SIZES if game == "Greed" else {}
    env = gym.make(f"exactdice/{game}-v0", max_episode_steps=limit, **own)
    law, begins, bare = env.unwrapped.P, env.unwrapped.initial_state_distrib, env.unwrapped
    best, blind = np.zeros((2, len(law)))
    for _ in range(limit):  # backward induction over the dictionary, legal moves alone

        def moves(state, after):
            legal = range(len(law[state]))
            if state < bare.task.game.num_states:
                legal = np.flatnonzero(bare.task.game.mask(np.array([state]))[0])
            outcomes = (law[state][action] for action in legal)
            return [
                sum(p * (r + (not over) * after[then]) for p, then, r, over in ways)
                for ways in outcomes
            ]

        best = np.array([max(moves(state, best)) for state in law])
        blind = np.array([np.mean(moves(state, blind)) for state in law])
    found = exactdice.score("random", env)
    assert found.optimum == pytest.approx(begins @ best, abs=1e-12)
    assert found.value == pytest.approx(begins @ blind, abs=1e-12)
    shown = []

    def logits(batch):
        shown.extend(batch)
        return np.zeros((len(batch), env.action_space.n))

    policy = exactdice.from_network(logits, env, deterministic=False)
    assert exactdice.score(policy, env).value == pytest.approx(found.value)
    assert all(each in env.observation_space for each in shown)
    assert exactdice.score(exactdice.solve(env).policy, env).value == pytest.approx(found.optimum)


def test_a_limit_of_moves_needs_rewards_that_are_outcomes():
    with pytest.raises(InputError, match="reward must be 'outcome' where TimeLimit cuts"):
        exactdice.solve(wrappers.TimeLimit(make(reward="regret"), 3))


def test_a_large_game_within_a_limit_is_solved_as_by_induction_over_the_law_of_its_moves():
    env = gym.make("exactdice/Greed-v0", max_episode_steps=3, max_score=50)
    problem = prepare(env.unwrapped)
    states = np.arange(problem.game.num_states)
    legal = problem.game.mask(states)
    law, values = MoveLaw(problem, *np.nonzero(legal)), np.zeros(len(states) + 1)
    for _ in range(3):
        moves = np.full(legal.shape, -np.inf)
        moves[legal] = law.mean(law.paid + values[law.after])  # the last value is that of the end
        values[:-1] = moves.max(axis=1)
    solution = exactdice.solve(env)
    assert solution.value == pytest.approx(problem.initial @ values[:-1], abs=1e-12)
    own = solution.values[solution.problem.seat, : len(states)]
    assert np.allclose(own[law.states], values[law.states], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "game",
    [
        CutGame(LowestScore(1, 3, 2, 2), 1, 1),
        later(CutGame(Greed(2, 2), 1, 2)),
        later(CutGame(FourTwoOneMatch(1, faces=2, charge_casts=1, discharge_casts=1), 0, 2)),
    ],
    ids=repr,
)
def test_games_within_a_limit_obey_the_rules_of_games(game):
    check_game(game)


def test_a_cut_game_may_pay_less_than_an_illegal_move():
    env = gym.make("exactdice/FourTwoOne-v0", max_episode_steps=2)
    with pytest.raises(InputError, match="paid less than any illegal action: its games are cut"):
        exactdice.score(np.full((672, 8), 1 / 8), env, masked=False)


def network(seen):
    """Prefer some dice, in a way that depends on every feature."""
    rows = np.asarray(seen, dtype=float).reshape(len(seen), -1)
    weights = np.sin(np.outer(np.arange(1, rows.shape[1] + 1), np.arange(1, 8)))
    return np.stack([np.cos(row[:, None] * weights).sum(axis=0) for row in rows])


def shown(env):
    """Push what the environment itself shows now through all its wrappers."""
    if env is env.unwrapped:
        return env._engine.lanes.observations()[0]
    return getattr(env, "observation", np.asarray)(shown(env.env))


def played(env, state):
    """Ask the network in the environment itself, put into a state."""
    bare = env.unwrapped
    with bare.elsewhere():
        bare.go_to(int(state))
        logits = network(np.asarray(shown(env))[None])[0]
        return np.where(bare.action_masks(), logits, -np.inf).argmax()


def masked(env):
    """Show the mask too, which a wrapper asks the environment for, in one array."""
    return FlattenObservation(MaskInObservation(env, "rllib"))


def frozen(env):
    env = wrappers.NormalizeObservation(env)
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
    actions = np.array([played(env, state) for state in range(env.unwrapped.task.game.num_states)])
    bare = exactdice.score(exactdice.from_network(network, make()), make()).value
    env.reset(seed=5)
    env.step(1)
    before = env.unwrapped._engine.lanes.states()
    found = exactdice.score(exactdice.from_network(network, env), env).value
    assert found == exactdice.score(actions, make()).value
    assert found != bare
    assert env.unwrapped._engine.lanes.states() == before  # the game goes on where it was


def test_what_is_no_environment_and_what_shows_no_state_are_refused():
    rng, space = np.random.default_rng(0), gym.spaces.Box(-1, 20, (3,))
    noisy = TransformObservation(make(), lambda seen: seen + rng.normal(size=3), space)
    named = TransformObservation(make(), lambda seen: {"a": seen}, gym.spaces.Dict({"a": space}))
    several = gym.make_vec("exactdice/Greed-v0", 2, vectorization_mode="sync", **SIZES)
    masked = MaskInObservation(make(encoding="scaled"), "rllib")
    model = PPO("MultiInputPolicy", masked, device="cpu")
    ask = lambda env: exactdice.score(exactdice.from_network(network, env), env)  # noqa: E731
    for call, env, error, message in (
        (ask, noisy, InputError, "show a state alike every time.*TransformObservation"),
        (ask, wrappers.NormalizeObservation(make()), InputError, "set its update_running_mean to"),
        (exactdice.solve, named, InputError, "env must show arrays, got observations of Dict"),
        (partial(exactdice.score, model), masked, InputError, "trained for .*, got one for Dict"),
        (exactdice.solve, gym.make("CartPole-v1"), TypeError, "or have P, got .*CartPole"),
        (exactdice.solve, several, TypeError, r"pass one, such as env\.envs\[0\]"),
    ):
        with pytest.raises(error, match=message):
            call(env)
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


def test_cached_results_hold_no_environment():
    def ask():
        env = TransformObservation(make(seat=1), np.copy, make().observation_space)
        exactdice.solve(env)
        exactdice.score(lambda _, legal: legal.argmax(axis=1), env).blunders(2)
        exactdice.baselines.describe(env)
        return weakref.ref(env)

    env = ask()
    gc.collect()
    assert env() is None
