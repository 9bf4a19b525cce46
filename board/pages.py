"""Pages of boards: that of a benchmark's runs, and those of the entries of each track."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..core import write_file
from ..look import page
from ..look.charts import COLOURS
from ..look.runs import colours_of
from .entry_boards import CLAIMS, EntryBoard
from .leaderboard import Board
from .pictures import chart_of_entries, curves, track_curves


def to_page(board: Board) -> str:
    """Write the page of the board of a benchmark."""
    swatches = _swatches(colours_of({run.agent for run in board.runs}))
    drawn = curves(board.runs) if board.track is None else track_curves(board)
    parts = [
        page.paragraph(board.words),
        *(page.sortable(each, swatches) for each in board.tables),
        *page.section(drawn, "curves"),
        page.heading(board.more.title),
        page.paragraph(board.more.words),
        page.sortable(board.more.table, swatches),
    ]
    return page.to_html(f"exactdice: {board.title}", parts)


def _swatches(colours: Mapping[str, int]) -> dict[str, str]:
    return {name: COLOURS[place % len(COLOURS)] for name, place in colours.items()}


def write_entries(boards: Sequence[EntryBoard], folder: Path) -> list[Path]:
    """Write the page, the Markdown and the CSV of each board of entries into a folder."""
    colours = colours_of({found.card.algorithm for board in boards for found in board.entries})
    texts = {}
    for board in boards:
        path = folder / f"{board.track.name}.html"
        texts[path] = _page_of_entries(board, colours)
        texts[path.with_suffix(".md")] = board.markdown
        texts[path.with_suffix(".csv")] = board.certificates.csv()
    for path, text in texts.items():
        write_file(path, text.encode())
    return list(texts)


def _page_of_entries(board: EntryBoard, colours: Mapping[str, int]) -> str:
    swatches = _swatches(colours)
    parts = [
        page.paragraph(CLAIMS),
        page.sortable(board.totals, swatches),
        *page.section(chart_of_entries(board, colours), "nines"),
        page.heading("Games"),
        page.sortable(board.games, swatches),
        page.heading("Where the entries come from"),
        page.links(board.links),
        page.heading("Rules"),
        page.paragraph(board.rules),
    ]
    return page.to_html(f"exactdice: {board.track.title}, entries", parts)
