"""Training runs: what they leave, how they resume, and how they fail."""

import json
import os
import pickle
import signal
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from exactdice.agents import runs, train
from exactdice.agents.callback import ExactEvalCallback
from exactdice.agents.config import RunError, TrainConfig
from exactdice.agents.models import make_env
from exactdice.games import GAMES

import exactdice


@pytest.mark.parametrize("algorithm", ["ppo", "dqn", "qlearning"])
@pytest.mark.parametrize("reward", ["outcome", "regret", "shaped"])
def test_a_run_leaves_its_configuration_scores_models_and_checkpoint(small, algorithm, reward):
    score = train.train(small(algorithm=algorithm, reward=reward))
    folder = Path("runs", f"Greed-{algorithm}-1")
    names = {"config.json", "evaluations.npz", "best_model.zip", "final_model.zip"}
    names |= {"hyperparameters.yml", "certificate.npz", "checkpoint.pt", "score.json"}
    assert {path.name for path in folder.iterdir()} == names
    saved = json.loads((folder / "score.json").read_text())
    assert saved["value"] == score.value
    assert saved["steps"] >= 3000
    log = np.load(folder / "evaluations.npz")
    assert log["results"].shape == log["ep_lengths"].shape == (len(log["timesteps"]), 1)
    assert log["results"][-1, 0] == score.value
    assert log["regret"][-1] == pytest.approx(score.regret)
    assert (log["ep_lengths"] >= 1).all()
    model, env = runs.load_model(folder)
    assert exactdice.score(model, env).value == score.value
    best, env = runs.load_model(folder, "best")
    assert exactdice.score(best, env).value == log["results"].max()
    assert saved["best_normalized"] == log["normalized"].max()
    config = small(algorithm=algorithm, reward=reward)
    assert runs.read_config(folder).to_json() == config.to_json()
    assert runs.read_config(folder).hyperparameters == config.hyperparameters


@pytest.mark.parametrize("algorithm", ["ppo", "dqn", "qlearning"])
@pytest.mark.parametrize("game", list(GAMES))
def test_both_algorithms_train_on_every_game(small, capsys, algorithm, game):
    score = train.train(small(algorithm=algorithm, game=game, env={}, steps=1000))
    assert 0 <= score.regret <= score.optimum - score.task.game.payoff_range[0]
    shown = capsys.readouterr().out
    for word in ("value", "optimum", "normalised score", "costliest", f"runs/{game}-{algorithm}-1"):
        assert word in shown
    model, env = runs.load_model(Path("runs", f"{game}-{algorithm}-1"))
    assert exactdice.score(model, env).value == score.value


@pytest.mark.parametrize(("algorithm", "span"), [("dqn", 9), ("ppo", 1)])
def test_payoffs_are_scaled_to_a_span_of_1_for_dqn(small, algorithm, span):
    env = make_env(small(game="FourTwoOne", env={}, algorithm=algorithm))
    env.seed(0)
    env.reset()
    rewards, episodes = [], []
    for _ in range(50):
        _, paid, over, infos = env.step(env.action_masks().argmax(axis=1))
        rewards.extend(paid[over])
        episodes.extend(infos[lane]["episode"]["r"] for lane in np.flatnonzero(over))
    assert {1, 2} <= set(episodes)
    assert rewards == pytest.approx(np.array(episodes) / span)


def interrupt_at(monkeypatch, steps):
    """Press Ctrl-C when training has come that far."""
    evaluate = ExactEvalCallback.evaluate

    def pressing(self):
        if self.num_timesteps >= steps and not self.stop:
            os.kill(os.getpid(), signal.SIGINT)
        return evaluate(self)

    monkeypatch.setattr(ExactEvalCallback, "evaluate", pressing)


@pytest.mark.parametrize("algorithm", ["ppo", "dqn", "qlearning"])
def test_an_interrupted_run_resumes_and_ends_as_an_uninterrupted_one(
    small, monkeypatch, capsys, algorithm
):
    """To the last bit of every weight, every score in the log and every game still running."""
    whole = train.train(small(algorithm=algorithm, run_folder=Path("whole")))
    with monkeypatch.context() as patch:
        interrupt_at(patch, 1000)
        assert train.train(small(algorithm=algorithm, run_folder=Path("parts"))) is None
    assert "python train.py --resume parts" in capsys.readouterr().out
    assert not Path("parts/final_model.zip").exists()
    resumed = train.train(TrainConfig(resume=Path("parts")))
    assert resumed.value == whole.value
    for one, two in zip(weights("whole"), weights("parts"), strict=True):
        assert torch.equal(one, two)
    logs = [np.load(f"{name}/evaluations.npz") for name in ("whole", "parts")]
    for key in set(logs[0].files) - {"seconds"}:
        assert np.array_equal(logs[0][key], logs[1][key])


def weights(name):
    model, _ = runs.load_model(Path(name))
    return model.policy.state_dict().values()


def test_a_killed_run_resumes_from_its_last_score(small, monkeypatch):
    whole = train.train(small(run_folder=Path("whole")))

    def die(*_args):
        raise SystemExit("killed")

    with monkeypatch.context() as patch:
        patch.setattr(train.ProgressCallback, "_on_rollout_end", die)
        with pytest.raises(SystemExit):
            train.train(small(run_folder=Path("killed")))
    resumed = train.train(TrainConfig(resume=Path("killed")))
    assert resumed.value == whole.value


def test_a_run_stops_at_a_normalized_score_and_can_be_scored_again(small):
    score = train.train(small(stop_at=0.0, run_folder=Path("run"), steps=100_000))
    assert score.normalized >= 0
    assert json.loads(Path("run/score.json").read_text())["steps"] < 100_000


def test_runs_of_one_seed_are_equal_and_of_two_are_not(small):
    values = [train.train(small(seed=seed)).value for seed in (1, 1, 2)]
    assert values[0] == values[1] != values[2]
    assert Path("runs/Greed-ppo-3").is_dir()


def test_an_existing_folder_is_left_alone(small):
    folder = Path("mine")
    folder.mkdir()
    (folder / "thesis.txt").write_text("precious")
    with pytest.raises(RunError, match="run_folder must not exist, got mine"):
        train.train(small(run_folder=folder))
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]
    with pytest.raises(RunError, match="run_folder must be a place to write to, got mine/thes"):
        train.train(small(run_folder=folder / "thesis.txt" / "run"))


@pytest.fixture
def finished(small):
    train.train(small(run_folder=Path("run")))
    return Path("run")


def test_a_finished_run_is_not_resumed(finished):
    with pytest.raises(RunError, match="resume must be an unfinished run, got run, which has a sc"):
        train.train(TrainConfig(resume=finished))


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", None])
def test_damaged_files_are_named_and_nothing_is_lost(finished, content):
    (finished / "score.json").unlink()
    for name, use in (
        ("checkpoint.pt", lambda: train.train(TrainConfig(resume=finished))),
        ("final_model.zip", lambda: runs.load_model(finished)),
    ):
        path = finished / name
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2] if content is None else content)
        before = {path: path.read_bytes() for path in finished.iterdir()}
        with pytest.raises(RunError, match=rf"run/{name} must"):
            use()
        assert {path: path.read_bytes() for path in finished.iterdir()} == before
        path.write_bytes(whole)


def test_missing_files_are_named(finished, tmp_path):
    (finished / "score.json").unlink()
    for name, use in (
        ("checkpoint.pt", lambda: train.train(TrainConfig(resume=finished))),
        ("best_model.zip", lambda: runs.load_model(finished, "best")),
        ("config.json", lambda: runs.read_config(finished)),
    ):
        (finished / name).unlink()
        with pytest.raises(RunError, match=f"run folder must hold a {name}, got"):
            use()
    with pytest.raises(RunError, match="must hold a config.json"):
        runs.read_config(tmp_path / "nowhere")
    (finished / "config.json").write_text('{"game": "Chess", "colour": 1}')
    with pytest.raises(RunError, match=r"run/config.json must be the configuration of a run"):
        runs.read_config(finished)


def test_a_model_of_another_size_is_refused(finished, small):
    train.train(small(env={"max_score": 12, "sides": 3}, run_folder=Path("larger")))
    (finished / "final_model.zip").write_bytes(Path("larger/final_model.zip").read_bytes())
    with pytest.raises(RunError, match="must hold the weights of this run"):
        runs.load_model(finished)


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


def test_loading_runs_no_code_from_the_files(finished):
    (finished / "score.json").unlink()
    for name in ("final_model.zip", "checkpoint.pt"):
        path = finished / name
        if name.endswith("pt"):
            torch.save({"parameters": Bomb()}, path)
        else:
            with zipfile.ZipFile(path, "w") as file:
                file.writestr("data", json.dumps({":serialized:": pickle.dumps(Bomb()).hex()}))
                file.writestr("policy.pth", pickle.dumps(Bomb()))
    with pytest.raises(RunError):
        runs.load_model(finished)
    with pytest.raises(RunError):
        train.train(TrainConfig(resume=finished))
    assert not Path("exploded").exists()


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    runs.write(path, b"old")

    def fail(_file):
        raise OSError("disk full")

    monkeypatch.setattr(runs.os, "fsync", fail)  # the new content is written, but not safely
    with pytest.raises(OSError, match="disk full"):
        runs.write(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"num_envs": 0}, "num_envs must be at least 1, got 0"),
        ({"eval_interval": -5}, "eval_interval must be at least 1, got -5"),
        ({"seed": -1}, r"seed must be from 0 to 2\*\*32 - 1, got -1"),
        ({"stop_at": 1.5}, "stop_at must be at most 1, the optimum, got 1.5"),
        ({"resume": Path("x"), "steps": 5}, "resume must be the only option.*got steps"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        TrainConfig(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"env": {"max_score": 0}}, "max_score must be at least 1, got 0"),
        ({"env": {"colour": "red"}}, "env must hold keywords of the game: Greed takes the keyw"),
        ({"device": "abacus"}, "device must be one that PyTorch can use, got 'abacus'"),
    ],
)
def test_a_run_that_cannot_start_leaves_no_folder(small, options, message):
    with pytest.raises(ValueError, match=message):
        train.train(small(**options))
    assert not Path("runs").exists()
