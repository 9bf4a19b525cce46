"""The board of a benchmark as a self-contained web page."""

from pathlib import Path

from ..agents.board.board import Board, board_of, write_board
from ..agents.board.results import read_runs
from ..core import write_file
from . import page
from .charts import COLOURS, Plot
from .drawing import to_svg
from .runs import colours_of, curves
from .tracks import curves as track_curves


def write(folder: Path) -> list[Path]:
    """Write the results, leaderboard.md and leaderboard.html of the finished runs in a folder.

    Raises:
        RunError: if a run is damaged.
        WriteError: if the folder cannot be written to.
    """
    board = board_of(runs := read_runs(folder), folder)
    paths = write_board(board, runs)  # first: they stand, whatever a drawing may meet
    path = folder / "leaderboard.html"
    write_file(path, to_page(board).encode())
    return [*paths, path]


def to_page(board: Board) -> str:
    """Write the page of a board."""
    colours = colours_of({run.agent for run in board.runs})
    swatches = {name: COLOURS[place % len(COLOURS)] for name, place in colours.items()}
    drawn = curves(board.runs) if board.track is None else track_curves(board)
    parts = [
        page.paragraph(board.words),
        *(page.sortable(each, swatches) for each in board.tables),
        page.heading(drawn.title),
        page.paragraph(drawn.caption),
        page.figures([to_svg(Plot.of(panel, drawn.caption)) for panel in drawn.panels]),
        page.heading(board.more.title),
        page.paragraph(board.more.words),
        page.sortable(board.more.table, swatches),
    ]
    return page.to_html(f"exactdice: {board.title}", parts)
