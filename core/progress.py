"""How far a long computation has come, for whoever shows it.

A sweep that takes more than some seconds calls ``tell``; ``watched`` says who is told. Nobody is by
default, and nothing depends on it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

#: A function of what is done, of what there is to do, and of what it is called.
Report: TypeAlias = Callable[[int, int, str], None]

_report: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def watched(report: Report) -> Iterator[None]:
    """Have long computations inside the ``with`` block of this thread report how far they are.

    Args:
        report: is called now and then with the part that is done, the whole, and its name. A new
            computation begins again at a small part.
    """
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
