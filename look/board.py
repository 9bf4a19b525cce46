"""The leaderboard of a benchmark as a self-contained web page."""

from pathlib import Path

from ..agents.board.leaderboard import INTRODUCTION, REFERENCES, Board, read_board, write_tables
from ..agents.runs import folders
from . import page
from .drawing import to_svg
from .runs import curves


def write(folder: Path) -> list[Path]:
    """Write results.csv, leaderboard.md and leaderboard.html of the finished runs in a folder.

    Raises:
        RunError: if a run is damaged, or the folder cannot be written to.
    """
    board = read_board(folder)
    path = folder / "leaderboard.html"
    folders.write(path, _to_html(board).encode())
    return [*write_tables(board, folder), path]


def _to_html(board: Board) -> str:
    drawn = curves(board.cells)
    parts = [
        page.paragraph(INTRODUCTION),
        page.table(*board.results, numbers=True),
        page.heading(drawn.title),
        page.paragraph(drawn.caption),
        f"<figure>{to_svg(drawn)}</figure>",
        page.heading("References"),
        page.paragraph(REFERENCES),
        page.table(*board.references, numbers=True),
    ]
    return page.to_html("exactdice: leaderboard", parts, hover=False)
