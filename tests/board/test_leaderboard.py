"""The board of a track: which runs are on it, its tables, and its page."""

import json
import re
import shutil
from dataclasses import replace
from math import log10
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from checkout import ROOT
from exactdice.agents.runs.config import RunError, TrainConfig
from exactdice.agents.runs.folders import read_score
from exactdice.agents.runs.train import train
from exactdice.baselines import verify
from exactdice.board import leaderboard as boards
from exactdice.board import results
from exactdice.board.leaderboard import Board, read_board
from exactdice.board.pictures import curves, to_page, track_curves
from exactdice.board.results import read_results
from exactdice.board.strata import Section, area
from exactdice.board.tracks import TRACKS, Track
from exactdice.core import Table
from finished_runs import run

TINY = Track("tiny", 1, 20_000, ("Greed", "FourTwoOne"), seeds=2)
QLEARNING = {"track": "tiny", "algorithm": "qlearning", "num_envs": 64}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Run the tiny track with two seeds of Q-learning in one of its games, and one of the other."""
    place = tmp_path_factory.mktemp("board") / "tiny"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TRACKS, "tiny", TINY)
        for game, seed in (("FourTwoOne", 0), ("FourTwoOne", 1), ("Greed", 1)):
            run_folder = place / f"{game}-qlearning-outcome-{seed}"
            train(TrainConfig(game, seed=seed, run_folder=run_folder, **QLEARNING))
        yield place


def test_the_benchmark_writes_the_board_of_its_track(folder):
    paths = boards.write(folder)
    names = ["curves.csv", "results.csv", "certificates.zip", "leaderboard.md"]
    assert [path.name for path in paths] == names
    rows = read_results(folder)
    assert [(row.game, row.seed) for row in rows] == [
        ("Greed", 1), ("FourTwoOne", 0), ("FourTwoOne", 1),
    ]  # fmt: skip
    for row in rows:
        place = folder / row.name
        assert row.normalized == verify(place / "certificate.npz").normalized
        assert row.flawless == read_score(place)["flawless"]
        assert row.steps <= 20_000
    text = re.sub(" +", " ", paths[-1].read_text())
    assert text.startswith("# tiny, v1\n\nEvery run makes at most 20,000 moves")
    assert "\n| Q-learning | 1 | 2 of 2 | 3 | - | " in text
    assert "\n| FourTwoOne | goal:1,1 | 3.733089 | 0.9934 | 2.177 |" in text


def test_the_rows_of_an_algorithm_by_hand():
    curve = {"track": "tiny", "moves": TINY.marks, "scores": (0.0, 0.9, *[0.95] * 5)}
    never = {**curve, "scores": (0.5,) * 7}
    runs = [run("Greed", seed, score, **curve) for seed, score in enumerate((0.9, 0.99, 0.999))]
    runs += [run("Greed", 0, 0.9999, "dqn", **curve)]
    runs += [run("FourTwoOne", seed, 0.0, **never) for seed in range(3)]
    agents, pairs, scores, games = Board(Path(), TINY, runs).tables
    (first, second) = agents.rows
    assert first[:5] == ["PPO", "1 to 2", "2 of 2", "6", "40"]
    assert first[5] == f"{-log10(0.111 / 3) / 2:.3f}"  # the other game has none
    assert first[6] == "0.500 to 1.500"  # more than 2.5 % of resamples are thrice the same seed
    assert first[8] == f"{(0.0 + 0.0 + 0.9 + 0.99) / 4:.4f}"
    assert first[-1] == "2"
    assert second[:7] == ["DQN", "1 to 2", "1 of 2", "1", "40", "4.000", "-"]  # one seed
    assert pairs.header == ["better than", "PPO", "DQN"]
    assert pairs.rows == [["PPO", "", "0.00"], ["DQN", "1.00", ""]]
    brief = Board(Path(), TINY, runs).brief.rows[1]
    assert brief == ["DQN", "1 to 2", "1 of 2", "4.000", "-", "0.9999"]
    assert scores.header == ["normalised score", "Greed", "FourTwoOne"]
    assert scores.rows == [["PPO", "0.9630", "0.0000"], ["DQN", "0.9999", "-"]]
    assert [row[:3] for row in games.rows] == [
        ["Greed", "PPO", "3"], ["Greed", "DQN", "1"], ["FourTwoOne", "PPO", "3"],
    ]  # fmt: skip
    height = f"{area(TINY.marks, np.array(curve['scores'])):.4f}"
    assert games.rows[0][3] == f"{-log10(0.111 / 3):.3f}"
    assert games.rows[0][5:] == ["0.9630", height, "400", "-", "37.0", "wins", "25.0%", "2"]
    assert games.rows[2][6:8] == ["0.5000", "-"]
    assert games.rows[2][9:11] == ["1000.0", "points"]
    for table in (agents, pairs, scores, games):
        assert {len(row) for row in table.rows} == {len(table.header)}


@pytest.mark.slow
def test_runs_of_other_sizes_are_not_on_the_board(folder, tmp_path):
    for size in (10, 5):
        where = tmp_path / f"Greed-{size}"
        train(TrainConfig(env={"max_score": size}, run_folder=where, **QLEARNING))
    board = read_board(tmp_path)
    assert board.track is None
    assert [run.game for run in board.runs] == ["Greed, max_score 5", "Greed, max_score 10"]
    assert {row[0] for row in board.more.table.rows} == {run.game for run in board.runs}
    (tmp_path / "FourTwoOne").symlink_to(folder / "FourTwoOne-qlearning-outcome-0")
    board = read_board(tmp_path)
    assert board.track == TINY
    assert [run.game for run in board.runs] == ["FourTwoOne"]
    assert board.words.endswith(" Left out: 2 runs of the folder in other tasks.")


def test_runs_of_another_version_or_without_flawless_games_are_refused(
    folder, tmp_path, monkeypatch
):
    monkeypatch.setitem(TRACKS, "tiny", replace(TINY, version=2))
    with pytest.raises(RunError, match="must be of version 2 of tiny, got 1"):
        read_board(folder)
    monkeypatch.setitem(TRACKS, "tiny", replace(TINY, version=2, since=1))
    assert len(read_board(folder).runs) == 3  # of the same rules, with other figures
    shutil.copytree(folder / "FourTwoOne-qlearning-outcome-0", tmp_path / "one")
    one = tmp_path / "one/score.json"
    one.write_text(json.dumps({**json.loads(one.read_text()), "flawless": None}))
    with pytest.raises(RunError, match=r"score.json must be the score of a run"):
        read_board(tmp_path)


def test_changed_hyperparameters_are_of_no_search():
    config = TrainConfig(game="Greed", algorithm="dqn", track="exactdice-10k")
    assert results.trials_of(config) == 40
    onehot, batch = {"encoding": "onehot"}, {"batch_size": "17"}
    for changes in ({"num_envs": 2}, {"env": onehot}, {"hyperparams": batch}):
        assert results.trials_of(replace(config, **changes)) is None


def test_means_intervals_and_worst_seeds_by_hand_in_a_game_and_in_all():
    scores = [0.9, 0.8, 1.0, 0.7, 0.6]
    points = {"moves": (0, 1), "scores": (0.0, 0.9)}
    board = Board(Path(), None, [run("Greed", n, x, **points) for n, x in enumerate(scores)])
    (row,) = board.tables[0].rows
    assert row[:6] == ["Greed", "PPO", "5", "0.8000", "0.8000", "0.6000"]  # IQM of 0.7, 0.8, 0.9
    low, high = map(float, row[6].split(" to "))
    assert 0.6 < low < 0.75 < 0.85 < high < 1.0
    assert row[7:] == ["2", "1", "-"]
    runs = [
        run(game, seed, score, moves=(to_99,), scores=(0.99,))
        for game, score, to_99 in (("Greed", 0.5, 7), ("FourTwoOne", 0.9, 9))
        for seed in range(3)
    ]
    row = Board(Path(), None, runs).tables[0].rows[-1]
    assert (row[0], row[6], row[-1]) == ("all", "0.7000 to 0.7000", "8")
    alone = run("ShutTheBox", 0, 0.0, "dqn", moves=(9,), scores=(0.0,))
    rows = Board(Path(), None, [*runs, alone]).tables[0].rows
    assert "all" not in {row[0] for row in rows}  # no game is common to both agents


def test_a_cross_table_is_not_lost_with_the_models_that_it_needs(tmp_path):
    place = tmp_path / "board"
    shutil.copytree(ROOT / "benchmarks/exactdice-selfplay-1m", place)
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    with pytest.raises(RunError, match="cross table, .* Greed-ppo-outcome-0, .*: put back those"):
        boards.write(place)
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before
    (place / "leaderboard.md").unlink()
    for _ in range(2):
        boards.write(place)
        assert "Left out: Greed: " in (place / "leaderboard.md").read_text()


def test_the_page_is_whole_and_needs_nothing_else():
    place = ROOT / "benchmarks/leaderboard"
    known = [run for run in read_results(place) if run.game == "FourTwoOne"]
    page = to_page(Board(place, None, [run for run in known if run.algorithm != "dqn"]))
    void_or_script = r"(?s)<!doctype html>|<(meta|link|br)\b[^>]*>|<script.*?</script>"
    ElementTree.fromstring(re.sub(void_or_script, "", page))  # all other tags are closed
    assert set(re.findall("<link[^>]*>", page)) == {'<link rel="icon" href="data:,">'}
    assert not re.search(r"<[^>]*\s(src|srcset|action)=", page)
    assert (page.count("<table"), page.count("<svg")) == (2, 1)
    assert "3.733089" in page


def test_an_agent_has_one_colour_in_all_games_and_a_curve_of_two_scores_at_least():
    curve = {"moves": (0, 10, 20), "scores": (0.0, 0.9, 1.0)}
    pairs = [("Greed", "dqn"), ("Greed", "ppo"), ("FourTwoOne", "ppo")]
    runs = [run(game, 0, 1.0, algorithm, **curve) for game, algorithm in pairs]
    panels = curves([*runs, run("Yahtzee", 0, 1.0, moves=(20,), scores=(1.0,))]).panels
    colours = [{line.name: line.colour for line in panel.series} for panel in panels]
    assert colours == [{"DQN": 1, "PPO": 0}, {"PPO": 0}]


def test_a_track_has_curves_of_its_marks_and_tables_in_the_same_colours(monkeypatch):
    track = TRACKS["exactdice-10k"]
    part = Section("References", "", Table(["game", "policy"], [["Greed", "random"]]))
    monkeypatch.setattr(boards.strata, "reference_table", lambda tasks, more: part)
    names = [("Greed", "ppo"), ("Greed", "qlearning"), ("FourTwoOne", "ppo")]
    scores = {seed: (0.0, 0.1, 0.2, 0.4, 0.6, 0.7, 0.8 + seed / 100) for seed in range(2)}
    runs = [
        run(game, seed, 0.8, algorithm, track=track.name, moves=track.marks, scores=scores[seed])
        for game, algorithm in names
        for seed in range(2)
    ]
    standings = Board(Path(), track, runs)
    panels = {panel.title: panel for panel in track_curves(standings).panels}
    assert list(panels) == ["mean of all games", "Greed", "FourTwoOne"]
    assert [line.name for line in panels["mean of all games"].series] == ["PPO"]
    assert all(panel.log_x for panel in panels.values())
    for panel in panels.values():
        for line in panel.series:
            assert line.x.tolist() == list(track.marks)
            assert ((line.low <= line.y) & (line.y <= line.high)).all()
            assert line.colour == {"PPO": 0, "Q-learning": 2}[line.name]
    assert panels["Greed"].series[0].y[0] == 0
    text = to_page(standings)
    assert text.count('<table class="sortable">') == 5
    assert text.count("// Sorts a table by a column") == 1
    swatches = text.split('<span class="swatch" style="background: ')[1:]
    assert {(part[:7], part.split("</span>")[1].split("<")[0]) for part in swatches} == {
        ("#0072b2", "PPO"), ("#009e73", "Q-learning"),
    }  # fmt: skip
    assert text.count("<svg") == 3
    assert "exactdice-10k, v2" in text
    assert "Its last policy is scored, not its best" in text
