"""Which exact property of a game predicts how well an agent learns it, from ladders that were run.

    .venv/bin/python benchmarks/ladders.py runs/greed-score runs/greed-sides ...

For each agent the program prints Spearman's rank correlation between the mean nines of the rungs
and each property of ``exactdice describe``: in each ladder, the mean over ladders, and over the
rungs of all ladders together. A correlation of -1 means that the property orders the rungs from
the easiest to the hardest without a mistake; "-" that all rungs share the property.
"""

import argparse
from itertools import chain
from pathlib import Path

import numpy as np
from exactdice.agents.board.tables import markdown
from exactdice.baselines import describe, make_task
from exactdice.baselines.scoring.description import PROPERTIES
from exactdice.baselines.scoring.figure import nines
from exactdice.look.ladders import read_ladder
from scipy.stats import spearmanr


def correlation(properties: list[float], learned: list[float]) -> float:
    """Return Spearman's rank correlation; NaN if all rungs share the property or the score."""
    if len(set(properties)) < 2 or len(set(learned)) < 2:
        return np.nan
    return float(spearmanr(properties, learned).statistic)


def text(number: float) -> str:
    """Write a correlation; "-" if there is none."""
    return "-" if np.isnan(number) else f"{number:+.2f}"


def main() -> None:
    """Print a table of correlations for each agent, a column for each ladder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="+", type=Path, help="folders of benchmarks of ladders")
    described: dict[str, list] = {}  # descriptions of the rungs by agent, a list for each ladder
    learned: dict[str, list[list[float]]] = {}
    titles: dict[str, list[str]] = {}
    for folder in parser.parse_args().folder:
        ladder, scores = read_ladder(folder)
        rungs = [ladder.rungs[number] for number in range(len(ladder.rungs))]
        known = {
            number: describe(make_task(rungs[number].game, **rungs[number].keywords))
            for number in sorted({rung for own in scores.values() for rung in own})
        }
        for agent, own in scores.items():
            described.setdefault(agent, []).append([known[number] for number in sorted(own)])
            means = [float(np.mean([nines(score) for score in own[rung]])) for rung in sorted(own)]
            learned.setdefault(agent, []).append(means)
            titles.setdefault(agent, []).append(ladder.name)
    for agent, columns in described.items():
        rows = []
        for figure in PROPERTIES:
            values = [[float(getattr(each, figure.name)) for each in rung] for rung in columns]
            each = [correlation(*pair) for pair in zip(values, learned[agent], strict=True)]
            together = correlation([*chain(*values)], [*chain(*learned[agent])])
            mean = float(np.nanmean(each)) if not np.isnan(each).all() else np.nan
            rows.append([figure.label, *map(text, [*each, mean, together])])
        print(f"\n{agent}\n")
        print(markdown((["property", *titles[agent], "mean", "all rungs"], rows)))


if __name__ == "__main__":
    main()
