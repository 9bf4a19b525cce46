"""Processes that do one job after the other, for cells and for certificates of strangers."""

import json
import multiprocessing
import os
import random
import signal
import time

import numpy as np
import pytest
import spawned
import torch
from exactdice.agents.runs.config import TrainConfig
from exactdice.baselines import certificate, make_task
from exactdice.board import admission
from exactdice.board.benchmark import run_cell
from exactdice.board.workers import processes, processors
from pebble import ProcessExpired

import exactdice

#: Jobs of a pool that evaluates expressions.
PID = "__import__('os').getpid()"
DIE = "__import__('os').abort()"
SLEEP = "__import__('time').sleep(60)"

#: Small cells, by the algorithm.
STEPS = {"ppo": 2048, "dqn": 3000, "qlearning": 1000}


@pytest.mark.posix
def test_a_process_does_one_job_after_the_other_until_it_is_lost():
    with processes(eval, 1) as pool:
        first, second = (pool.start(PID).result() for _ in range(2))
        assert first == second
        with pytest.raises(ProcessExpired) as lost:
            pool.start(DIE).result()
        assert lost.value.exitcode == -signal.SIGABRT
        assert pool.start(PID).result() != first
    assert not multiprocessing.active_children()


def test_a_job_that_takes_too_long_ends_with_its_process():
    with processes(eval, 1, seconds=0.5) as pool:
        first = pool.start(PID).result()
        with pytest.raises(TimeoutError):
            pool.start(SLEEP).result()
        assert pool.start(PID).result() != first


def test_the_end_of_the_block_ends_busy_and_idle_processes():
    with processes(eval, 2) as pool:
        sleeping = pool.start(SLEEP)
        pool.start(PID).result()
        while not sleeping.running():
            time.sleep(0.01)
        started = time.monotonic()
    assert not multiprocessing.active_children()
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "max 100000\n"}, 8),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "nonsense\n"}, 8),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
    ],
)
def test_the_limits_of_containers_are_known(tmp_path, monkeypatch, files, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(8)), raising=False)
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert processors(tmp_path) == expected


def cell(place, algorithm, seed=0):
    options = {"env": {"max_score": 5}, "steps": STEPS[algorithm], "seed": seed}
    folder = place / f"{algorithm}-{seed}"
    return TrainConfig(algorithm=algorithm, run_folder=folder, **options)


def saved(config):
    """Give the results of a cell without times. The clock decides when a checkpoint is saved."""
    folder = config.run_folder
    score = json.loads((folder / "score.json").read_text())
    curve = dict(np.load(folder / "evaluations.npz"))
    certificate = dict(np.load(folder / "certificate.npz"))
    for part in (score, curve):
        part.pop("seconds")
    return repr(score), curve, certificate


def disturb():
    """Leave the global state as no new process has it."""
    random.seed(7)
    np.random.seed(7)
    torch.manual_seed(7)
    torch.rand(5)
    torch.set_num_threads(2)


@pytest.mark.parametrize(
    "algorithm", ["ppo", *(pytest.param(name, marks=pytest.mark.slow) for name in list(STEPS)[1:])]
)
def test_a_cell_does_not_depend_on_the_cells_before_it(tmp_path, algorithm):
    folders = [tmp_path / name for name in ("before", "after")]
    for folder in folders:
        folder.mkdir()
    before, after = (cell(folder, algorithm) for folder in folders)
    assert run_cell(before) is None
    for other in STEPS:
        if other != algorithm:
            assert run_cell(cell(tmp_path, other, 1)) is None
    disturb()
    assert run_cell(after) is None
    np.testing.assert_equal(saved(after), saved(before))


@pytest.fixture
def paths(tmp_path):
    """Write a certificate that holds, and another that does not."""
    files = [tmp_path / f"FourTwoOne-{seed}.npz" for seed in range(2)]
    files[0].write_bytes(certificate(exactdice.score("optimal", make_task("FourTwoOne"))))
    files[-1].write_bytes(b"")
    return files


def test_every_certificate_is_answered(paths):
    found = admission.check_all(dict.fromkeys(paths, "FourTwoOne"), 2)
    assert found.pop(paths[-1]).startswith("FourTwoOne-1.npz must be a whole policy certificate")
    assert found[paths[0]].value == exactdice.verify(paths[0]).value


def test_a_process_that_ends_or_takes_too_long_refuses_its_certificate(paths, monkeypatch):
    job = {paths[0]: "FourTwoOne"}
    monkeypatch.setattr(admission, "answer_of", spawned.ends)
    assert list(admission.check_all(job, 1).values()) == [
        "FourTwoOne-0.npz must be verified, but the process that tried ended, perhaps for lack of "
        "memory"
    ]
    monkeypatch.setattr(admission, "answer_of", spawned.sleeps)
    monkeypatch.setattr(admission, "SECONDS", 0.1)
    assert list(admission.check_all(job, 1).values()) == [
        "FourTwoOne-0.npz must be verified in 0 seconds, got no result"
    ]
