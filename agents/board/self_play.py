"""The board of a track of self-play: exploitability of all entrants, and their cross table.

The score of a run is its normalised exploitability: 1 for an equilibrium, 0 for uniformly random
play (see ``baselines.scoring.self_play``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ...core import FloatArray
from ..algorithms import ALGORITHMS
from ..runs import folders
from ..runs.config import RunError
from ..tracks import PERCENTS, Track
from .cross import Finished, cross_tables, read_runs, track_of
from .ranking import (
    AGENTS,
    agent_rows,
    first_mark,
    left_out,
    mean_of,
    nines_of,
    refuse_repeated,
    score_table,
    strata,
    trials_of,
)
from .statistics import RESAMPLES, area
from .tables import Part, Table, markdown, mean_moves, moves_text, to_csv, write_files

GAMES = [
    "game", "agent", "seeds", "nines", "95 % interval", "normalised score", "area", "moves to 0.9",
    "moves to 0.99", "exploitability per 1,000 games", "worst seed", "value of seat 0",
    "value of seat 1", "in equilibrium", "seconds",
]  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """The final policy of a finished run."""

    track: str
    game: str
    agent: str
    seed: int
    exploitability: float
    normalized: float
    nines: float
    guaranteed_0: float  # value of the seat against a best response
    guaranteed_1: float
    equilibrium_0: float
    equilibrium_1: float
    steps: int
    seconds: float
    trials: int | None  # of the search for its hyperparameters; None if they are others
    area: float
    moves_to_90: int | None
    moves_to_99: int | None

    @property
    def colour(self) -> int:
        """Colour of the algorithm in all charts."""
        return next(known.colour for known in ALGORITHMS.values() if known.title == self.agent)


@dataclass(frozen=True)
class SelfPlayBoard:
    """The runs of a track of self-play in a folder, and the tables made from them.

    Attributes:
        track: the track.
        runs: the runs, by game, entrant and seed.
        curves: their final policies and normalised scores at the marks, shape (mark,).
        others: number of runs in the folder that are not on the board.
    """

    track: Track
    runs: list[Finished]
    curves: dict[Entry, FloatArray]
    others: int

    @property
    def entries(self) -> list[Entry]:
        """The final policies, by game."""
        return list(self.curves)

    @property
    def agents(self) -> Table:
        """The table of the entrants over all games."""
        return AGENTS, agent_rows(self.entries, self.track)

    @property
    def scores(self) -> Table:
        """The table of the mean normalised scores of the entrants in each game."""
        return score_table(self.entries, self.track)

    @property
    def games(self) -> Table:
        """The table of the entrants in each game."""
        rows = []
        for group in strata(self.entries):
            for agent in dict.fromkeys(entry.agent for entry in group):
                own = [entry for entry in group if entry.agent == agent]
                rows.append([group[0].game, agent, *_row(own)])
        return GAMES, rows

    @cached_property
    def cross(self) -> Part:
        """The cross tables of all games, below each other; each is computed anew."""
        return cross_tables(self.runs)


def read_board(folder: Path) -> SelfPlayBoard | None:
    """Read the runs of a folder that are on the board of a track of self-play; None without any.

    Raises:
        RunError: if a run is damaged or there twice, or the runs are of several tracks or of
            another version.
    """
    runs = read_runs(folder)
    if not runs:
        return None
    names = sorted({track_of(run).name for run in runs})
    if len(names) > 1:
        raise RunError(f"folder must hold runs of one track, got {', '.join(names)} in {folder}")
    track = track_of(runs[0])
    read = {run.folder: _read(run, track) for run in runs}
    refuse_repeated({folder: entry for folder, (entry, _) in read.items()})
    curves = dict(read.values())
    return SelfPlayBoard(track, runs, curves, len(list(folder.glob("*/score.json"))) - len(runs))


def _read(run: Finished, track: Track) -> tuple[Entry, FloatArray]:
    """Read the final policy of a run, and its normalised scores at the marks."""
    log = folders.read_log(run.folder)
    with folders.reading(run.folder / "evaluations.npz", "have the scores of self-play"):
        scores = np.array(track.at_marks(log["timesteps"], log["normalized_exploitability"]))
    reached = [first_mark(track, scores, least) for least in (0.9, 0.99)]
    return _entry(run, area(track.marks, scores), *reached), scores


def _entry(run: Finished, height: float, to_90: int | None, to_99: int | None) -> Entry:
    """Read the ``score.json`` of a run."""
    with folders.reading(run.folder / "score.json", "be the score of a run of self-play"):
        found = run.found["self_play"]
        numbers = {
            "exploitability": float(found["exploitability"]),
            "normalized": float(found["normalized_exploitability"]),
            "nines": float(found["nines"]),
            **{f"guaranteed_{seat}": float(found["guaranteed"][seat]) for seat in (0, 1)},
            **{f"equilibrium_{seat}": float(found["equilibrium"][seat]) for seat in (0, 1)},
        }
    return Entry(
        track=track_of(run).name,
        game=run.config.game_name,
        agent=run.entrant,
        seed=run.config.seed,
        **numbers,
        steps=run.found["steps"],
        seconds=run.found["seconds"],
        trials=trials_of(run.config),
        area=height,
        moves_to_90=to_90,
        moves_to_99=to_99,
    )


def _row(own: Sequence[Entry]) -> list[str]:
    """Summarise the seeds of one entrant in one game."""
    marks = [[getattr(entry, name) for entry in own] for name in ("moves_to_90", "moves_to_99")]
    worst = max(entry.exploitability for entry in own)
    due = " and ".join(f"{mean_of(own, f'equilibrium_{seat}'):.4f}" for seat in (0, 1))
    return [
        str(len(own)),
        *nines_of(own),
        f"{mean_of(own, 'normalized'):.4f}",
        f"{mean_of(own, 'area'):.4f}",
        *(moves_text(mean_moves(reached)) for reached in marks),
        f"{1000 * mean_of(own, 'exploitability'):.2f}",
        f"{1000 * worst:.2f}",
        *(f"{mean_of(own, f'guaranteed_{seat}'):.4f}" for seat in (0, 1)),
        due,
        f"{mean_of(own, 'seconds'):.0f}",
    ]


def write_tables(board: SelfPlayBoard, folder: Path) -> list[Path]:
    """Write results.csv and leaderboard.md into a folder."""
    parts = [rules(board), *map(markdown, (board.agents, board.scores, board.games))]
    parts += [board.cross.words, markdown(board.cross.table)]
    return write_files(folder, to_csv(Entry, board.entries), board.track.title, parts)


def rules(board: SelfPlayBoard) -> str:
    """Put the rules of the track into words, and how the figures are computed."""
    percents = ", ".join(map(str, PERCENTS))
    text = (
        f"Every run makes at most {board.track.moves:,} moves of both seats in all, exploration "
        "included, and meets nobody but itself. Its last policy is scored, not its best, and the "
        f"policy at {percents} per cent of the moves: exactly, over every state of the game. "
        "Exploitability is the mean over both seats of the value in equilibrium minus the value "
        "against a best response; the values of the seats are those against a best response. The "
        "normalised score is 1 - exploitability / that of uniformly random play; nines are "
        "-log10(1 - normalised score), at most 9. The headline is the mean of the nines over games "
        "and seeds; IQM is the mean of the middle half of all normalised scores; the area is that "
        "under their curve, over the logarithm of the moves. Intervals come from "
        f"{RESAMPLES:,} bootstrap resamples of the seeds within each game, and are rather too "
        "narrow for so few seeds. Seconds are those of one run, its scores until the end included. "
        "Trials are those of the search for the hyperparameters, 0 of hyperparameters set by hand "
        "(-: they are not those of the package)."
    )
    return text + left_out(board.others)
