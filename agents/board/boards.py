"""The board of a benchmark's folder: that of its track, or the leaderboard of other runs."""

from pathlib import Path

from ..runs.folders import read_config
from . import leaderboard, self_play, standings
from .leaderboard import Board
from .standings import Standings


def is_of_self_play(folder: Path) -> bool:
    """Return whether the runs of a folder are of a track of self-play, which has its own board."""
    configs = (read_config(path.parent) for path in folder.glob("*/score.json"))
    return any(config.self_play and config.track is not None for config in configs)


def read(folder: Path) -> Board | Standings:
    """Read the finished runs of a folder, and make the tables.

    Raises:
        RunError: if a run is damaged, or the runs are of several tracks.
    """
    track = standings.track_of(folder)
    if track is None:
        return leaderboard.read_board(folder)
    return standings.read_standings(folder, track)


def write_tables(board: Board | Standings, folder: Path) -> list[Path]:
    """Write results.csv and leaderboard.md into a folder."""
    if isinstance(board, Standings):
        return standings.write_tables(board, folder)
    return leaderboard.write_tables(board, folder)


def write(folder: Path) -> list[Path]:
    """Write results.csv and leaderboard.md of the finished runs in a folder.

    A folder of self-play gets self-play.csv and self-play.md instead.
    """
    if is_of_self_play(folder):
        return self_play.write(folder)
    return write_tables(read(folder), folder)
