"""The board of a track: the runs of a folder that keep to its rules, and the tables of them.

A run is on the board if it was trained on the track in one of its games, with the default keywords
of the game. Runs of other sizes, as those of a ladder, are not.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...baselines import make_task
from ...baselines.scoring.figure import FIGURES, nines
from ...core import FloatArray
from ..algorithms import ALGORITHMS
from ..runs import folders
from ..runs.config import RunError, TrainConfig
from ..tracks import PERCENTS, TRACKS, Track
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
from .tables import (
    Part,
    Table,
    markdown,
    mean_moves,
    moves_text,
    reference_table,
    task_of,
    to_csv,
    unit_of,
    write_files,
)


@dataclass(frozen=True)
class Entry:
    """One finished run on a track."""

    track: str
    game: str
    algorithm: str
    seed: int
    value: float
    optimum: float
    random: float
    regret: float
    normalized: float
    nines: float
    area: float
    flawless: float
    steps: int
    seconds: float
    trials: int | None  # of the search for its hyperparameters; None if they are others
    moves_to_90: int | None  # first mark with a normalised score of 0.9; None if there is none
    moves_to_99: int | None

    @property
    def agent(self) -> str:
        """Name of the algorithm, on the board."""
        return ALGORITHMS[self.algorithm].title

    @property
    def colour(self) -> int:
        """Colour of the algorithm in all charts."""
        return ALGORITHMS[self.algorithm].colour


@dataclass(frozen=True)
class Standings:
    """The runs of a track in a folder, and the tables made from them.

    Attributes:
        track: the track.
        curves: the runs and their normalised scores at the marks, shape (mark,).
        agents: the table of the algorithms over all games.
        games: the table of the algorithms in each game.
        references: the table of other policies.
        others: number of runs in the folder that are not on the board.
    """

    track: Track
    curves: dict[Entry, FloatArray]
    agents: Table
    games: Table
    references: Part
    others: int

    @property
    def scores(self) -> Table:
        """The table of the mean normalised scores of the algorithms in each game."""
        return score_table(list(self.curves), self.track)


def track_of(folder: Path) -> Track | None:
    """Return the track of the finished runs in a folder; None if no run is on a board.

    Raises:
        RunError: if the runs are of several tracks, or a run is damaged.
    """
    configs = [folders.read_config(path.parent) for path in folder.glob("*/score.json")]
    names = {config.track for config in configs}
    if len(names) > 1:
        found = ", ".join(sorted(name or "no track" for name in names))
        raise RunError(f"folder must hold runs of one track, got {found} in {folder}")
    counting = [config.track for config in configs if _counts(config)]
    return TRACKS[counting[0]] if counting and counting[0] is not None else None


def read_standings(folder: Path, track: Track) -> Standings:
    """Read the runs of a folder that are on the board of a track, and make the tables.

    Raises:
        RunError: if a run is damaged, of another version of the track, or there twice.
    """
    paths = sorted(path.parent for path in folder.glob("*/score.json"))
    configs = {path: folders.read_config(path) for path in paths}
    read = {path: _read(path, config, track) for path, config in configs.items() if _counts(config)}
    refuse_repeated({path: entry for path, (entry, _) in read.items()})
    names = list(ALGORITHMS)
    curves = dict(sorted(read.values(), key=lambda run: _order(run[0], track, names)))
    return Standings(
        track,
        curves,
        (AGENTS, agent_rows(list(curves), track)),
        (GAMES, game_rows(list(curves))),
        reference_table(
            {game: make_task(game) for game in dict.fromkeys(run.game for run in curves)},
            [figure for figure in FIGURES if figure.name == "nines"],
        ),
        len(paths) - len(curves),
    )


def write_tables(board: Standings, folder: Path) -> list[Path]:
    """Write results.csv and leaderboard.md into a folder."""
    parts = [
        rules(board),
        markdown(board.agents),
        markdown(board.scores),
        markdown(board.games),
        board.references.words,
        markdown(board.references.table),
    ]
    return write_files(folder, to_csv(Entry, list(board.curves)), board.track.title, parts)


def rules(board: Standings) -> str:
    """Put the rules of a track into words, and how the figures are computed."""
    track = board.track
    percents = ", ".join(map(str, PERCENTS))
    text = (
        f"Every run makes at most {track.moves:,} moves of its agent in all, exploration included, "
        "in a game with its default keywords. Its last policy is scored, not its best, and the "
        f"policy at {percents} per cent of the moves: exactly, over every state of the game, so "
        "that the seed of training is the only noise. 1 is the optimum, 0 uniformly random play; "
        "nines are -log10(1 - normalised score), at most 9. The headline is the mean of the nines "
        "over games and seeds; IQM is the mean of the middle half of all normalised scores; the "
        "area is that under the curve of normalised scores, over the logarithm of the moves. "
        f"Intervals come from {RESAMPLES:,} bootstrap resamples of the seeds within each game, and "
        "are rather too narrow for so few seeds. Moves to 0.9 and 0.99 are the first mark with "
        "such a score, a mean over seeds (-: some seed never did); seconds are those of one run, "
        "its exact scores included. Trials are those of the search for the hyperparameters, 0 of "
        "hyperparameters set by hand (-: they are not those of the package)."
    )
    return text + left_out(board.others)


def _counts(config: TrainConfig) -> bool:
    """Return whether a run keeps to the rules of its track, in a game of default size."""
    return (
        config.track is not None
        and not TRACKS[config.track].self_play  # its score is the exploitability
        and config.game_name in TRACKS[config.track].games
        and task_of(config) == make_task(config.game_name)
    )


def _order(entry: Entry, track: Track, names: list[str]) -> tuple[int, int, int]:
    return track.games.index(entry.game), names.index(entry.algorithm), entry.seed


def _read(folder: Path, config: TrainConfig, track: Track) -> tuple[Entry, FloatArray]:
    found, log = folders.read_score(folder), folders.read_log(folder)
    check_version(folder, found, track)
    scores = np.array(track.at_marks(log["timesteps"], log["normalized"]))
    with folders.reading(folder / "score.json", "be the score of a run on a track"):
        flawless = float(found["flawless"])
    entry = Entry(
        track=track.name,
        game=config.game_name,
        algorithm=config.algorithm,
        seed=config.seed,
        **{name: found[name] for name in folders.NUMBERS},
        nines=nines(found["normalized"]),
        area=area(track.marks, scores),
        flawless=flawless,
        trials=trials_of(config),
        moves_to_90=first_mark(track, scores, 0.9),
        moves_to_99=first_mark(track, scores, 0.99),
    )
    return entry, scores


def check_version(folder: Path, found: dict[str, Any], track: Track) -> None:
    """Refuse the ``score.json`` of a run on another version of its track.

    Raises:
        RunError: naming the folder and both versions.
    """
    if found.get("track_version") != track.version:
        raise RunError(
            f"{folder} must be of version {track.version} of {track.name}, got "
            f"{json.dumps(found.get('track_version'))}"
        )


GAMES = [
    "game", "agent", "seeds", "nines", "95 % interval", "normalised score", "area", "moves to 0.9",
    "moves to 0.99", "regret per 1,000 games", "flawless games", "seconds",
]  # fmt: skip


def game_rows(entries: list[Entry]) -> list[list[str]]:
    """Make a row for each game and algorithm."""
    rows = []
    for group in strata(entries):
        unit = unit_of(group[0].game)
        for name, algorithm in ALGORITHMS.items():
            own = [entry for entry in group if entry.algorithm == name]
            if own:
                rows.append([group[0].game, algorithm.title, *_row(own, unit)])
    return rows


def _row(own: list[Entry], unit: str) -> list[str]:
    """Summarise the seeds of one algorithm in one game."""
    return [
        str(len(own)),
        *nines_of(own),
        f"{mean_of(own, 'normalized'):.4f}",
        f"{mean_of(own, 'area'):.4f}",
        moves_text(mean_moves([entry.moves_to_90 for entry in own])),
        moves_text(mean_moves([entry.moves_to_99 for entry in own])),
        f"{1000 * mean_of(own, 'regret'):.1f} {unit}",
        f"{mean_of(own, 'flawless'):.1%}",
        f"{mean_of(own, 'seconds'):.0f}",
    ]
