"""Questions to a person, on the terminal or through a pipe, and a notice during long waits."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from textwrap import wrap
from threading import Timer
from time import perf_counter

from rich.console import Console

from ..baselines.scoring.certificate_file import printable
from ..core.progress import watched

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


class Voice:
    """Prints sentences and drawings.

    Args:
        console: prints them.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, words: str, style: str | None = None) -> None:
        """Print a sentence, wrapped with an indent."""
        width = self._console.width
        for line in wrap(words, width, subsequent_indent="    ") if words.strip() else [words]:
            self.draw(line, style)

    def draw(self, line: str, style: str | None = None) -> None:
        """Print a line without wrapping: part of a board, or a command to copy."""
        self._console.print(line, style=style, markup=False, emoji=False, soft_wrap=True)


@contextmanager
def patience(console: Console) -> Iterator[None]:
    """Print a notice if the ``with`` block takes longer than ``PATIENCE``.

    On a terminal a line below says then how far a long computation is.
    """
    timer = Timer(PATIENCE, console.print, ["One moment, only once ..."])
    timer.daemon = True
    timer.start()
    line = _Line(console)
    try:
        with watched(line.report):
            yield
    finally:
        timer.cancel()
        line.clear()


class _Line:
    """A line of a terminal that says how far a computation is.

    Args:
        console: prints it.
    """

    def __init__(self, console: Console) -> None:
        self._console, self._begun, self._words = console, perf_counter(), ""

    def report(self, done: int, total: int, name: str) -> None:
        """Show a part in percent, if the person has waited for some time (see ``progress``)."""
        words = f"  {100 * done // total} % of {total:,} {name}"
        waited = perf_counter() - self._begun > PATIENCE
        if self._console.is_terminal and waited and words != self._words:
            self._console.print(words, end="\r", markup=False, highlight=False, soft_wrap=True)
            self._words = words

    def clear(self) -> None:
        """Clear the line."""
        if self._words:
            self._console.print(" " * len(self._words), end="\r", soft_wrap=True)
