"""Pages of boards, self-contained, and the charts on them: curves of a track, nines of entries."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..agents.board.board import Board, read_board
from ..agents.board.results import Run
from ..agents.board.tables import PER_CENT, by, estimate, mean, strata
from ..agents.entries.tables import CLAIMS, EntryBoard, write_tables
from ..agents.runs.config import RunError
from ..baselines.scoring.figure import nines
from ..core import FloatArray, write_file
from . import page
from .charts import COLOURS, Bars, Lines, Plot, Series
from .drawing import to_svg
from .runs import colours_of, curves


def to_page(board: Board) -> str:
    """Write the page of the board of a benchmark."""
    swatches = _swatches(colours_of({run.agent for run in board.runs}))
    drawn = curves(board.runs) if board.track is None else track_curves(board)
    parts = [
        page.paragraph(board.words),
        *(page.sortable(each, swatches) for each in board.tables),
        *_pictures(drawn),
        page.heading(board.more.title),
        page.paragraph(board.more.words),
        page.sortable(board.more.table, swatches),
    ]
    return page.to_html(f"exactdice: {board.title}", parts)


def _swatches(colours: Mapping[str, int]) -> dict[str, str]:
    return {name: COLOURS[place % len(COLOURS)] for name, place in colours.items()}


def _pictures(plot: Plot) -> Iterator[page.Part]:
    yield page.heading(plot.title)
    yield page.paragraph(plot.caption)
    yield page.figures([to_svg(Plot.of(panel, plot.caption)) for panel in plot.panels])


def track(folder: Path) -> Plot:
    """Draw the curves of the runs in a folder, which are of a track.

    Raises:
        RunError: if there are none.
    """
    board = read_board(folder)
    if board.track is None:
        raise RunError(f"folder must hold finished runs of a track, got {folder}")
    return track_curves(board)


def track_curves(board: Board) -> Plot:
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
    agents = by((run for group in games for run in group), "agent").values()
    by_colour = map(strata, sorted(agents, key=lambda own: own[0].colour))
    series = [_series(own) for own in by_colour if len(own) == len(games)]
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


def write_entries(boards: Sequence[EntryBoard], folder: Path) -> list[Path]:
    """Write the page, the Markdown and the CSV of each board of entries into a folder.

    Raises:
        WriteError: if the folder cannot be written to.
    """
    colours = colours_of({found.card.algorithm for board in boards for found in board.entries})
    paths = []
    for board in boards:
        path = folder / f"{board.track.name}.html"
        write_file(path, _page_of_entries(board, colours).encode())
        paths += [path, *write_tables(board, folder)]
    return paths


def _page_of_entries(board: EntryBoard, colours: Mapping[str, int]) -> str:
    swatches = _swatches(colours)
    parts = [
        page.paragraph(CLAIMS),
        page.sortable(board.totals, swatches),
        *_pictures(chart_of_entries(board, colours)),
        page.heading("Games"),
        page.sortable(board.games, swatches),
        page.heading("Where the entries come from"),
        page.links(board.links),
        page.heading("Rules"),
        page.paragraph(board.rules),
    ]
    return page.to_html(f"exactdice: {board.track.title}, entries", parts)


def chart_of_entries(board: EntryBoard, colours: Mapping[str, int]) -> Plot:
    """Draw the mean nines of the entries of a board, with their bootstrap intervals.

    Args:
        board: the board.
        colours: the colour of each algorithm, as an index into ``COLOURS``.
    """
    middle, low, high = np.array([found.headline for found in board.entries]).T
    bars = Bars(
        title=f"Mean nines of {board.track.title}",
        x_label="mean nines",
        labels=list(board.links),
        values=middle,
        low=np.where(np.isnan(low), middle, low),
        high=np.where(np.isnan(high), middle, high),
        colours=[colours[found.card.algorithm] for found in board.entries],
    )
    caption = (
        "Nines are -log10(1 - normalised score): 1 for a score of 0.9, 2 for 0.99. Points are "
        f"means over games and seeds, lines {PER_CENT} % bootstrap intervals that resample the "
        "seeds of each game apart."
    )
    return Plot.of(bars, caption)
