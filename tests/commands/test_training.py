"""``exactdice train`` and ``plot`` of its runs, as a user meets them."""

import json
import runpy
import signal
import sys
from pathlib import Path

import pytest
from checkout import ROOT
from exactdice.agents.runs.callback import RunCallback
from typed_words import QUICK, SMALL


def test_the_main_job_trains_scores_and_saves(refusal, prints):
    said = prints("train", *QUICK, "--run-folder", "mine")
    for word in ("optimum", "random", "regret", "normalised score", "costliest", "saved in mine"):
        assert word in said
    saved = json.loads(Path("mine/score.json").read_text())
    assert f"{saved['value']:.6f}" in said
    said = refusal("train", *QUICK, "--run-folder", "mine")
    assert said.startswith("run_folder must not exist, got mine")


@pytest.mark.posix
def test_ctrl_c_saves_and_says_how_to_resume(run, capsys, monkeypatch):
    slow = [*SMALL, "--steps", "4000", "--num-envs", "64", "--eval-interval", "500"]
    begin = RunCallback._on_rollout_start

    def pressing(callback):
        if callback.num_timesteps >= 1000 and not callback.stop:
            signal.raise_signal(signal.SIGINT)
        begin(callback)

    with monkeypatch.context() as patch:
        patch.setattr(RunCallback, "_on_rollout_start", pressing)
        patch.setattr(sys, "argv", ["train.py", *slow, "--run-folder", "mine"])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(ROOT / "train.py"), run_name="__main__")
    assert end.value.code == 130
    assert "python train.py --resume mine" in capsys.readouterr().out
    assert not Path("mine/score.json").exists()
    assert run("train", "--resume", "mine")[0] == 0
    assert run("train", *slow, "--run-folder", "whole")[0] == 0
    ends = [json.loads(Path(name, "score.json").read_text()) for name in ("mine", "whole")]
    for end in ends:
        del end["seconds"]
    assert ends[0] == ends[1]


def test_plot_draws_runs(run, refusal, prints, mine):
    prints("plot", "mine", "--picture", "curves.svg")
    assert "Greed: PPO" in Path("curves.svg").read_text()
    for name in ("curves.PNG", "curves.pdf", "curves.webp"):
        assert run("plot", "mine", "--picture", name)[0] == 0
        assert Path(name).stat().st_size > 1000
    path = mine / "evaluations.npz"
    whole = path.read_bytes()
    for share in (0, 0.1, 0.9):
        path.write_bytes(whole[: int(share * len(whole))])
        said = refusal("plot", "mine")
        assert said.startswith("mine/evaluations.npz must hold the scores of a run, got")
    path.unlink()
    assert "must hold an evaluations.npz" in refusal("plot", "mine")


@pytest.mark.parametrize(
    ("key", "value"),
    [("algorithm", "sarsa"), ("game", ["Greed"]), ("seed", None), ("self_play", "no"), ("a", 1)],
)
def test_a_configuration_that_is_not_one_is_refused(refusal, mine, key, value):
    path = mine / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    for arguments in (["score", "mine"], ["train", "--resume", "mine"], ["plot", "mine"]):
        said = refusal(*arguments)
        assert said.startswith("mine/config.json must be the configuration of a run")
        assert key in said


@pytest.mark.parametrize("name", ["hyperparameters.yml", "config.json"])
def test_a_configuration_of_brackets_is_refused(refusal, mine, name):
    (mine / name).write_text("[" * 600)
    assert refusal("score", "mine").startswith("mine/config.json must be the configuration of")


@pytest.mark.parametrize("value", ["[" * 600, "2001-99-99", "!!timestamp x", "{1: }}"])
def test_texts_that_are_no_yaml_are_refused(refusal, tmp_path, value):
    said = refusal("train", "--hyperparams", "n_steps", value)
    assert said.startswith("n_steps must be a value in YAML, got '")
    assert len(said) < 600
    Path("deep.yml").write_text(value)
    said = refusal("train", "--conf", "deep.yml")
    assert said.startswith("conf must be a YAML file, got deep.yml: ")
    assert [path.name for path in tmp_path.iterdir()] == ["deep.yml"]
