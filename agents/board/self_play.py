"""The board of a track of self-play: exploitability of all entrants, and their cross table.

An entrant is an algorithm with the size of its pool of past selves. The score of a run is its
normalised exploitability: 1 for an equilibrium, 0 for uniformly random play (see
``baselines.scoring.self_play``). The cross table has the expected payoff of each entrant against
each other, as the mean over both seats; it is between the runs of the smallest seed.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ...baselines import PayoffMatrix, make_game, payoff_matrix
from ...core import GAMES
from ..algorithms import ALGORITHMS
from ..learners.adapter import ModelPolicy
from ..runs import folders
from ..runs.config import TrainConfig, task_from_options
from ..tracks import TRACKS

#: Policies that every entrant meets in the cross table, besides the other entrants.
REFERENCES = ("random", "equilibrium")
#: Columns of the table of runs: keys of the part of ``score.json``, and the numbers of a seat.
COLUMNS = ("exploitability", "normalized_exploitability", "nines", "guaranteed", "equilibrium")


@dataclass(frozen=True)
class Entry:
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
        """Name of the algorithm, with the pool of its opponents."""
        title, past = ALGORITHMS[self.config.algorithm].title, self.config.past_selves
        return f"{title}, {past} past selves" if past else title

    @property
    def key(self) -> tuple[int, str, int]:
        """The order of entries: by game, entrant and seed."""
        return list(GAMES).index(self.config.game_name), self.entrant, self.config.seed


def read_entries(folder: Path) -> list[Entry]:
    """Read the finished runs on a track of self-play in a folder, by game, entrant and seed.

    Runs of other sizes of its games are left out.

    Raises:
        RunError: if a run is damaged.
    """
    places = [path.parent for path in folder.glob("*/score.json")]
    entries = [Entry(at, folders.read_config(at), folders.read_score(at)) for at in places]
    return sorted((each for each in entries if _counts(each.config)), key=lambda each: each.key)


def _counts(config: TrainConfig) -> bool:
    """Return whether a run is on a track of self-play, in a game of the size of the track."""
    if config.track is None or not config.self_play:
        return False
    name, track = config.game_name, TRACKS[config.track]
    wanted = make_game(name, **track.keywords.get(name, {}))
    return name in track.games and task_from_options(config.game, config.env).game == wanted


def write(folder: Path) -> list[Path]:
    """Write self-play.md and self-play.csv of the finished runs in a folder.

    Raises:
        RunError: if a run is damaged.
    """
    entries = read_entries(folder)
    files = {"self-play.csv": to_csv(entries), "self-play.md": to_markdown(entries)}
    for name, text in files.items():
        folders.write(folder / name, text.encode())
    return [folder / name for name in files]


def to_csv(entries: Sequence[Entry]) -> str:
    """Write a row for each run, and for each mixture of a run's pool."""
    seats = [f"{name}_{seat}" for name in COLUMNS[3:] for seat in (0, 1)]
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["game", "entrant", "policy", "seed", "moves", "seconds", *COLUMNS[:3], *seats])
    for entry in entries:
        for policy, part in (("final", "self_play"), ("mixture", "mixture")):
            if part in entry.found:
                found = entry.found[part]
                numbers = [found[name] for name in COLUMNS[:3]]
                numbers += [value for name in COLUMNS[3:] for value in found[name]]
                start = [entry.config.game_name, entry.entrant, policy, entry.config.seed]
                rows.writerow([*start, entry.found["steps"], entry.found["seconds"], *numbers])
    return text.getvalue()


def to_markdown(entries: Sequence[Entry]) -> str:
    """Write a table of scores, and one for each game: who beats whom."""
    head = "| game | entrant | seeds | nines | normalised | exploitability | worst | "
    head += "seat 0 | seat 1 | equilibrium | seconds |"
    lines = ["# Self-play", "", _EXPLANATION, "", head, "|" + " --- |" * 11]
    for _, group in groupby(entries, lambda each: each.key[:2]):
        runs = list(group)
        lines.append(_row(runs, "self_play", runs[0].entrant))
        if "mixture" in runs[0].found:
            lines.append(_row(runs, "mixture", f"{runs[0].entrant}: the mixture"))
    lines += _overall(entries)
    for name, group in groupby(entries, lambda each: each.config.game_name):
        lines += ["", f"## {name}", "", *_curves(runs := list(group)), "", *_cross(runs)]
    return "\n".join(lines) + "\n"


_EXPLANATION = (
    "Exact figures, means over seeds. Exploitability is the mean over both seats of the value in "
    "equilibrium minus the value against a best response. Normalised, 1 is an equilibrium and 0 "
    "uniformly random play; nines are -log10(1 - normalised), at most 9. Seat 0 and seat 1: value "
    "against a best response. A mixture draws one policy of the pool for each game."
)


def _row(runs: Sequence[Entry], part: str, name: str) -> str:
    """Write the row of an entrant in a game."""
    found = [run.found[part] for run in runs]
    mean = {key: np.mean([each[key] for each in found], axis=0) for key in COLUMNS}
    worst = max(each["exploitability"] for each in found)
    first, second = mean["guaranteed"]
    seconds = np.mean([run.found["seconds"] for run in runs])
    equilibrium = " ".join(f"{value:.4f}" for value in mean["equilibrium"])
    return (
        f"| {runs[0].config.game_name} | {name} | {len(runs)} | {mean['nines']:.2f} | "
        f"{mean['normalized_exploitability']:.4f} | {mean['exploitability']:.6f} | {worst:.6f} | "
        f"{first:.4f} | {second:.4f} | {equilibrium} | {seconds:.0f} |"
    )


def _overall(entries: Sequence[Entry]) -> list[str]:
    """Write the mean of each entrant over its games, each game with the same weight."""
    lines = ["", "| entrant | games | mean nines | mean normalised |", "| --- | --- | --- | --- |"]
    for name in sorted({entry.entrant for entry in entries}):
        own = [entry for entry in entries if entry.entrant == name]
        games = [list(group) for _, group in groupby(own, lambda each: each.config.game_name)]
        nines, normalised = (
            np.mean([np.mean([run.found["self_play"][key] for run in runs]) for runs in games])
            for key in ("nines", "normalized_exploitability")
        )
        lines.append(f"| {name} | {len(games)} | {nines:.2f} | {normalised:.4f} |")
    return lines


def _curves(runs: Sequence[Entry]) -> list[str]:
    """Write the normalised exploitability of a game's entrants at the marks of the track."""
    key = "normalized_exploitability_at_marks"
    if any(key not in run.found for run in runs):
        return []
    marks = list(runs[0].found[key])
    lines = ["| normalised after moves | " + " | ".join(f"{int(mark):,}" for mark in marks) + " |"]
    lines.append("|" + " --- |" * (1 + len(marks)))
    for name, group in groupby(runs, lambda each: each.entrant):
        curves = [run.found[key] for run in group]
        means = [f"{np.mean([curve[mark] for curve in curves]):.4f}" for mark in marks]
        lines.append(f"| {name} | " + " | ".join(means) + " |")
    return lines


def cross_table(runs: Sequence[Entry]) -> PayoffMatrix:
    """Let the final policies of a game's entrants play each other, in both seats.

    Args:
        runs: of one game; of each entrant the first takes part.
    """
    first: dict[str, Any] = {}
    for run in runs:
        if run.entrant not in first:
            model, env = folders.load_model(run.folder)
            first[run.entrant] = ModelPolicy(model, env.task.game)
    return payoff_matrix({**first, **{name: name for name in REFERENCES}}, env.task)


def _cross(runs: Sequence[Entry]) -> list[str]:
    """Write the cross table of a game."""
    table = cross_table(runs)
    lines = ["| payoff against | " + " | ".join(table.names) + " | mean of the others |"]
    lines.append("|" + " --- |" * (2 + len(table.names)))
    for name, row in zip(table.names, table.payoffs, strict=True):
        worth = " | ".join(f"{value:.4f}" for value in row)
        lines.append(f"| {name} | {worth} | {table.means[name]:.4f} |")
    return lines
