"""The board of a benchmark's folder: that of its track, or the leaderboard of other runs."""

from pathlib import Path

from . import leaderboard, self_play, standings
from .leaderboard import Board
from .self_play import SelfPlayBoard
from .standings import Standings


def read(folder: Path) -> Board | Standings | SelfPlayBoard:
    """Read the finished runs of a folder, and make the tables.

    Raises:
        RunError: if a run is damaged, or the runs are of several tracks.
    """
    track = standings.track_of(folder)
    playing = self_play.read_board(folder)
    if playing is not None:
        return playing
    if track is None:
        return leaderboard.read_board(folder)
    return standings.read_standings(folder, track)


def write_tables(board: Board | Standings | SelfPlayBoard, folder: Path) -> list[Path]:
    """Write results.csv and leaderboard.md into a folder."""
    if isinstance(board, SelfPlayBoard):
        return self_play.write_tables(board, folder)
    if isinstance(board, Standings):
        return standings.write_tables(board, folder)
    return leaderboard.write_tables(board, folder)


def write(folder: Path) -> list[Path]:
    """Write results.csv and leaderboard.md of the finished runs in a folder."""
    return write_tables(read(folder), folder)
