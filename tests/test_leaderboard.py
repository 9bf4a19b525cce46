"""The leaderboard that is shown, and the runs behind it, as anybody can check them."""

import csv
import itertools
import json
import re
import runpy
import shutil
from dataclasses import replace
from statistics import mean

import pytest
from checkout import ROOT
from exactdice.agents.runs.callback import ExactEvalCallback
from exactdice.agents.runs.folders import read_log
from exactdice.agents.runs.train import train
from exactdice.baselines import verify
from exactdice.baselines.scoring.certificate import read
from exactdice.board.grid import BenchmarkConfig
from exactdice.board.leaderboard import write
from exactdice.board.results import agent_name, certificate_of, facts, read_results, read_runs
from exactdice.board.tracks import TRACKS

import exactdice

FOLDER = ROOT / "benchmarks" / "leaderboard"
SMALL = ("Greed", "LowestScore", "ShutTheBox", "FourTwoOne")
RUNS = {run.name: run for run in read_results(FOLDER)}
#: Algorithms and rewards of the agents in Yahtzee: three seeds each, as a run takes half an hour.
YAHTZEE = {
    "PPO, regret reward": ("ppo", "regret"),
    "PPO": ("ppo", "outcome"),
    "DQN": ("dqn", "outcome"),
}


def certificate(run, folder=FOLDER):
    return certificate_of(folder, run.name)


def test_every_cell_was_run_with_the_tuned_hyperparameters():
    match = ("FourTwoOneMatch",)  # for which Q-learning's table is too large
    configs = [
        BenchmarkConfig(SMALL),
        BenchmarkConfig(match, ("ppo", "dqn")),
        BenchmarkConfig((*SMALL, *match), ("ppo",), ("regret",)),
        *(BenchmarkConfig(("Yahtzee",), (a,), (r,), seeds=3) for a, r in YAHTZEE.values()),
    ]
    cells = [cell for config in configs for cell in replace(config, folder=FOLDER).cells()]
    assert len(cells) == 4 * 20 + 15 + 3 * len(YAHTZEE)
    assert {cell.run_folder.name for cell in cells} == RUNS.keys()
    for cell in cells:
        wanted, saved = facts(cell), vars(RUNS[cell.run_folder.name])
        for name in ("keywords", "hyperparameters"):
            assert json.loads(saved[name]) == json.loads(wanted.pop(name))
        assert {name: saved[name] for name in wanted} == wanted


#: Cells whose certificates are verified, of which the first seeds of smaller games are fast.
CERTIFIED = [
    pytest.param(game, seed, marks=[] if game in SMALL[1:] and seed == "0" else pytest.mark.slow)
    for game in (*SMALL, "FourTwoOneMatch")
    for seed in "01234"
]


@pytest.mark.parametrize(("game", "seed"), CERTIFIED)
def test_every_certificate_holds_and_is_of_its_run(game, seed):
    runs = [run for run in RUNS.values() if (run.game, run.seed) == (game, int(seed))]
    assert len(runs) == (4 if game in SMALL else 3)
    for run in runs:
        found = verify(certificate(run))
        assert found.value == pytest.approx(run.value, abs=1e-9)
        assert found.normalized == pytest.approx(run.normalized, abs=1e-9)
        assert found.flawless == pytest.approx(run.flawless, abs=1e-9)
        assert (run.moves[-1], run.scores[-1]) == (run.steps, run.normalized)


@pytest.mark.parametrize("agent", YAHTZEE)
def test_certificates_of_yahtzee_claim_the_scores_of_which_the_page_shows_the_means(agent):
    runs = [run for run in RUNS.values() if (run.game, run.agent) == ("Yahtzee", agent)]
    values = [run.value for run in runs]
    assert [read(certificate(run))[1]["value"] for run in runs] == values
    row = [agent, f"{runs[0].steps:,}", f"{mean(values):.2f}"]
    row += [", ".join(f"{value:.2f}" for value in values)]
    lines = (ROOT / "docs/yahtzee.md").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"| {' | '.join(row)} |"))
    assert line.endswith(f"| {100 * mean(run.flawless for run in runs):.2f} % |")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("agent", YAHTZEE)
def test_a_certificate_of_yahtzee_holds_and_sample_games_agree_with_it(agent):
    medians = runpy.run_path(str(ROOT / "benchmarks/medians.py"))
    task = exactdice.as_task("exactdice/Yahtzee-v0")
    run = RUNS[f"Yahtzee-{'-'.join(YAHTZEE[agent])}-1"]
    file, games = certificate(run), 4000
    exact = verify(file)
    assert exact.value == pytest.approx(run.value, abs=1e-9)
    assert exact.flawless == pytest.approx(run.flawless, abs=1e-9)
    points = medians["play"](exactdice.as_policy(file, task), task, games)
    assert abs(points.mean() - exact.value) < 4 * exact.deviation / games**0.5
    assert points.std() == pytest.approx(exact.deviation, rel=0.06)


#: Folders of runs whose tables a page shows.
ON_TRACKS = ["exactdice-10k", "exactdice-100k", "exactdice-1m"]
GRID = "exactdice-grid"
SELF_PLAY = "exactdice-selfplay-1m"


@pytest.mark.slow
@pytest.mark.parametrize("board", ["leaderboard", *ON_TRACKS])
def test_the_tables_are_those_of_the_runs(board, tmp_path):
    for path in FOLDER.with_name(board).glob("*.*"):
        shutil.copy(path, tmp_path)
    for path in write(tmp_path):
        assert path.read_bytes() == (FOLDER.with_name(board) / path.name).read_bytes()


def tables(board, heading):
    """List the tables of a board, whose header begins so."""
    parts = (FOLDER.with_name(board) / "leaderboard.md").read_text().split("\n\n")
    return [part.strip() for part in parts if re.sub(" +", " ", part).startswith(heading)]


@pytest.fixture(scope="module")
def pages():
    return runpy.run_path(str(ROOT / "docs/tracks.py"))


@pytest.mark.parametrize("board", [*ON_TRACKS, GRID, SELF_PLAY])
def test_a_page_is_the_one_that_its_program_writes(pages, board):
    assert (ROOT / f"docs/{board}.md").read_text() == pages["page"](board)


def test_the_leaderboard_shows_columns_of_the_table_of_its_runs(pages):
    (table,) = tables("leaderboard", "| game | agent |")
    shown = pages["without"](table, "seeds", "IQM", "worst seed")
    assert shown in (ROOT / "docs/leaderboard.md").read_text()


def test_the_costs_of_runs_are_those_of_the_boards():
    """A track whose costs were measured has them of each of its algorithms, in each game."""
    with (ROOT / "benchmarks/costs.csv").open() as file:
        measured = list(csv.DictReader(file))
    for name in {row["track"] for row in measured}:
        found = {run.algorithm for run in read_results(FOLDER.with_name(name))}
        cells = [(row["algorithm"], row["game"]) for row in measured if row["track"] == name]
        assert sorted(cells) == sorted(itertools.product(found, TRACKS[name].games))


@pytest.mark.parametrize("board", [*ON_TRACKS, GRID, SELF_PLAY])
def test_forty_lines_with_numpy_alone_recompute_every_headline(board):
    script = ROOT / "benchmarks/headlines.py"
    assert len(script.read_text().splitlines()) <= 40
    used = set(re.findall(r"^(?:import|from) (\w+)", script.read_text(), flags=re.M))
    assert used == {"collections", "csv", "numpy", "pathlib", "sys"}
    found = runpy.run_path(str(script))["headlines"](FOLDER.with_name(board))
    (shown,) = tables(board, "| agent |")
    names, _, *rows = [re.split(r" *\| *", line)[1:-1] for line in shown.splitlines()]
    for row, (algorithm, (middle, *ends)) in zip(rows, found.items(), strict=True):
        shown = dict(zip(names, row, strict=True))
        assert shown["agent"] == agent_name(algorithm, "outcome")
        assert shown["nines"] == f"{middle:.3f}"
        low, high = map(float, shown["95 % interval"].split(" to "))
        assert [low, high] == pytest.approx(ends, abs=0.003)


def test_the_readme_and_the_croissant_file_are_of_the_runs(pages):
    """After a change of the runs ``python docs/tracks.py`` writes the file anew."""
    assert pages["short"]() in (ROOT / "README.md").read_text()
    program = runpy.run_path(str(ROOT / "docs/croissant.py"))
    known = json.loads((ROOT / "benchmarks/croissant.json").read_text())
    assert known == program["description"]()
    assert {"exactdice-100k/results.csv", "leaderboard/certificates.zip"} <= {
        file["@id"] for file in known["distribution"]
    }


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("board", ON_TRACKS)
def test_every_certificate_of_a_track_holds(board):
    runs = read_results(place := FOLDER.with_name(board))
    assert len(runs) >= 60
    for run in runs:
        assert verify(certificate(run, place)).value == pytest.approx(run.value, abs=1e-9)


#: To the last bit, on every processor: a table, as networks repeat on one kind only.
(REPEATED,) = BenchmarkConfig(("FourTwoOne",), ("qlearning",), seeds=1).cells()
THEN = RUNS[REPEATED.run_folder.name]


def test_a_cell_begins_as_it_did(tmp_path, monkeypatch):
    scores, evaluate = [], ExactEvalCallback.evaluate

    def stopping(callback):
        scores.append(evaluate(callback))
        callback.stop = len(scores) == 3
        return scores[-1]

    monkeypatch.setattr(ExactEvalCallback, "evaluate", stopping)
    assert train(replace(REPEATED, run_folder=tmp_path / "run")) is None
    log = read_log(tmp_path / "run")
    assert tuple(log["timesteps"]) == THEN.moves[:3]
    assert tuple(log["normalized"]) == THEN.scores[:3]


@pytest.mark.slow
def test_a_cell_repeats(tmp_path):
    train(replace(REPEATED, run_folder=tmp_path / THEN.name))
    (run,) = read_runs(tmp_path)
    assert replace(run, seconds=THEN.seconds) == THEN
    new, old = (read(certificate(run, each)) for each in (tmp_path, FOLDER))
    assert new[0].tolist() == old[0].tolist()
    assert new[1] == old[1]
