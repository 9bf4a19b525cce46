"""Exact evaluation in training scripts of one's own."""

import csv

import gymnasium as gym
import pytest
from exactdice.agents import ExactEvalCallback, GameVecEnv
from stable_baselines3 import A2C, DQN
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import VecMonitor

import exactdice


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
