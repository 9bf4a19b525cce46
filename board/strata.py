"""Tables of boards: rows are runs or entries, summarised over seeds and games.

A summary is of *strata*, the rows of one agent in each of some games. Scores are exact, so that the
seed of training is the only noise. A statistic of all games gives every game the same weight, and
its interval comes from resampling the seeds of each game apart: the stratified bootstrap with
percentiles of Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical
Precipice", NeurIPS 2021, section 4, which their library rliable computes. With five seeds such an
interval is rather too narrow.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from ..baselines import Task, make_task, reference_names, score
from ..baselines.scoring.figure import FIGURES
from ..core import FloatArray, Table
from ..core.words import first_line
from ..look.charts import Series

_Part = TypeVar("_Part")
#: A finished run, or a certificate of an entry: it has a game, a score and its nines.
Row = TypeVar("Row")
Strata: TypeAlias = Sequence[Sequence[Any]]  # the rows of each game
#: Makes the text of a cell from the rows that it summarises.
Cell: TypeAlias = Callable[[Strata], str]
#: The scores of each game, shape (resample, seed, ...).
Samples: TypeAlias = Sequence[FloatArray]
#: A statistic of samples: its parts, shape (game, resample, ...), of which the mean is taken.
Statistic: TypeAlias = Callable[[Samples], FloatArray]

RESAMPLES = 10_000
#: Most nines of a game.
CAP = 4
PER_CENT = 95

#: How the figures of all boards of tracks are computed, in words (see ``rank``, ``HEADLINES``).
HEADLINE = (
    f"the nines of a game are -log10(1 - mean normalised score over seeds), at most {CAP}. The "
    "headline is their mean over games; IQM is the mean of the middle half of all normalised scores"
)
INTERVALS = (
    f"Intervals come from {RESAMPLES:,} bootstrap resamples of the seeds within each game, and are "
    "rather too narrow for so few seeds; those over games resample the games, too. The ranks of "
    "a row are all but those of rows that are clearly better or worse, where the interval of the "
    "probability of improvement, over games and seeds, leaves out 1/2. Rows that share ranks are "
    "not separated by the data; nor are rows of one seed a game."
)


class Section(NamedTuple):
    """A table that is computed after training, and words on it and on what is left out of it."""

    title: str
    words: str
    table: Table


def by(rows: Iterable[Row], name: str) -> dict[str, list[Row]]:
    """Group rows by one of their texts, such as game or agent."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row, name), []).append(row)
    return groups


def by_game(rows: Iterable[Row]) -> list[list[Row]]:
    """Group rows by game."""
    return list(by(rows, "game").values())


def rank(own: Strata) -> tuple[int, float]:
    """Return the key that sorts agents: those with all games come first, and the best of them."""
    return -len(own), -float(estimate(numbers(own, "score")).middle)


def numbers(own: Strata, name: str) -> list[FloatArray]:
    """Return a number of each row, by game; None becomes NaN."""
    return [np.array([getattr(row, name) for row in group], dtype=float) for group in own]


class Estimate(NamedTuple):
    """A statistic with the ends of its interval, which are NaN if a game has one seed only."""

    middle: FloatArray
    low: FloatArray
    high: FloatArray

    def line(self, name: str, x: FloatArray, colour: int | None = None) -> Series:
        """Draw the statistic over an axis, with its interval as a band."""
        low, high = (None if np.isnan(end).any() else end for end in (self.low, self.high))
        return Series(name=name, x=x, y=self.middle, low=low, high=high, colour=colour)

    @property
    def other(self) -> "Estimate":
        """The estimate of 1 minus the statistic."""
        return Estimate(1 - self.middle, 1 - self.high, 1 - self.low)


def mean(samples: Samples) -> FloatArray:
    """Return the mean over seeds of each game."""
    return np.stack([sample.mean(axis=1) for sample in samples])


def nines_of_game(scores: FloatArray, axis: int = -1) -> FloatArray:
    """Return the nines of a game, -log10(1 - mean normalised score over seeds), at most ``CAP``.

    The mean over the axis comes first: a lucky seed counts with its score, not with its nines.
    """
    missing = np.maximum(1 - scores.mean(axis=axis), 10.0**-CAP)
    return -np.log10(missing)


def headline(samples: Samples) -> FloatArray:
    """Return the nines of each game."""
    return np.stack([nines_of_game(sample, axis=1) for sample in samples])


def improvement(samples: Samples) -> FloatArray:
    """Return the probability that a run is better than another agent's, in each game.

    Equal runs count half (Agarwal et al. 2021, section 4.3). Samples are those of one agent in all
    games, then of the other in the same games.
    """
    half = len(samples) // 2
    signs = (
        np.sign(own[:, :, None] - other[:, None]).mean(axis=(1, 2))
        for own, other in zip(samples[:half], samples[half:], strict=True)
    )
    return np.stack([(1 + sign) / 2 for sign in signs])


def iqm(samples: Samples) -> FloatArray:
    """Return the mean of the middle half of all runs, one part in which games weigh the same.

    Where all games have equally many runs it is the ``scipy.stats.trim_mean`` of rliable, which
    cuts off whole runs.
    """
    runs = np.concatenate(samples, axis=1)
    weights = np.concatenate([np.full(sample.shape[1], 1 / sample.shape[1]) for sample in samples])
    order = np.argsort(runs, axis=1)
    total, count = len(samples), runs.shape[1]
    cut = total * (count // 4) / count
    ends = np.clip(np.cumsum(weights[order], axis=1), cut, total - cut)
    kept = np.diff(ends, axis=1, prepend=cut)
    sums: FloatArray = (kept * np.take_along_axis(runs, order, axis=1)).sum(axis=1)
    return sums[None] / (total - 2 * cut)


def estimate(
    strata: Sequence[FloatArray], statistic: Statistic = headline, *, games: bool = False
) -> Estimate:
    """Compute a statistic of scores by game, (seed, ...), and its stratified bootstrap interval."""
    middle = statistic([stratum[None] for stratum in strata]).mean(axis=0)[0]
    if min(map(len, strata)) < 2:
        return Estimate(middle, np.full_like(middle, np.nan), np.full_like(middle, np.nan))
    rng = np.random.default_rng(0)
    drawn = [
        stratum[rng.integers(0, len(stratum), (RESAMPLES, len(stratum)))] for stratum in strata
    ]
    parts = statistic(drawn)
    if games:  # they are resampled, too
        chosen = rng.integers(0, len(parts), parts.shape[:2])
        parts = parts[chosen, np.arange(RESAMPLES)]
    rest = (100 - PER_CENT) / 2
    low, high = np.percentile(parts.mean(axis=0), [rest, 100 - rest], axis=0)
    return Estimate(middle, low, high)


def versus(own: Strata, other: Strata) -> Estimate:
    """Return the probability of improvement on another agent, over common games and their seeds."""
    scores = [
        {group[0].game: sample for group, sample in zip(each, numbers(each, "score"), strict=True)}
        for each in (own, other)
    ]
    common = [game for game in scores[0] if game in scores[1]]
    if not common:
        return Estimate(*np.full(3, np.nan))
    return estimate([each[game] for each in scores for game in common], improvement, games=True)


def pairs(agents: Sequence[Strata]) -> list[list[Estimate]]:
    """Compare every agent with every agent."""
    found = [[versus(one, other) for other in agents[:row]] for row, one in enumerate(agents)]
    itself = Estimate(*np.full(3, 0.5))
    numbers = range(len(agents))
    return [
        [*found[row], itself, *(found[other][row].other for other in numbers[row + 1 :])]
        for row in numbers
    ]


def ranks(pairs: Sequence[Sequence[Estimate]]) -> list[str]:
    """Return the ranks that each agent may have: all but those of agents that are clearly apart."""
    texts = []
    for row in pairs:
        first = 1 + sum(bool(found.high < 0.5) for found in row)
        last = len(row) - sum(bool(found.low > 0.5) for found in row)
        texts.append(f"{first}" if first == last else f"{first} to {last}")
    return texts


def compared(names: Sequence[str], pairs: Sequence[Sequence[Estimate]]) -> Table:
    """Make the table of the probability that a row is better than a column, with its interval."""

    def cell(found: Estimate) -> str:
        middle, low, high = found
        return f"{middle:.2f}" if np.isnan(low) else f"{middle:.2f} ({low:.2f} to {high:.2f})"

    rows = [[name, *map(cell, row)] for name, row in zip(names, pairs, strict=True)]
    for number, line in enumerate(rows, start=1):
        line[number] = ""
    return Table(["better than", *names], rows)


def area(marks: Sequence[int], scores: FloatArray) -> float:
    """Return the mean height of a curve over the logarithm of its moves, by trapezoids.

    Every doubling of the moves has the same weight. Over the moves themselves, the last half of the
    moves would have half of the weight, and the area say little but the final score once more.
    """
    at = np.log(np.asarray(marks, dtype=np.float64))
    return float(np.trapezoid(scores, at) / (at[-1] - at[0]))


def table(
    names: Sequence[str],
    summarised: Iterable[tuple[Sequence[str], Strata]],
    columns: Mapping[str, Cell],
) -> Table:
    """Make a table: of each line the cells of the named first columns, and a summary of rows."""
    lines = [[*first, *(cell(own) for cell in columns.values())] for first, own in summarised]
    return Table([*names, *columns], lines, texts=len(names))


def over_rows(
    attribute: str, form: str, factor: float = 1, pick: Callable[[FloatArray], Any] = np.mean
) -> Cell:
    """Write the mean over all rows of a number, or what ``pick`` makes of them."""
    return lambda own: format(factor * pick(np.concatenate(numbers(own, attribute))), form)


def estimated(name: str, interval: str, statistic: Statistic, form: str) -> dict[str, Cell]:
    """Make the columns of a statistic and of its interval: "-" if there is none, as of one seed."""

    def middle(own: Strata) -> str:
        return format(estimate(numbers(own, "score"), statistic).middle, form)

    return {name: middle, interval: _ends(statistic, form)}


def _ends(statistic: Statistic, form: str, *, games: bool = False) -> Cell:
    def ends(own: Strata) -> str:
        _, low, high = estimate(numbers(own, "score"), statistic, games=games)
        return "-" if np.isnan(low) else f"{low:{form}} to {high:{form}}"

    return ends


def _unit(own: Strata) -> str:
    payoffs = make_task(own[0][0].game).game.payoff_range
    return "wins" if payoffs == (0.0, 1.0) else "points"


SEEDS: dict[str, Cell] = {"seeds": lambda own: str(sum(map(len, own)))}
NINES = estimated("nines", "95 % interval", headline, ".3f")
SCORE = {"normalised score": over_rows("score", ".4f")}
REGRET = {"regret per 1,000 games": over_rows("regret", ".1f", 1000), "unit": _unit}
#: The figures of an agent over all games.
HEADLINES = {
    **NINES,
    "over games, too": _ends(headline, ".3f", games=True),
    **estimated("IQM", "95 % interval of the IQM", iqm, ".4f"),
}


def attempted(parts: Mapping[str, Callable[[], _Part]]) -> tuple[dict[str, _Part], str]:
    """Make parts of a result, by name; say which are left out because of an error, and of which.

    Nothing that comes after training may lose its result, so no error of a part ends the rest.
    """
    made, left_out = dict[str, _Part](), ""
    for name, make in parts.items():
        try:
            made[name] = make()
        except Exception as error:  # a game may also have policies of strangers
            left_out += f" Left out: {name}: {first_line(error).rstrip('.')}."
    return made, left_out


def _references(task: Task) -> list[str]:
    """List optimal and random play, and the policies whose registration names references."""
    names = ["optimal", "random", *reference_names(task.game)]
    if task.game.num_players > 2:
        names.append("equilibrium")  # it differs from the best response to other opponents
    return names


def reference_table(tasks: Mapping[str, Task], *, more: Sequence[str] = ()) -> Section:
    """Score the reference policies of tasks, in more columns of ``FIGURES`` if they are named."""
    figures = [figure for figure in FIGURES if figure.name in more]
    asked = {
        f"{policy} of {name}": (name, partial(score, policy, task))
        for name, task in tasks.items()
        for policy in _references(task)
    }
    scores, left_out = attempted({each: make for each, (_, make) in asked.items()})
    rows = [
        [asked[each][0], found.policy, f"{found.value:.6f}", f"{found.normalized:.4f}"]
        + [figure.text(found) for figure in figures]
        for each, found in scores.items()
    ]
    header = ["game", "policy", "value", "normalised score", *(each.label for each in figures)]
    words = " The policies of the sources, and random and optimal play, scored in the same way:"
    return Section("References", (left_out + words).strip(), Table(header, rows, texts=2))
