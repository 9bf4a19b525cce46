"""Time and memory of whole games, each in a new process: `.venv/bin/python benchmarks/room.py`.

With --before COMMIT, the code of an earlier commit takes its turn beside that of today. The commit
before sweeps called back, which made tables of all states and actions, is 967b4fd. To make an
environment is to solve what its opponents play.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from io import BytesIO
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
#: Games by the file they need, their name, and their sizes.
GAMES = [
    (None, "LowestScore", {}),
    (None, "ShutTheBox", {}),
    (None, "ShutTheBox", {"tiles": 12}),
    (HERE.parent / "examples/pig.py", "Pig", {}),
]
ROOM = """
import json, resource, runpy, sys, time
import exactdice, gymnasium as gym
file, name, sizes = json.loads(sys.argv[1])
if file:
    runpy.run_path(file)
times = [time.perf_counter()]
env = gym.make(f"exactdice/{name}-v0", **sizes); times.append(time.perf_counter())
exactdice.solve(env).value; times.append(time.perf_counter())
score = exactdice.score("random", env); score.blunders(10); times.append(time.perf_counter())
score.as_dict(); times.append(time.perf_counter())
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([*(b - a for a, b in zip(times, times[1:])), peak]))
"""


def lay_out(commit: str, folder: str) -> str:
    """Put an earlier commit's package into a folder; give the path to import it from."""
    done = subprocess.run(
        ["git", "archive", commit], cwd=HERE.parent, capture_output=True, check=True
    )
    with tarfile.open(fileobj=BytesIO(done.stdout)) as packed:
        packed.extractall(folder, filter="data")
    tables = tomllib.loads(Path(folder, "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "setuptools"
    ]
    for package, place in tables["package-dir"].items():
        if package.count(".") == 1 and not place.startswith("src"):
            Path(folder, "src", *package.split(".")).symlink_to(Path(folder, place))
    return str(Path(folder, "src"))


def measure(path: str | None, *game: object) -> list[float]:
    """Make, solve and score a game: seconds of each, of the rest of a score, and MiB at most."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **({"PYTHONPATH": path} if path else {})}
    told = subprocess.run(
        [sys.executable, "-c", ROOM, json.dumps(game, default=str)],
        env=environment,
        cwd=HERE,
        capture_output=True,
        check=True,
        text=True,
    )
    numbers: list[float] = json.loads(told.stdout)
    return numbers


def main() -> None:
    """Print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", metavar="COMMIT", help="an earlier commit to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print("seconds: made, solved, scored with ten blunders, outcomes and the rest; MiB at most")
    with tempfile.TemporaryDirectory() as folder:
        codes: dict[str, str | None] = {"today": None}
        if arguments.before:
            codes = {arguments.before: lay_out(arguments.before, folder), **codes}
        for file, name, sizes in GAMES:
            found: dict[str, list[list[float]]] = {}
            for _ in range(arguments.rounds):
                for code, path in codes.items():
                    if file and path:  # a game of one's own needs today's interface
                        continue
                    found.setdefault(code, []).append(measure(path, file, name, sizes))
            for code, rounds in found.items():
                *seconds, peak = map(median, zip(*rounds, strict=True))
                title = f"{name} {json.dumps(sizes) if sizes else ''}"
                times = " ".join(f"{second:8.2f}" for second in seconds)
                print(f"  {title:<28} {code:<12} {times} {peak:9.0f}", flush=True)


if __name__ == "__main__":
    main()
