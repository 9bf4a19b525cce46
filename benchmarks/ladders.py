"""Which exact property of a game predicts how well an agent learns it, from ladders that were run.

    .venv/bin/exactdice describe --ladder greed-sides --csv > runs/greed-sides/properties.csv
    .venv/bin/python benchmarks/ladders.py runs/greed-sides runs/greed-score --picture ladders.png

The program reads the runs in the folders, and the exact properties of the rungs in the file
``properties.csv`` of each folder. It prints

* the mean normalised score of each rung, the highest rung with a mean of 0.99 at least, and the
  p-value of the order of the rungs, by permutations with Holm's correction for the ladders;
* Spearman's rank correlation between the nines of the rungs and each property: in each ladder
  (in the file of ``--csv`` alone), the mean over ladders, and over the rungs of all ladders
  together. A correlation of -1 means that the property orders the rungs from the easiest to the
  hardest without a mistake; "-" that all rungs share the property. The p-value is that of the
  mean over ladders, by permutations of the rungs within each ladder, with Holm's correction for
  the number of properties.
"""

import argparse
import csv
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from exactdice.baselines.scoring.description import PROPERTIES
from exactdice.board.ladders import Ladder
from exactdice.board.pictures import highest, read_ladder
from exactdice.board.strata import nines_of_game
from exactdice.core import Table
from exactdice.look.charts import Lines, Plot, Series
from exactdice.look.drawing import draw
from exactdice.look.runs import FLOOR
from scipy.stats import rankdata, spearmanr

PERMUTATIONS = 100_000
#: The panels of the picture: properties, and whether their axis is logarithmic.
PANELS = {"reachable_decisions": True, "rarity": False, "moves": False, "close": False}


class Climb(NamedTuple):
    """The runs of one agent on a ladder.

    Attributes:
        ladder: the ladder.
        scores: normalised scores of all seeds by number of the rung.
        properties: by name, for each rung in ``scores``.
    """

    ladder: Ladder
    scores: Mapping[int, list[float]]
    properties: Mapping[str, list[float]]

    @property
    def nines(self) -> list[float]:
        """Nines of each rung: of the mean score over its seeds, as on the board."""
        return [float(nines_of_game(np.array(own))) for own in self.scores.values()]


def read(folder: Path) -> dict[str, Climb]:
    """Read the climbs of all agents on the ladder of a folder."""
    ladder, agents = read_ladder(folder)
    with (folder / "properties.csv").open(encoding="utf-8", newline="") as file:
        lines = {line["name"]: line for line in csv.DictReader(file)}
    climbs = {}
    for agent, scores in agents.items():
        rungs = sorted(scores)
        own = [lines[f"{ladder.knob} {ladder.rungs[number].label}"] for number in rungs]
        properties = {
            figure.name: [float(line[figure.name] or "nan") for line in own]
            for figure in PROPERTIES
        }
        climbs[agent] = Climb(ladder, {number: scores[number] for number in rungs}, properties)
    return climbs


def results(climbs: Sequence[Climb]) -> Table:
    """Make the table of mean scores, a row for each ladder."""
    rows = []
    for ladder, scores, _ in climbs:
        learned = highest(scores)
        means = [f"{np.mean(own):.4f} ({ladder.rungs[rung].label})" for rung, own in scores.items()]
        top = "none" if learned is None else ladder.rungs[learned].label
        rows.append([ladder.name, ", ".join(means), top])
    orders = [chance([range(len(climb.scores))], [climb.nines]) for climb in climbs]
    for row, p in zip(rows, holm(orders), strict=True):
        row.append(f"{p:.4f}")
    return Table(["ladder", "mean score (rung)", "highest rung at 0.99", "p of the order"], rows)


def correlation(properties: Sequence[float], learned: Sequence[float]) -> float:
    """Return Spearman's rank correlation; NaN if all rungs share the property or the score."""
    if len(set(properties)) < 2 or len(set(learned)) < 2:
        return np.nan
    return float(spearmanr(properties, learned).statistic)


def correlations(climbs: Sequence[Climb]) -> Table:
    """Make the table of correlations, a row for each property."""
    rows, chances = [], []
    for figure in PROPERTIES:
        values = [climb.properties[figure.name] for climb in climbs]
        learned = [climb.nines for climb in climbs]
        each = [correlation(*pair) for pair in zip(values, learned, strict=True)]
        mean = float(np.nanmean(each)) if not np.isnan(each).all() else np.nan
        every = correlation([*chain(*values)], [*chain(*learned)])
        texts = ["-" if np.isnan(each) else f"{each:+.2f}" for each in (*each, mean, every)]
        rows.append([figure.label, *texts])
        chances.append(chance(values, learned))
    for row, p in zip(rows, holm(chances), strict=True):
        row.append(f"{p:.4f}")
    names = (climb.ladder.name for climb in climbs)
    return Table(["property", *names, "mean", "all rungs", "p of the mean"], rows)


def brief(table: Table) -> Table:
    """Leave the columns of the ladders out."""
    first, *rows = ([row[0], *row[-3:]] for row in (table.header, *table.rows))
    return Table(first, rows)


def chance(properties: Sequence[Sequence[float]], learned: Sequence[Sequence[float]]) -> float:
    """Return how often a mean correlation as large comes from rungs in random order.

    The rungs of each ladder are permuted apart: those of one ladder are alike.
    """
    rng, total, observed = np.random.default_rng(0), np.zeros(PERMUTATIONS), 0.0
    for pair in zip(properties, learned, strict=True):
        if not np.isnan(correlation(*pair)):
            x, y = (rank - rank.mean() for rank in map(rankdata, pair))
            scale = np.sqrt((x @ x) * (y @ y))
            orders = rng.permuted(np.tile(y, (PERMUTATIONS, 1)), axis=1)
            observed, total = observed + x @ y / scale, total + orders @ x / scale
    if not total.any():
        return 1.0
    as_large = np.abs(total) >= abs(observed) - 1e-9
    return float((1 + as_large.sum()) / (1 + PERMUTATIONS))


def holm(chances: Sequence[float]) -> list[float]:
    """Correct p-values for their number (Holm 1979)."""
    order = np.argsort(chances)
    scaled = np.array(chances)[order] * np.arange(len(chances), 0, -1)
    corrected = np.empty(len(chances))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return corrected.tolist()


def picture(agent: str, climbs: Sequence[Climb]) -> Plot:
    """Draw the gap to the optimum of all ladders over four properties of their rungs."""
    labels = {figure.name: figure.label for figure in PROPERTIES}
    return Plot(
        title=f"{agent}: exact distance to the optimum on the rungs of all ladders",
        caption="",
        panels=[
            Lines(
                title=labels[name],
                x_label=labels[name],
                y_label="1 - normalised score (random play: 1)",
                series=[line(climb, name) for climb in climbs],
                log_x=log,
                log_y=True,
                points=True,
            )
            for name, log in PANELS.items()
        ],
    )


def line(climb: Climb, name: str) -> Series:
    """Draw the rungs of a ladder in the order of a property."""
    x, means = np.array(climb.properties[name]), np.array([*map(np.mean, climb.scores.values())])
    y, order = np.maximum(1 - means, FLOOR), np.argsort(x, kind="stable")
    steps = np.diff(x)
    joined = bool((steps > 0).all() or (steps < 0).all())
    return Series(name=climb.ladder.name, x=x[order], y=y[order], joined=joined)


def main() -> None:
    """Print both tables of each agent, and draw its picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="+", type=Path, help="folders of benchmarks of ladders")
    parser.add_argument("--picture", type=Path, help="file of the picture, for one agent")
    parser.add_argument("--csv", type=Path, help="file of the correlations, for one agent")
    options = parser.parse_args()
    agents: dict[str, list[Climb]] = {}
    for folder in options.folder:
        for agent, climb in read(folder).items():
            agents.setdefault(agent, []).append(climb)
    for agent, climbs in agents.items():
        whole = correlations(climbs)
        print(f"\n{agent}\n\n{results(climbs).markdown()}\n\n{brief(whole).markdown()}")
        if options.csv is not None:
            options.csv.write_text(whole.csv(), encoding="utf-8")
        if options.picture is not None:
            draw(picture(agent, climbs), options.picture)


if __name__ == "__main__":
    main()
