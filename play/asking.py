"""How a person is asked: on the terminal or through a pipe, and told why there is nothing yet."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console

from ..baselines.scoring.certificate import printable

#: Gives the reply to a question; raises EOFError where there is nobody to answer.
Ask = Callable[[str], str]

PATIENCE = 1.0  # seconds without a word


def asking(console: Console) -> Ask:
    """Make what asks on the terminal, or reads a pipe and shows what it has read."""
    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):  # what is typed may be in no encoding, or in another
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
    """Say what is going on if it takes longer than a moment."""
    timer = Timer(PATIENCE, console.print, ["One moment, only once ..."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
