"""Runs of self-play: their exploitability in the log, at the marks of a track, and at the end."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from exactdice.agents.board import board
from exactdice.agents.board.board import Board, cross_table
from exactdice.agents.board.config import BenchmarkConfig
from exactdice.agents.board.tables import area
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.learners.self_play import SelfPlay
from exactdice.agents.runs import folders
from exactdice.agents.runs.config import RunError, TrainConfig
from exactdice.agents.runs.train import train
from exactdice.agents.tracks import TRACKS, Track
from exactdice.baselines import score_self_play
from exactdice.look.boards import track_curves
from finished_runs import run as finished_run
from rich.console import Console

import exactdice
from exactdice.cli import main

ENV = {"max_score": 10, "sides": 3}
TINY = Track("tiny", 1, 1000, ("Greed",), seeds=1, keywords={"Greed": ENV}, self_play=True)
SIZES = {"ppo": {"n_steps": "6", "batch_size": "48"}, "qlearning": {"n_steps": "6"}}


@pytest.fixture(autouse=True)
def _tiny(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TRACKS, "tiny", TINY)


def tiny(algorithm, folder="run", larger=False, **options):
    env = {**ENV, "max_score": 11} if larger else ENV
    return TrainConfig(
        track="tiny", algorithm=algorithm, env=env, num_envs=8, hyperparams=SIZES[algorithm],
        run_folder=folder, self_play=True, **options,
    )  # fmt: skip


def test_a_run_on_a_track_is_scored_at_the_last_update_before_each_mark(monkeypatch):
    """Every rollout that begins gives its moves and its policy; none may begin after a mark."""
    rollouts, begin = [], SelfPlay._on_rollout_start

    def watched(self):
        policy = ModelPolicy(self.model, self._game)
        task = self.model.get_env().task
        rollouts.append((self.model.num_timesteps, exactdice.exploitability(policy, task)))
        begin(self)

    monkeypatch.setattr(SelfPlay, "_on_rollout_start", watched)
    train(tiny("ppo"), Console(file=io.StringIO()))
    saved, log = folders.read_score(Path("run")), folders.read_log(Path("run"))
    wanted = {
        str(mark): [lost for moves, lost in rollouts if moves <= mark][-1] for mark in TINY.marks
    }
    assert saved["exploitability_at_marks"] == pytest.approx(wanted, abs=1e-12)
    assert saved["steps"] == rollouts[-1][0] <= TINY.moves
    assert saved["steps"] > 0.8 * TINY.moves
    assert log["timesteps"].max() == saved["steps"]
    assert saved["exploitability_of_both_seats"] == saved["exploitability_at_marks"]["1000"]


def test_the_log_and_the_score_of_a_run_have_its_exploitability(capsys):
    train(tiny("qlearning"))
    saved, log = folders.read_score(Path("run")), folders.read_log(Path("run"))
    model, env = folders.load_model(Path("run"))
    found = score_self_play(model, env)
    assert saved["self_play"] == found.as_dict()
    last = {name: log[name][-1] for name in folders.SELF_PLAY}
    assert list(last.values()) == [found.exploitability, found.normalized, *found.guaranteed]
    assert saved["steps"] == 960 == model.policy.visits.sum()  # whole rollouts of 48 moves
    assert (
        f"exploitability, mean of both seats: {found.exploitability:.6f}" in capsys.readouterr()[0]
    )


def test_the_benchmark_of_a_track_of_self_play_has_its_entrants():
    cells = BenchmarkConfig(track="exactdice-selfplay-1m", seeds=1).cells()
    assert [cell.run_folder.name for cell in cells[:2]] == [
        "Greed-ppo-outcome-0",
        "Greed-qlearning-outcome-0",
    ]
    assert len(cells) == 5 * 2
    assert all(cell.self_play and cell.total_steps > 990_000 for cell in cells)
    assert {str(cell.env) for cell in cells if cell.game_name == "FourTwoOne"} == {
        "{'utility': 'set'}"
    }
    with pytest.raises(ValueError, match="self_play needs the algorithm ppo or qlearning, got dqn"):
        BenchmarkConfig(track="exactdice-selfplay-1m", algorithms=("dqn",)).cells()
    ordinary = BenchmarkConfig(track="exactdice-10k", seeds=1).cells()
    assert not any(cell.self_play for cell in ordinary)
    assert {cell.algorithm for cell in ordinary} == {"ppo", "dqn", "qlearning"}


def test_the_board_has_all_entrants_and_the_cross_table():
    for name in ("ppo", "qlearning"):
        train(tiny(name, Path("runs", name)), Console(file=io.StringIO()))
    larger = tiny("qlearning", Path("runs/larger"), larger=True)
    train(larger, Console(file=io.StringIO()))  # is not on the board
    assert board.write(Path("runs"))[-1].name == "leaderboard.md"
    with Path("runs/results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["ppo", "qlearning", "larger"]
    runs = board.read_board(Path("runs")).runs
    assert [run.agent for run in runs] == ["PPO", "Q-learning"]
    saved = folders.read_score(Path("runs/ppo"))
    assert float(rows[0]["exploitability"]) == saved["self_play"]["exploitability"]
    assert runs[0].nines == saved["self_play"]["nines"]
    curve = list(saved["normalized_exploitability_at_marks"].values())
    assert runs[0].area == pytest.approx(area(TINY.marks, np.array(curve)))
    text = Path("runs/leaderboard.md").read_text()
    assert text.startswith("# tiny, v1\n\nEvery run makes at most 1,000 moves of both seats")
    assert "Left out: 1 run of the folder in other tasks." in text
    assert "| PPO |" in text
    assert "| Q-learning |" in text
    table = cross_table(runs, Path("runs"))
    assert table.names == ("PPO", "Q-learning", "random", "equilibrium")
    (first, env), (second, _) = [folders.load_model(Path("runs", run.name)) for run in runs]
    payoffs = exactdice.expected_payoffs([first, second], env)
    back = exactdice.expected_payoffs([second, first], env)
    assert table.payoffs[0, 1] == pytest.approx((payoffs[0] + back[1]) / 2)
    assert np.allclose(table.payoffs + table.payoffs.T, 1)
    assert (table.payoffs[:, 3] < 0.5 + 1e-12).all()
    assert f"{table.payoffs[0, 1]:.4f}" in text
    Path("runs/ppo/final_model.zip").unlink()
    board.write(Path("runs"))
    text = Path("runs/leaderboard.md").read_text()
    assert "Left out: Greed: run folder must hold a final_model.zip, got runs/ppo.\n" in text
    assert f"{table.payoffs[0, 1]:.4f}" not in text
    damaged = Path("runs/ppo/score.json")
    damaged.write_text(damaged.read_text().replace('"exploitability"', '"exploited"'))
    with pytest.raises(RunError, match=r"score.json must be the score of a run on its track, got"):
        board.write(Path("runs"))


def test_the_page_of_self_play_has_curves_of_all_entrants_and_the_cross_table():
    track = Track("tiny", 1, 1000, ("Greed", "FourTwoOne"), seeds=2, self_play=True)
    names = {"ppo": ("PPO", 0), "qlearning": ("Q-learning", 2)}
    numbers = dict.fromkeys(("guaranteed_0", "guaranteed_1"), 0.4)
    numbers |= dict.fromkeys(("equilibrium_0", "equilibrium_1"), 0.5)
    numbers |= {"exploitability": 0.1, "normalized_exploitability": 0.8, "trials": 0}
    runs = [
        finished_run(game, seed, 0.5, algorithm, "tiny", moves=track.marks, **numbers,
                     scores=tuple(np.linspace(-0.2, 0.8 + seed / 100, 7).tolist()))
        for game in track.games for algorithm in names for seed in range(2)
    ]  # fmt: skip
    found = Board(Path(), track, runs)
    agents, _, games = found.tables
    assert [row[:5] for row in agents.rows] == [
        ["PPO", "2 of 2", "4", "0", "0.699"], ["Q-learning", "2 of 2", "4", "0", "0.699"],
    ]  # fmt: skip
    assert len(games.rows) == 4
    assert {len(row) for row in games.rows} == {len(games.header)}
    assert games.rows[0][9:13] == ["100.00", "100.00", "0.4000", "0.4000"]
    panels = track_curves(found).panels
    assert {panel.x_label for panel in panels} == {"moves of both seats"}
    assert [panel.title for panel in panels] == ["mean of all games", "Greed", "FourTwoOne"]
    for panel in panels:
        assert {(line.name, line.colour) for line in panel.series} == set(names.values())


def test_the_command_line_runs_the_track_from_end_to_end_and_costs_nothing_twice(
    monkeypatch, capsys
):
    monkeypatch.setattr(Track, "whole", lambda track, rollout: track.moves)
    words = ["benchmark", "--track", "tiny", "--algorithms", "qlearning", "--jobs", "1"]
    for to_do in (1, 0):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
        said = capsys.readouterr().out
        assert f"1 cells, {to_do} of them to do, in runs/tiny" in said
        assert "written: runs/tiny/leaderboard.html" in said
    text = Path("runs/tiny/leaderboard.html").read_text()
    assert "<svg" in text
    for word in ("Cross table", "meets nobody but itself"):
        assert word in text


def test_a_folder_without_finished_runs_has_an_empty_board():
    Path("runs").mkdir()
    board.write(Path("runs"))
    assert len(Path("runs/results.csv").read_text().splitlines()) == 1
    assert board.read_board(Path("runs")).runs == []
