"""The charts of a track: nines over moves, of all games together and of each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..agents.board.boards import read
from ..agents.board.ranking import Ranked, strata
from ..agents.board.self_play import SelfPlayBoard
from ..agents.board.standings import Standings
from ..agents.board.statistics import PER_CENT, estimate, mean
from ..agents.runs.config import RunError
from ..baselines.scoring.figure import nines
from ..core import FloatArray
from .charts import Lines, Plot, Series


def track(folder: Path) -> Plot:
    """Draw the curves of the runs in a folder, which are of a track.

    Raises:
        RunError: if there are none.
    """
    board = read(folder)
    if not isinstance(board, Standings | SelfPlayBoard):
        raise RunError(f"folder must hold finished runs of a track, got {folder}")
    return curves(board)


def curves(board: Standings | SelfPlayBoard) -> Plot:
    """Draw the mean nines of each agent at the marks, with its bootstrap interval."""
    games: list[list[Ranked]] = strata(list(board.curves))
    panels = [_panel(group[0].game, [group], board) for group in games]
    if len(games) > 1:
        panels.insert(0, _panel("mean of all games", games, board))
    score = "the score is 1 - exploitability / that of uniformly random play; "
    meaning = score if board.track.self_play else ""
    return Plot(
        title=f"Nines of {board.track.title}",
        caption=f"Exact scores over the {_moves(board)}: {meaning}nines are -log10(1 - normalised "
        "score), 1 for a score of 0.9 and 2 for 0.99. Lines are means over seeds, bands "
        f"{PER_CENT} % bootstrap intervals that resample the seeds of each game apart.",
        panels=panels,
    )


def _moves(board: Standings | SelfPlayBoard) -> str:
    """Name the moves that a track counts."""
    return "moves of both seats" if board.track.self_play else "agent's moves"


def _panel(title: str, games: Sequence[list[Ranked]], board: Standings | SelfPlayBoard) -> Lines:
    """Draw the agents that have run all of these games."""
    series = []
    for name in _agents(games):
        own = [[entry for entry in group if entry.agent == name] for group in games]
        if all(own):
            series.append(_series(own, board))
    return Lines(
        title=title,
        x_label=_moves(board),
        y_label="nines",
        series=series,
        log_x=True,
        points=True,
    )


def _agents(games: Sequence[list[Ranked]]) -> list[str]:
    """List the agents of all games, by their colours."""
    colours = {entry.agent: entry.colour for group in games for entry in group}
    return sorted(colours, key=colours.__getitem__)


def _series(games: Sequence[list[Ranked]], board: Standings | SelfPlayBoard) -> Series:
    found = estimate([_nines(group, board) for group in games], mean)
    known = not np.isnan(found.low).any()
    return Series(
        name=games[0][0].agent,
        x=np.array(board.track.marks, dtype=np.float64),
        y=found.middle,
        low=found.low if known else None,
        high=found.high if known else None,
        colour=games[0][0].colour,
    )


def _nines(group: Sequence[Ranked], board: Standings | SelfPlayBoard) -> FloatArray:
    """Return the nines of runs at the marks, shape (seed, mark)."""
    scores: Mapping[Any, FloatArray] = board.curves
    return np.array([[nines(score) for score in scores[entry]] for entry in group])
