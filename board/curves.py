"""Learning curves of anybody's runs: exact scores of groups of runs, with intervals over seeds.

The figures are those of Agarwal et al. 2021 (see ``strata``): curves, performance profiles and the
probability of improvement, each with a stratified bootstrap interval over the seeds of each game.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..agents.runs.config import RunError
from ..agents.runs.folders import exact_part, read_config, read_log, reading
from ..baselines.scoring.summary import quoted
from ..core import FloatArray, InputError, one_of
from ..core.words import listed, plural
from ..look.charts import Bars, Lines, Plot, Series
from .results import lines_of
from .strata import (
    CAP,
    PER_CENT,
    RESAMPLES,
    Estimate,
    Samples,
    Statistic,
    estimate,
    headline,
    improvement,
    iqm,
    mean,
)

#: Columns of logs by what is asked for, and other names that files of people have.
MEASURES = {"nines": "normalized", "score": "normalized", "regret": "regret"}
AXES = {"moves": "timesteps", "seconds": "seconds"}
ALIASES = {"timesteps": ("moves", "steps", "step", "global_step"), "normalized": ("score",)}
STATISTICS: dict[str, tuple[str, Statistic]] = {
    "iqm": ("interquartile mean", iqm),
    "mean": ("mean", mean),
}
LOGS = "evaluations.npz"  # of a run folder or of ``ExactEvalCallback``
MARKS = 50  # of a curve whose runs were scored at different places
TOGETHER = 2**22  # resampled numbers at once
UNITS = ((1e6, ", million"), (1e3, ", thousand"), (1, ""))  # of an axis
#: A curve: where the run was scored, and its scores, both of shape (mark,).
Curve: TypeAlias = tuple[FloatArray, FloatArray]
#: The runs of a group: places (mark,), and scores (seed, mark) by game.
Group: TypeAlias = tuple[FloatArray, dict[str, FloatArray]]


def curves(
    groups: Any, measure: str = "nines", over: str = "moves", statistic: str = "iqm"
) -> Plot:
    """Draw the learning curves of groups of runs, with intervals over their seeds.

    Args:
        groups: runs by the name of their group. Runs are a path, or a list of paths: of a folder of
            runs, of a run (a folder with ``evaluations.npz``, as ``ExactEvalCallback`` writes it),
            or of a file .csv with columns timesteps or seconds, normalized or regret, and perhaps
            run and game; or two arrays, the moves (mark,) and the scores (seed, mark). On the
            command line, words NAME=PATH; the name is that of the path by default.
        measure: "score" (normalised, 1 is the optimum), "nines" of it, or "regret".
        over: "moves" or "seconds" of training.
        statistic: "iqm", the mean of the middle half of all runs, or "mean".

    The final scores of a group, which the last two panels compare, are those at the place where its
    shortest run ends.
    """
    label = one_of("measure", measure, [*MEASURES]).replace("score", "normalised score")
    title, _ = STATISTICS[one_of("statistic", statistic, [*STATISTICS])]
    one_of("over", over, [*AXES])
    found = {name: _group(_read(own, measure, over)) for name, own in _named(groups).items()}
    games = {tuple(own) for _, own in found.values()}
    if len(games - {("",)}) > 1 or len({*map(len, games)}) > 1:
        told = "; ".join(f"{name}: {', '.join(own)}" for name, (_, own) in found.items())
        raise InputError(f"groups must have runs of the same games, got {told}")
    if measure == "regret" and len(next(iter(games))) > 1:
        raise InputError("measure must be score or nines for several games, got regret")
    ends = {name: [each[:, -1] for each in own.values()] for name, (_, own) in found.items()}
    farthest = max(float(x[-1]) for x, _ in found.values())
    unit, word = next((unit, word) for unit, word in UNITS if farthest >= 10 * unit or unit == 1)
    panels: list[Any] = [
        Lines(
            title=title.capitalize(),
            x_label=over + word,
            y_label=label,
            series=[
                _series(name, x / unit, [*own.values()], measure, statistic)
                for name, (x, own) in found.items()
            ],
        ),
        _profiles(ends, "regret" if measure == "regret" else "normalised score"),
    ]
    shown = [f"the {title}", "the share of runs above each score at the end"]
    if len(ends) > 1:
        panels.append(_improvement(ends, -1 if measure == "regret" else 1))
        shown.append("the probability that a run of one group ends better than one of another")
    least = min(len(each) for own in ends.values() for each in own)
    cap = f" Nines are -log10(1 - normalised score), at most {CAP}." * (measure == "nines")
    return Plot(
        title=f"{label.capitalize()} of {', '.join(map(quoted, ends))}",
        caption=f"Exact scores of {least} {plural(least, 'seed')} a game at least: "
        f"{listed(shown)}. Bands and lines are {PER_CENT} % intervals from {RESAMPLES:,} bootstrap "
        f"resamples of the seeds of each game.{cap}",
        panels=panels,
        columns=2,
    )


def _named(groups: Any) -> Mapping[str, Any]:
    """Return runs by the name of their group; words are paths, or NAME=PATH."""
    named: dict[str, Any] = {}
    if isinstance(groups, Mapping):
        named |= groups
    elif all(isinstance(one, str | Path) for one in groups):
        for word in map(str, groups):
            name, _, path = word.rpartition("=")
            named.setdefault(name or Path(path).stem, []).append(path)
    if not named:
        raise InputError(
            "runs must be given, as folders or files .csv, or in Python also as arrays by name, "
            f"got {groups or 'none'}"
        )
    return named


def _read(runs: Any, measure: str, over: str) -> Iterator[tuple[str, Curve]]:
    """Read the game and the curve of each run of a group."""
    if isinstance(runs, tuple) and len(runs) == 2 and not isinstance(runs[0], str | Path):
        x, each = (np.asarray(part, dtype=np.float64) for part in runs)
        if x.ndim != 1 or each.ndim != 2 or each.shape[1:] != x.shape:
            raise InputError(
                "arrays must be moves (mark,) and scores (seed, mark), got shapes "
                f"{x.shape} and {each.shape}"
            )
        yield from (("", (x, y)) for y in each)
        return
    for path in map(Path, [runs] if isinstance(runs, str | Path) else runs):
        for game, log in _logs(path):
            x, y = (_column(path, log, name) for name in (AXES[over], MEASURES[measure]))
            order = np.argsort(x, kind="stable")
            yield game, (x[order], y[order])


def _logs(path: Path) -> Iterator[tuple[str, Mapping[str, FloatArray]]]:
    """Read the game and the columns of each run at a path."""
    if path.is_file():
        yield from _of_csv(path)
        return
    inside = [path / LOGS] if (path / LOGS).is_file() else sorted(path.glob(f"*/{LOGS}"))
    inside += sorted(path.glob("*.csv"))
    if not inside:
        raise RunError(f"runs must be folders with {LOGS}, or files .csv, got {path}")
    for found in inside:
        if found.name == LOGS:
            folder = found.parent
            game = read_config(folder).game_name if (folder / "config.json").is_file() else ""
            yield game, exact_part(read_log(folder))
        elif found.name != "diagnosis.csv":
            yield from _of_csv(found)


def _of_csv(path: Path) -> Iterator[tuple[str, Mapping[str, FloatArray]]]:
    """Read the runs of a file, which columns run or seed, and game, tell apart."""
    kinds: dict[tuple[str, str], list[dict[str, float]]] = {}
    with reading(path, "have scores in columns with a header"):
        for line in lines_of(path):
            key = line.pop("game", ""), line.pop("run", line.pop("seed", ""))
            numbers = {name: float(text or "nan") for name, text in line.items()}
            kinds.setdefault(key, []).append(numbers)
    for (game, _), own in kinds.items():
        yield game, {name: np.array([numbers[name] for numbers in own]) for name in own[0]}


def _column(path: Path, log: Mapping[str, FloatArray], name: str) -> FloatArray:
    """Return a column of a log, by its name or another one that people use."""
    for each in (name, *ALIASES.get(name, ())):
        if each in log and len(log[each]) and np.isfinite(log[each]).all():
            return log[each]
    raise RunError(f"{path} must have finite numbers as {name}, got columns {', '.join(log)}")


def _group(runs: Iterable[tuple[str, Curve]]) -> Group:
    """Put the curves of a group together by game.

    Where runs were scored at different places, the score at each place is the last one before it.
    """
    known = [*runs]
    first, last = (pick(x[end] for _, (x, _) in known) for pick, end in ((max, 0), (min, -1)))
    if first > last:
        raise InputError(f"runs must overlap, got one from {first:g} on and one up to {last:g}")
    marks = known[0][1][0]
    if any(not np.array_equal(x, marks) for _, (x, _) in known):
        marks = np.linspace(first, last, MARKS)
    found: dict[str, list[FloatArray]] = {}
    for game, (x, y) in known:
        found.setdefault(game, []).append(y[np.searchsorted(x, marks, side="right") - 1])
    return marks, {game: np.array(own) for game, own in sorted(found.items())}


def _series(
    name: str, x: FloatArray, scores: Sequence[FloatArray], measure: str, statistic: str
) -> Series:
    """Draw a statistic of a group with its interval."""
    by_game = (measure, statistic) == ("nines", "mean")
    whole = headline if by_game else STATISTICS[statistic][1]
    size = max(1, TOGETHER // (RESAMPLES * sum(map(len, scores))))
    pieces = [slice(first, first + size) for first in range(0, len(x), size)]
    parts = [estimate([score[:, piece] for score in scores], whole) for piece in pieces]
    found = Estimate(*map(np.concatenate, zip(*parts, strict=True)))
    if measure == "nines" and not by_game:
        found = Estimate(*(-np.log10(np.maximum(1 - each, 10.0**-CAP)) for each in found))
    return found.line(name, x)


def _profiles(ends: Mapping[str, Sequence[FloatArray]], label: str) -> Lines:
    """Draw the share of runs that end above each score (Agarwal et al. 2021, section 4.2)."""
    every = np.concatenate([own for each in ends.values() for own in each])
    room = 0.05 * (np.ptp(every) or 1)
    taus = np.linspace(every.min() - room, every.max() + room, 2 * MARKS)

    def above(samples: Samples) -> FloatArray:
        shares = [np.stack([(own > tau).mean(axis=1) for tau in taus], axis=-1) for own in samples]
        return np.stack(shares)

    series = [estimate(own, above).line(name, taus) for name, own in ends.items()]
    title = "Share of runs above"
    return Lines(title=title, x_label=f"final {label}", y_label="share of runs", series=series)


def _improvement(ends: Mapping[str, Sequence[FloatArray]], sign: int) -> Bars:
    """Draw the probability that a run of one group ends better than one of another."""
    pairs = list(combinations(ends, 2))
    samples = ([sign * each for name in pair for each in ends[name]] for pair in pairs)
    middle, low, high = np.array([estimate(own, improvement) for own in samples]).T
    return Bars(
        title="Probability of improvement",
        x_label="probability",
        labels=[f"{one} > {other}" for one, other in pairs],
        values=middle,
        limits=(-0.05, 1.05),
        low=low,
        high=high,
    )
