"""Callbacks that score and save an agent during training, and the arguments that they refuse."""

import csv
import json
import sys
import tracemalloc
from pathlib import Path
from unittest.mock import MagicMock

import gymnasium as gym
import numpy as np
import pytest
from exactdice.agents import ExactEvalCallback, GameVecEnv
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.runs import callback, folders
from exactdice.agents.runs.callback import RunCallback, sample_score
from exactdice.agents.runs.config import RunError, TrainConfig
from exactdice.agents.runs.run import Run
from exactdice.agents.runs.train import _logged_by_wandb, train
from exactdice.board.results import read_runs
from exactdice.games import InputError, SizeError
from exactdice.look.runs import learning, log_of
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor
from thinning import every_third

import exactdice

LAKE = "FrozenLake-v1"


def make():
    return gym.make("exactdice/ShutTheBox-v0", tiles=4, dice=1)


def test_an_interval_that_cannot_be_is_refused():
    for interval in (0, -1, 1.5, "40"):
        with pytest.raises(InputError, match="interval must be (at least 1|an integer), got"):
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


TOY_TEXT = [
    (DQN, lambda: gym.make(LAKE), lambda: gym.make(LAKE).unwrapped),
    (PPO, lambda: gym.make(LAKE).unwrapped, lambda: gym.make(LAKE)),
    (DQN, lambda: Monitor(gym.make(LAKE)), lambda: exactdice.from_P(gym.make(LAKE), gamma=0.9)),
    (PPO, lambda: make_vec_env(LAKE, n_envs=4), lambda: make_vec_env(LAKE, n_envs=4)),
    (DQN, lambda: VecMonitor(DummyVecEnv([lambda: gym.make(LAKE)])), lambda: gym.make(LAKE)),
    (DQN, lambda: DummyVecEnv([flat_lake] * 2), lambda: flat_lake(max_episode_steps=20)),
    (PPO, lambda: make_vec_env("Taxi-v4", n_envs=2), lambda: gym.make("Taxi-v4")),
]


@pytest.mark.parametrize(("kind", "vector", "scored"), every_third(TOY_TEXT, 2))
def test_toy_text_is_followed(kind, vector, scored, tmp_path):
    """The scores are those of the model's table, which ``predict`` gives state by state."""
    env, task = vector(), scored()
    folder = tmp_path / "new" / "folder"
    exact = ExactEvalCallback(task, interval=64, folder=str(folder))
    steps = {"n_steps": 32, "batch_size": 32} if kind is PPO else {"learning_starts": 32}
    model = kind("MlpPolicy", env, seed=0, device="cpu", **steps).learn(128, callback=exact)
    states = np.arange(exact.task.game.rows)
    seen = np.eye(len(states), dtype=np.int64) if model.observation_space.shape else states
    played = exactdice.score(model.predict(seen, deterministic=True)[0], exact.task)
    assert exact.evaluate().value == pytest.approx(played.value, abs=1e-12)
    assert (folder / "evaluations.npz").is_file()


def test_wrappers_of_training_are_followed_in_toy_text_and_others_refused():
    lake, cliff = gym.make(LAKE), gym.make("CliffWalking-v1")
    exact = ExactEvalCallback(lake, interval=64)
    shift = lambda state: (state + 1) % 16  # noqa: E731
    shifted = gym.wrappers.TransformObservation(lake, shift, lake.observation_space)
    model = DQN("MlpPolicy", shifted, seed=0, device="cpu").learn(1, callback=exact)
    actions = model.predict(shift(np.arange(16)), deterministic=True)[0]
    assert exact.log["results"] == [exactdice.score(actions, lake).value]
    larger = ExactEvalCallback(gym.make("FrozenLake8x8-v1"), interval=64)
    with pytest.raises(InputError, match="model must be trained in LawGame.*64 states"):
        model.learn(1, callback=larger)
    walker = DQN("MlpPolicy", cliff, seed=0, device="cpu")
    with pytest.raises(InputError, match="circles and is paid .* give a horizon"):
        walker.learn(1, callback=ExactEvalCallback(cliff, interval=64))


OPTIONS = {"game": "Yahtzee", "env": {"boxes": "ones,yahtzee"}}


@pytest.fixture
def large(monkeypatch):
    """Have games of more than 1,000 states scored by tours."""
    exactdice.baselines.cache.clear_cache()
    monkeypatch.setattr("exactdice.core.positions.MOST_STATES", 1000)
    monkeypatch.setattr("exactdice.envs.engine.engine.ADVANTAGES", 0)
    monkeypatch.setattr(callback, "GAMES", 50)
    yield
    exactdice.baselines.cache.clear_cache()


@pytest.mark.slow
def test_the_margin_of_a_sample_score_holds_the_exact_score(build):
    model = build(**OPTIONS)
    env = model.get_env()
    exact = exactdice.score(model, env)
    policy = ModelPolicy(model, env.task.game)
    inside = 0
    for seed in range(10):
        found = sample_score(policy, env.task, (seed,))
        inside += abs(found.value - exact.value) <= found.margin
        assert found.value + found.regret == pytest.approx(exact.optimum)
        assert found.moves == pytest.approx(exact.moves, rel=0.05)
        assert 0 < found.margin < 0.05 * exact.deviation * 1.96
    assert inside >= 7  # 95 % of 10: 6 or fewer have a chance of 0.1 %
    assert sample_score(policy, env.task, (3,)) == sample_score(policy, env.task, (3,))


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("algorithm", ["ppo", pytest.param("dqn", marks=pytest.mark.slow)])
def test_a_run_samples_and_ends_with_an_exact_score_and_a_certificate(small, algorithm, capsys):
    result = train(small(**OPTIONS, algorithm=algorithm))
    folder = Path("runs", f"Yahtzee-{algorithm}-1")
    log = folders.read_log(folder)
    assert log["margin"][-1] == 0
    assert (log["margin"][:-1] > 0).all()
    assert len(log["margin"]) > 2
    assert log["results"][-1] == result.value
    assert result.policy.endswith("in fixed point")
    verified = exactdice.verify(folder / "certificate.npz")
    saved = json.loads((folder / "score.json").read_text())
    assert verified.value == result.value == saved["value"]
    ones = verified.counts["points"]["Ones"][0]
    assert saved["counts"]["points"]["Ones"][0] == pytest.approx(ones)
    assert "sample games" in capsys.readouterr().out
    assert saved["best_normalized"] == result.normalized
    assert folders.exact_part(log)["normalized"].tolist() == [result.normalized]
    (run,) = read_runs(Path("runs"))
    assert run.scores == (result.normalized,)
    drawn = learning([log_of(folder)])
    (line,) = drawn.panels[0].series
    assert line.y[-1] == line.low[-1] == line.high[-1] == pytest.approx(1 - result.normalized)
    wide = 2 * log["margin"][0] / (result.optimum - result.random)
    assert line.high[0] - line.low[0] == pytest.approx(wide)
    assert "Bands are 95 % intervals" in drawn.caption


@pytest.mark.usefixtures("large")
def test_a_network_that_no_certificate_holds_is_refused_before_training(small):
    hyperparams = {"policy_kwargs": "dict(activation_fn=nn.ELU, net_arch=[8])"}
    with pytest.raises((RunError, ValueError), match="must have layers of ReLU or of Tanh"):
        train(small(**OPTIONS, hyperparams=hyperparams))


@pytest.mark.slow
@pytest.mark.usefixtures("large")
def test_a_resumed_run_goes_on_with_its_margins(interrupted):
    folder = interrupted(**OPTIONS)
    before = folders.read_log(folder)["margin"]
    assert len(before) == 2
    assert train(TrainConfig(resume=folder)) is not None
    after = folders.read_log(folder)["margin"]
    assert len(after) > 3
    assert list(after[:2]) == list(before)
    assert after[-1] == 0


def test_a_resumed_run_has_the_points_of_its_unfinished_games(small):
    run = Run.create(small(**OPTIONS, run_folder=Path("run")))
    run.model.learn(1000, callback=[RunCallback(run, lambda *_: None)])
    run.save()
    engine, resumed = run.model.get_env().engine, Run.resume(Path("run")).model.get_env().engine
    assert engine.lanes.totals.any()
    assert resumed.lanes.states().tolist() == engine.lanes.states().tolist()
    assert resumed.lanes.totals.tolist() == engine.lanes.totals.tolist()


def pretend(monkeypatch, *there):
    """Have these libraries for logs found, and no others."""
    for name in ("tensorboard", "wandb"):
        monkeypatch.setitem(sys.modules, name, MagicMock(__spec__=name) if name in there else None)


def test_logs_are_put_into_the_run_folder_of_a_resumed_run_too(small, monkeypatch):
    pretend(monkeypatch, "tensorboard", "wandb")
    run = Run.create(small(tensorboard=True, run_folder=Path("run")))
    assert run.model.tensorboard_log == "run/tensorboard"
    run.model.tensorboard_log = None  # as tensorboard may not be here
    run.model.learn(1, callback=RunCallback(run, lambda *_: None))
    assert Run.resume(Path("run")).model.tensorboard_log == "run/tensorboard"
    assert Run.create(small(run_folder=Path("other"))).model.tensorboard_log is None


def test_weights_and_biases_takes_what_tensorboard_does(small, monkeypatch):
    pretend(monkeypatch, "tensorboard", "wandb")
    session = sys.modules["wandb"]
    run = Run.create(small(wandb="dice", run_folder=Path("run")))
    with _logged_by_wandb(run):
        session.init().__exit__.assert_not_called()
    session.init().__exit__.assert_called_once()
    wanted = {"project": "dice", "name": "run", "sync_tensorboard": True}
    wanted["config"] = run.config.to_json()
    assert session.init.call_args_list[0].kwargs.items() >= wanted.items()
    assert run.model.tensorboard_log == "run/tensorboard"


def test_a_log_needs_its_library(small, monkeypatch):
    for there, options, message in (
        ("wandb", {"tensorboard": True}, "tensorboard needs a library .*: pip install tensorboard"),
        ("wandb", {"wandb": "dice"}, "tensorboard needs .*: pip install tensorb"),
        ("tensorboard", {"wandb": "dice"}, "wandb needs a library .*: pip install wan"),
    ):
        pretend(monkeypatch, there)
        with pytest.raises(InputError, match=message):
            Run.create(small(**options, run_folder=Path("run")))
        assert not Path("run").exists()


HUGE = "10000000000000"
STEPS = {"batch_size": "2048", "buffer_size": "2000000", "n_steps": "1000000"}
LARGE = {"max_score": 1100, "opponent": "if_else"}


@pytest.mark.parametrize(
    ("algorithm", "options", "message"),
    [
        ("dqn", {"hyperparams": {"buffer_size": HUGE}}, r"buffer_size must .* [\d,]+, got 10,0"),
        ("dqn", {"hyperparams": {"batch_size": HUGE}}, r"batch_size must be at most [\d,]+"),
        ("dqn", {"hyperparams": STEPS}, r"n_steps must be at most [\d,]+, got 1,000,"),
        ("ppo", {"hyperparams": {"n_steps": HUGE}}, r"n_steps must be at most [\d,]+"),
        ("ppo", {"num_envs": 10**9}, r"num_envs must be at most [\d,]+, got 1,000,000,000"),
        ("qlearning", {"env": LARGE}, r"Q-learning's tables must be of a smaller game"),
    ],
)
def test_what_does_not_fit_is_named(build, algorithm, options, message):
    with pytest.raises(SizeError, match=f"^{message}"):
        build(algorithm=algorithm, **options)


def test_what_buffers_and_batches_take_is_estimated_to_a_factor_of_three(build, monkeypatch):
    asked = {}  # bytes, by the name of the hyperparameter
    check = lambda name, count, each: asked.update({name: count * each})  # noqa: E731
    monkeypatch.setattr("exactdice.agents.runs.models.check_memory", check)
    size_of = lambda buffer: sum(getattr(a, "nbytes", 0) for a in vars(buffer).values())  # noqa: E731
    taken = size_of(build(algorithm="ppo").rollout_buffer)
    assert taken / 3 < asked["n_steps"] < 3 * taken
    sizes = {"batch_size": "64", "buffer_size": "2000", "n_steps": "200"}
    model = build(algorithm="dqn", hyperparams=sizes)
    taken = size_of(model.replay_buffer)
    assert taken / 3 < asked["buffer_size"] < 3 * taken
    model.replay_buffer.pos = 100
    tracemalloc.start()
    model.replay_buffer.sample(model.batch_size)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken / 3 < asked["n_steps"] < 3 * taken
