"""The leaderboard that is shown, and the runs behind it, as anybody can check them."""

import csv
import json
import runpy
import shutil
from dataclasses import fields, replace
from pathlib import Path
from statistics import mean

import numpy as np
import pytest
from exactdice.agents.board import boards, leaderboard
from exactdice.agents.board.config import BenchmarkConfig
from exactdice.agents.runs.callback import ExactEvalCallback
from exactdice.agents.runs.folders import read_config
from exactdice.agents.runs.train import train
from exactdice.baselines import verify
from exactdice.baselines.scoring import certificate_file

import exactdice

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "benchmarks" / "leaderboard"
SMALL = ("Greed", "LowestScore", "ShutTheBox", "FourTwoOne")
RUNS = sorted(path.parent for path in FOLDER.glob("*/config.json"))


#: Algorithms and rewards of the agents in Yahtzee: three seeds each, as a run takes half an hour.
YAHTZEE = {
    "PPO, regret reward": ("ppo", "regret"),
    "PPO": ("ppo", "outcome"),
    "DQN": ("dqn", "outcome"),
}


def test_every_cell_was_run_with_the_tuned_hyperparameters():
    match = ("FourTwoOneMatch",)  # for which Q-learning's table is too large
    cells = [
        *BenchmarkConfig(SMALL, folder=FOLDER).cells(),
        *BenchmarkConfig(match, folder=FOLDER, algorithms=("ppo", "dqn")).cells(),
        *BenchmarkConfig(
            (*SMALL, *match), folder=FOLDER, algorithms=("ppo",), rewards=("regret",)
        ).cells(),
    ]
    for algorithm, reward in YAHTZEE.values():
        three = {"algorithms": (algorithm,), "rewards": (reward,), "seeds": 3}
        cells += BenchmarkConfig(("Yahtzee",), folder=FOLDER, **three).cells()
    assert len(cells) == 4 * 20 + 15 + 3 * len(YAHTZEE)
    assert sorted(cell.run_folder for cell in cells) == RUNS
    for cell in cells:
        saved = read_config(cell.run_folder)
        assert saved.hyperparameters == cell.hyperparameters
        assert saved.to_json() == cell.to_json()


#: Cells whose certificates are verified, of which the first seeds of small games are fast.
CERTIFIED = [
    pytest.param(game, seed, marks=[] if game in SMALL and seed == "0" else pytest.mark.slow)
    for game in (*SMALL, "FourTwoOneMatch")
    for seed in "01234"
]


@pytest.mark.parametrize(("game", "seed"), CERTIFIED)
def test_every_certificate_holds_and_is_of_its_run(game, seed):
    folders = [path for path in RUNS if path.match(f"{game}-*-{seed}")]
    assert len(folders) == (4 if game in SMALL else 3)
    for folder in folders:
        found = verify(folder / "certificate.npz")
        saved = json.loads((folder / "score.json").read_text())
        assert found.value == pytest.approx(saved["value"], abs=1e-9)
        assert found.normalized == pytest.approx(saved["normalized"], abs=1e-9)
        assert found.flawless == pytest.approx(saved["flawless"], abs=1e-9)
        with np.load(folder / "evaluations.npz") as curve:
            assert curve["normalized"][-1] == saved["normalized"]
            assert curve["timesteps"][-1] == saved["steps"]


def test_every_certificate_of_yahtzee_claims_the_score_of_its_run():
    folders = [path for path in RUNS if path.match("Yahtzee-*")]
    assert len(folders) == 3 * len(YAHTZEE)
    for folder in folders:
        _, claims = certificate_file.read(folder / "certificate.npz")
        saved = json.loads((folder / "score.json").read_text())
        assert claims["value"] == saved["value"]


@pytest.mark.parametrize("agent", YAHTZEE)
def test_the_page_of_yahtzee_shows_the_means_over_its_runs(agent):
    files = sorted(FOLDER.glob(f"Yahtzee-{'-'.join(YAHTZEE[agent])}-*/score.json"))
    runs = [json.loads(file.read_text()) for file in files]

    def of(number):
        return mean(number(run) for run in runs)

    row = [agent, f"{runs[0]['steps']:,}", f"{of(lambda run: run['value']):.2f}"]
    row += [", ".join(f"{run['value']:.2f}" for run in runs)]
    row += [f"{of(lambda run: run['deviation']):.2f}"]
    row += [f"{100 * of(lambda run: run['counts']['chance']['Upper bonus'][0]):.2f} %"]
    row += [f"{100 * of(lambda run: run['optimal_share']):.2f} %"]
    row += [f"{100 * of(lambda run: run['flawless']):.2f} %"]
    assert f"| {' | '.join(row)} |" in (ROOT / "docs/yahtzee.md").read_text()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_certificate_of_yahtzee_holds():
    folder = FOLDER / "Yahtzee-ppo-regret-0"
    saved = json.loads((folder / "score.json").read_text())
    found = verify(folder / "certificate.npz")
    assert found.value == pytest.approx(saved["value"], abs=1e-9)
    assert found.flawless == pytest.approx(saved["flawless"], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("agent", YAHTZEE)
def test_sample_games_of_yahtzee_agree_with_the_exact_mean_and_deviation(agent):
    medians = runpy.run_path(str(ROOT / "benchmarks/medians.py"))
    task = exactdice.as_task("exactdice/Yahtzee-v0")
    folder = FOLDER / f"Yahtzee-{'-'.join(YAHTZEE[agent])}-1"
    saved = json.loads((folder / "score.json").read_text())
    games = 4000
    points = medians["play"](exactdice.as_policy(folder / "certificate.npz", task), task, games)
    assert abs(points.mean() - saved["value"]) < 4 * saved["deviation"] / games**0.5
    assert points.std() == pytest.approx(saved["deviation"], rel=0.06)


#: Folders of runs whose tables a page shows.
BOARDS = {
    "leaderboard": "docs/leaderboard.md",
    "exactdice-10k": "docs/benchmark.md",
    "exactdice-100k": "docs/benchmark.md",
    "exactdice-1m": "docs/benchmark.md",
}


@pytest.mark.slow
@pytest.mark.parametrize("board", BOARDS)
def test_the_tables_are_those_of_the_runs(board, tmp_path):
    models = shutil.ignore_patterns("*.zip", "*.pt")  # which are large, where there are any
    shutil.copytree(FOLDER.with_name(board), tmp_path, dirs_exist_ok=True, ignore=models)
    boards.write(tmp_path)
    for name in ("results.csv", "leaderboard.md"):
        assert (tmp_path / name).read_text() == (FOLDER.with_name(board) / name).read_text()


def tables(board, heading):
    """List the tables of a board, whose header begins so."""
    parts = (FOLDER.with_name(board) / "leaderboard.md").read_text().split("\n\n")
    return [part.strip() for part in parts if part.startswith(heading)]


@pytest.mark.parametrize("board", BOARDS)
def test_a_page_shows_the_tables_of_its_runs(board):
    (games,) = tables(board, "| game | agent |")
    for table in (games, *tables(board, "| agent |"), *tables(board, "| normalised score |")):
        assert table in (ROOT / BOARDS[board]).read_text()


def test_the_page_shows_the_tables_of_self_play():
    text = (ROOT / "docs/benchmark.md").read_text()
    headings = ("| agent |", "| normalised score |", "| game | agent |", "| game | payoff of |")
    for heading in headings:
        (table,) = tables("exactdice-selfplay-1m", heading)
        assert table in text


def test_the_readme_shows_the_agents_of_a_track():
    (table,) = tables("exactdice-100k", "| agent |")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    names = ("agent", "mean nines", "95 % interval", "IQM", "95 % interval of the IQM")
    columns = [rows[0].index(name) for name in names]
    shown = [f"| {' | '.join(row[column] for column in columns)} |" for row in rows]
    assert "\n".join(shown) in (ROOT / "README.md").read_text()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("board", [name for name in BOARDS if name != "leaderboard"])
def test_every_certificate_of_a_track_holds(board):
    folders = sorted(path.parent for path in FOLDER.with_name(board).glob("*/config.json"))
    rows = (FOLDER.with_name(board) / "results.csv").read_text().splitlines()
    assert len(folders) == len(rows) - 1 >= 60
    for folder in folders:
        saved = json.loads((folder / "score.json").read_text())
        assert verify(folder / "certificate.npz").value == pytest.approx(saved["value"], abs=1e-9)


def same_entries(new, old, upto=None):
    """Hold all but the seconds of two files of arrays equal, or their first entries."""
    with np.load(new) as new, np.load(old) as old:
        assert new.files == old.files
        for entry in set(new.files) - {"seconds"}:
            wanted = old[entry] if upto is None else old[entry][:upto]
            np.testing.assert_array_equal(new[entry], wanted)


#: To the last bit, on every processor: a table, as networks repeat on one kind only.
REPEATED = "FourTwoOne-qlearning-outcome-0"


def test_a_cell_begins_as_it_did(tmp_path, monkeypatch):
    scores, evaluate = [], ExactEvalCallback.evaluate

    def stopping(callback):
        scores.append(evaluate(callback))
        callback.stop = len(scores) == 5
        return scores[-1]

    monkeypatch.setattr(ExactEvalCallback, "evaluate", stopping)
    folder = tmp_path / REPEATED
    assert train(replace(read_config(FOLDER / REPEATED), run_folder=folder)) is None
    same_entries(folder / "evaluations.npz", FOLDER / REPEATED / "evaluations.npz", 5)


@pytest.mark.slow
def test_a_cell_repeats(tmp_path):
    train(replace(read_config(FOLDER / REPEATED), run_folder=tmp_path / REPEATED))
    (cell,) = leaderboard.read_cells(tmp_path)
    with (FOLDER / "results.csv").open() as file:
        rows = {
            (row["game"], row["algorithm"], row["reward"], row["seed"]): row
            for row in csv.DictReader(file)
        }
    row = rows[cell.game, cell.algorithm, cell.reward, str(cell.seed)]
    for entry in fields(cell):
        if entry.name != "seconds":
            assert row[entry.name] == str(getattr(cell, entry.name))
    for file in ("evaluations.npz", "certificate.npz"):
        same_entries(tmp_path / REPEATED / file, FOLDER / REPEATED / file)
