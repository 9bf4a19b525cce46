"""Timing of several ways to do one thing, side by side in one process.

The ways take turns, so that a slow minute of the machine hits all of them; the ratios of medians
are what to quote, the times only set the scale. Seconds are those of the processor, of programs
that a way starts, too.
"""

import sys
from collections.abc import Callable
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from statistics import median

HEAD = ["what", "way", "seconds", "times as long"]


def compare(what: str, ways: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Time every way ``rounds`` times in turn; return the median seconds of each."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = _now()
            way()
            found[name].append(_now() - start)
    medians = {name: median(times) for name, times in found.items()}
    print(what, medians, file=sys.stderr, flush=True)
    return medians


def _now() -> float:
    spent = map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def rows(what: str, seconds: dict[str, float]) -> list[list[str]]:
    """Make the rows of a table with the head ``HEAD``: seconds, and ratios to the first way."""
    first = next(iter(seconds.values()))
    return [[what, way, f"{it:.3f}", f"{it / first:.2f}"] for way, it in seconds.items()]
