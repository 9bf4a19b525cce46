"""Runs on a track: their moves, their scores at its marks, and the exploitability of self-play."""

import csv
import io
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import yaml
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.learners.self_play import SelfPlay
from exactdice.agents.runs import folders
from exactdice.agents.runs.config import RunError, TrainConfig
from exactdice.agents.runs.train import train
from exactdice.baselines import score, score_self_play
from exactdice.baselines.scoring.figure import nines
from exactdice.board import leaderboard as board
from exactdice.board.grid import BenchmarkConfig
from exactdice.board.leaderboard import cross_table
from exactdice.board.pictures import track_curves
from exactdice.board.strata import area
from exactdice.board.tracks import TRACKS, Track
from rich.console import Console
from thinning import at_once

import exactdice
from exactdice.commands.training import diagnose_models

ENV = {"max_score": 10, "sides": 3}
TINY = Track("tiny", 3, 1000, ("Greed",))
SELF = Track("self", 1, 1000, ("Greed",), seeds=1, keywords={"Greed": ENV}, self_play=True)
#: A rollout has 48 moves, which divides neither the track nor its marks.
SIZES = {
    "ppo": {"n_steps": "6", "batch_size": "48"},
    "dqn": {"train_freq": "6", "batch_size": "16", "buffer_size": "500", "learning_starts": "50"},
    "qlearning": {"n_steps": "6"},
}
QUIET = Console(quiet=True)


@pytest.fixture(autouse=True)
def _tracks(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for track in (TINY, SELF):
        monkeypatch.setitem(TRACKS, track.name, track)


def on_track(track, algorithm, folder="run"):
    """Make a run of 20 whole rollouts on a track."""
    options = {"algorithm": algorithm, "self_play": track.self_play, "run_folder": folder}
    sizes = {"env": ENV, "num_envs": 8, "hyperparams": SIZES[algorithm]}
    return TrainConfig(track=track.name, **options, **sizes)


@pytest.mark.parametrize("algorithm", at_once("ppo".__eq__, SIZES))
def test_a_run_makes_whole_rollouts_and_is_scored_at_the_last_update_before_each_mark(algorithm):
    console = Console(file=io.StringIO(), width=200)
    last = train(on_track(TINY, algorithm), console)
    saved, log = folders.read_score(Path("run")), folders.read_log(Path("run"))
    assert saved["steps"] == 960 == log["timesteps"][-1]
    assert log["timesteps"].tolist() == [0, 48, 96, 192, 480, 960]  # 0 is for 10 and for 20 moves
    assert (saved["track"], saved["track_version"]) == ("tiny", 3)
    curve = log["normalized"]
    at_marks = dict(zip(map(str, TINY.marks), curve[[0, 0, 1, 2, 3, 4, 5]], strict=True))
    assert saved["normalized_at_marks"] == at_marks
    assert saved["normalized"] == last.normalized == curve[-1]  # the last policy, not the best
    assert "best_normalized" not in saved
    assert not Path("run/best_model.zip").exists()
    assert "960 steps on the track tiny, v3, saving in" in console.file.getvalue()
    model, env = folders.load_model(Path("run"))
    assert score(model, env).value == last.value
    assert list(diagnose_models(Path("run"))) == ["final"]


def test_a_track_reads_its_own_hyperparameters_and_else_those_of_all():
    own = TrainConfig(track="exactdice-10k", algorithm="ppo").hyperparameters
    file = files("exactdice.agents").joinpath("hyperparams/exactdice-10k/ppo.yml")
    written = yaml.safe_load(file.read_text())["default"]
    assert (own.n_envs, own.n_steps) == (written["n_envs"], written["n_steps"])
    others = TrainConfig(track="exactdice-1m", algorithm="a2c").hyperparameters
    given = vars(TrainConfig(algorithm="a2c").hyperparameters)
    assert vars(others) == {**given, "n_timesteps": others.n_timesteps}


def test_a_game_that_a_track_does_not_have_is_refused(refusal):
    other = ("LowestScore", "exactdice-selfplay-1m", "--self-play")
    for game, track, *more in (("Yahtzee", "exactdice-10k"), other):
        said = refusal("train", game, "--track", track, *more, "--run-folder", "run")
        games = ", ".join(map(repr, TRACKS[track].games))
        assert said.startswith(f"game on the track {track} must be one of {games}, got {game!r}")
        assert not Path("run").exists()


def test_a_run_of_self_play_is_scored_at_the_last_update_before_each_mark(monkeypatch, capsys):
    """Every rollout that begins gives its moves and its policy; none may begin after a mark."""
    rollouts, begin = [], SelfPlay._on_rollout_start

    def watched(self):
        policy = ModelPolicy(self.model, self._game)
        task = self.model.get_env().task
        rollouts.append((self.model.num_timesteps, exactdice.exploitability(policy, task)))
        begin(self)

    monkeypatch.setattr(SelfPlay, "_on_rollout_start", watched)
    train(on_track(SELF, "ppo"))
    saved, log = folders.read_score(Path("run")), folders.read_log(Path("run"))
    before = lambda mark: [lost for moves, lost in rollouts if moves <= mark]  # noqa: E731
    wanted = {str(mark): before(mark)[-1] for mark in SELF.marks}
    assert saved["exploitability_at_marks"] == pytest.approx(wanted, abs=1e-12)
    assert 0.8 * SELF.moves < saved["steps"] == rollouts[-1][0] <= SELF.moves
    assert log["timesteps"].max() == saved["steps"]
    assert saved["exploitability_of_both_seats"] == saved["exploitability_at_marks"]["1000"]
    found = score_self_play(*folders.load_model(Path("run")))
    assert saved["self_play"] == found.as_dict()
    last = [log[name][-1] for name in folders.SELF_PLAY]
    assert last == [found.exploitability, found.normalized, *found.guaranteed]
    mean = f"exploitability, mean of both seats: {found.exploitability:.6f}"
    assert mean in capsys.readouterr().out


def test_the_benchmark_of_a_track_of_self_play_has_its_entrants():
    cells = BenchmarkConfig(track="exactdice-selfplay-1m", seeds=1).cells()
    names = ["Greed-ppo-outcome-0", "Greed-qlearning-outcome-0"]
    assert [cell.run_folder.name for cell in cells[:2]] == names
    assert len(cells) == 5 * 2
    assert all(cell.self_play and cell.total_steps > 990_000 for cell in cells)
    sets = [cell.env for cell in cells if cell.game_name == "FourTwoOne"]
    assert sets == [{"utility": "set"}] * 2
    with pytest.raises(ValueError, match="self_play needs the algorithm ppo, qlearning or "):
        BenchmarkConfig(track="exactdice-selfplay-1m", algorithms=("dqn",)).cells()
    ordinary = BenchmarkConfig(track="exactdice-10k", seeds=1).cells()
    assert not any(cell.self_play for cell in ordinary)
    assert {cell.algorithm for cell in ordinary} == {"ppo", "dqn", "qlearning"}


@pytest.mark.slow
def test_the_board_has_all_entrants_their_curves_and_the_cross_table():
    Path("runs").mkdir()
    board.write(Path("runs"))
    assert len(Path("runs/results.csv").read_text().splitlines()) == 1
    assert board.read_board(Path("runs")).runs == []
    for name in ("ppo", "qlearning"):
        train(on_track(SELF, name, Path("runs", name)), QUIET)
    assert board.write(Path("runs"))[-1].name == "leaderboard.md"
    with Path("runs/results.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = board.read_board(Path("runs"))
    runs = found.runs
    assert [run.agent for run in runs] == ["PPO", "Q-learning"]
    saved = folders.read_score(Path("runs/ppo"))
    assert float(rows[0]["exploitability"]) == saved["self_play"]["exploitability"]
    assert nines(runs[0].score) == saved["self_play"]["nines"]
    curve = list(saved["normalized_exploitability_at_marks"].values())
    assert runs[0].area == pytest.approx(area(SELF.marks, np.array(curve)))
    text = Path("runs/leaderboard.md").read_text()
    assert text.startswith("# self, v1\n\nEvery run makes at most 1,000 moves of both seats")
    assert all(f"\n| {agent} " in text for agent in ("PPO", "Q-learning"))
    table = cross_table(runs, Path("runs"))
    assert table.names == ("PPO", "Q-learning", "random", "equilibrium")
    (first, env), (second, _) = [folders.load_model(Path("runs", run.name)) for run in runs]
    payoffs = exactdice.expected_payoffs([first, second], env)
    back = exactdice.expected_payoffs([second, first], env)
    assert table.payoffs[0, 1] == pytest.approx((payoffs[0] + back[1]) / 2)
    assert np.allclose(table.payoffs + table.payoffs.T, 1)
    assert (table.payoffs[:, 3] < 0.5 + 1e-12).all()
    assert f"{table.payoffs[0, 1]:.4f}" in text
    agents, *_, games = found.tables
    assert [row[2:4] for row in agents.rows] == [["1 of 1", "1"]] * 2
    for row, run in zip(games.rows, runs, strict=True):
        values = [row[games.header.index(f"value of seat {seat}")] for seat in (0, 1)]
        assert values == [f"{run.guaranteed_0:.4f}", f"{run.guaranteed_1:.4f}"]
        assert len(row) == len(games.header)
    for panel in track_curves(found).panels:
        assert panel.x_label == "moves of both seats"
        named = {(line.name, line.colour) for line in panel.series}
        assert named == {("PPO", 0), ("Q-learning", 2)}
    damaged = Path("runs/ppo/score.json")
    damaged.write_text(damaged.read_text().replace('"exploitability"', '"exploited"'))
    with pytest.raises(RunError, match=r"score.json must be the score of a run on its track, got"):
        board.write(Path("runs"))
