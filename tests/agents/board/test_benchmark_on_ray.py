"""The benchmark on a Ray cluster whose nodes share no folder with the caller."""

import json
import os
import subprocess
import sys
import time
from collections import ChainMap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from exactdice.agents.board import benchmark as grid
from exactdice.agents.board import cell as cells
from exactdice.agents.board.config import BenchmarkConfig
from exactdice.agents.runs.train import train

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

COMMAND = str(Path(sys.executable).with_name("exactdice"))
GRID = BenchmarkConfig(games=("FourTwoOne",), algorithms=("qlearning",), seeds=2, jobs=1)
ONE = {"num_cpus": 1, "include_dashboard": False}


@pytest.fixture
def cluster():
    """Two nodes, each with one processor; and then none of Ray's processes."""
    cluster = Cluster(initialize_head=True, head_node_args=ONE)
    try:
        cluster.add_node(**ONE)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def on(cluster, config, folder):
    """Start the benchmark in a folder of its own, into which it writes by a relative path."""
    folder.mkdir()
    return subprocess.Popen(
        [
            COMMAND, "benchmark", "--games", *config.games, "--algorithms", *config.algorithms,
            "--seeds", str(config.seeds), "--steps", str(config.steps), "--folder", "bench",
            "--backend", "ray",
        ],
        cwd=folder, env={**os.environ, "RAY_ADDRESS": cluster.address},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def values(folder):
    paths = sorted(folder.glob("*/score.json"))
    return [json.loads(path.read_text())["value"] for path in paths]


@pytest.mark.slow  # for half a minute
def test_every_cell_comes_back_from_its_node(cluster, tmp_path, monkeypatch):
    """The nodes work in another folder than the caller, in which the benchmark's is."""
    plain = replace(GRID, steps=20_000, folder=tmp_path / "plain")
    grid.benchmark(plain)
    for folder in ("node", "caller"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "node")
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    monkeypatch.chdir(tmp_path / "caller")
    assert grid.benchmark(replace(plain, folder=Path("bench"), backend="ray", jobs=2)) == []
    assert ray.is_initialized()  # as it was before
    assert not list((tmp_path / "node").iterdir())
    brought = tmp_path / "caller" / "bench"
    assert values(brought) == values(plain.folder)
    for cell in plain.cells():
        names = {path.name for path in cell.run_folder.iterdir()}
        assert {path.name for path in (brought / cell.run_folder.name).iterdir()} == names
    assert not list(brought.glob(".*"))


def curve(folder):
    with np.load(folder / "evaluations.npz") as log:
        return log["seconds"]  # no two runs take the same


def is_saved_with_a_score(folder):
    """Whether the checkpoint holds a score: the first one is saved before the first score."""
    path = folder / "checkpoint.pt"
    return path.exists() and torch.load(path)["log"]["timesteps"]


@pytest.mark.slow  # by what it waits for
def test_a_cell_whose_node_dies_goes_on_from_its_last_checkpoint_elsewhere(cluster, tmp_path):
    config = replace(GRID, steps=3_000_000)
    (node,) = cluster.worker_nodes
    running = on(cluster, config, tmp_path / "caller")
    brought = tmp_path / "caller" / "bench"
    folders = [brought / cell.run_folder.name for cell in config.cells()]
    last = time.monotonic() + 100
    while not all(is_saved_with_a_score(folder) for folder in folders):
        assert time.monotonic() < last
        assert running.poll() is None
        time.sleep(0.1)
    before = [curve(folder) for folder in folders]
    assert not list(brought.glob("*/score.json"))
    cluster.remove_node(node, allow_graceful=False)
    output, _ = running.communicate(timeout=200)
    assert running.returncode == 0, output
    for folder, seconds in zip(folders, before, strict=True):
        assert curve(folder)[0] == seconds[0]  # later ones may be younger than the checkpoint
    assert len(values(brought)) == 2


@pytest.fixture
def cell(tmp_path):
    return replace(GRID, steps=20_000, folder=tmp_path / "bench").cells()[0]


def test_a_cell_that_fails_elsewhere_is_told(cell, monkeypatch):
    def train(*_):
        raise ZeroDivisionError("no luck")

    monkeypatch.setattr(cells, "train", train)
    (sent,) = cells.run_elsewhere(cell, {})
    assert sent == ({}, True, "FourTwoOne-qlearning-outcome-0: ZeroDivisionError: no luck")
    assert not cell.run_folder.exists()


def test_what_was_sent_is_gone_on_with(cell, monkeypatch):
    """A run that is sent away at any moment ends with the same score as one that stays."""
    monkeypatch.setattr(cells, "INTERVAL", 0.001)
    snapshots = []
    for files, _, failure in cells.run_elsewhere(cell, {}):
        assert failure is None
        snapshots.append({**(snapshots[-1] if snapshots else {}), **files})
    assert len(snapshots) > 2
    scores = []
    for snapshot in (snapshots[0], snapshots[len(snapshots) // 2], snapshots[-1]):
        sent = list(cells.run_elsewhere(cell, snapshot))
        assert sent[-1][1:] == (True, None)
        folder = dict(ChainMap(*reversed([files for files, *_ in sent]), snapshot))
        scores.append(json.loads(folder["score.json"])["value"])
    assert len(set(scores)) == 1
    cells.receive(cell.run_folder, snapshots[0])
    assert cells.run_cell(cell) is None
    assert json.loads((cell.run_folder / "score.json").read_bytes())["value"] == scores[0]


def test_signs_are_read_before_and_written_after_what_they_stand_for(cell, monkeypatch):
    train(cell)
    read, written = [], []
    read_bytes, write = Path.read_bytes, cells.write_file

    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.name) or read_bytes(path))
    files = cells.changed_files(cell.run_folder, {})
    assert read[:2] == ["score.json", "checkpoint.pt"]

    def note(path, content):
        written.append(path.name)
        write(path, content)

    monkeypatch.setattr(cells, "write_file", note)
    cells.receive(cell.run_folder, files)
    assert written[-2:] == ["checkpoint.pt", "score.json"]
    assert sorted(written) == sorted(read)


def test_before_the_first_checkpoint_nothing_is_sent(cell):
    train(cell)
    (cell.run_folder / "checkpoint.pt").unlink()
    (cell.run_folder / "score.json").unlink()
    assert cells.changed_files(cell.run_folder, {}) == {}


def test_a_cluster_that_is_not_there_is_named(run, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "nonsense")
    code, _, complaint = run("benchmark", "--folder", "bench", "--backend", "ray")
    assert code == 2
    assert complaint.startswith("error: backend ray must reach a cluster, got: ")
