"""The common part of the boards of all tracks: finished runs, and the tables of their agents."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from ...core import FloatArray, InputError
from ...core.words import plural
from ..runs.config import RunError, TrainConfig
from ..runs.hyperparameters import trials, tuned
from ..tracks import Track
from .statistics import Estimate, estimate, iqm, mean
from .tables import Table, interval_text

#: Header of ``agent_rows``.
AGENTS = [
    "agent", "games", "runs", "trials", "mean nines", "95 % interval", "IQM",
    "95 % interval of the IQM", "area", "95 % interval of the area", "seconds",
]  # fmt: skip


class Ranked(Protocol):
    """A finished run, as it is ranked on the board of a track."""

    @property
    def game(self) -> str:
        """Name of its game."""

    @property
    def agent(self) -> str:
        """Name of the agent, on the board."""

    @property
    def seed(self) -> int:
        """Seed of its training."""

    @property
    def trials(self) -> int | None:
        """Number of trials of the search for its hyperparameters; None for other ones."""

    @property
    def colour(self) -> int:
        """Colour of the agent in all charts, as an index into those of ``look.charts``."""


_Run = TypeVar("_Run", bound=Ranked)


def strata(entries: Sequence[_Run]) -> list[list[_Run]]:
    """Group runs by game."""
    games: dict[str, list[_Run]] = {}
    for entry in entries:
        games.setdefault(entry.game, []).append(entry)
    return list(games.values())


def refuse_repeated(runs: Mapping[Path, Ranked]) -> None:
    """Refuse two runs of an agent in the same game with the same seed: they are one sample.

    Raises:
        RunError: naming both folders.
    """
    known: dict[tuple[str, str, int], Path] = {}
    for folder, run in runs.items():
        earlier = known.setdefault((run.game, run.agent, run.seed), folder)
        if earlier != folder:
            raise RunError(
                f"runs of {run.agent} in {run.game} must have different seeds, got seed "
                f"{run.seed} in {earlier} and {folder}"
            )


def _numbers(groups: Sequence[Sequence[Ranked]], name: str) -> list[FloatArray]:
    """Return a number of each run, by game; None becomes NaN."""
    return [np.array([getattr(entry, name) for entry in group], dtype=float) for group in groups]


def _by_agent(entries: Sequence[_Run]) -> dict[str, list[list[_Run]]]:
    """Group runs by agent and game; agents that have run all games come first, best first."""
    agents = {
        name: strata([entry for entry in entries if entry.agent == name])
        for name in dict.fromkeys(entry.agent for entry in entries)
    }

    def rank(name: str) -> tuple[int, float]:
        own = agents[name]
        return -len(own), -float(np.mean([mean_of(group, "nines") for group in own]))

    return {name: agents[name] for name in sorted(agents, key=rank)}


def agent_rows(entries: Sequence[Ranked], track: Track) -> list[list[str]]:
    """Make a row for each agent; those that have run all games come first, best first."""
    rows = []
    for name, own in _by_agent(entries).items():
        seconds = np.mean(np.concatenate(_numbers(own, "seconds")))
        headline = estimate(_numbers(own, "nines"), mean)
        others = estimate(_numbers(own, "normalized"), iqm), estimate(_numbers(own, "area"), mean)
        row = [
            name,
            f"{len(own)} of {len(track.games)}",
            str(sum(map(len, own))),
            _trials_text({entry.trials for entry in itertools.chain(*own)}),
            f"{headline.middle:.3f}",
            interval_text(headline, ".3f"),
            *itertools.chain.from_iterable(_pair(found) for found in others),
            f"{seconds:.0f}",
        ]
        rows.append(row)
    return rows


def score_table(entries: Sequence[Ranked], track: Track) -> Table:
    """Make the table of the mean normalised scores: a row for each agent, a column for each game.

    Agents have the order of ``agent_rows``; "-" stands for a game without runs.
    """
    rows = []
    for name, own in _by_agent(entries).items():
        scores = {group[0].game: f"{mean_of(group, 'normalized'):.4f}" for group in own}
        rows.append([name, *(scores.get(game, "-") for game in track.games)])
    return ["normalised score", *track.games], rows


def _trials_text(numbers: set[int | None]) -> str:
    """Write the number of trials of all runs; "-" if they differ or it is not known."""
    number = numbers.pop() if len(numbers) == 1 else None
    return "-" if number is None else f"{number}"


def trials_of(config: TrainConfig) -> int | None:
    """Return the number of trials of the search for a run's hyperparameters.

    0 stands for hyperparameters of the package that were set by hand, None for all others.
    """
    size = {name: value for name, value in config.env.items() if name != "encoding"}
    try:
        shipped = replace(config, conf=None, hyperparams={}, num_envs=None, env=size)
        same = shipped.hyperparameters == config.hyperparameters
    except (InputError, AttributeError):  # their rollouts are longer than the track; or unknown
        same = False  # without the libraries of training, as for pictures, which show no trials
    if not same:
        return None
    return trials(tuned(config.algorithm, config.reward or "outcome", config.track))


def _pair(found: Estimate) -> tuple[str, str]:
    middle = "-" if np.isnan(found.middle) else f"{found.middle:.4f}"
    return middle, interval_text(found, ".4f")


def nines_of(own: Sequence[Ranked]) -> tuple[str, str]:
    """Write the mean nines of the seeds of an agent in one game, and their interval."""
    found = estimate(_numbers([own], "nines"), mean)
    return f"{found.middle:.3f}", interval_text(found, ".3f")


def mean_of(own: Sequence[Ranked], name: str) -> float:
    """Return the mean of a number over the seeds of an agent in one game."""
    return float(_numbers([own], name)[0].mean())


def first_mark(track: Track, scores: FloatArray, least: float) -> int | None:
    """Return the first mark with a normalised score of ``least``; None if there is none."""
    reached = np.array(track.marks)[scores >= least]
    return int(reached[0]) if len(reached) else None


def left_out(others: int) -> str:
    """Return a sentence about the runs of a folder that are not on its board; none for no run."""
    runs = plural(others, "run")
    return f" Left out: {others} {runs} of the folder in other tasks." if others else ""
