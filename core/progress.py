"""How far a long computation has come, for whoever shows it.

A sweep that takes more than some seconds calls ``tell``; ``watched`` says who is told. Nobody is by
default, and nothing depends on it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Timer
from typing import Any, TypeAlias

#: A function of the part that is done, of the whole, and of the computation's name, called now and
#: then. A new computation begins again at a small part.
Report: TypeAlias = Callable[[int, int, str], None]

_report: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def watched(report: Report) -> Iterator[None]:
    """Have long computations inside the ``with`` block of this thread report how far they are."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def tell(done: int, total: int, name: str) -> None:
    """Report that a part of a computation is done, if anybody watches."""
    report = _report.get()
    if report is not None:
        report(done, total, name)


@contextmanager
def shown_progress(patience: float = 0.0) -> Iterator[None]:
    """Show the present computation on the error stream while the block runs, if it is a terminal.

    The line is shown after ``patience`` seconds; nothing may be printed inside the block.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    console = Console(stderr=True)
    options: Any = {"transient": True, "redirect_stdout": False, "redirect_stderr": False}
    progress = Progress(*columns, console=console, disable=not console.is_terminal, **options)
    line = progress.add_task("computing", total=None)

    def report(done: int, total: int, name: str) -> None:
        rest = total + 1  # a full bar would stop the clock, and more computations may follow
        progress.update(line, completed=done, total=rest, description=name)

    timer = Timer(patience, progress.start)
    timer.daemon = True
    timer.start()
    try:
        with watched(report):
            yield
    finally:
        timer.cancel()
        timer.join()
        progress.stop()
