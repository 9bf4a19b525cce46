"""The board of a track: which runs are on it, and its tables."""

import csv
import json
import math
import shutil
from dataclasses import fields, replace

import pytest
from exactdice.agents.board import boards, ranking, standings
from exactdice.agents.board.benchmark import benchmark
from exactdice.agents.board.config import BenchmarkConfig
from exactdice.agents.board.leaderboard import Board, Cell, summarise
from exactdice.agents.board.standings import Entry, Standings
from exactdice.agents.runs.config import RunError, TrainConfig
from exactdice.agents.runs.train import train
from exactdice.agents.tracks import TRACKS, Track
from exactdice.baselines import verify
from exactdice.baselines.scoring.figure import nines

TINY = Track("tiny", 1, 20_000, ("Greed", "FourTwoOne"), seeds=2)
PLACES = ("board.config", "board.standings", "runs.callback", "runs.config", "runs.run")


@pytest.fixture(scope="module", autouse=True)
def _tracks():
    """Add a track that takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        for place in (*PLACES, "runs.train"):
            patch.setattr(f"exactdice.agents.{place}.TRACKS", {**TRACKS, "tiny": TINY})
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Run the tiny track with two seeds of Q-learning in one of its games, and one of the other."""
    place = tmp_path_factory.mktemp("board") / "tiny"
    config = BenchmarkConfig(
        track="tiny", games=("FourTwoOne",), algorithms=("qlearning",), folder=place, jobs=1
    )
    assert [cell.seed for cell in config.cells()] == [0, 1]
    for cell in config.cells():
        train(replace(cell, num_envs=16))
    other = replace(config.cells()[0], game="Greed", seed=1, num_envs=16)
    train(replace(other, run_folder=place / "Greed-qlearning-outcome-1"))
    return place


def test_the_benchmark_writes_the_board_of_its_track(folder):
    paths = boards.write(folder)
    assert [path.name for path in paths] == ["results.csv", "leaderboard.md"]
    with paths[0].open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["game"], row["seed"]) for row in rows] == [
        ("Greed", "1"), ("FourTwoOne", "0"), ("FourTwoOne", "1"),
    ]  # fmt: skip
    for row in rows[1:]:
        run = folder / f"FourTwoOne-qlearning-outcome-{row['seed']}"
        saved = json.loads((run / "score.json").read_text())
        assert float(row["nines"]) == nines(verify(run / "certificate.npz").normalized)
        assert float(row["flawless"]) == saved["flawless"]
        assert int(row["steps"]) <= 20_000
    text = paths[1].read_text()
    assert text.startswith("# tiny, v1\n\nEvery run makes at most 20,000 moves")
    assert "\n| Q-learning | 2 of 2 | 3 | - | " in text
    assert "\n| FourTwoOne | goal:1,1 | 3.733089 | 0.9934 | 2.177 |" in text


def entry(game, seed, normalized, algorithm="ppo", **numbers):
    """Make a finished run."""
    known = {"steps": 4000, "seconds": 2.0, "trials": 40, "moves_to_90": 400, "moves_to_99": None}
    known |= {"area": normalized / 2, "flawless": 0.25, "nines": nines(normalized)}
    values = {"value": normalized, "optimum": 1.0, "random": 0.0, "regret": 1 - normalized}
    known |= {**values, **numbers}
    return Entry("tiny", game, algorithm, seed, normalized=normalized, **known)


def test_the_rows_of_an_algorithm_by_hand():
    runs = [entry("Greed", seed, score) for seed, score in enumerate((0.9, 0.99, 0.999))]
    runs += [entry("FourTwoOne", seed, 0.0, moves_to_90=None) for seed in range(3)]
    runs += [entry("Greed", 0, 0.9999, "dqn")]
    (first, second) = ranking.agent_rows(runs, TINY)
    assert first[:5] == ["PPO", "2 of 2", "6", "40", "1.000"]  # the mean of 2 and 0
    assert first[5] == "0.500 to 1.500"  # more than 2.5 % of resamples are thrice the same seed
    assert first[6] == f"{(0.0 + 0.0 + 0.9 + 0.99) / 4:.4f}"
    assert first[-1] == "2"
    assert second[:6] == ["DQN", "1 of 2", "1", "40", "4.000", "-"]  # it has not run all games
    assert ranking.score_table(runs, TINY) == (
        ["normalised score", "Greed", "FourTwoOne"],
        [["PPO", "0.9630", "0.0000"], ["DQN", "0.9999", "-"]],
    )
    games = standings.game_rows(runs)
    assert [row[:3] for row in games] == [
        ["Greed", "PPO", "3"], ["Greed", "DQN", "1"], ["FourTwoOne", "PPO", "3"],
    ]  # fmt: skip
    assert games[0][3] == "2.000"
    assert games[0][5:] == ["0.9630", "0.4815", "400", "-", "37.0 wins", "25.0%", "2"]
    assert games[2][7] == "-"
    assert games[2][9] == "1000.0 points"


def test_the_columns_have_names():
    runs = [entry("Greed", 0, 0.9)]
    assert len(ranking.agent_rows(runs, TINY)[0]) == len(ranking.AGENTS)
    assert len(standings.game_rows(runs)[0]) == len(standings.GAMES)


def test_runs_of_other_sizes_are_not_on_the_board(folder, tmp_path):
    """Those of a ladder have a leaderboard, in which each size is a game of its own."""
    for size in (10, 5):
        train(
            TrainConfig(
                game="Greed", env={"max_score": size}, track="tiny", algorithm="qlearning",
                num_envs=16, run_folder=tmp_path / f"Greed-{size}",
            )
        )  # fmt: skip
    board = boards.read(tmp_path)
    assert isinstance(board, Board)
    assert [cell.game for cell in board.cells] == ["Greed, max_score 5", "Greed, max_score 10"]
    assert {row[0] for row in board.references.table[1]} == {cell.game for cell in board.cells}
    (tmp_path / "FourTwoOne").symlink_to(folder / "FourTwoOne-qlearning-outcome-0")
    board = boards.read(tmp_path)
    assert isinstance(board, Standings)
    assert [run.game for run in board.curves] == ["FourTwoOne"]
    assert board.others == 2
    assert "Left out: 2 runs of the folder in other tasks." in standings.rules(board)


def test_runs_of_another_version_are_refused(folder, monkeypatch):
    newer = replace(TINY, version=2)
    monkeypatch.setitem(standings.TRACKS, "tiny", newer)
    with pytest.raises(RunError, match="must be of version 2 of tiny, got 1"):
        boards.read(folder)


def test_runs_of_two_tracks_are_refused(folder, tmp_path):
    (tmp_path / "one").symlink_to(folder / "FourTwoOne-qlearning-outcome-0")
    train(TrainConfig(game="FourTwoOne", algorithm="qlearning", steps=2000, num_envs=16,
                      run_folder=tmp_path / "two"))  # fmt: skip
    with pytest.raises(RunError, match="folder must hold runs of one track, got no track, tiny in"):
        boards.read(tmp_path)


def test_a_finished_track_has_nothing_to_do(tmp_path, capsys):
    config = BenchmarkConfig(
        track="tiny", games=("FourTwoOne",), algorithms=("qlearning",), seeds=1,
        folder=tmp_path, jobs=1,
    )  # fmt: skip
    assert benchmark(config) == []
    assert benchmark(config) == []
    assert "1 cells, 0 of them to do" in capsys.readouterr().out
    with (tmp_path / "results.csv").open() as file:
        assert next(csv.reader(file)) == [field.name for field in fields(Entry)]


def test_two_runs_of_the_same_seed_are_refused(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "twice")
    one = tmp_path / "twice/FourTwoOne-qlearning-outcome-0"
    shutil.copytree(one, tmp_path / "twice/another")
    with pytest.raises(RunError, match="Q-learning in FourTwoOne must have different seeds, got"):
        boards.read(tmp_path / "twice")


@pytest.mark.parametrize(("name", "value"), [("flawless", None), ("normalized", math.nan)])
def test_damaged_scores_are_refused(folder, tmp_path, name, value):
    shutil.copytree(folder, tmp_path / "damaged")
    path = tmp_path / "damaged/FourTwoOne-qlearning-outcome-0/score.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    with pytest.raises(RunError, match=r"score.json must be the score of a run"):
        boards.read(tmp_path / "damaged")


def test_a_run_of_self_play_is_on_no_board_of_scores():
    game = {"game": "FourTwoOne", "track": "exactdice-selfplay-1m", "self_play": True}
    assert not standings._counts(TrainConfig(**game, algorithm="qlearning"))
    game = {"game": "FourTwoOne", "track": "exactdice-1m"}
    assert standings._counts(TrainConfig(**game, algorithm="qlearning"))


@pytest.mark.parametrize(
    ("changes", "trials"),
    [
        ({}, 40),
        ({"num_envs": 2}, None),
        ({"env": {"encoding": "onehot"}}, None),
        ({"hyperparams": {"batch_size": "17"}}, None),
    ],
)
def test_changed_hyperparameters_are_of_no_search(changes, trials):
    config = TrainConfig(game="Greed", algorithm="dqn", track="exactdice-10k", **changes)
    assert ranking.trials_of(config) == trials


def test_runs_of_one_task_have_one_row_however_their_keywords_were_given():
    numbers = {"value": 0.5, "optimum": 0.6, "random": 0.1, "regret": 0.1, "normalized": 0.8}
    rest = {"steps": 100, "seconds": 1.0, "steps_to_90": None, "steps_to_99": None}
    cells = [
        Cell(game="Greed", algorithm=algorithm, reward="outcome", seed=seed, **numbers, **rest)
        for seed in range(2)  # not sorted by algorithm
        for algorithm in ("dqn", "ppo")
    ]
    rows = [(row.game, row.agent, row.seeds) for row in summarise(cells)]
    assert rows == [("Greed", "DQN", 2), ("Greed", "PPO", 2)]
