"""The benchmark: cells, resuming, failures, statistics, pages."""

import gc
import re
import shutil
import signal
import subprocess
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import psutil
import pytest
import torch
from benchmarking import TINY, command, values, wait_until
from checkout import ROOT
from exactdice.agents.runs import callback, models, run
from exactdice.agents.runs import folders as run_folders
from exactdice.agents.runs.config import RunError
from exactdice.baselines import verify
from exactdice.board import benchmark as grid
from exactdice.board.grid import BenchmarkConfig
from exactdice.board.results import certificate_of, read_runs
from exactdice.board.tracks import TRACKS
from exactdice.games import InputError


@contextmanager
def started(config, begun):
    """Start a benchmark in a process of its own, and wait until so many cells have a score."""
    process = subprocess.Popen(
        command(config), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_until(lambda: len(list(config.folder.glob("*/evaluations.npz"))) >= begun)
        assert process.poll() is None
        yield process
    finally:
        process.kill()
        process.communicate()


def workers_of(process):
    children = psutil.Process(process.pid).children()
    return {each for each in children if "spawn_main" in " ".join(each.cmdline())}


def processes():
    found = psutil.process_iter(["status"])
    return {each for each in found if each.info["status"] != psutil.STATUS_ZOMBIE}


FIRST = "FourTwoOne-qlearning-outcome-0"


@pytest.fixture
def tiny(tmp_path):
    return replace(TINY, folder=tmp_path / "bench")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Run the small benchmark once for the tests that go on from its end."""
    config = replace(TINY, folder=tmp_path_factory.mktemp("finished"))
    assert grid.benchmark(config) == []
    return config


@pytest.fixture
def done(finished, tiny):
    shutil.copytree(finished.folder, tiny.folder)
    return tiny


def test_a_grid_has_one_cell_for_each_combination_and_a_track_gives_games_seeds_moves_and_folder():
    games, algorithms = ("Greed", "FourTwoOne", "Greed"), ("ppo", "dqn", "ppo")
    rewards = ("outcome", "regret", "outcome")
    found = BenchmarkConfig(games, algorithms=algorithms, rewards=rewards, seeds=3).cells()
    assert len({cell.run_folder for cell in found}) == len(found) == 2 * 2 * 2 * 3
    assert found[0].run_folder.name == "Greed-ppo-outcome-0"
    assert {cell.seed for cell in found} == {0, 1, 2}
    name = "exactdice-10k"
    config = BenchmarkConfig(track=name, algorithms=("ppo", "dqn"))
    cells = config.cells()
    assert len(cells) == 6 * 2 * 5 == len({cell.run_folder for cell in cells})
    assert {(cell.track, cell.game) for cell in cells} == {(name, g) for g in TRACKS[name].games}
    assert cells[0].run_folder == config.place / "Greed-ppo-outcome-0"
    assert config.place == Path("runs", name)
    assert all(TRACKS[name].moves >= cell.total_steps for cell in cells)
    few = replace(config, games=("Greed",), seeds=2, folder=Path("here"))
    assert [cell.run_folder.name for cell in few.cells()] == [
        f"Greed-{algorithm}-outcome-{seed}" for algorithm in ("ppo", "dqn") for seed in (0, 1)
    ]


@pytest.mark.usefixtures("own_games")
def test_a_ladder_has_one_cell_for_each_rung():
    config = BenchmarkConfig(ladder=("greed-sides",), algorithms=("ppo",), seeds=1)
    assert config.place == Path("runs", "greed-sides")
    cells = config.cells()
    assert [cell.env["sides"] for cell in cells] == [2, 3, 4, 6, 8, 12, 20]
    assert len({cell.run_folder for cell in cells}) == len(cells)
    assert {(cell.game, cell.track) for cell in cells} == {("Greed", "exactdice-100k")}
    other = replace(config, track="exactdice-10k").cells()
    assert max(cell.total_steps for cell in other) <= 10_000
    pig = f"{ROOT / 'examples/pig.py'}:Pig"
    config = BenchmarkConfig(ladder=(pig, "target", "10", "20"), algorithms=("ppo",), seeds=1)
    assert config.place == Path("runs", "pig-target")
    assert [(cell.game, cell.env, cell.run_folder.name) for cell in config.cells()] == [
        (pig, {"target": 10}, "Pig-10-ppo-outcome-0"),
        (pig, {"target": 20}, "Pig-20-ppo-outcome-0"),
    ]


def test_a_folder_can_be_written_to_and_has_one_track_and_the_options_of_its_cells(tiny, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="^folder must be a place to write to, got [^\n]*$"):
        grid.benchmark(replace(tiny, folder=tmp_path / "file/below"))
    first, second = tiny.cells()
    run.Run.create(replace(first, run_folder=second.run_folder))
    (second.run_folder / "checkpoint.pt").touch()
    with pytest.raises(RunError, match=r"outcome-1 has seed 0 instead of 1: choose another"):
        grid.benchmark(tiny)
    shutil.rmtree(second.run_folder)
    run.Run.create(replace(tiny, steps=None, track="exactdice-10k").cells()[0])  # only begun
    with pytest.raises(RunError, match=r"one track, but .*outcome-0 is of exactdice-10k instead o"):
        grid.benchmark(replace(tiny, games=("Greed",)))
    with pytest.raises(RunError, match="is of exactdice-10k instead of exactdice-100k: choose"):
        grid.benchmark(replace(tiny, steps=None, games=("Greed",), track="exactdice-100k"))


def test_a_second_call_has_nothing_to_do_and_tables_stand_if_the_page_cannot_be_drawn(done, capsys):
    text = re.sub(" +", " ", (done.folder / "leaderboard.md").read_text())
    mean = np.mean([run.normalized for run in read_runs(done.folder)])
    assert f"| FourTwoOne | Q-learning | 2 | {mean:.4f} |" in text
    assert "| FourTwoOne | goal:1,1 | 3.733089 | 0.9934 |" in text
    before = [(path, path.stat().st_mtime_ns) for path in done.folder.glob("*/*")]
    assert grid.benchmark(done) == []
    assert before == [(path, path.stat().st_mtime_ns) for path in done.folder.glob("*/*")]
    last = capsys.readouterr().out.rstrip().splitlines()[-1].split()  # the table is the end
    assert last[:4] == ["FourTwoOne", "Q-learning", "2", f"{mean:.4f}"]
    (done.folder / "leaderboard.md").unlink()
    (failure,) = grid.benchmark(done, page=Mock(side_effect=RuntimeError("no font")))
    assert failure == f"the leaderboard of {done.folder}: RuntimeError: no font"
    assert f"failed: {failure}" in capsys.readouterr().out.replace("\n", "")
    assert len(values(done)) == 2
    assert (done.folder / "leaderboard.md").exists()


@pytest.mark.slow
def test_a_benchmark_killed_at_any_moment_goes_on_and_repeats_only_unfinished_cells(tmp_path):
    """Only the parent is killed, and called again at once: its workers may still be there."""
    calm = replace(TINY, folder=tmp_path / "calm", steps=60_000)
    assert grid.benchmark(calm) == []
    hurried = replace(calm, folder=tmp_path / "hurried", jobs=2)
    for seconds in (0.0, 0.5):
        running = subprocess.Popen(command(hurried), stdout=subprocess.DEVNULL)
        wait_until(lambda: list(hurried.folder.glob("*/evaluations.npz")))
        time.sleep(seconds)
        running.kill()
        running.wait()
    finished = list(hurried.folder.glob("*/score.json"))
    times = [path.stat().st_mtime_ns for path in finished]
    assert grid.benchmark(hurried) == []
    assert [path.stat().st_mtime_ns for path in finished] == times
    assert values(hurried) == values(calm)


def test_no_more_than_the_last_cells_model_stays_in_memory(tiny, monkeypatch):
    made, make = [], models.make_model

    def making(*arguments):
        assert not any(each() for each in made)
        model = make(*arguments)
        made.append(weakref.ref(model))
        return model

    monkeypatch.setattr(models, "make_model", making)
    gc.disable()
    try:
        assert grid.benchmark(replace(tiny, algorithms=("dqn",), steps=64)) == []
    finally:
        gc.enable()
    assert len(made) == 2


def test_a_folder_in_which_another_process_trains_is_not_deleted(tiny):
    cell = tiny.cells()[0]
    cell.run_folder.mkdir(parents=True)
    options = cell.run_folder / "config.json"
    options.write_text("{")
    with run_folders.alone(cell.run_folder):
        assert "run folder must be one that no other process trains in" in grid.run_cell(cell)
        assert options.exists()
    assert grid.run_cell(cell) is None
    assert grid.is_finished(cell)


def test_a_cell_that_fails_is_reported_and_does_not_stop_the_rest(tiny, monkeypatch, capsys):
    def train(config, console, real=grid.train):
        if config.seed == 0:
            raise ZeroDivisionError("no luck")
        return real(config, console)

    monkeypatch.setattr(grid, "train", train)
    assert len(grid.benchmark(replace(tiny, seeds=1))) == 1
    assert not (tiny.folder / "leaderboard.md").exists()
    failures = grid.benchmark(tiny)
    assert failures == [f"{FIRST}: ZeroDivisionError: no luck"]
    assert f"failed: {FIRST}" in capsys.readouterr().out
    assert (tiny.folder / "FourTwoOne-qlearning-outcome-1/score.json").exists()
    monkeypatch.undo()
    assert grid.benchmark(tiny) == []


def test_a_folder_with_a_model_is_never_deleted(done):
    folder = done.cells()[0].run_folder
    for path in folder.iterdir():
        if path.name not in ("config.json", "hyperparameters.yml", "best_model.zip"):
            path.unlink()
    (done.folder / "results.csv").unlink()
    before = {path: path.read_bytes() for path in folder.iterdir()}
    (failure,) = grid.benchmark(done)
    assert "must hold a score.json, or a checkpoint.pt to go on from, got only" in failure
    assert "best_model.zip" in failure
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_run_with_a_model_can_be_gone_on_with_whenever_it_was_killed(tiny, finished, monkeypatch):
    def killed(path, save, write=callback.write_file):
        if path.name == "evaluations.npz":
            raise KeyboardInterrupt
        write(path, save)

    monkeypatch.setattr(callback, "write_file", killed)
    with pytest.raises(KeyboardInterrupt):
        grid.benchmark(tiny)
    monkeypatch.undo()
    assert (tiny.cells()[0].run_folder / "best_model.zip").exists()
    assert grid.benchmark(tiny) == []
    assert values(tiny) == values(finished)


@pytest.mark.slow
@pytest.mark.posix
def test_workers_end_soon_after_their_parent_was_killed(tiny):
    long = replace(tiny, seeds=3, steps=20_000_000, jobs=2)
    with started(long, begun=2) as process:
        assert sum(map(grid.is_owned, long.cells())) == 2  # so that no other process begins them
        workers = workers_of(process)
        process.kill()
        process.wait()
        wait_until(lambda: not workers & processes(), 10)
    assert len(list(long.folder.glob("*/checkpoint.pt"))) == 2
    assert not any(map(grid.is_owned, long.cells()))
    assert not list(long.folder.glob("*/score.json"))


@pytest.mark.slow
@pytest.mark.posix
def test_a_worker_that_is_killed_fails_its_cell_alone(tiny):
    config = replace(tiny, steps=400_000, jobs=2)
    with started(config, begun=2) as process:
        workers_of(process).pop().kill()
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "its process ended with exit code -9" in output
    assert "Traceback" not in errors
    assert len(values(config)) == 1
    assert grid.benchmark(replace(config, jobs=1)) == []


@pytest.mark.posix
@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_saves_what_runs_and_begins_nothing_else(tiny, jobs):
    config = replace(tiny, seeds=3, steps=20_000_000, jobs=jobs)
    with started(config, begun=jobs) as process:
        workers = workers_of(process)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        wait_until(lambda: not workers & processes(), 10)
    assert "stopping: one moment to save" in output
    assert errors == ""
    assert len(list(config.folder.glob("*/checkpoint.pt"))) == jobs
    for path in config.folder.glob("*/checkpoint.pt"):
        log, saved = np.load(path.with_name("evaluations.npz")), torch.load(path)
        assert saved["counters"]["num_timesteps"] > log["timesteps"][-1]  # not the last score's
    assert not list(config.folder.glob("*/.*"))
    assert not list(config.folder.glob("*/score.json"))


@contextmanager
def waiting(config):
    """Run a benchmark whose second cell is another's; end as soon as it waits for this cell."""
    mine, other = config.cells()
    with ThreadPoolExecutor(1) as pool, grid.owned(other) as ours:
        assert ours
        running = pool.submit(grid.benchmark, config)
        wait_until(lambda: grid.is_finished(mine))
        yield other, running


@pytest.mark.slow
def test_a_cell_of_another_process_is_waited_for(tiny, capsys):
    with waiting(tiny) as (other, running):
        wait_until(lambda: "waiting for 1 cells" in capsys.readouterr().out)
        assert not other.run_folder.exists()
        assert not running.done()
    assert running.result(60) == []
    assert len(values(tiny)) == 2
    assert not list(tiny.folder.glob(".*"))


@pytest.mark.slow
def test_cells_that_another_benchmark_begins_meanwhile_with_other_options_are_refused(tiny):
    with waiting(tiny) as (_, running):
        grid.train(replace(tiny, steps=30_000).cells()[1])
    with pytest.raises(RunError, match="outcome-1 has n_timesteps 30000 instead of 20000"):
        running.result(60)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({name: ()}, f"{name} must be one at l") for name in ("games", "algorithms", "rewards")),
        *(({name: 0}, f"{name} must be at least 1, got 0") for name in ("seeds", "jobs")),
        ({"games": ("Chess",)}, "game must be one of Greed"),
        ({"track": "exactdice"}, "track must be one of 'exactdice-10k', "),
        ({"ladder": ("Greed",)}, "ladder must be one of 'greed-score', "),
        ({"ladder": ("greed-score",), "games": ("Greed",)}, "games must be left to the ladder gre"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        BenchmarkConfig(**options)


def test_a_run_of_which_only_the_results_are_left_is_finished(done, capsys):
    names = ("results.csv", "curves.csv", "certificates.zip", "leaderboard.md")
    before = {name: (done.folder / name).read_bytes() for name in names}
    known = read_runs(done.folder)
    for cell in done.cells():
        shutil.rmtree(cell.run_folder)
    assert read_runs(done.folder) == known
    assert grid.benchmark(done) == []
    assert "2 cells, 0 of them to do" in capsys.readouterr().out
    assert {name: (done.folder / name).read_bytes() for name in names} == before
    with pytest.raises(RunError, match="outcome-0 has n_timesteps 20000 instead of 30000: choose"):
        grid.benchmark(replace(done, steps=30_000))
    with pytest.raises(RunError, match="outcome-0 is of none instead of exactdice-10k: choose"):
        grid.benchmark(replace(done, steps=None, games=("Greed",), track="exactdice-10k"))
    assert grid.benchmark(replace(done, seeds=3)) == []
    assert read_runs(done.folder)[:2] == known
    found = [verify(certificate_of(done.folder, run.name)) for run in read_runs(done.folder)]
    assert [each.value for each in found] == [run.value for run in read_runs(done.folder)]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("results.csv", lambda text: text.replace(b"qlearning,", b"qlearning,,")),
        ("curves.csv", lambda text: text.replace(b"outcome-0", b"outcome-9")),
        ("curves.csv", lambda text: text[:-3] + b"x\n"),
        ("curves.csv", None),
        ("certificates.zip", lambda text: text[:-9]),
        *((f"{FIRST}/score.json", lambda _, new=new: new) for new in (b"{}", b"\xff", b"[1]")),
        (f"{FIRST}/score.json", lambda text: re.sub(rb'("normalized": )[^,}]*', rb"\1NaN", text)),
        *((f"{FIRST}/evaluations.npz", lambda _, new=new: new) for new in (b"PK\x03\x04", b"")),
    ],
)
def test_a_damaged_file_is_named(done, name, change):
    path = done.folder / name
    content = path.read_bytes()
    path.unlink() if change is None else path.write_bytes(change(content))
    named = "outcome-0/score.json|outcome-0/evaluations.npz|results.csv|curves.csv|certificates.zip"
    with pytest.raises(RunError, match=f"({named}) must (be|have|hold) "):
        grid.benchmark(done)
