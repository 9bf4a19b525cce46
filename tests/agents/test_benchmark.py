"""The benchmark: cells, resuming, failures, statistics, pages."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from exactdice.agents import benchmark as grid
from exactdice.agents import leaderboard
from exactdice.agents.config import BenchmarkConfig, RunError
from exactdice.agents.leaderboard import Cell, summarise
from exactdice.baselines import verify

COMMAND = str(Path(sys.executable).with_name("exactdice"))
TINY = BenchmarkConfig(
    games=("FourTwoOne",), algorithms=("qlearning",), seeds=2, steps=20_000, jobs=1
)


@pytest.fixture
def tiny(tmp_path):
    return replace(TINY, folder=tmp_path / "bench")


def test_a_grid_has_one_cell_for_each_combination(tiny):
    config = replace(
        tiny,
        games=("Greed", "FourTwoOne"),
        algorithms=("ppo", "dqn"),
        rewards=("outcome", "regret"),
        seeds=3,
    )
    cells = config.cells()
    assert len({cell.run_folder for cell in cells}) == len(cells) == 2 * 2 * 2 * 3
    assert cells[0].run_folder.name == "Greed-ppo-outcome-0"
    assert {cell.seed for cell in cells} == {0, 1, 2}


def test_it_writes_the_leaderboard_and_a_second_call_has_nothing_to_do(tiny, capsys):
    assert grid.benchmark(tiny) == []
    folders = sorted(path.name for path in tiny.folder.iterdir() if path.is_dir())
    assert folders == ["FourTwoOne-qlearning-outcome-0", "FourTwoOne-qlearning-outcome-1"]
    with (tiny.folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row, name in zip(rows, folders, strict=True):
        saved = json.loads((tiny.folder / name / "score.json").read_text())
        assert float(row["normalized"]) == saved["normalized"]
        assert verify(tiny.folder / name / "certificate.npz").value == float(row["value"])
    text = (tiny.folder / "leaderboard.md").read_text()
    mean = np.mean([float(row["normalized"]) for row in rows])
    assert f"| FourTwoOne | Q-learning | 2 | {mean:.4f} |" in text
    assert "| FourTwoOne | goal:1,1 | 3.733089 | 0.9934 |" in text
    before = [(path, path.stat().st_mtime_ns) for path in tiny.folder.glob("*/*")]
    assert grid.benchmark(tiny) == []
    assert before == [(path, path.stat().st_mtime_ns) for path in tiny.folder.glob("*/*")]
    assert "2 cells, 0 of them to do" in capsys.readouterr().out


def test_the_page_is_whole_and_needs_nothing_else(tiny):
    grid.benchmark(tiny)
    page = (tiny.folder / "leaderboard.html").read_text()
    opened = []

    class Check(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in ("meta", "br"):
                opened.append(tag)
            names = {"src", "srcset", "action"} | ({"href"} if tag == "link" else set())
            assert not names & {name for name, _ in attrs}

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Check().feed(page)
    assert opened == []
    assert page.count("<table>") == 2
    assert "<svg" in page
    assert "FourTwoOne" in page


def test_a_benchmark_killed_at_any_moment_goes_on_and_repeats_only_unfinished_cells(tiny):
    """Its second life ends with the same scores as a benchmark that was left alone."""
    calm = replace(tiny, folder=tiny.folder.with_name("calm"), steps=60_000)
    grid.benchmark(calm)
    hurried = replace(calm, folder=tiny.folder)
    job = [
        COMMAND, "benchmark", "--games", "FourTwoOne", "--algorithms", "qlearning", "--seeds", "2",
        "--steps", "60000", "--folder", str(hurried.folder), "--jobs", "2",
    ]  # fmt: skip
    for seconds in (0.0, 0.5, 1.0):
        running = subprocess.Popen(job, stdout=subprocess.DEVNULL, start_new_session=True)
        while not list(hurried.folder.glob("*/evaluations.npz")) and running.poll() is None:
            time.sleep(0.02)
        time.sleep(seconds)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    finished = list(hurried.folder.glob("*/score.json"))
    times = {path: path.stat().st_mtime_ns for path in finished}
    assert grid.benchmark(hurried) == []
    assert {path: path.stat().st_mtime_ns for path in finished} == times
    scores = [
        [
            json.loads(path.read_text())["value"]
            for path in sorted(config.folder.glob("*/score.json"))
        ]
        for config in (calm, hurried)
    ]
    assert len(scores[0]) == 2
    assert scores[0] == scores[1]


def test_a_folder_left_before_anything_was_saved_is_begun_anew(tiny):
    folder = tiny.cells()[0].run_folder
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{")
    assert grid.benchmark(tiny) == []


def test_a_cell_that_fails_is_reported_and_does_not_stop_the_rest(tiny, monkeypatch, capsys):
    real = grid.train

    def train(config, console):
        if config.seed == 0:
            raise ZeroDivisionError("no luck")
        return real(config, console)

    monkeypatch.setattr(grid, "train", train)
    failures = grid.benchmark(tiny)
    assert failures == ["FourTwoOne-qlearning-outcome-0: ZeroDivisionError: no luck"]
    assert "failed: FourTwoOne-qlearning-outcome-0" in capsys.readouterr().out
    assert (tiny.folder / "FourTwoOne-qlearning-outcome-1/score.json").exists()
    monkeypatch.setattr(grid, "train", real)
    assert grid.benchmark(tiny) == []


def test_a_folder_of_another_benchmark_is_refused(tiny):
    grid.benchmark(tiny)
    with pytest.raises(RunError, match="folder must be of the same benchmark, but .*-0 has"):
        grid.benchmark(replace(tiny, steps=30_000))


def test_more_cells_can_be_added_to_a_folder(tiny):
    grid.benchmark(tiny)
    grid.benchmark(replace(tiny, games=("Greed",), seeds=1))
    text = (tiny.folder / "leaderboard.md").read_text()
    assert "| Greed | Q-learning | 1 |" in text
    assert "| FourTwoOne | Q-learning | 2 |" in text
    assert "| all | Q-learning | 3 |" in text


def test_the_same_grid_runs_on_a_local_ray_head(tmp_path):
    ray = pytest.importorskip("ray")
    config = replace(TINY, folder=tmp_path / "ray", backend="ray", jobs=2)
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
    try:
        assert grid.benchmark(config) == []
    finally:
        ray.shutdown()
    plain = replace(TINY, folder=tmp_path / "plain")
    grid.benchmark(plain)
    values = [
        [row.split(",")[4] for row in (one.folder / "results.csv").read_text().splitlines()]
        for one in (config, plain)
    ]
    assert values[0] == values[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
        ({"jobs": 0}, "jobs must be at least 1, got 0"),
        ({"games": ("Chess",)}, "game must be one of Greed"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        BenchmarkConfig(**options)


def cell(game, seed, normalized, to_99=None):
    return Cell(
        game, "ppo", "outcome", seed, 0.0, 1.0, 0.0, 1 - normalized, normalized, 10, 2.0, 1, to_99
    )


def test_means_intervals_and_worst_seeds_by_hand():
    scores = [0.9, 0.8, 1.0, 0.7, 0.6]
    (row,) = summarise([cell("Greed", seed, score) for seed, score in enumerate(scores)])
    assert (row.seeds, row.worst) == (5, 0.6)
    assert row.mean == pytest.approx(0.8)
    assert row.iqm == pytest.approx(0.8)  # of 0.7, 0.8 and 0.9
    assert 0.6 < row.low < 0.75 < 0.85 < row.high < 1.0
    assert row.steps_to_90 == 1
    assert row.steps_to_99 is None


def test_resampling_seeds_within_each_game_leaves_the_games_apart():
    """Without noise inside the games there is none in their mean, however far they are apart."""
    cells = [cell("Greed", seed, 0.5, 7) for seed in range(3)]
    cells += [cell("FourTwoOne", seed, 0.9, 9) for seed in range(3)]
    row = summarise(cells)[-1]
    assert row.game == "all"
    assert (row.low, row.high) == (pytest.approx(0.7), pytest.approx(0.7))
    assert row.steps_to_99 == 8


def test_every_policy_of_the_sources_is_a_reference():
    references = {found[:2] for found in leaderboard.reference_scores(["Greed"])}
    assert references == {("Greed", name) for name in ("optimal", "random", "if_else", "terminal")}
