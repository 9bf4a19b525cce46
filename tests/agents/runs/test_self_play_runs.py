"""Runs of self-play: their exploitability in the log, at the marks of a track, and at the end."""

import io
from pathlib import Path

import numpy as np
import pytest
from exactdice.agents.board import boards, self_play
from exactdice.agents.board.config import BenchmarkConfig
from exactdice.agents.learners.adapter import ModelPolicy
from exactdice.agents.learners.self_play import SelfPlay
from exactdice.agents.runs import folders
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.train import train
from exactdice.agents.tracks import TRACKS, Track
from exactdice.baselines import score_self_play
from rich.console import Console

import exactdice

ENV = {"max_score": 10, "sides": 3}
TINY = Track("tiny", 1, 1000, ("Greed",), seeds=1, keywords={"Greed": ENV}, self_play=True)
SIZES = {"ppo": {"n_steps": "6", "batch_size": "48"}, "qlearning": {"n_steps": "6"}}


@pytest.fixture(autouse=True)
def _tiny(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for place in ("config", "callback", "run", "train", "self_play"):
        monkeypatch.setattr(f"exactdice.agents.runs.{place}.TRACKS", {**TRACKS, "tiny": TINY})
    monkeypatch.setattr("exactdice.agents.board.self_play.TRACKS", {**TRACKS, "tiny": TINY})


def tiny(algorithm, folder="run", larger=False, **options):
    env = {**ENV, "max_score": 11} if larger else ENV
    return TrainConfig(
        track="tiny", algorithm=algorithm, env=env, num_envs=8, hyperparams=SIZES[algorithm],
        run_folder=folder, self_play=True, **options,
    )  # fmt: skip


@pytest.mark.parametrize("past", [0, 2])
def test_a_run_on_a_track_is_scored_at_the_last_update_before_each_mark(monkeypatch, past):
    """Every rollout that begins gives its moves and its policy; none may begin after a mark."""
    rollouts, begin = [], SelfPlay._on_rollout_start

    def watched(self):
        policy = ModelPolicy(self.model, self._game)
        task = self.model.get_env().task
        rollouts.append((self.model.num_timesteps, exactdice.exploitability(policy, task)))
        begin(self)

    monkeypatch.setattr(SelfPlay, "_on_rollout_start", watched)
    train(tiny("ppo", past_selves=past), Console(file=io.StringIO()))
    saved, log = folders.read_score(Path("run")), folders.read_log(Path("run"))
    wanted = {
        str(mark): [lost for moves, lost in rollouts if moves <= mark][-1] for mark in TINY.marks
    }
    assert saved["exploitability_at_marks"] == pytest.approx(wanted, abs=1e-12)
    assert saved["steps"] == rollouts[-1][0] <= TINY.moves
    assert saved["steps"] > 0.8 * TINY.moves
    assert log["timesteps"].max() == saved["steps"]
    assert saved["exploitability_of_both_seats"] == saved["exploitability_at_marks"]["1000"]
    assert ("mixture" in saved) == (past > 0)


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


def test_self_play_belongs_to_its_track_only():
    with pytest.raises(ValueError, match="self_play must be given on the track tiny, got False"):
        TrainConfig(track="tiny")
    with pytest.raises(ValueError, match="self_play must be off on the track exactdice-10k"):
        TrainConfig(track="exactdice-10k", self_play=True)


def test_the_benchmark_of_a_track_of_self_play_has_its_entrants():
    cells = BenchmarkConfig(track="exactdice-selfplay-1m", seeds=1).cells()
    assert [(cell.run_folder.name, cell.past_selves) for cell in cells[:3]] == [
        ("Greed-ppo-outcome-0", 0),
        ("Greed-qlearning-outcome-0", 0),
        ("Greed-ppo-past-outcome-0", 4),
    ]
    assert len(cells) == 5 * 3
    assert all(cell.self_play and cell.total_steps > 990_000 for cell in cells)
    assert {str(cell.env) for cell in cells if cell.game_name == "FourTwoOne"} == {
        "{'utility': 'set'}"
    }
    with pytest.raises(ValueError, match="self_play needs the algorithm ppo or qlearning, got dqn"):
        BenchmarkConfig(track="exactdice-selfplay-1m", algorithms=("dqn",)).cells()
    ordinary = BenchmarkConfig(track="exactdice-10k", seeds=1).cells()
    assert not any(cell.self_play for cell in ordinary)
    assert {cell.algorithm for cell in ordinary} == {"ppo", "dqn", "qlearning"}


def test_the_board_has_all_entrants_their_mixtures_and_the_cross_table():
    for name, options in {"ppo": {}, "qlearning": {}, "past": {"past_selves": 2}}.items():
        algorithm = "ppo" if name == "past" else name
        train(tiny(algorithm, Path("runs", name), **options), Console(file=io.StringIO()))
    larger = tiny("qlearning", Path("runs/larger"), larger=True)
    train(larger, Console(file=io.StringIO()))  # is not on the board
    assert [path.name for path in boards.write(Path("runs"))] == ["self-play.csv", "self-play.md"]
    rows = Path("runs/self-play.csv").read_text().splitlines()
    assert len(rows) == 1 + 4
    assert [row.split(",")[1] for row in rows[1:] if "mixture" in row] == ['"PPO']
    text = Path("runs/self-play.md").read_text()
    for name in (
        "PPO |",
        "Q-learning |",
        "PPO, 2 past selves |",
        "PPO, 2 past selves: the mixture",
    ):
        assert f"| {name}" in text
    entries = self_play.read_entries(Path("runs"))
    table = self_play.cross_table(entries)
    assert table.names == ("PPO", "PPO, 2 past selves", "Q-learning", "random", "equilibrium")
    models = [folders.load_model(entry.folder) for entry in entries]
    (first, env), (second, _), _ = models
    payoffs = exactdice.expected_payoffs([first, second], env)
    back = exactdice.expected_payoffs([second, first], env)
    assert table.payoffs[0, 1] == pytest.approx((payoffs[0] + back[1]) / 2)
    assert np.allclose(table.payoffs + table.payoffs.T, 1)
    assert (table.payoffs[:, 4] < 0.5 + 1e-12).all()
    assert f"{table.payoffs[0, 1]:.4f}" in text


def test_a_folder_without_finished_runs_has_an_empty_board():
    Path("runs").mkdir()
    self_play.write(Path("runs"))
    assert len(Path("runs/self-play.csv").read_text().splitlines()) == 1
