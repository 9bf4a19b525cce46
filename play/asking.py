"""Questions to a person, on the terminal or through a pipe, and a notice during long waits."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console

from ..baselines.scoring.certificate import printable

#: Returns the reply to a question; raises EOFError at the end of the input.
Ask = Callable[[str], str]

PATIENCE = 1.0  # seconds until a notice is printed


def asking(console: Console) -> Ask:
    """Return a function that asks on the terminal, or reads a line from a pipe and prints it."""
    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):  # typed bytes may be invalid in the encoding
            stream.reconfigure(errors="backslashreplace")
    if sys.stdin.isatty():
        return input

    def read(prompt: str) -> str:
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        console.print(prompt + printable(line.strip()), markup=False, emoji=False, soft_wrap=True)
        return line

    return read


@contextmanager
def patience(console: Console) -> Iterator[None]:
    """Print a notice if the ``with`` block takes longer than ``PATIENCE``."""
    timer = Timer(PATIENCE, console.print, ["One moment, only once ..."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
