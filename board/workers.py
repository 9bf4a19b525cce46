"""Jobs that run at the same time: in processes of this machine, or on a Ray cluster.

A process needs seconds to import PyTorch and to solve a game; it keeps both for its next job. The
processes are pebble's: a process that is lost fails its own job alone, and is replaced. Here they
also end when the process that started them ends, and save what they do when they are stopped.
"""

import gc
import math
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pebble import ProcessPool

from ..agents.runs.config import RunError
from ..core import InputError
from ..core.errors import needing
from ..core.words import first_line

#: Folder in which Linux says what share of the processors a container may use.
CGROUPS = Path("/sys/fs/cgroup")
#: Seconds that processes have to save their jobs after Ctrl-C.
GRACE = 20.0
#: Number of times that Ray begins a job again whose node was lost.
RETRIES = 3


def processors(cgroups: Path = CGROUPS) -> int:
    """Count the processors that this process may use, containers and affinity considered."""
    count = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        count = len(os.sched_getaffinity(0))
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        with suppress(OSError, ValueError):  # no such file, or no number: "max"
            texts = " ".join((cgroups / name).read_text(encoding="utf-8") for name in names)
            quota, period = map(int, texts.split())
            if quota > 0 and period > 0:  # -1 is for no quota
                return max(1, min(count, math.ceil(quota / period)))
    return count


def check_same(
    found: Mapping[str, Any], wanted: Mapping[str, Any], what: str, folder: Path
) -> None:
    """Check that the work in a folder has the options of the work to be done."""
    others = [
        f"{name} {found.get(name)} instead of {wanted.get(name)}"
        for name in sorted(found.keys() | wanted.keys())
        if found.get(name) != wanted.get(name)
    ]
    if others:
        raise RunError(
            f"folder must be of the same {what}, but {folder} has {', '.join(others)}: choose "
            "another --folder"
        )


class Workers(NamedTuple):
    """Does jobs: calls of one function, which has a place in a module."""

    #: Calls the function with arguments; its result or its error comes later. The error is pebble's
    #: ``ProcessExpired`` if the process was lost.
    start: Callable[..., "Future[Any]"]
    number: int  # of jobs at the same time


@contextmanager
def workers(
    work: Callable[..., Any],
    backend: str,  # local, or ray, which does a job again elsewhere if its node is lost
    jobs: int = -1,  # at the same time; -1 for the number of processors
    most: int = 2**31,  # jobs that there will be
) -> Iterator[Workers]:
    """Open workers; at the end of the block, running jobs are stopped, and save themselves."""
    if backend == "ray":
        with _connected() as ray:
            cpus = int(ray.cluster_resources().get("CPU", 1))
            remote = ray.remote(work).options(max_retries=RETRIES)
            number = max(1, cpus) if jobs == -1 else jobs
            yield Workers(lambda *given: remote.remote(*given).future(), number)
        return
    number = min(processors() if jobs == -1 else jobs, most)
    if number == 1:
        yield Workers(partial(_here, work), 1)
    else:
        with processes(work, number) as pool:
            yield pool


def _here(work: Callable[..., Any], *given: Any) -> "Future[Any]":
    future: Future[Any] = Future()
    try:
        future.set_result(work(*given))
    except Exception as error:
        future.set_exception(error)
    return future


@contextmanager
def processes(
    work: Callable[..., Any], number: int, seconds: float | None = None
) -> Iterator[Workers]:
    """Start processes, -1 for as many as processors; at the end of the block they save and end.

    After so many seconds a job fails with ``TimeoutError``, its process killed.
    """
    number = processors() if number == -1 else number
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    # A process gets the function at its beginning, as pebble lets one process at a time read a job,
    # and reading a function imports its module.
    pool: Any = ProcessPool(number, initializer=_begin, initargs=(work,), context=context)
    with _interrupts_held():  # new processes inherit this, until they can handle interrupts
        _ = pool.active  # starts them
    try:
        yield Workers(lambda *given: pool.schedule(_do, (work, *given), timeout=seconds), number)
    finally:
        pool.stop()
        mine = set(multiprocessing.active_children()) - before
        for process in mine:
            process.terminate()
        last = time.monotonic() + GRACE
        try:
            for process in mine:
                process.join(max(0.0, last - time.monotonic()))
        finally:  # after ``GRACE``, or after a second Ctrl-C
            for process in mine:
                process.kill()
            pool.join()


def _begin(_work: Callable[..., Any]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # so that the Ctrl-C of a terminal reaches the parent only
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end_with_parent() -> None:
    """End this process as soon as its parent has ended, however it ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _do(work: Callable[..., Any], *given: Any) -> Any:
    """Do a job, which a request to end the process interrupts as Ctrl-C does."""
    idle = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return work(*given)
    except KeyboardInterrupt:
        os._exit(1)  # pebble would take it for the result of the job, and go on
    finally:
        signal.signal(signal.SIGTERM, idle)
        gc.collect()  # a model is a cycle of references, and its arrays are large


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, on systems that can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _connected() -> Iterator[Any]:
    """Connect to the Ray cluster at RAY_ADDRESS, or start one here; disconnect after the block."""
    with needing("backend ray", "'exactdice[ray]'", InputError):
        import ray
    mine = not ray.is_initialized()
    if mine:
        try:
            ray.init(logging_level="ERROR", log_to_driver=False)
        except Exception as error:  # a start that times out has no class of its own
            reason = first_line(error)
            raise InputError(f"backend ray must reach a cluster, got: {reason}") from None
    try:
        yield ray
    finally:
        if mine:
            ray.shutdown()
