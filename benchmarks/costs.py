"""The cost of a run: processor seconds and gradient steps, for each game and algorithm.

python benchmarks/costs.py exactdice-10k     # on a quiet machine; adds rows to benchmarks/costs.csv

A run has the hyperparameters of its track and seed 0, and is trained on one thread without being
scored. A network learns ``MOST`` moves at most, and its numbers are scaled to the moves of the
track: it does the same over and over. Rows in the file are not measured again. Gradient steps are
those of optimizers; TRPO's steps of the policy are not among them.
"""

import csv
import sys
import time
from pathlib import Path

import torch
from exactdice.agents.algorithms import ALGORITHMS
from exactdice.agents.runs.config import TrainConfig
from exactdice.agents.runs.models import build
from exactdice.board.results import read_results
from exactdice.board.tracks import OPEN, TRACKS
from torch.optim.optimizer import register_optimizer_step_post_hook

FOLDER = Path(__file__).parent
FILE = FOLDER / "costs.csv"
#: Moves of a run for its costs; a run of a million moves would take up to twenty minutes.
MOST = 100_000
NETWORKS = ("rollouts", "replay")


def cost(algorithm: str, game: str, track: str) -> tuple[int, float]:
    """Train once; return the number of gradient steps and the seconds of a whole run."""
    config = TrainConfig(game=game, algorithm=algorithm, track=track, seed=0)
    _, model, callbacks = build(config)
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    hook = register_optimizer_step_post_hook(count)
    whole, is_network = config.total_steps, ALGORITHMS[algorithm].learns_from in NETWORKS
    moves = min(whole, MOST) if is_network else whole
    begun = time.process_time()
    model.learn(moves, callback=callbacks)
    hook.remove()
    scale = whole / moves
    return round(scale * steps), scale * (time.process_time() - begun)


def main() -> None:
    """Measure all algorithms of a track's board; rows that are in the file stay."""
    track = sys.argv[1] if len(sys.argv) > 1 else ""
    if track not in OPEN:
        raise SystemExit(f"the track must be one of {', '.join(OPEN)}, got {track!r}")
    torch.set_num_threads(1)
    with FILE.open(newline="", encoding="utf-8") as file:
        measured = {tuple(row[:3]) for row in csv.reader(file)}
    found = {run.algorithm for run in read_results(FOLDER / track)}
    for algorithm in (name for name in ALGORITHMS if name in found):
        for game in TRACKS[track].games:
            if (track, algorithm, game) in measured:
                continue
            steps, seconds = cost(algorithm, game, track)
            row = [track, algorithm, game, steps, f"{seconds:.1f}"]
            print(*row, flush=True)
            with FILE.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerow(row)


if __name__ == "__main__":
    main()
