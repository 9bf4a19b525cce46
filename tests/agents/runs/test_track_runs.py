"""Runs on a track: their moves, their scores at the marks, and resuming them."""

import io
import json
from importlib.resources import files

import pytest
import yaml
from exactdice.agents.runs import folders
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.train import train
from exactdice.agents.tracks import TRACKS, Track
from exactdice.baselines import score
from exactdice.diagnose.training.folder import diagnose_models
from rich.console import Console

TINY = Track("tiny", 3, 1000, ("Greed",))
ENV = {"max_score": 10, "sides": 3}
#: A rollout has 48 moves, which divides neither the track nor its marks.
SIZES = {
    "ppo": {"n_steps": "6", "batch_size": "48"},
    "dqn": {
        "train_freq": "6",
        "batch_size": "16",
        "buffer_size": "500",
        "learning_starts": "50",
    },
    "qlearning": {"n_steps": "6"},
}


@pytest.fixture(autouse=True)
def _tiny(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TRACKS, "tiny", TINY)


def tiny(algorithm, folder, **options):
    """Make a run of 20 whole rollouts on the tiny track."""
    return TrainConfig(
        track="tiny", algorithm=algorithm, env=ENV, num_envs=8, hyperparams=SIZES[algorithm],
        run_folder=folder, **options,
    )  # fmt: skip


@pytest.mark.parametrize("algorithm", SIZES)
def test_a_run_makes_whole_rollouts_and_is_scored_at_the_last_update_before_each_mark(
    algorithm, tmp_path
):
    console = Console(file=io.StringIO(), width=200)
    last = train(tiny(algorithm, tmp_path / "run"), console)
    saved, log = folders.read_score(tmp_path / "run"), folders.read_log(tmp_path / "run")
    assert saved["steps"] == 960 == log["timesteps"][-1]
    assert log["timesteps"].tolist() == [0, 48, 96, 192, 480, 960]  # 0 is for 10 and for 20 moves
    assert (saved["track"], saved["track_version"]) == ("tiny", 3)
    curve = log["normalized"]
    marks = ["10", "20", "50", "100", "200", "500", "1000"]
    assert list(saved["normalized_at_marks"]) == marks
    assert [*saved["normalized_at_marks"].values()] == curve[[0, 0, 1, 2, 3, 4, 5]].tolist()
    assert saved["normalized"] == last.normalized == curve[-1]  # the last policy, not the best
    assert "best_normalized" not in saved
    assert not (tmp_path / "run" / "best_model.zip").exists()
    assert "960 steps on the track tiny, v3, saving in" in console.file.getvalue()
    model, env = folders.load_model(tmp_path / "run")
    assert score(model, env).value == last.value


def test_the_last_model_of_a_track_is_diagnosed(tmp_path):
    train(tiny("ppo", tmp_path / "run"), Console(file=io.StringIO()))
    found = diagnose_models(tmp_path / "run")
    assert list(found) == ["final"]
    assert found["final"].numbers["critic_rmse"] > 0


def test_a_track_reads_its_own_hyperparameters_and_else_those_of_all():
    own = TrainConfig(track="exactdice-10k", algorithm="ppo").hyperparameters
    file = files("exactdice.agents").joinpath("hyperparams/exactdice-10k/ppo.yml")
    written = yaml.safe_load(file.read_text())["default"]
    assert (own.n_envs, own.n_steps) == (written["n_envs"], written["n_steps"])
    rollout = own.n_envs * own.n_steps
    assert own.n_timesteps == 10_000 // rollout * rollout
    others = TrainConfig(track="exactdice-1m", algorithm="a2c").hyperparameters
    given = vars(TrainConfig(algorithm="a2c").hyperparameters)
    assert vars(others) == {**given, "n_timesteps": others.n_timesteps}


def test_the_command_trains_on_a_track(run, tmp_path):
    words = ["--algorithm", "qlearning", "--num-envs", "512", "--env", "max_score", "10"]
    code, _, _ = run("train", "--track", "exactdice-10k", *words, "--run-folder", "run")
    assert code == 0
    assert json.loads((tmp_path / "run/config.json").read_text())["track"] == "exactdice-10k"
    assert folders.read_score(tmp_path / "run")["steps"] == 8192


@pytest.mark.parametrize(
    ("game", "track", "more"),
    [
        ("Yahtzee", "exactdice-10k", ()),
        ("LowestScore", "exactdice-selfplay-1m", ("--self-play",)),
    ],
)
def test_a_game_that_a_track_does_not_have_is_refused(run, tmp_path, game, track, more):
    code, out, error = run("train", game, "--track", track, *more, "--run-folder", "run")
    games = ", ".join(map(repr, TRACKS[track].games))
    assert (code, out) == (2, "")
    assert error.startswith(
        f"error: game on the track {track} must be one of {games}, got {game!r}"
    )
    assert not (tmp_path / "run").exists()
