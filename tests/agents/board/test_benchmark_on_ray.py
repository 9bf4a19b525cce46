"""The benchmark on a Ray cluster whose nodes share the folder of the benchmark."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from exactdice.agents.board import benchmark as grid
from exactdice.agents.board.config import BenchmarkConfig

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
    assert values(tmp_path / "caller" / "bench") == values(plain.folder)


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


def test_a_folder_that_a_machine_does_not_have_is_named(tmp_path):
    """Instead of a run in a folder of this machine alone, which nobody finds."""
    (cell, _) = replace(GRID, steps=20_000, folder=tmp_path / "bench").cells()
    assert "folder must be on a disk that all machines share, got" in grid.run_cell(cell)
    assert not list(tmp_path.iterdir())


def test_a_cluster_that_is_not_there_is_named(run, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "nonsense")
    code, _, complaint = run("benchmark", "--folder", "bench", "--backend", "ray")
    assert code == 2
    assert complaint.startswith("error: backend ray must reach a cluster, got: ")
