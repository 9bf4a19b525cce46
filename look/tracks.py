"""The charts of a track: nines over moves, of all games together and of each."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..agents.algorithms import ALGORITHMS
from ..agents.board.boards import read
from ..agents.board.standings import Entry, Standings, strata
from ..agents.board.statistics import PER_CENT, estimate, mean
from ..agents.runs.config import RunError
from ..baselines.scoring.figure import nines
from ..core import FloatArray
from .charts import Lines, Plot, Series


def colour_of(algorithm: str) -> int:
    """Return the colour of an algorithm in all charts, as an index into ``COLOURS``."""
    return list(ALGORITHMS).index(algorithm)


def track(folder: Path) -> Plot:
    """Draw the curves of the runs in a folder, which are of a track.

    Raises:
        RunError: if there are none.
    """
    board = read(folder)
    if not isinstance(board, Standings):
        raise RunError(f"folder must hold finished runs of a track, got {folder}")
    return curves(board)


def curves(board: Standings) -> Plot:
    """Draw the mean nines of each algorithm at the marks, with its bootstrap interval."""
    games = strata(list(board.curves))
    panels = [_panel(group[0].game, [group], board) for group in games]
    if len(games) > 1:
        panels.insert(0, _panel("mean of all games", games, board))
    return Plot(
        title=f"Nines of {board.track.title}",
        caption="Exact scores over the agent's moves: nines are -log10(1 - normalised score), 1 "
        "for a score of 0.9 and 2 for 0.99. Lines are means over seeds, bands "
        f"{PER_CENT} % bootstrap intervals that resample the seeds of each game apart.",
        panels=panels,
    )


def _panel(title: str, games: Sequence[list[Entry]], board: Standings) -> Lines:
    """Draw the algorithms that have run all of these games."""
    series = []
    for name in ALGORITHMS:
        own = [[entry for entry in group if entry.algorithm == name] for group in games]
        if all(own):
            series.append(_series(name, own, board))
    return Lines(
        title=title,
        x_label="agent's moves",
        y_label="nines",
        series=series,
        log_x=True,
        points=True,
    )


def _series(algorithm: str, games: Sequence[list[Entry]], board: Standings) -> Series:
    found = estimate([_nines(group, board) for group in games], mean)
    known = not np.isnan(found.low).any()
    return Series(
        name=ALGORITHMS[algorithm].title,
        x=np.array(board.track.marks, dtype=np.float64),
        y=found.middle,
        low=found.low if known else None,
        high=found.high if known else None,
        colour=colour_of(algorithm),
    )


def _nines(group: Sequence[Entry], board: Standings) -> FloatArray:
    """Return the nines of runs at the marks, shape (seed, mark)."""
    return np.array([[nines(score) for score in board.curves[entry]] for entry in group])
