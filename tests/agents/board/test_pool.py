"""Processes that do one job after the other, and cells that share a process."""

import json
import multiprocessing
import os
import random
import signal
import time

import numpy as np
import pytest
import torch
from exactdice.agents.board.cell import run_cell
from exactdice.agents.board.pool import Pool
from exactdice.agents.runs.config import TrainConfig

#: Jobs of a pool that evaluates expressions.
PID = "__import__('os').getpid()"
DIE = "__import__('os').abort()"
SLEEP = "__import__('time').sleep(60)"

#: Small cells, by the algorithm.
STEPS = {"ppo": 2048, "dqn": 3000, "qlearning": 1000}
SMALL = {"max_score": 5}


@pytest.fixture
def pool():
    pool = Pool(eval)
    yield pool
    pool.close()
    assert not multiprocessing.active_children()


def result(pool, job):
    """Do a job, the only one."""
    pool.start(job)
    ended = []
    while not ended:
        ended = pool.wait(10)
    (only,) = ended
    assert only.job == job
    return only.result, only.exit_code


@pytest.mark.posix
def test_a_process_does_one_job_after_the_other_until_it_is_lost(pool):
    first, code = result(pool, PID)
    assert (result(pool, PID), code) == ((first, None), None)
    assert result(pool, DIE) == (None, -signal.SIGABRT)
    assert result(pool, PID)[0] != first


@pytest.mark.posix
def test_an_idle_process_that_was_killed_is_replaced(pool):
    first, _ = result(pool, PID)
    os.kill(first, signal.SIGTERM)
    while multiprocessing.active_children():
        time.sleep(0.01)
    second, code = result(pool, PID)
    assert code is None
    assert second != first


def test_close_ends_busy_and_idle_processes(pool):
    pool.start(SLEEP)
    result(pool, PID)
    assert len(multiprocessing.active_children()) == 2
    started = time.monotonic()
    pool.close()
    assert not multiprocessing.active_children()
    assert time.monotonic() - started < 10


def cell(place, algorithm, seed=0):
    return TrainConfig(
        game="Greed",
        algorithm=algorithm,
        env=SMALL,
        steps=STEPS[algorithm],
        seed=seed,
        run_folder=place / f"{algorithm}-{seed}",
    )


def saved(config):
    """Give the results of a cell without times. The clock decides when a checkpoint is saved."""
    folder = config.run_folder
    score = json.loads((folder / "score.json").read_text())
    curve = dict(np.load(folder / "evaluations.npz"))
    certificate = dict(np.load(folder / "certificate.npz"))
    for part in (score, curve):
        part.pop("seconds")
    return repr(score), curve, certificate


def assert_equal(first, second):
    """Compare nested containers of arrays, bit for bit."""
    assert type(first) is type(second)
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        first, second = list(first.values()), [second[name] for name in first]
    if isinstance(first, list | tuple):
        for left, right in zip(first, second, strict=True):
            assert_equal(left, right)
    elif isinstance(first, np.ndarray):
        np.testing.assert_array_equal(first, second)
    else:
        assert first == second


def disturb():
    """Leave the global state as no new process has it."""
    random.seed(7)
    np.random.seed(7)
    torch.manual_seed(7)
    torch.rand(5)
    torch.set_num_threads(2)


@pytest.mark.parametrize(
    "algorithm",
    [name if name == "ppo" else pytest.param(name, marks=pytest.mark.slow) for name in STEPS],
)
def test_a_cell_does_not_depend_on_the_cells_before_it(tmp_path, algorithm):
    before, after = (cell(tmp_path / name, algorithm) for name in ("before", "after"))
    assert run_cell(before) is None
    for other in STEPS:
        if other != algorithm:
            assert run_cell(cell(tmp_path, other, 1)) is None
    disturb()
    assert run_cell(after) is None
    assert_equal(saved(before), saved(after))


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", STEPS)
def test_the_second_cell_of_a_process_is_that_of_a_new_process(tmp_path, algorithm):
    fresh, second = (cell(tmp_path / name, algorithm) for name in ("fresh", "second"))
    other = cell(tmp_path, algorithm, 1)
    for cells in ([fresh], [other, second]):
        pool = Pool(run_cell)
        assert [result(pool, each) for each in cells] == [(None, None)] * len(cells)
        pool.close()
    assert_equal(saved(fresh), saved(second))
    with pytest.raises(AssertionError):
        assert_equal(saved(other), saved(second))
