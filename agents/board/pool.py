"""Processes that do one job after the other, and end when this process does.

A process needs seconds to import PyTorch and to solve a game. It keeps both for its next job; a
process that was lost is replaced when there is another job.
"""

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

#: Seconds that a process has to save its job after Ctrl-C.
GRACE = 20.0


class Ended(NamedTuple):
    """A job that has ended.

    Attributes:
        job: the job.
        result: the result; None if the process was lost.
        exit_code: exit code of a process that was lost before the job was done, else None.
    """

    job: Any
    result: Any
    exit_code: int | None


class Pool:
    """Processes that call a function with one job after the other.

    Attributes:
        busy: the running jobs, by the connection to their process.
    """

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work = work
        self._context = multiprocessing.get_context("spawn")
        self._processes: dict[Any, BaseProcess] = {}
        self.busy: dict[Any, Any] = {}

    def start(self, job: Any) -> None:
        """Give a job to an idle process, or to a new one if there is none."""
        free = self._processes.keys() - self.busy.keys()
        alive = [connection for connection in free if self._processes[connection].is_alive()]
        connection = alive[0] if alive else self._new_process()
        self.busy[connection] = job
        with suppress(OSError):  # the process was killed just now, as ``wait`` will find
            connection.send(job)

    def wait(self, seconds: float) -> list[Ended]:
        """Return the jobs that have ended; wait at most ``seconds`` for the first."""
        return [self._take(connection) for connection in wait(list(self.busy), seconds)]

    def close(self) -> None:
        """Have every process save its job and end; kill those that need more than ``GRACE``."""
        processes = list(self._processes.values())
        for process in processes:
            _interrupt(process)
        last = time.monotonic() + GRACE
        try:
            for process in processes:
                process.join(max(0.0, last - time.monotonic()))
        finally:  # after ``GRACE``, or after a second Ctrl-C
            for process in processes:
                process.kill()

    def _new_process(self) -> Any:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(self._work, theirs), daemon=True)
        with _interrupts_held():  # the new process inherits this, until it can handle them
            process.start()
            self._processes[ours] = process
        theirs.close()
        return ours

    def _take(self, connection: Any) -> Ended:
        """Receive a result, or find that the process was lost."""
        result, code = None, None
        try:
            result = connection.recv()
        except (EOFError, OSError):
            process = self._processes.pop(connection)
            process.join()
            code = process.exitcode
            connection.close()
        return Ended(self.busy.pop(connection), result, code)


def _serve(work: Callable[[Any], Any], connection: Connection) -> None:
    """Do the jobs that the parent sends; the main function of a process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        if hasattr(os, "setpgrp"):
            os.setpgrp()  # so that the Ctrl-C of a terminal reaches the parent only
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        while True:
            result = work(connection.recv())
            gc.collect()  # a model is a cycle of references, and its arrays are large
            connection.send(result)
    except (KeyboardInterrupt, EOFError):
        pass  # the parent has sent Ctrl-C, or has closed the connection


def _end_with_parent() -> None:
    """End this process as soon as its parent has ended, however it ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


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


def _interrupt(process: BaseProcess) -> None:
    """Send Ctrl-C to a process, on systems that can; end it on others."""
    if not hasattr(os, "setpgrp"):
        process.terminate()
    elif process.pid is not None and process.is_alive():
        os.kill(process.pid, signal.SIGINT)
