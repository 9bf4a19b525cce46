"""A line that says what a command computes, and for how long."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ..core.progress import watched


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show the present computation on the error stream while the block runs, if it is a terminal.

    Nothing may be printed inside the block.
    """
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    console = Console(stderr=True)
    options: Any = {"transient": True, "redirect_stdout": False, "redirect_stderr": False}
    hidden = not console.is_terminal
    with Progress(*columns, console=console, disable=hidden, **options) as progress:
        line = progress.add_task("computing", total=None)

        def report(done: int, total: int, name: str) -> None:
            rest = total + 1  # a full bar would stop the clock, and more computations may follow
            progress.update(line, completed=done, total=rest, description=name)

        with watched(report):
            yield
