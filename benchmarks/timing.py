"""Timing of several ways to do one thing, side by side in one process.

The ways take turns, so that a slow minute of the machine hits all of them; the ratios of medians
are what to quote, the times only set the scale.
"""

import time
from collections.abc import Callable
from statistics import median


def compare(title: str, ways: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Time every way ``rounds`` times in turn and print medians and ratios to the first.

    Returns:
        Median seconds of each way.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - start)
    medians = {name: median(times) for name, times in seconds.items()}
    first = next(iter(medians.values()))
    print(f"\n{title} ({rounds} rounds)")
    for name, middle in medians.items():
        low, high = min(seconds[name]), max(seconds[name])
        print(
            f"  {name:<52} {middle:9.4f} s ({low:.4f} to {high:.4f})  ratio {middle / first:8.2f}"
        )
    return medians
