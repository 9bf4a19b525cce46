"""Time and memory of whole games, each in a new process: `.venv/bin/python benchmarks/room.py`.

To make an environment is to solve what its opponents play. Pig stands there with growing targets,
and the number of outcomes that its moves have, all positions taken together; `docs/growth.png`
shows its growth.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
PIG = str(HERE.parent / "examples/pig.py")
ROUNDS = 3
PHASES = ["made", "solved", "ten blunders", "the rest"]
#: Games by the file they need, their name, and their sizes.
GAMES = [
    *((None, name, {}) for name in ("Greed", "LowestScore", "ShutTheBox", "FourTwoOneMatch")),
    (None, "ShutTheBox", {"tiles": 12}),
    *((PIG, "Pig", {"target": target}) for target in (24, 50, 100, 160)),
]
ROOM = """
import json, resource, runpy, sys, time
from itertools import pairwise
import exactdice, gymnasium as gym
from exactdice import *  # imports everything before the clock starts
file, name, sizes = json.loads(sys.argv[1])
if file:
    runpy.run_path(file)
times = [time.process_time()]
env = gym.make(f"exactdice/{name}-v0", **sizes); times.append(time.process_time())
exactdice.solve(env).value; times.append(time.process_time())
score = exactdice.score("random", env); score.blunders(10); times.append(time.process_time())
score.as_dict(); times.append(time.process_time())
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([*(b - a for a, b in pairwise(times)), peak]))
"""


def outcomes(target: int) -> int:
    """Count the outcomes of Pig's moves: one of a hold, after the first roll; six of a roll."""
    turns = [(own, total) for own in range(target) for total in range(target - own) if total != 1]
    return 2 * target * sum(6 + (total > 0) for _, total in turns)


def measure(*game: object) -> list[float]:
    """Make, solve and score a game: seconds of each, of the rest of a score, and MiB at most."""
    told = subprocess.run(
        [sys.executable, "-c", ROOM, json.dumps(game)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    return json.loads(told.stdout)


def draw_growth(sizes: list[int], seconds: list[float], peaks: list[float]) -> None:
    """Draw the seconds of all phases and the memory over the number of outcomes."""
    import numpy as np
    from exactdice.look.charts import Lines, Plot, Series
    from exactdice.look.drawing import draw

    drawn = {"time": ("seconds of one core", seconds), "memory": ("MiB at most", peaks)}
    plot = Plot(
        title="Pig to larger targets: made, solved and scored",
        caption="",
        panels=[
            Lines(
                title=title,
                x_label="outcomes of all moves",
                y_label=label,
                series=[Series(name="", x=np.array(sizes, float), y=np.array(numbers))],
                log_x=True,
                log_y=True,
                points=True,
                direct=True,
            )
            for title, (label, numbers) in drawn.items()
        ],
    )
    draw(plot, HERE.parent / "docs/growth.png")


def main() -> None:
    """Print medians, and draw the growth of Pig."""
    rows, sizes, times, peaks = [], [], [], []
    for file, name, keywords in GAMES:
        found = [measure(file, name, keywords) for _ in range(ROUNDS)]
        *seconds, peak = (median(column) for column in zip(*found, strict=True))
        if file:
            sizes.append(outcomes(keywords["target"]))
            times.append(sum(seconds))
            peaks.append(peak)
        title = " ".join([name, *(f"{key}={value}" for key, value in keywords.items())])
        rows.append(
            [
                title,
                f"{sizes[-1]:,}" if file else "",
                *(f"{second:.2f}" for second in seconds),
                f"{peak:.0f}",
            ]
        )
        print(*rows[-1], file=sys.stderr, flush=True)
    # Linux counts the memory of the program that starts another one, so it had to be small.
    from exactdice.core import Table

    print(Table(["game", "outcomes of Pig", *PHASES, "MiB"], rows).markdown(aligned=True))
    draw_growth(sizes, times, peaks)


if __name__ == "__main__":
    main()
