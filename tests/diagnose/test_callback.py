"""Figures of training: equal to the functions of diagnose, within a budget, in the run folder."""

import csv
import re
from collections import Counter
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from checkout import ROOT
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.runs import train as training
from exactdice.agents.runs.config import RunError, TrainConfig
from exactdice.agents.runs.folders import load_model
from exactdice.agents.runs.train import train
from exactdice.baselines import Task, as_policy
from exactdice.core import InputError
from exactdice.diagnose import (
    DiagnoseCallback,
    critic,
    entropy,
    gae,
    gradient,
    overestimation,
    unvisited,
)
from exactdice.diagnose import training as module
from exactdice.diagnose.training import StoppedWarning
from exactdice.diagnose.training.model import COLUMNS, Diary
from exactdice.games import ShutTheBox
from exactdice.look.plotting import picture
from sb3_contrib import ARS, QRDQN, MaskablePPO, RecurrentPPO
from small_games import Owed
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize
from thinning import every_third, later

import exactdice
from exactdice.commands.training import FILE, diagnose_models, diagnosis_of

GREED = {"max_score": 10, "sides": 3}
LEARNERS = {
    MaskablePPO: {"n_steps": 64, "batch_size": 64, "gamma": 1.0},
    PPO: {"n_steps": 64, "batch_size": 64, "gamma": 1.0},
    A2C: {"n_steps": 64, "gamma": 1.0},
    DQN: {"learning_starts": 64, "train_freq": 64, "gamma": 1.0},
    QRDQN: {"learning_starts": 64, "train_freq": 64, "gamma": 1.0},
}
pytestmark = pytest.mark.usefixtures("one_thread")


def greed(**options):
    return gym.make("exactdice/Greed-v0", **GREED, **options)


def learner(kind=MaskablePPO, env=None, **options):
    return kind("MlpPolicy", env or greed(), seed=0, device="cpu", **LEARNERS[kind] | options)


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def after_rollout(act):
    """Make a callback that calls a function with itself after each rollout."""
    methods = {"_on_step": lambda training: True, "_on_rollout_end": act}
    return type("AfterRollout", (BaseCallback,), methods)()


def directly(model):
    """Compute columns by the functions of diagnose, with the model as users have it."""
    env = greed()
    task = env.unwrapped.task
    states = np.arange(task.game.num_states)
    seen, legal = task.game.observe(states, task.seat), task.game.mask(states)
    if isinstance(model, DQN | QRDQN):
        values = ModelPolicy(model, task.game).prefer(seen, task.game.num_actions)
        found = overestimation(env, values, model.gamma)
        own, best = found.against_own_policy, found.against_optimum
        return dict(zip(OVER, (own.mean, own.largest, best.mean, best.largest), strict=True))
    masked = isinstance(model, MaskablePPO)
    player = as_policy(model, env, deterministic=False, masked=masked)
    values = ModelPolicy(model, task.game).critic(seen, legal)
    found = critic(env, player, values, model.gamma)
    columns = {"critic_bias": found.bias, "critic_rmse": found.rmse}
    law = entropy(env, as_policy(model, env, deterministic=False))
    columns |= {"entropy": law.mean, "entropy_by_regret": law.by_regret}
    columns["critic_explained_variance"] = found.explained_variance
    if masked:
        figures = gae(env, player, values, model.gamma, model.gae_lambda)
        columns |= {"gae_bias": figures.rms_bias, "gae_std": figures.rms_std}
        columns |= {"gradient_cosine": cosine(model)} if model.gamma == 1 else {}
    return columns


def cosine(model):
    """Compare the gradient of the loss by SB3's own evaluation with the exact one."""
    buffer, policy = model.rollout_buffer, model.policy
    actor = torch.nn.Sequential(policy.mlp_extractor.policy_net, policy.action_net)
    parts = buffer.observations, buffer.actions, buffer.action_masks, buffer.advantages
    size = buffer.rewards.size
    seen, actions, masks, lead = (torch.as_tensor(each.reshape(size, -1)) for each in parts)
    policy.zero_grad()
    _, logs, _ = policy.evaluate_actions(seen, actions.ravel(), action_masks=masks)
    lead = lead.ravel()
    (-(logs * (lead - lead.mean()) / (lead.std() + 1e-8)).mean()).backward()
    found = gradient(greed(encoding="one_hot_float"), actor).compare(actor).cosine
    policy.zero_grad()
    return found


OVER = [name for name in COLUMNS if name.startswith("overestimation")]


@pytest.mark.parametrize(
    ("kind", "gamma"), every_third([*((kind, 1.0) for kind in LEARNERS), (MaskablePPO, 0.9)])
)
def test_columns_are_the_figures_of_diagnose_with_a_model_of_stable_baselines3(kind, gamma):
    direct, ours = [], DiagnoseCallback(budget=1)
    now = after_rollout(lambda training: direct.append(directly(training.model)))
    learner(kind, gamma=gamma).learn(64, callback=[ours, now])
    (row,) = ours.diary.rows
    for name, number in direct[0].items():
        assert row[name] == pytest.approx(number, rel=1e-5, abs=1e-9), name
    assert set(row) | set(ours.diary.missing) == set(COLUMNS)  # nothing is skipped silently


def test_a_run_logs_its_columns(tmp_path):
    model = learner(env=greed(encoding="one_hot"), n_steps=128, batch_size=128)
    model.set_logger(configure(str(tmp_path), ["csv"]))
    ours = DiagnoseCallback(every=2, budget=1, folder=tmp_path / "run")
    model.learn(512, callback=ours)
    model.logger.close()
    diary, kept = ours.diary, Diary.read(tmp_path / "run")
    assert [row["timesteps"] for row in diary.rows] == [128, 384]
    logged = rows_of(tmp_path / "progress.csv")[0]
    assert float(logged["diagnose/critic_rmse"]) == diary.rows[0]["critic_rmse"]
    assert kept.rows == diary.rows
    assert (kept.visited == diary.visited).all()
    assert rows_of(tmp_path / "run/diagnosis.csv")[0]["timesteps"] == "128.0"


def test_an_unmasked_learner_has_no_figures_of_advantages():
    ours = DiagnoseCallback(every=1, budget=1)
    learner(PPO, n_steps=128, batch_size=128).learn(384, callback=ours)
    assert "not held to the legal actions" in ours.diary.missing["gae_std"]


def test_training_is_the_same_with_a_diagnosis():
    weights = []
    for watching in (None, DiagnoseCallback(every=1, budget=1)):
        model = learner().learn(128, callback=watching)
        weights.append(torch.cat([each.ravel() for each in model.policy.parameters()]))
    assert torch.equal(*weights)


@pytest.mark.parametrize("budget", [0.1, 0.5])
def test_the_diagnosis_keeps_to_its_budget(budget, monkeypatch):
    """On a clock on which only the diagnosis and the steps of training take time."""
    seconds, turns = {"figures": 0.2, "moves": 0.6}, Counter()

    def turn(name, result):
        def take(*_):
            turns[name] += 1
            return result

        return take

    monkeypatch.setattr(module, "GUESSES", {name: (cost, 0, 0) for name, cost in seconds.items()})
    for name, method in (("figures", "_figures"), ("moves", "_list_moves")):
        monkeypatch.setattr(module.DiagnoseCallback, method, turn(name, module.Columns()))
    monkeypatch.setattr(module.Diagnosed, "needs_moves", True)
    clock = lambda: sum(seconds.get(name, 0.05) * turns[name] for name in turns)  # noqa: E731
    ours, shares = DiagnoseCallback(every=1, budget=budget, clock=clock), []
    monkeypatch.setattr(ours, "_keep", lambda _: shares.append(ours.share))
    idle = {"learning_starts": 10**6, "train_freq": 4}
    stepping = type("Stepping", (BaseCallback,), {"_on_step": turn("steps", True)})()
    learner(DQN, **idle).learn(2000, callback=[stepping, ours])
    assert max(shares) <= budget + 1e-9
    assert ours.share > 0.5 * budget  # it uses what it may
    assert (turns["moves"], turns["figures"] > 5) == (1, True)


def test_what_never_fits_the_budget_is_said():
    ours = DiagnoseCallback(budget=1e-9)
    assert str(ours).startswith("0 diagnoses took 0.0%")
    learner().learn(64, callback=ours)
    diary = ours.diary
    assert diary.rows == []
    for said in (diary.missing["critic_rmse"], str(ours)):
        assert "more than the budget" in said


def test_visits_are_those_of_training_in_other_processes_too_weighted_by_optimal_play():
    often = exactdice.occupancy("optimal", greed())
    assert unvisited(greed(), often > 0) == 0
    assert unvisited(greed(), np.zeros(len(often))) == 1
    first = often == often.max()
    assert unvisited(greed(), first) == pytest.approx(1 - often[first].sum() / often.sum())
    env = SubprocVecEnv([greed] * 2, start_method="fork")
    ours = DiagnoseCallback(env=greed(), budget=1)
    learner(env=env).learn(64, callback=ours)
    env.close()
    share = unvisited(greed(), ours.diary.visited)
    assert 0 < share == ours.diary.rows[-1]["unvisited"] < 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"every": 0}, "every must be at least 1, got 0"),
        ({"budget": 0}, "budget must be above 0 and at most 1, got 0"),
        ({"budget": 1.5}, "budget must be above 0 and at most 1, got 1.5"),
    ],
)
def test_wrong_arguments_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        DiagnoseCallback(**options)


@pytest.mark.parametrize(
    ("kind", "policy", "env", "options", "said"),
    [
        (PPO, "MlpPolicy", "CartPole-v1", {}, "env must be an environment of this project"),
        (PPO, "MlpPolicy", gym.Wrapper(greed()), {"env": greed()}, "the wrapper Wrapper"),
        (RecurrentPPO, "MlpLstmPolicy", "FrozenLake-v1", {}, "has a memory"),
        later((RecurrentPPO, "MlpLstmPolicy", "Taxi-v4", {}, "has a memory")),
        (ARS, "LinearPolicy", greed(), {}, "model must have a critic or action values"),
    ],
)
def test_no_training_ends_since_it_cannot_be_diagnosed(kind, policy, env, options, said):
    size = {} if kind is ARS else {"n_steps": 64, "batch_size": 64, "n_epochs": 1}
    ours = DiagnoseCallback(**options, every=1, budget=1)
    with pytest.warns(StoppedWarning, match=said) as warned:
        model = kind(policy, env, device="cpu", **size).learn(128, callback=ours)
    assert model.num_timesteps >= 128
    assert len(warned) == 1
    assert said in ours.stopped
    assert str(ours) == f"no diagnosis: {ours.stopped}"
    assert said in ours.diary.missing["critic_rmse"]


def test_a_fault_of_the_diagnosis_ends_the_diagnosis_alone(monkeypatch):
    ours, faults = DiagnoseCallback(every=1, budget=1), iter([False, True])
    figures = module.Diagnosed.figures

    def failing(*given, **options):
        if next(faults):
            raise AttributeError("no such figure")
        return figures(*given, **options)

    monkeypatch.setattr(module.Diagnosed, "figures", failing)
    with pytest.warns(StoppedWarning, match="AttributeError: no such figure"):
        assert learner().learn(192, callback=ours).num_timesteps == 192
    assert len(ours.diary.rows) == 1
    assert "took" in str(ours)


@pytest.mark.parametrize("normalised", [True, False])
def test_the_reason_is_given_for_critics_of_normalised_rewards(normalised):
    ours = DiagnoseCallback(budget=1)
    env = VecNormalize(DummyVecEnv([greed]), norm_obs=False, norm_reward=normalised)
    learner(env=env).learn(64, callback=ours)
    assert ("VecNormalize" in ours.diary.missing.get("critic_rmse", "")) == normalised
    assert (ours.diary.rows[0].get("critic_rmse", 0) > 0) != normalised


def unlimited(run):
    ours = diagnosis_of(run)
    ours.budget = 1
    return ours


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Train small runs with a diagnosis, by algorithm."""
    folders = {name: tmp_path_factory.mktemp("runs") / name for name in ("ppo", "dqn", "qlearning")}
    small = {"batch_size": "64", "buffer_size": "2000", "learning_starts": "200"}
    options = {"steps": 1024, "num_envs": 32, "eval_interval": 512, "diagnose": True}
    for name, folder in folders.items():
        options |= {"algorithm": name, "hyperparams": small if name == "dqn" else {}}
        train(TrainConfig(env=GREED, run_folder=folder, **options), diagnosis=unlimited)
    return folders


@pytest.mark.parametrize("algorithm", ["ppo", "dqn", "qlearning"])
def test_runs_keep_their_columns_and_their_models_have_them(runs, algorithm, prints):
    diary = Diary.read(runs[algorithm])
    name = "critic_rmse" if algorithm == "ppo" else "overestimation_mean"
    assert np.isfinite(diary.column(name)).all()
    assert len(diary.rows) >= 2
    assert name in prints("diagnose", runs[algorithm])
    rows = rows_of(runs[algorithm] / FILE)
    assert [row["model"] for row in rows] == ["best", "final"]
    if algorithm == "ppo":
        model, env = load_model(runs[algorithm])
        states = np.arange(env.task.game.num_states)
        seen, legal = env.task.game.observe(states, 0), env.task.game.mask(states)
        found = critic(env, model, ModelPolicy(model, env.task.game).critic(seen, legal))
        assert float(rows[1]["critic_rmse"]) == pytest.approx(found.rmse)


def test_entropies_are_sums_over_states_where_something_can_be_chosen():
    env = Task(ShutTheBox(4, 2, 3, objective="sum"))
    game, q = env.game, exactdice.solve(env).table
    legal = game.mask(np.arange(game.num_states))
    law = legal * np.random.default_rng(0).random(legal.shape)
    law /= law.sum(axis=1, keepdims=True)
    met = exactdice.occupancy(law, env)
    choices = np.flatnonzero((met > 0) & (legal.sum(axis=1) > 1))
    assert len(choices) < np.count_nonzero(met)
    entropies, gaps = [], []
    for state in choices:
        values, chances = q[state][legal[state]], law[state][legal[state]]
        entropies.append(-(chances * np.log(chances)).sum() / np.log(len(chances)))
        gaps.append(values.max() - values.mean())
    found = entropy(env, law)
    assert found.mean == pytest.approx(np.average(entropies, weights=met[choices]))
    assert found.by_regret == pytest.approx(np.average(entropies, weights=met[choices] * gaps))
    assert entropy(env, "optimal").mean == pytest.approx(0, abs=1e-9)
    equal = entropy(Task(Owed()), "random")  # actions, whose rounding is no weight
    assert np.isnan(equal.by_regret)


def test_charts_show_a_diagnosis(runs):
    panels = [panel.title for panel in picture(["diagnosis", str(runs["ppo"])]).panels]
    assert panels[:2] == ["Errors of the critic", "Bias of advantage estimates"]
    (over, _) = picture(["diagnosis", str(runs["dqn"])]).panels
    assert over.title.startswith("Overestimation")
    bias, noise = picture(["gae", str(runs["ppo"])]).panels
    assert bias.series[0].y[-1] == pytest.approx(0, abs=1e-9)
    assert noise.series[0].y[-1] > noise.series[0].y[0]
    with pytest.raises(RunError, match="gae needs a run that estimates advantages"):
        picture(["gae", str(runs["dqn"])])


@pytest.mark.slow  # draws ten pictures; tests/look/test_runs.py has pages of other runs
def test_a_report_shows_a_diagnosis(runs, prints):
    prints("report", runs["ppo"], "--page", "page.html")
    page = Path("page.html").read_text()
    assert all(words in page for words in ("entropy_by_regret", "Errors of the critic"))


def test_wrong_words_of_the_command_are_errors_by_name(refusal, tmp_path):
    assert "run folder must hold a config.json" in refusal("diagnose", "none")
    assert "diagnose needs a run without self_play" in refusal("train", "--self-play", "--diagnose")
    assert "train with --diagnose" in refusal("plot", "diagnosis", tmp_path)
    (tmp_path / "diagnosis.npz").write_bytes(b"nothing")
    assert "must hold what was diagnosed in a run" in refusal("plot", "diagnosis", tmp_path)


@pytest.mark.slow
def test_a_run_goes_on_with_its_columns(tmp_path, monkeypatch):
    def stop_in_the_middle(bar):
        if bar.num_timesteps >= 1024:
            raise KeyboardInterrupt

    folder = tmp_path / "run"
    monkeypatch.setattr("exactdice.agents.runs.callback.SAVING", 10**9)
    monkeypatch.setattr(training.ProgressCallback, "_on_rollout_end", stop_in_the_middle)
    options = {"steps": 2048, "num_envs": 32, "eval_interval": 512, "diagnose": True}
    with pytest.raises(KeyboardInterrupt):
        train(TrainConfig(env=GREED, run_folder=folder, **options), diagnosis=unlimited)
    before = Diary.read(folder)
    done = diagnose_models(folder)["checkpoint"].numbers["timesteps"]
    assert 0 < done < 2048
    monkeypatch.undo()
    train(TrainConfig(resume=folder), diagnosis=unlimited)
    after = Diary.read(folder)
    kept = [row for row in before.rows if row["timesteps"] <= done]
    assert after.rows[: len(kept)] == kept
    steps = [row["timesteps"] for row in after.rows]
    assert steps == sorted(set(steps))
    assert after.visited[before.visited].all()


def test_the_documentation_has_every_column():
    page = (ROOT / "docs/watch-training.md").read_text()
    rows = re.findall(rf"^\| `({'|'.join(COLUMNS)})` \| (.*) \|$", page, re.M)
    assert rows == list(COLUMNS.items())


def lake(**keywords):
    return gym.make("FrozenLake-v1", **keywords)


TOY_TEXT = [
    (DQN, lambda: lake().unwrapped, lake),
    (PPO, lambda: DummyVecEnv([lambda: lake(max_episode_steps=9)] * 3), None),
    (DQN, lambda: DummyVecEnv([lambda: lake(max_episode_steps=9)] * 3), None),
    (PPO, lambda: gym.wrappers.FlattenObservation(lake(max_episode_steps=9)), None),
    (PPO, lambda: make_vec_env("Taxi-v4", n_envs=2), lambda: gym.make("Taxi-v4").unwrapped),
]


@pytest.mark.parametrize(("kind", "vector", "given"), every_third(TOY_TEXT))
def test_toy_text_is_diagnosed(kind, vector, given, tmp_path):
    """Its states are those of the game."""
    steps = {"n_steps": 256, "batch_size": 64} if kind is PPO else {"train_freq": 256}
    ours = DiagnoseCallback(given and given(), every=2, budget=1, folder=str(tmp_path))
    kind("MlpPolicy", vector(), seed=0, device="cpu", **steps).learn(512, callback=ours)
    row = ours.diary.rows[0]
    figure = "critic_bias" if kind is PPO else "overestimation_mean"
    assert figure in row or "circles and is paid" in ours.diary.missing[figure]
    assert Diary.read(tmp_path).rows == ours.diary.rows
    visited, game = ours.diary.visited, ours._diagnosed.task.game
    if given:  # the limit of the game and that of training differ
        assert ("unvisited" in ours.diary.missing) == (game.horizon == 100)
    else:
        seen = game.observe(np.flatnonzero(visited), 0)
        assert visited[game.encode(np.array([[0, 0]]))].all()
        assert {5, 7, 11, 12, 15}.isdisjoint(seen[:, 0].tolist())  # holes and the goal
        assert seen[:, 1].max() >= 5
