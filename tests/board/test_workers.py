"""Processes that do one job after the other, for cells and for certificates of strangers."""

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
from exactdice.agents.runs.folders import read_score
from exactdice.baselines import certificate, make_task
from exactdice.board import admission
from exactdice.board.benchmark import run_cell
from exactdice.board.workers import processes, processors
from pebble import ProcessExpired
from thinning import later

import exactdice

#: Jobs of a pool that evaluates expressions.
PID = "__import__('os').getpid()"
DIE = "__import__('os').abort()"
SLEEP = "__import__('time').sleep(60)"

#: Small cells, by the algorithm.
STEPS = {"ppo": 2048, "dqn": 3000, "qlearning": 1000}
FILES = "evaluations", "certificate"


@pytest.mark.posix
@pytest.mark.parametrize(
    ("job", "seconds", "error"), [(DIE, None, ProcessExpired), later((SLEEP, 0.5, TimeoutError))]
)
def test_a_process_does_one_job_after_the_other_until_it_is_lost(job, seconds, error):
    with processes(eval, 1, seconds=seconds) as pool:
        first, second = (pool.start(PID).result() for _ in range(2))
        assert first == second
        with pytest.raises(error) as lost:
            pool.start(job).result()
        assert job == SLEEP or lost.value.exitcode == -signal.SIGABRT
        assert pool.start(PID).result() != first
    assert not multiprocessing.active_children()


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


def run_in(folder, algorithm, seed=0):
    """Run a cell; give its results without times. The clock decides when a checkpoint is saved."""
    options = {"env": {"max_score": 5}, "steps": STEPS[algorithm], "seed": seed}
    assert run_cell(TrainConfig(algorithm=algorithm, run_folder=folder, **options)) is None
    score = read_score(folder)
    curve, certificate = (dict(np.load(folder / f"{name}.npz")) for name in FILES)
    del score["seconds"], curve["seconds"]
    return repr(score), curve, certificate


@pytest.mark.parametrize(
    "algorithm", ["ppo", *(pytest.param(name, marks=pytest.mark.slow) for name in list(STEPS)[1:])]
)
def test_a_cell_does_not_depend_on_the_cells_before_it(tmp_path, algorithm):
    before = run_in(tmp_path / "before", algorithm)
    for other in STEPS.keys() - {algorithm}:
        run_in(tmp_path / other, other, seed=1)
    for seed in (random.seed, np.random.seed, torch.manual_seed):  # as in no new process
        seed(7)
    torch.set_num_threads(2)
    np.testing.assert_equal(run_in(tmp_path / "after", algorithm), before)


def test_every_certificate_is_answered(tmp_path):
    whole, empty = (tmp_path / f"FourTwoOne-{seed}.npz" for seed in range(2))
    whole.write_bytes(certificate(exactdice.score("optimal", make_task("FourTwoOne"))))
    empty.touch()
    found = admission.check_all({whole: "FourTwoOne", empty: "FourTwoOne"}, 2)
    assert found[empty].startswith("FourTwoOne-1.npz must be a whole policy certificate")
    assert found[whole].value == exactdice.verify(whole).value


@pytest.mark.slow
def test_a_certificate_whose_process_is_lost_is_answered(tmp_path, monkeypatch):
    whole = tmp_path / "FourTwoOne-0.npz"
    whole.touch()
    monkeypatch.setattr(admission, "answer_of", spawned.ends)
    (reason,) = admission.check_all({whole: "FourTwoOne"}, 1).values()
    ended = "but the process that tried ended, perhaps for lack of memory"
    assert reason == f"FourTwoOne-0.npz must be verified, {ended}"
    monkeypatch.setattr(admission, "answer_of", spawned.sleeps)
    monkeypatch.setattr(admission, "SECONDS", 0.1)
    (reason,) = admission.check_all({whole: "FourTwoOne"}, 1).values()
    assert reason == "FourTwoOne-0.npz must be verified in 0 seconds, got no result"
