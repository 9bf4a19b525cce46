"""``exactdice benchmark``: train every cell; the options are in ``agents/board/config.py``."""

from ..agents.board.config import BenchmarkConfig


def run(options: BenchmarkConfig) -> int:
    """Train the cells that are missing; the exit code is 1 if one failed."""
    from ..agents.board.benchmark import benchmark
    from ..look.board import write

    return 1 if benchmark(options, write=write) else 0
