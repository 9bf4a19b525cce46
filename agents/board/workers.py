"""Workers that run the cells of a benchmark: in this process, in other processes, or on Ray.

Workers start cells, tell how many more cells can be started, and return the cells that have ended.
"""

import time
from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from ...core import InputError, WriteError
from ...core.words import first_line
from ..runs.config import RunError, TrainConfig
from .cell import changed_files, folder_of, make_way, owned, receive, run_cell, run_elsewhere
from .pool import Pool
from .processors import processors

#: Number of losses, without a new checkpoint in between, after which a cell on a cluster fails.
LOSSES = 3

#: A cell that has ended, and its error message, None if there is none.
Ended = tuple[TrainConfig, str | None]


class Workers(ABC):
    """Runs cells of a benchmark."""

    def __init__(self) -> None:
        self._started: dict[Any, Any] = {}  # running cells, by the object that reports their end
        self._ended: list[Ended] = []

    def running(self) -> int:
        """Return the number of cells that were started and not yet returned by ``wait``."""
        return len(self._started) + len(self._ended)

    def free(self) -> int:
        """Return the number of further cells that can be started now."""
        return self._most() - self.running()

    def wait(self, seconds: float) -> list[Ended]:
        """Return the cells that have ended; wait at most ``seconds`` for the first."""
        if self._started and not self._ended:
            self._collect(seconds)
        elif not self._ended:
            time.sleep(seconds)
        ended, self._ended = self._ended, []
        return ended

    @abstractmethod
    def start(self, cell: TrainConfig) -> None:
        """Start a cell."""

    @abstractmethod
    def close(self) -> None:
        """Stop the running cells; save them where that is possible."""

    @abstractmethod
    def _most(self) -> int:
        """Return the largest number of cells that run at once."""

    @abstractmethod
    def _collect(self, seconds: float) -> None:
        """Move cells that have ended to ``_ended``; wait at most ``seconds`` for the first."""


def make_workers(backend: str, jobs: int) -> Workers:
    """Make workers as ``BenchmarkConfig`` describes them.

    Raises:
        InputError: if the backend ``ray`` is not installed, or its cluster cannot be reached.
    """
    if backend == "ray":
        return RayWorkers(jobs)
    count = processors() if jobs == -1 else jobs
    return ThisProcess() if count == 1 else Processes(count)


class ThisProcess(Workers):
    """Runs one cell after the other in this process."""

    def start(self, cell: TrainConfig) -> None:
        """Run a cell to its end."""
        self._ended.append((cell, run_cell(cell)))

    def close(self) -> None:
        """Do nothing, as nothing is running."""

    def _most(self) -> int:
        return 1

    def _collect(self, seconds: float) -> None:
        pass


class Processes(Workers):
    """Runs cells in processes that each run one cell after the other, and end when this one does.

    The cells of a game follow one another, so that a process solves few games twice.
    """

    def __init__(self, jobs: int) -> None:
        super().__init__()
        self._jobs = jobs
        self._pool = Pool(run_cell)
        self._started = self._pool.busy

    def start(self, cell: TrainConfig) -> None:
        """Give a cell to a process."""
        self._pool.start(cell)

    def close(self) -> None:
        """Have every process save its cell and end."""
        self._pool.close()

    def _most(self) -> int:
        return self._jobs

    def _collect(self, seconds: float) -> None:
        for cell, failure, code in self._pool.wait(seconds):
            if code is not None:
                failure = f"{folder_of(cell).name}: its process ended with exit code {code}"
            self._ended.append((cell, failure))


@dataclass
class _Remote:
    """A cell that runs on the cluster."""

    cell: TrainConfig
    ownership: ExitStack  # holds the lock of the cell, on this machine
    losses: int = 0


class RayWorkers(Workers):
    """Runs cells on a Ray cluster, and copies their files to this machine.

    A cell runs in a temporary folder of a node. Its files are copied after every exact score, so
    that a cell whose node is lost is resumed on another node from its last checkpoint.
    """

    def __init__(self, jobs: int) -> None:
        super().__init__()
        try:
            import ray
        except ModuleNotFoundError:
            line = "pip install 'exactdice[ray]'"
            raise InputError(f"backend ray needs more libraries: {line}") from None
        self._ray = ray
        self._jobs = jobs
        self._connected_here = not ray.is_initialized()
        if self._connected_here:
            try:
                ray.init(logging_level="ERROR", log_to_driver=False)
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise InputError(
                    f"backend ray must reach a cluster, got: {first_line(error)}"
                ) from None
        # A retry by Ray would start the cell anew.
        self._run = ray.remote(run_elsewhere).options(num_returns="streaming", max_retries=0)

    def start(self, cell: TrainConfig) -> None:
        """Send a cell and its files to the cluster; own the cell until it ends."""
        with ExitStack() as stack:
            failure = None
            try:
                if stack.enter_context(owned(cell)):
                    make_way(cell)
                    self._send(_Remote(cell, stack.pop_all()))
                    return
            except (RunError, WriteError) as error:
                failure = f"{folder_of(cell).name}: {type(error).__name__}: {error}"
        self._ended.append((cell, failure))

    def close(self) -> None:
        """Stop the tasks; their last checkpoints are on this machine."""
        for stream, remote in self._started.items():
            self._ray.cancel(stream, force=True)
            remote.ownership.close()
        self._started.clear()
        if self._connected_here:
            self._ray.shutdown()

    def _most(self) -> int:
        if self._jobs != -1:
            return self._jobs
        # Nodes join and leave; without a node, one cell waits for the first to join.
        return max(1, int(self._ray.cluster_resources().get("CPU", 0)))

    def _collect(self, seconds: float) -> None:
        streams, _ = self._ray.wait(list(self._started), timeout=seconds)
        for stream in streams:
            self._take(stream)

    def _send(self, remote: _Remote) -> None:
        files = changed_files(folder_of(remote.cell), {})
        self._started[self._run.remote(remote.cell, files)] = remote

    def _take(self, stream: Any) -> None:
        """Receive the files that a cell has sent, or handle its end."""
        remote: _Remote = self._started.pop(stream)
        name = folder_of(remote.cell).name
        errors = self._ray.exceptions
        try:
            files, ended, failure = self._ray.get(next(stream))
        except errors.RayTaskError as error:  # such as a node without exactdice
            self._end(remote, f"{name}: {str(error).splitlines()[-1]}")
        except errors.RayError as error:  # the process or the node was lost
            remote.losses += 1
            if remote.losses < LOSSES:
                self._send(remote)
            else:
                self._end(remote, f"{name}: lost {LOSSES} times in a row: {first_line(error)}")
        else:
            receive(folder_of(remote.cell), files)
            if "checkpoint.pt" in files:
                remote.losses = 0
            if ended:
                self._end(remote, failure)
            else:
                self._started[stream] = remote

    def _end(self, remote: _Remote, failure: str | None) -> None:
        remote.ownership.close()
        self._ended.append((remote.cell, failure))
