"""A small benchmark, in Python and as a command."""

import json
import sys
import time
from pathlib import Path

from exactdice.board.grid import BenchmarkConfig

TINY = BenchmarkConfig(
    games=("FourTwoOne",), algorithms=("qlearning",), seeds=2, steps=20_000, jobs=1
)


def wait_until(condition, seconds=100):
    """Wait for something to become true."""
    last = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < last
        time.sleep(0.02)


def command(config, *options):
    """Give the command line of a benchmark."""
    return [
        str(Path(sys.executable).with_name("exactdice")), "benchmark",
        "--games", *config.games, "--algorithms", *config.algorithms,
        "--seeds", str(config.seeds), "--steps", str(config.steps), "--folder", str(config.folder),
        "--jobs", str(config.jobs), *options,
    ]  # fmt: skip


def values(config):
    """Give the scores of the finished cells, in order."""
    paths = sorted(config.folder.glob("*/score.json"))
    return [json.loads(path.read_text())["value"] for path in paths]
