"""The benchmark on a Ray cluster whose nodes share the folder of the benchmark."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarking import TINY, command, values, wait_until
from exactdice.board import benchmark as grid

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

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


@pytest.mark.slow  # for half a minute
def test_every_cell_comes_back_from_its_node(cluster, tmp_path, monkeypatch):
    """The nodes work in another folder than the caller, in which the benchmark's is."""
    plain = replace(TINY, folder=tmp_path / "plain")
    grid.benchmark(plain)
    for folder in ("node", "caller"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "node")
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    monkeypatch.chdir(tmp_path / "caller")
    there = replace(plain, folder=Path("bench"), backend="ray", jobs=2)
    assert grid.benchmark(there) == []
    assert ray.is_initialized()  # as it was before
    assert not list((tmp_path / "node").iterdir())
    assert values(there) == values(plain)


def curve(folder):
    with np.load(folder / "evaluations.npz") as log:
        return log["seconds"]  # no two runs take the same


def is_saved_with_a_score(folder):
    """Whether the checkpoint holds a score: the first one is saved before the first score."""
    path = folder / "checkpoint.pt"
    return path.exists() and torch.load(path)["log"]["timesteps"]


@pytest.mark.slow  # by what it waits for
def test_a_cell_whose_node_dies_goes_on_from_its_last_checkpoint_elsewhere(cluster, tmp_path):
    config = replace(TINY, steps=3_000_000, jobs=-1, folder=tmp_path / "bench")
    (node,) = cluster.worker_nodes
    running = subprocess.Popen(
        command(replace(config, folder=Path("bench")), "--backend", "ray"),
        cwd=tmp_path, env={**os.environ, "RAY_ADDRESS": cluster.address},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    folders = [cell.run_folder for cell in config.cells()]
    wait_until(lambda: running.poll() is not None or all(map(is_saved_with_a_score, folders)))
    before = [curve(folder) for folder in folders]
    assert values(config) == []
    cluster.remove_node(node, allow_graceful=False)
    output, _ = running.communicate(timeout=200)
    assert running.returncode == 0, output
    for folder, seconds in zip(folders, before, strict=True):
        assert curve(folder)[0] == seconds[0]  # later ones may be younger than the checkpoint
    assert len(values(config)) == 2


def test_a_folder_that_a_machine_does_not_have_is_named(tmp_path):
    """Instead of a run in a folder of this machine alone, which nobody finds."""
    (cell, _) = replace(TINY, folder=tmp_path / "bench").cells()
    assert "folder must be on a disk that all machines share, got" in grid.run_cell(cell)
    assert not list(tmp_path.iterdir())


def test_a_cluster_that_is_not_there_is_named(run, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "nonsense")
    code, _, complaint = run("benchmark", "--folder", "bench", "--backend", "ray")
    assert code == 2
    assert complaint.startswith("error: backend ray must reach a cluster, got: ")


def test_a_start_that_times_out_is_a_sentence(run, monkeypatch):
    def late(**_):
        raise Exception("The current node timed out during startup.\nMore.")

    monkeypatch.setattr(ray, "init", late)
    code, _, complaint = run("benchmark", "--folder", "bench", "--backend", "ray")
    assert code == 2
    assert "must reach a cluster, got: The current node timed out during startup." in complaint
