"""Recompute the headline of every row from results.csv, with numpy alone and nothing of exactdice.

python benchmarks/headlines.py benchmarks/exactdice-100k
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

RESAMPLES, CAP = 10_000, 4


def headline(games: list[np.ndarray]) -> np.ndarray:
    """Return the mean nines of games; the seeds are the last axis."""
    missing = np.stack([1 - scores.mean(axis=-1) for scores in games])
    return -np.log10(np.maximum(missing, 10.0**-CAP)).mean(axis=0)


def headlines(folder: Path) -> dict[str, list[float]]:
    """Return the headline of each algorithm and the ends of its interval, the best first."""
    scores = defaultdict(lambda: defaultdict(list))
    with (folder / "results.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            score = row["normalized_exploitability"] or row["normalized"]
            scores[row["algorithm"]][row["game"]].append(float(score))
    found = {}
    for algorithm, games in scores.items():
        own, rng = [np.array(each) for each in games.values()], np.random.default_rng(0)
        drawn = [each[rng.integers(0, len(each), (RESAMPLES, len(each)))] for each in own]
        found[algorithm] = [headline(own), *np.percentile(headline(drawn), [2.5, 97.5])]
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))


if __name__ == "__main__":
    for name, (middle, low, high) in headlines(Path(sys.argv[1])).items():
        print(f"{name:12} {middle:.3f} ({low:.3f} to {high:.3f})")
