"""The page of a board of entries."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..agents.algorithms import ALGORITHMS
from ..agents.board.statistics import PER_CENT
from ..agents.entries.tables import CLAIMS, EntryBoard, write_tables
from ..core import write_file
from . import page
from .charts import COLOURS, Bars, Plot
from .drawing import to_svg


def write(boards: Sequence[EntryBoard], folder: Path) -> list[Path]:
    """Write the page, the Markdown and the CSV of each board into a folder.

    Raises:
        WriteError: if the folder cannot be written to.
    """
    paths = []
    colours = colours_of(boards)
    for board in boards:
        path = folder / f"{board.track.name}.html"
        write_file(path, _page(board, colours).encode())
        paths += [path, *write_tables(board, folder)]
    return paths


def colours_of(boards: Sequence[EntryBoard]) -> dict[str, int]:
    """Return the colour of each algorithm on all boards, as an index into ``COLOURS``."""
    known = [algorithm.title for algorithm in ALGORITHMS.values()]
    named = {found.entry.card.algorithm for board in boards for found in board.entries}
    return {name: index for index, name in enumerate([*known, *sorted(named - set(known))])}


def chart(board: EntryBoard, colours: dict[str, int]) -> Plot:
    """Draw the mean nines of the entries of a board, with their bootstrap intervals."""
    middle, low, high = (
        np.array([getattr(found, name) for found in board.headlines], dtype=np.float64)
        for name in ("middle", "low", "high")
    )
    bars = Bars(
        title=f"Mean nines of {board.track.title}",
        x_label="mean nines",
        labels=list(board.links),
        values=middle,
        low=np.where(np.isnan(low), middle, low),
        high=np.where(np.isnan(high), middle, high),
        colours=[colours[found.entry.card.algorithm] for found in board.entries],
    )
    caption = (
        "Nines are -log10(1 - normalised score): 1 for a score of 0.9, 2 for 0.99. Points are "
        f"means over games and seeds, lines {PER_CENT} % bootstrap intervals that resample the "
        "seeds of each game apart."
    )
    return Plot.of(bars, caption)


def _page(board: EntryBoard, colours: dict[str, int]) -> str:
    swatches = {name: COLOURS[index % len(COLOURS)] for name, index in colours.items()}
    drawn = chart(board, colours)
    parts = [
        page.paragraph(CLAIMS),
        page.sortable(board.totals, swatches),
        page.heading(drawn.title),
        page.paragraph(drawn.caption),
        page.figures([to_svg(drawn)]),
        page.heading("Games"),
        page.sortable(board.games, swatches),
        page.heading("Where the entries come from"),
        page.links(board.links),
        page.heading("Rules"),
        page.paragraph(board.rules),
    ]
    return page.to_html(f"exactdice: {board.track.title}, entries", parts)
