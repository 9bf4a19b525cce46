"""The board of a benchmark as a self-contained web page."""

from pathlib import Path

from ..agents.algorithms import ALGORITHMS
from ..agents.board import boards, self_play
from ..agents.board.leaderboard import INTRODUCTION, Board, agent_name
from ..agents.board.self_play import SelfPlayBoard
from ..agents.board.standings import Standings, rules
from ..core import write_file
from . import page
from .charts import COLOURS, Plot
from .drawing import to_svg
from .runs import curves, names_in_order
from .tracks import curves as track_curves


def write(folder: Path) -> list[Path]:
    """Write results.csv, leaderboard.md and leaderboard.html of the finished runs in a folder.

    Raises:
        RunError: if a run is damaged.
        WriteError: if the folder cannot be written to.
    """
    board = boards.read(folder)
    paths = boards.write_tables(board, folder)  # first: they stand, whatever a drawing may meet
    path = folder / "leaderboard.html"
    text = _of_runs(board) if isinstance(board, Board) else _of_track(board)
    write_file(path, text.encode())
    return [*paths, path]


def _of_runs(board: Board) -> str:
    drawn = curves(board.cells)
    names = names_in_order({agent_name(cell) for cell in board.cells})
    swatches = {name: _colour(place) for place, name in enumerate(names)}
    parts = [
        page.paragraph(INTRODUCTION),
        page.sortable(*board.results, swatches),
        page.heading(drawn.title),
        page.paragraph(drawn.caption),
        page.figures(_panels(drawn)),
        page.heading("References"),
        page.paragraph(board.references.words),
        page.table(*board.references.table, texts=2),
    ]
    return page.to_html("exactdice: leaderboard", parts)


def _of_track(board: Standings | SelfPlayBoard) -> str:
    drawn, swatches = track_curves(board), _swatches()
    swatches |= {entry.agent: _colour(entry.colour) for entry in board.curves}
    parts = [
        page.sortable(*board.agents, swatches),
        page.sortable(*board.scores, swatches),
        page.heading(drawn.title),
        page.paragraph(drawn.caption),
        page.figures(_panels(drawn)),
        page.heading("Games"),
        page.sortable(*board.games, swatches),
    ]
    if isinstance(board, SelfPlayBoard):
        parts += [page.heading("Cross table"), page.paragraph(board.cross.words)]
        parts += [page.sortable(*board.cross.table, swatches)]
        parts += [page.heading("Rules"), page.paragraph(self_play.rules(board))]
    else:
        parts += [page.heading("Rules"), page.paragraph(rules(board))]
        parts += [page.heading("References"), page.paragraph(board.references.words)]
        parts += [page.sortable(*board.references.table)]
    return page.to_html(f"exactdice: {board.track.title}", parts)


def _swatches() -> dict[str, str]:
    """Return the colour of each algorithm, by its title."""
    return {known.title: _colour(known.colour) for known in ALGORITHMS.values()}


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _panels(plot: Plot) -> list[str]:
    """Draw each panel as a picture of its own."""
    return [to_svg(Plot.of(panel, plot.caption)) for panel in plot.panels]
