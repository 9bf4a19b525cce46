"""The finished runs of a track of self-play, and who of them beats whom.

The cross table of a game has the expected payoff of each entrant against each other, as the mean
over both seats. Of each entrant the run of the smallest seed plays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from ...baselines import PayoffMatrix, make_game, payoff_matrix
from ..algorithms import ALGORITHMS
from ..runs import folders
from ..runs.config import TrainConfig
from ..runs.options import task_from_options
from ..tracks import TRACKS, Track
from .standings import check_version
from .tables import Part, attempted

#: Policies that every entrant meets in the cross table, besides the other entrants.
REFERENCES = ("random", "equilibrium")
CROSS = (
    "Who beats whom: the expected payoff of a row against a column, the mean over both seats. Of "
    "each agent the run of the smallest seed plays."
)


@dataclass(frozen=True)
class Finished:
    """A finished run of self-play.

    Attributes:
        folder: its folder.
        config: its options.
        found: its ``score.json``.
    """

    folder: Path
    config: TrainConfig
    found: dict[str, Any]

    @property
    def entrant(self) -> str:
        """Name of the algorithm."""
        return ALGORITHMS[self.config.algorithm].title


def read_runs(folder: Path) -> list[Finished]:
    """Read the finished runs on a track of self-play in a folder, by game, entrant and seed.

    Runs of other sizes of its games are left out.

    Raises:
        RunError: if a run is damaged, or of another version of its track.
    """
    places = [path.parent for path in folder.glob("*/score.json")]
    configs = {place: folders.read_config(place) for place in places}
    runs = [
        Finished(place, config, folders.read_score(place))
        for place, config in configs.items()
        if _counts(config)
    ]
    for run in runs:
        check_version(run.folder, run.found, track_of(run))
    return sorted(runs, key=_order)


def _order(run: Finished) -> tuple[int, int, int]:
    config = run.config
    place = list(ALGORITHMS).index(config.algorithm)
    return track_of(run).games.index(config.game_name), place, config.seed


def track_of(run: Finished) -> Track:
    """Return the track of a run."""
    return TRACKS[run.config.track or ""]


def _counts(config: TrainConfig) -> bool:
    """Return whether a run is on a track of self-play, in a game of the size of the track."""
    if config.track is None or not config.self_play:
        return False
    name, track = config.game_name, TRACKS[config.track]
    wanted = make_game(name, **track.keywords.get(name, {}))
    return name in track.games and task_from_options(config.game, config.env).game == wanted


def cross_table(runs: Sequence[Finished]) -> PayoffMatrix:
    """Let the final policies of a game's entrants play each other, in both seats.

    Args:
        runs: of one game; of each entrant the first takes part.
    """
    from ..learners.adapter import ModelPolicy  # needs stable-baselines3

    first: dict[str, Any] = {}
    for run in runs:
        if run.entrant not in first:
            model, env = folders.load_model(run.folder)
            first[run.entrant] = ModelPolicy(model, env.task.game)
    return payoff_matrix({**first, **{name: name for name in REFERENCES}}, env.task)


def cross_tables(runs: Sequence[Finished]) -> Part:
    """Make the cross tables of games, below each other; runs are sorted by game.

    Models of runs are large, so that a folder may lack them: its games are left out.
    """
    games = {name: list(group) for name, group in groupby(runs, lambda run: run.config.game_name)}
    tables, left_out = attempted({name: partial(cross_table, own) for name, own in games.items()})
    names = list(dict.fromkeys(name for table in tables.values() for name in table.names))
    rows = [
        [game, name, *_payoffs(table, row, names), f"{table.means[name]:.4f}"]
        for game, table in tables.items()
        for row, name in enumerate(table.names)
    ]
    header = ["game", "payoff of", *names, "mean against the others"]
    return Part(CROSS + left_out, (header, rows))


def _payoffs(table: PayoffMatrix, row: int, names: Sequence[str]) -> list[str]:
    found = dict(zip(table.names, table.payoffs[row], strict=True))
    return [f"{found[name]:.4f}" if name in found else "-" for name in names]
