"""Exact evaluation in training scripts of one's own."""

import contextlib
import csv

import gymnasium as gym
import numpy as np
import pytest
from exactdice.agents import ExactEvalCallback, GameVecEnv
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor

import exactdice

LAKE = "FrozenLake-v1"


def make(**keywords):
    return gym.make("exactdice/ShutTheBox-v0", tiles=4, dice=1, **keywords)


@pytest.mark.parametrize("interval", [0, -1, 1.5, "40"])
def test_an_interval_that_cannot_be_is_refused(interval):
    with pytest.raises(exactdice.InputError, match="interval must be (at least 1|an integer), got"):
        ExactEvalCallback(make(), interval)


@pytest.mark.parametrize("masked", [True, False])
def test_a_script_of_ones_own_logs_what_score_says(masked, tmp_path):
    """In its log, and among the scalars of the model's logger at its step."""
    env = make()
    exact = ExactEvalCallback(env, interval=40, masked=masked)
    model = A2C("MlpPolicy", env, seed=1, device="cpu")
    model.set_logger(configure(str(tmp_path), ["csv"]))
    model.learn(100, callback=exact)
    assert exact.log["timesteps"] == [0, 40, 80]
    score = exact.evaluate()
    model.logger.close()
    with (tmp_path / "progress.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["exact/regret"]]
    assert [float(row["exact/regret"]) for row in rows] == exact.log["regret"]
    assert score.masked == masked
    assert score.value == exactdice.score(model, env, masked=masked).value
    assert exact.log["regret"][-1] == score.regret


@pytest.mark.filterwarnings("ignore:The environment is already wrapped with a `Monitor`")
@pytest.mark.parametrize("wrapped", [False, True])
def test_it_keeps_what_eval_callback_keeps_and_the_best_model(tmp_path, wrapped):
    env = make()
    vector = VecMonitor(GameVecEnv(env.unwrapped.task, 1)) if wrapped else env
    exact = ExactEvalCallback(env.unwrapped.task, interval=50, folder=tmp_path)
    DQN("MlpPolicy", vector, learning_starts=10, device="cpu").learn(150, callback=exact)
    best = exactdice.score(tmp_path / "best_model.zip", env)
    assert best.value == max(exact.log["results"])
    assert {path.name for path in tmp_path.iterdir()} == {"evaluations.npz", "best_model.zip"}


def flat_lake(**keywords):
    return gym.wrappers.FlattenObservation(gym.make(LAKE, **keywords))


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(
    ("kind", "vector", "scored"),
    [
        (DQN, lambda: gym.make(LAKE), lambda: gym.make(LAKE).unwrapped),
        (PPO, lambda: gym.make(LAKE).unwrapped, lambda: gym.make(LAKE)),
        (DQN, lambda: Monitor(gym.make(LAKE)), lambda: exactdice.from_P(gym.make(LAKE), gamma=0.9)),
        (PPO, lambda: make_vec_env(LAKE, n_envs=4), lambda: make_vec_env(LAKE, n_envs=4)),
        (DQN, lambda: VecMonitor(DummyVecEnv([lambda: gym.make(LAKE)])), lambda: gym.make(LAKE)),
        (DQN, lambda: DummyVecEnv([flat_lake] * 2), lambda: flat_lake(max_episode_steps=20)),
        (PPO, lambda: make_vec_env("Taxi-v4", n_envs=2), lambda: gym.make("Taxi-v4")),
    ],
)
def test_toy_text_is_followed(kind, vector, scored, tmp_path):
    """The scores are those of the model's table, which ``predict`` gives state by state."""
    env, task = vector(), scored()
    exact = ExactEvalCallback(task, interval=64, folder=str(tmp_path / "new" / "folder"))
    steps = {"n_steps": 32, "batch_size": 32} if kind is PPO else {"learning_starts": 32}
    model = kind("MlpPolicy", env, seed=0, device="cpu", **steps).learn(128, callback=exact)
    states = np.arange(exact.task.game.rows)
    seen = np.eye(len(states), dtype=np.int64) if model.observation_space.shape else states
    played = exactdice.score(model.predict(seen, deterministic=True)[0], exact.task)
    assert exact.evaluate().value == pytest.approx(played.value, abs=1e-12)
    assert (tmp_path / "new" / "folder" / "evaluations.npz").is_file()


class Shifted(gym.ObservationWrapper):
    """Shows another number of each state, in the same space."""

    def observation(self, state):
        return (state + 1) % 16


@pytest.mark.usefixtures("one_thread")
def test_wrappers_of_training_are_followed_in_toy_text_and_others_refused():
    exact = ExactEvalCallback(gym.make(LAKE), interval=64)
    model = DQN("MlpPolicy", Shifted(gym.make(LAKE)), seed=0, device="cpu")
    model.learn(1, callback=exact)
    actions = model.predict((np.arange(16) + 1) % 16, deterministic=True)[0]
    assert exact.log["results"] == [exactdice.score(actions, gym.make(LAKE)).value]
    larger = ExactEvalCallback(gym.make("FrozenLake8x8-v1"), interval=64)
    with pytest.raises(exactdice.InputError, match="model must be trained in LawGame.*64 states"):
        model.learn(1, callback=larger)
    with pytest.raises(exactdice.InputError, match="circles and is paid .* give a horizon"):
        DQN("MlpPolicy", gym.make("CliffWalking-v1"), seed=0, device="cpu").learn(
            1, callback=ExactEvalCallback(gym.make("CliffWalking-v1"), interval=64)
        )


@pytest.mark.usefixtures("one_thread")
def test_toy_text_in_other_processes_is_followed_without_wrappers_of_observations():
    exact = ExactEvalCallback(gym.make(LAKE), interval=64)
    with contextlib.closing(SubprocVecEnv([lambda: gym.make(LAKE)], "fork")) as env:
        model = DQN("MlpPolicy", env, seed=0, device="cpu").learn(1, callback=exact)
    actions = model.predict(np.arange(16), deterministic=True)[0]
    assert exact.log["results"] == [exactdice.score(actions, gym.make(LAKE)).value]
    with contextlib.closing(SubprocVecEnv([lambda: Shifted(gym.make(LAKE))], "fork")) as changed:
        model = DQN("MlpPolicy", changed, seed=0, device="cpu")
        again = ExactEvalCallback(gym.make(LAKE), interval=64)
        with pytest.raises(exactdice.InputError, match="a wrapper in another process"):
            model.learn(1, callback=again)
