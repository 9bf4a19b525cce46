"""The charts of a track: nines over moves, of all games together and of each."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..agents.board.board import Board, read_board
from ..agents.board.results import Run
from ..agents.board.statistics import PER_CENT, estimate, mean
from ..agents.board.tables import by, strata
from ..agents.runs.config import RunError
from ..baselines.scoring.figure import nines
from ..core import FloatArray
from .charts import Lines, Plot, Series


def track(folder: Path) -> Plot:
    """Draw the curves of the runs in a folder, which are of a track.

    Raises:
        RunError: if there are none.
    """
    board = read_board(folder)
    if board.track is None:
        raise RunError(f"folder must hold finished runs of a track, got {folder}")
    return curves(board)


def curves(board: Board) -> Plot:
    """Draw the mean nines of each agent at the marks, with its bootstrap interval."""
    games, track = strata(board.runs), board.track
    assert track is not None
    moves = "moves of both seats" if track.self_play else "agent's moves"
    panels = [_panel(group[0].game, [group], moves) for group in games]
    if len(games) > 1:
        panels.insert(0, _panel("mean of all games", games, moves))
    score = "the score is 1 - exploitability / that of uniformly random play; "
    meaning = score if track.self_play else ""
    return Plot(
        title=f"Nines of {track.title}",
        caption=f"Exact scores over the {moves}: {meaning}nines are -log10(1 - normalised "
        "score), 1 for a score of 0.9 and 2 for 0.99. Lines are means over seeds, bands "
        f"{PER_CENT} % bootstrap intervals that resample the seeds of each game apart.",
        panels=panels,
    )


def _panel(title: str, games: Sequence[list[Run]], moves: str) -> Lines:
    """Draw the agents that have run all of these games, by their colours."""
    agents = by((run for group in games for run in group), "agent")
    names = sorted(agents, key=lambda name: agents[name][0].colour)
    series = [_series(own) for own in map(strata, map(agents.__getitem__, names))
              if len(own) == len(games)]  # fmt: skip
    return Lines(
        title=title, x_label=moves, y_label="nines", series=series, log_x=True, points=True
    )


def _series(games: Sequence[list[Run]]) -> Series:
    found = estimate([_nines(group) for group in games], mean)
    known = not np.isnan(found.low).any()
    return Series(
        name=games[0][0].agent,
        x=np.array(games[0][0].curve[0], dtype=np.float64),
        y=found.middle,
        low=found.low if known else None,
        high=found.high if known else None,
        colour=games[0][0].colour,
    )


def _nines(group: Sequence[Run]) -> FloatArray:
    """Return the nines of runs at the marks, shape (seed, mark)."""
    return np.array([[nines(score) for score in run.curve[1]] for run in group])
