"""Scoring what people bring: models of every kind, files, networks, normalised and wrapped."""

import contextlib
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from exactdice.agents.learners.dqn import MaskedDQN, MaskedQRDQN
from exactdice.agents.learners.q_learning import QLearning
from exactdice.agents.learners.vec_env import GameVecEnv
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.models import make_env, make_model
from exactdice.agents.runs.train import train
from exactdice.baselines import Task, certificate
from exactdice.core.positions import states_of
from exactdice.games import FourTwoOne, Greed, LowestScore
from gymnasium import wrappers
from gymnasium.wrappers import FlattenObservation, TransformObservation
from sb3_contrib import ARS, QRDQN, TRPO, MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common import vec_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize
from thinning import every_third

import exactdice

TASK = Task(Greed(10, 3))
ACTIONS = gym.spaces.Discrete(TASK.game.num_actions)
AS_SHOWN = {"observations": lambda seen: seen}
#: The last one has a network whose actor has an extractor of its own.
KINDS = [PPO, A2C, DQN, QRDQN, TRPO, ARS, MaskablePPO]
KINDS.append(partial(PPO, policy_kwargs={"share_features_extractor": False}))


def make(**keywords):
    return gym.make("exactdice/Greed-v0", max_score=10, sides=3, **keywords)


def scaled():
    return make(encoding="scaled")


def refused(message, *given, **options):
    with pytest.raises(ValueError, match=message):
        exactdice.score(*given, **options)


def mirrored(env):
    """Show the observations of an environment in another order."""
    return TransformObservation(env, lambda seen: seen[[1, 0, 2]], env.observation_space)


class Mirror(gym.Wrapper):
    """May change observations, and is no wrapper of observations by its class."""


class Inside(gym.Env):
    """Has an environment inside, and is no wrapper."""

    def __init__(self):
        self.env = make()
        self.observation_space, self.action_space = self.env.observation_space, ACTIONS


def score_by_hand(model, env, change=np.asarray):
    """Ask a model itself in every state what it would do; no masks."""
    game = env.unwrapped.task.game
    shown = env.unwrapped.sight.show(game.observe(np.arange(game.num_states), 0))
    seen = np.stack([change(one) for one in shown])
    actions = model.predict(seen, deterministic=True)[0]
    table = np.eye(env.action_space.n)[actions]
    return exactdice.score(table, env.unwrapped.task, masked=False).value


@pytest.mark.parametrize("kind", every_third(KINDS))
def test_a_model_its_policy_and_its_zip_are_scored_alike_as_it_plays(kind, tmp_path):
    env, path = make(), tmp_path / "model.zip"
    model = kind("MlpPolicy", env, seed=3, device="cpu")
    model.save(path)
    right = pytest.approx(score_by_hand(model, env), abs=1e-12)
    for given in (model, path, str(path)):
        assert exactdice.score(given, env, masked=False).value == right
    assert exactdice.score(model.policy, env, masked=False, **AS_SHOWN).value == right
    env = make(encoding="one_hot_float")  # wherever the game is then, the model sees floats
    model = kind("MlpPolicy", env, seed=3, device="cpu")
    right = pytest.approx(score_by_hand(model, env))
    for where in (env, TASK, make(), make(encoding="scaled")):
        assert exactdice.score(model, where, masked=False).value == right


@pytest.mark.parametrize("layers", [1, 2])
def test_a_normalised_model_and_its_file_are_scored_with_its_statistics(layers, tmp_path):
    vector, env, path = DummyVecEnv([scaled]), scaled(), tmp_path / "model.zip"
    for _ in range(layers):
        vector = VecNormalize(vector)
    model = PPO("MlpPolicy", vector, n_steps=64, seed=1, device="cpu").learn(128)
    first = vector.venv.normalize_obs if layers == 2 else np.asarray
    right = score_by_hand(model, env, lambda seen: vector.normalize_obs(first(seen)))
    for wrong in (np.asarray, vector.normalize_obs)[:layers]:
        assert right != pytest.approx(score_by_hand(model, env, wrong), abs=1e-6)
    model.save(path)
    loaded = PPO.load(path, device="cpu")
    given = {"observations": vector}
    asked = [(model, {}), (loaded, given), (loaded.policy, given), (path, given)]
    for policy, options in asked:
        found = exactdice.score(policy, env, masked=False, **options)
        assert found.value == pytest.approx(right, abs=1e-12)
    one = exactdice.score(loaded, env, masked=False, observations=vector.normalize_obs).value
    assert (one == pytest.approx(right, abs=1e-12)) == (layers == 1)
    with_statistics = exactdice.as_policy(loaded, env, **given)
    assert exactdice.exploitability(with_statistics, env) == exactdice.exploitability(model, env)
    vector.save(str(tmp_path / "vecnormalize.pkl"))
    refused(r"pass observations=VecNormalize\.load", path, make())
    assert exactdice.score(path, make(), **given).value > 0


def test_statistics_of_what_sees_none_are_refused():
    table = np.zeros(242, dtype=int)
    for policy in ("random", "optimal", table, torch.as_tensor(table)):
        refused("must be left out, as .* is (no model|a table)", policy, make(), **AS_SHOWN)
    model = PPO("MlpPolicy", make(), device="cpu")
    refused("observations must be a VecNormalize or a function", model, make(), observations=3)


def test_models_with_a_memory_are_refused_by_name(tmp_path):
    env = scaled()
    options = {"lstm_hidden_size": 64, "enable_critic_lstm": False, "shared_lstm": True}
    model = RecurrentPPO("MlpLstmPolicy", env, policy_kwargs=options, device="cpu")
    model.save(tmp_path / "model.zip")
    for given in (model, model.policy, tmp_path / "model.zip"):
        refused("RecurrentActorCriticPolicy has a memory", given, env)
    with pytest.raises(ValueError, match="not a function of the observation"):
        make(opponent=model)


@pytest.mark.parametrize(
    ("wrap", "change"),
    [
        (mirrored, lambda seen: seen[[1, 0, 2]]),
        (FlattenObservation, lambda seen: gym.spaces.flatten(make().observation_space, seen)),
    ],
)
def test_what_the_model_saw_in_training_counts_in_any_environment(wrap, change):
    model = PPO("MlpPolicy", wrap(make()), seed=4, device="cpu")
    right = pytest.approx(score_by_hand(model, make(), change), abs=1e-12)
    for place in (make(), wrap(make())):
        assert exactdice.score(model, place, masked=False).value == right
    alone = exactdice.score(model.policy, wrap(make()), masked=False, **AS_SHOWN)
    assert alone.value == right
    for place in (make(), wrap(make()), TASK):
        refused("^observations must be given for .*, a policy without its m", model.policy, place)


def test_models_trained_under_what_cannot_be_followed_are_refused():
    for wrap, name in (
        (lambda: wrappers.DelayObservation(scaled(), 1), "DelayObservation"),
        (lambda: wrappers.TransformAction(scaled(), lambda n: 6 - n, ACTIONS), "TransformAction"),
        (lambda: vec_env.VecFrameStack(DummyVecEnv([scaled]), 1), "VecFrameStack"),
        (lambda: Mirror(make()), "Mirror"),
        (Inside, "Inside"),
    ):
        refused(f"trained under .*{name}", PPO("MlpPolicy", wrap(), device="cpu"), make())


def test_changed_rewards_are_no_matter_and_another_game_or_space_is_refused():
    env = wrappers.TransformReward(scaled(), lambda reward: 2 * reward)
    model = PPO("MlpPolicy", env, device="cpu")
    right = exactdice.score(model, make()).value
    assert exactdice.score(model.policy, make(), **AS_SHOWN).value == right
    message = r"observations Box\(0, 1, \(24,.*pass observations=, a f"
    refused(message, model.policy, FlattenObservation(make()), **AS_SHOWN)
    larger = gym.make("exactdice/Greed-v0", max_score=11, sides=3)  # of equal actions
    other = PPO("MlpPolicy", mirrored(larger), device="cpu")
    refused(r"trained in Greed\(max_score=10.*same wrappers", other, make())


def test_a_function_may_lead_from_the_observations_of_an_environment_to_others():
    """Those of a model that was trained elsewhere: here two numbers instead of three."""
    space = gym.spaces.Box(0, 10, (2,))
    env = TransformObservation(make(), lambda seen: seen[..., :2].astype(np.float32), space)
    model = PPO("MlpPolicy", env, seed=3, device="cpu")
    right = exactdice.score(model, env).value
    refused("pass observations=, a function to those", model.policy, make(), **AS_SHOWN)
    shown = {"observations": lambda seen: seen[:, :2].astype(np.float32)}
    assert exactdice.score(model.policy, make(), **shown).value == right


@pytest.mark.filterwarnings("ignore:The environment is already wrapped with a `Monitor`")
def test_vectors_of_stable_baselines3_are_environments():
    vector = GameVecEnv(TASK, 4)
    right = pytest.approx(exactdice.score("if_else", TASK).value, abs=1e-15)
    assert exactdice.score("if_else", vec_env.VecMonitor(vector)).value == right
    scaled = GameVecEnv(TASK, 4, encoding="scaled")
    refused("VecNormalize changes it: pass a bare environment", "if_else", VecNormalize(scaled))
    with pytest.raises(TypeError, match=r"pass one of its environments, such as env\.envs\[0\]"):
        exactdice.score("if_else", DummyVecEnv([make]))


def test_runs_and_certificates_are_policies(small, tmp_path):
    score = train(small(run_folder=tmp_path / "mine"))
    env = make()
    for given in ("mine", tmp_path / "mine", "mine/final_model.zip", "mine/certificate.npz"):
        assert exactdice.score(given, env).value == pytest.approx(score.value, abs=1e-12)
    assert exactdice.score(Path("mine/certificate.npz"), env).policy == "mine"
    refused("as mine/certificate.npz holds a table", "mine/certificate.npz", env, **AS_SHOWN)
    best = exactdice.score("mine/best_model.zip", env)
    assert best.value >= score.value
    assert exactdice.solve(make(opponent="mine")).value > exactdice.solve(env).value
    other = Task(Greed(11, 3))
    refused(r"certificate\.npz must be of Greed, max_score 11", "mine/certificate.npz", other)
    refused(r"run folder, a certificate \(.npz\), a model saved by", tmp_path, env)
    (tmp_path / "x.csv").write_text("a,b", "utf-8")
    refused(r"table \(.npy\), got .*x.csv", tmp_path / "x.csv", env)
    for given in ("model.zip", "none.npz", "runs/mine", Path("mine/model.pt"), Path("mine.npz")):
        refused(f"file or a folder that exists, got {given}: it is mi", given, env)
    with pytest.raises(ValueError, match="or a folder that exists, got model.zip: it is missing"):
        make(opponent="model.zip")


def test_a_certificate_is_of_one_seat(tmp_path):
    game = LowestScore(2, 3, 3, 4)
    assert len(states_of(game, 1)) == len(states_of(game, 2))
    path = tmp_path / "certificate.npz"
    path.write_bytes(certificate(exactdice.score("notebook", Task(game, 1, "notebook"))))
    assert exactdice.score(path, Task(game, 1, "random")).value > 0
    other_seat = Task(game, 2, "random")
    refused("must be of the seat that is played, got one of seat 1 alone", path, other_seat)


@pytest.mark.parametrize(
    ("kind", "policy", "game"),
    [
        (MaskedDQN, "MlpPolicy", Greed(10, 3)),
        (MaskedQRDQN, "MlpPolicy", Greed(10, 3)),
        (QLearning, "QTable", FourTwoOne(2, 3, 2, utility=lambda faces, casts: sum(faces) / casts)),
    ],
)
def test_models_of_ours_are_loaded_with_and_without_an_environment(kind, policy, game, tmp_path):
    env, path = GameVecEnv(Task(game), 8), tmp_path / "model.zip"
    model = kind(policy, env, seed=1).learn(400)
    model.save(path)
    wanted = exactdice.score(model, env).value
    for loaded in (kind.load(path), kind.load(path, env), path):
        assert exactdice.score(loaded, env).value == wanted
    again = kind.load(path, env).learn(80, reset_num_timesteps=False)
    assert again.num_timesteps >= 480


def test_a_zip_that_would_run_code_is_refused(tmp_path):
    class Loud(PPO):
        pass

    model = Loud("MlpPolicy", make(), device="cpu")
    model.policy_kwargs = {"activation_fn": print}
    model.save(tmp_path / "model.zip")
    refused(r"got builtins\.print: load it yourself and pass", tmp_path / "model.zip", make())
    (tmp_path / "model.zip").write_bytes((tmp_path / "model.zip").read_bytes()[:-30])
    refused(r"model\.zip must be a certificate or a model saved", tmp_path / "model.zip", make())


def test_a_refusal_is_one_short_line():
    class Thing:
        def __repr__(self):
            return "\n" * 50

    network = torch.nn.Sequential(*[torch.nn.Linear(3, 3)] * 30)
    for thing in (Thing(), Thing, PPO, network, {1: 2}, 3.5, None, np.array(["a"])):
        refused("^policy must.{0,240}$", thing, make())


def test_a_saved_network_of_a_game_of_ones_own_is_read(own_games, tmp_path):
    """A DQN's file names the class of its game, which is let in as it is registered."""
    own_games(str(Path(__file__).parents[3] / "examples/twenty_one.py") + ":TwentyOne")
    config = TrainConfig(game="TwentyOne", algorithm="dqn", env={"limit": 5}, num_envs=2)
    model = make_model(config, env := make_env(config))
    model.save(tmp_path / "alone.zip")
    assert exactdice.score(tmp_path / "alone.zip", env).value == exactdice.score(model, env).value


def test_environments_in_other_processes_are_looked_into():
    ppo = partial(PPO, "MlpPolicy", seed=3, device="cpu")
    with contextlib.closing(SubprocVecEnv([make, lambda: Monitor(make())], "fork")) as vector:
        model = ppo(vector)
        assert exactdice.score(model, make()).value == exactdice.score(ppo(make()), make()).value
    refused("its SubprocVecEnv is closed: score it before that", model, make())
    with contextlib.closing(SubprocVecEnv([make, lambda: Mirror(make())], "fork")) as vector:
        model = ppo(vector)
        refused("a wrapper in another process, which cannot", model, make())
        expected = exactdice.score(ppo(mirrored(make())), mirrored(make())).value
        assert exactdice.score(model, mirrored(make())).value == expected
