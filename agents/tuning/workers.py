"""Workers of a search: in this process, in other processes, or on a Ray cluster.

A worker lives as long as the search, and keeps the tables and the optimum of every game. Workers
take trials from the journal by themselves.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from optuna.storages.journal import BaseJournalBackend, JournalFileBackend, JournalFileOpenLock

from ...core import InputError, append
from ...core.words import first_line
from ..board.pool import Pool
from ..board.processors import processors
from ..runs.config import RunError
from .config import TuneConfig
from .work import INTERVAL, alive, new_owner, work

#: A function that is called repeatedly while workers run, with the names of the workers whose locks
#: this process holds.
Watch = Callable[[list[str]], None]


class _Journal(JournalFileBackend):
    """The file of a search; what a full disk or a kill left of a line goes with the next one."""

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        path = Path(self._file_path)
        self._lock.acquire()
        try:
            os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
            append(path, "".join(f"{json.dumps(log)}\n" for log in logs).encode())
        finally:
            self._lock.release()


def journal(config: TuneConfig) -> BaseJournalBackend:
    """Return the journal of a search, a file in its folder."""
    path = str(config.place / "journal.log")
    return _Journal(path, lock_obj=JournalFileOpenLock(path))


def run_workers(config: TuneConfig, watch: Watch) -> None:
    """Run workers until the search is done.

    Args:
        config: the options of the search.
        watch: called repeatedly while workers run.

    Raises:
        InputError: if the backend ``ray`` is not installed, or its cluster cannot be reached.
        RuntimeError: if a worker failed.
    """
    if config.backend == "ray":
        _on_ray(config, watch)
        return
    count = processors() if config.jobs == -1 else config.jobs
    count = min(count, config.trials)
    if count == 1:
        owner = new_owner()
        with alive(config.place, owner):
            work(config, journal(config), owner, lambda: watch([owner]))
    else:
        _in_processes(config, count, watch)


def _in_processes(config: TuneConfig, count: int, watch: Watch) -> None:
    """Run each worker in a process of its own, which ends when this process ends."""
    pool = Pool(_work)
    failures: list[str] = []
    try:
        for _ in range(count):
            pool.start(config)
        while pool.busy:
            for _, failure, code in pool.wait(INTERVAL):
                if code is not None:
                    failure = f"a worker ended with exit code {code}: call again to go on"
                if failure is not None:
                    failures.append(failure)
            watch([])
    finally:
        pool.close()  # a trial that is running is tried again by the next call
    if failures:
        raise RunError(failures[0])


def _work(config: TuneConfig) -> str | None:
    """Run a worker in this process; return its error message, None without an error."""
    owner = new_owner()
    with alive(config.place, owner):
        try:
            work(config, journal(config), owner)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None


class _Served(BaseJournalBackend):
    """The journal on the machine of the search, for a worker on another machine."""

    def __init__(self, ray: Any, server: Any) -> None:
        self._ray, self._server = ray, server

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        return iter(self._ray.get(self._server.read.remote(log_number_from)))

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        self._ray.get(self._server.append.remote(logs))


class _Server:
    """A Ray actor on the machine of the search, which reads and writes the journal."""

    def __init__(self, config: TuneConfig) -> None:
        self._journal = journal(config)

    def read(self, start: int) -> list[dict[str, Any]]:
        return list(self._journal.read_logs(start))

    def append(self, logs: list[dict[str, Any]]) -> None:
        self._journal.append_logs(logs)


def _on_ray(config: TuneConfig, watch: Watch) -> None:
    with _connected() as ray, ExitStack() as stack:
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False
        )
        options = {"scheduling_strategy": here, "num_cpus": 0}
        server = ray.remote(_Server).options(**options).remote(config)
        cpus = int(ray.cluster_resources().get("CPU", 1))
        count = min(max(1, cpus) if config.jobs == -1 else config.jobs, config.trials)
        owners = [new_owner() for _ in range(count)]
        for owner in owners:
            stack.enter_context(alive(config.place, owner))
        run = ray.remote(_remote_work)
        running = [run.remote(config, server, owner) for owner in owners]
        while running:
            ended, running = ray.wait(running, timeout=INTERVAL)
            ray.get(ended)
            watch(owners)


def _remote_work(config: TuneConfig, server: Any, owner: str) -> None:
    import ray

    work(config, _Served(ray, server), owner)


@contextmanager
def _connected() -> Iterator[Any]:
    """Connect to the Ray cluster at RAY_ADDRESS, or start one here; disconnect after the block."""
    try:
        import ray
    except ModuleNotFoundError:
        raise InputError("backend ray needs more libraries: pip install 'exactdice[ray]'") from None
    mine = not ray.is_initialized()
    if mine:
        try:
            ray.init(logging_level="ERROR", log_to_driver=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise InputError(
                f"backend ray must reach a cluster, got: {first_line(error)}"
            ) from None
    try:
        yield ray
    finally:
        if mine:
            ray.shutdown()
