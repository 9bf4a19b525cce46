"""The board of a benchmark's folder: its finished runs, and the tables of them.

A run is on the board of its track if its game is one of the track, with the track's keywords. Runs
without a track, or of other sizes, as those of a ladder, have a board on which each size is a game
of its own. Scores are exact, so that the seed of training is the only noise.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..agents.runs import folders
from ..agents.runs.config import RunError
from ..baselines import PayoffMatrix, payoff_matrix
from ..core import Table, write_file
from ..core.words import listed, plural
from . import strata
from .results import Run, read_runs, write_runs
from .tracks import PERCENTS, TRACKS, Track

#: Policies that every agent meets in the cross table, besides the other agents.
REFERENCES = ("random", "equilibrium")


@dataclass(frozen=True)
class Board:
    """The board of a folder."""

    folder: Path  # whose run folders may have the models of the runs
    track: Track | None  # None for the board of all runs, whose games are any tasks
    runs: list[Run]  # those on the board, by game, size, algorithm and seed
    others: int = 0  # number of runs in the folder that are not on the board

    @property
    def title(self) -> str:
        """The heading."""
        return "Leaderboard" if self.track is None else self.track.title

    @property
    def groups(self) -> dict[tuple[str, str], list[list[Run]]]:
        """The strata of each game and agent; on the board of any tasks, also of common games."""
        found = {
            (game, agent): [own]
            for game, runs in strata.by(self.runs, "game").items()
            for agent, own in strata.by(runs, "agent").items()
        }
        agents = strata.by(self.runs, "agent")
        played = [{run.game for run in own} for own in agents.values()]
        common = set.intersection(*played) if played else set()
        for agent, own in sorted(agents.items()):
            if self.track is None and len(common) > 1:
                found["all", agent] = strata.by_game(run for run in own if run.game in common)
        return found

    @cached_property
    def tables(self) -> list[Table]:
        """The tables of the agents: over all games, and in each."""
        head = ("game", "agent")
        if self.track is None:
            return [strata.table(head, self.groups.items(), RESULTS)]
        of_score = OF_SELF_PLAY if self.track.self_play else OF_SCORES
        shared = {**strata.SEEDS, **strata.NINES, **strata.SCORE}
        columns = {**shared, "area": AREA, **REACHED, **of_score, "seconds": SECONDS}
        games = self.track.games
        number = {"games": lambda own: f"{len(own)} of {len(games)}"}
        agents = strata.by(self.runs, "agent").values()
        by_agent = sorted(map(strata.by_game, agents), key=strata.rank)
        lines = [((own[0][0].agent,), own) for own in by_agent]
        found = strata.pairs(by_agent)
        place = dict(zip(map(id, by_agent), strata.ranks(found), strict=True))
        first: dict[str, strata.Cell] = {"rank": lambda own: place[id(own)], **number}
        return [
            strata.table(("agent",), lines, {**first, **TOTALS, "seconds": SECONDS}),
            strata.compared([own[0][0].agent for own in by_agent], found),
            strata.table(("normalised score",), lines, {game: _score_in(game) for game in games}),
            strata.table(head, self.groups.items(), columns),
        ]

    @property
    def brief(self) -> Table:
        """The first table in the columns that a terminal has room for."""
        whole = self.tables[0]
        places = [place for place, name in enumerate(whole.header) if name in BRIEF]
        rows = [[row[place] for place in places] for row in (whole.header, *whole.rows)]
        return Table(rows[0], rows[1:], texts=whole.texts)

    @cached_property
    def more(self) -> strata.Section:
        """The table below the others: the cross table of a self-play track, or reference scores."""
        if self.track is not None and self.track.self_play:
            return cross_tables(self.runs, self.folder)
        tasks = {game: own[0].task for game, own in strata.by(self.runs, "game").items()}
        return strata.reference_table(tasks, more=() if self.track is None else ("nines",))

    @property
    def words(self) -> str:
        """The rules of the board, and how the figures are computed."""
        if self.track is None:
            return INTRODUCTION
        runs = plural(self.others, "run")
        left = f" Left out: {self.others} {runs} of the folder in other tasks."
        return _rules(self.track) + (left if self.others else "")


def read_board(folder: Path) -> Board:
    """Read the finished runs of a folder, and make their board (see ``board_of``)."""
    return board_of(read_runs(folder), folder)


def board_of(runs: Sequence[Run], folder: Path) -> Board:
    """Make the board of the runs of a folder."""
    names = sorted({run.track or "no track" for run in runs})
    if len(names) > 1:
        raise RunError(f"folder must hold runs of one track, got {', '.join(names)} in {folder}")
    track = TRACKS.get("".join(names))
    own = [run for run in runs if track is not None and run.game in track.games]
    if track is None or not own:
        return Board(folder, None, list(runs))
    own.sort(key=lambda run: (track.games.index(run.game), run.order))
    known: dict[tuple[str, str, int], str] = {}
    for run in own:
        if run.version not in track.versions:
            raise RunError(
                f"{run.name} must be of version {track.version} of {track.name}, got "
                f"{json.dumps(run.version)}"
            )
        earlier = known.setdefault((run.game, run.agent, run.seed), run.name)
        if earlier != run.name:  # they would be one sample
            raise RunError(
                f"runs of {run.agent} in {run.game} must have different seeds, got seed "
                f"{run.seed} in {earlier} and {run.name}"
            )
    return Board(folder, track, own, len(runs) - len(own))


def write(folder: Path, page: Callable[[Board], str] | None = None) -> list[Path]:
    """Write the results of the finished runs in a folder, their tables, and a page of the board."""
    board = board_of(runs := read_runs(folder), folder)
    _keep_cross_tables(board)
    *tables, last = (each.markdown(aligned=True) for each in (*board.tables, board.more.table))
    parts = [f"# {board.title}", board.words, *tables, board.more.words, last]
    written = [*write_runs(runs, folder), folder / "leaderboard.md"]
    write_file(written[-1], ("\n\n".join(parts) + "\n").encode())
    if page is not None:  # last: the tables stand, whatever a drawing may meet
        written.append(folder / "leaderboard.html")
        write_file(written[-1], page(board).encode())
    return written


def _keep_cross_tables(board: Board) -> None:
    """Raise a ``RunError`` if a cross table of the folder would be lost: it needs models."""
    page = board.folder / "leaderboard.md"
    if board.track is None or not board.track.self_play or not page.is_file():
        return
    made = {row[0] for row in board.more.table.rows}
    before = page.read_text(encoding="utf-8").rpartition(CROSS)[2]
    lost = [run for run in board.runs if run.game not in made and f"\n| {run.game} " in before]
    if lost:
        groups = strata.by(lost, "game").values()
        names = listed(own[0].name for runs in groups for own in strata.by(runs, "agent").values())
        raise RunError(
            f"{page} must keep its cross table, which is made from the models in the run folders "
            f"{names}: put back those that are missing, or choose another --folder"
        )


def cross_table(runs: Sequence[Run], folder: Path) -> PayoffMatrix:
    """Let the final policies of a game's agents, of the first run of each, play in both seats."""
    from ..agents.learners.adapter import ModelPolicy  # needs stable-baselines3

    first: dict[str, Any] = {}
    for agent, own in strata.by(runs, "agent").items():
        model, env = folders.load_model(folder / own[0].name)
        first[agent] = ModelPolicy(model, env.task.game)
    return payoff_matrix({**first, **{name: name for name in REFERENCES}}, env.task)


def cross_tables(runs: Sequence[Run], folder: Path) -> strata.Section:
    """Make the cross tables of games, below each other, as far as the folder has the models."""
    games = strata.by(runs, "game")
    tables = {name: partial(cross_table, own, folder) for name, own in games.items()}
    found, left_out = strata.attempted(tables)
    names = list(dict.fromkeys(name for each in found.values() for name in each.names))
    rows = []
    for game, each in found.items():
        for name, payoffs in zip(each.names, each.payoffs, strict=True):
            known = {other: f"{p:.4f}" for other, p in zip(each.names, payoffs, strict=True)}
            cells = [known.get(other, "-") for other in names]
            rows.append([game, name, *cells, f"{each.means[name]:.4f}"])
    header = ["game", "payoff of", *names, "mean against the others"]
    return strata.Section("Cross table", CROSS + left_out, Table(header, rows, texts=2))


def _trials(own: strata.Strata) -> str:
    """Write the number of trials of all runs; "-" if they differ or it is not known."""
    found = {run.trials for group in own for run in group}
    number = found.pop() if len(found) == 1 else None
    return "-" if number is None else str(number)


def _reached(least: float) -> strata.Cell:
    """Write the mean of the moves to a score; "-" if a seed never reached it."""

    def cell(own: strata.Strata) -> str:
        moves = [run.moves_to(least) for group in own for run in group]
        return "-" if None in moves else f"{np.mean(moves):,.0f}"

    return cell


def _score_in(game: str) -> strata.Cell:
    """Write the mean score in a game; "-" without runs."""

    def cell(own: strata.Strata) -> str:
        found = [group for group in own if group[0].game == game]
        return strata.SCORE["normalised score"](found) if found else "-"

    return cell


def _equilibrium(own: strata.Strata) -> str:
    seats = (strata.numbers(own, f"equilibrium_{seat}")[0].mean() for seat in (0, 1))
    return " and ".join(f"{value:.4f}" for value in seats)


AREA = strata.over_rows("area", ".4f")
REACHED = {f"moves to {least}": _reached(least) for least in (0.9, 0.99)}
SECONDS = strata.over_rows("seconds", ".0f")
#: Columns of a track over all games, between the number of games and the seconds.
TOTALS = {"runs": strata.SEEDS["seeds"], "trials": _trials, **strata.HEADLINES, "area": AREA}
#: Columns of a track's games, and those of games of self-play.
OF_SCORES = {**strata.REGRET, "flawless games": strata.over_rows("flawless", ".1%")}
OF_SELF_PLAY = {
    "exploitability per 1,000 games": strata.over_rows("exploitability", ".2f", 1000),
    "worst seed": strata.over_rows("exploitability", ".2f", 1000, np.max),
    "value of seat 0": strata.over_rows("guaranteed_0", ".4f"),
    "value of seat 1": strata.over_rows("guaranteed_1", ".4f"),
    "in equilibrium": _equilibrium,
}
_MEANS = strata.estimated("mean", "95 % interval of the mean", strata.mean, ".4f")
#: Columns of the board of any tasks.
RESULTS = {
    **strata.SEEDS,
    "mean": _MEANS["mean"],
    "IQM": strata.HEADLINES["IQM"],
    "worst seed": strata.over_rows("score", ".4f", pick=np.min),
    "95 % interval of the mean": _MEANS["95 % interval of the mean"],
    "seconds": SECONDS,
    **REACHED,
}

#: Columns that a terminal shows.
BRIEF = {"game", "agent", "rank", "games", *strata.NINES, "IQM", "seeds", "mean", "worst seed"}

CROSS = (
    "Who beats whom: the expected payoff of a row against a column, the mean over both seats. Of "
    "each agent the run of the smallest seed plays."
)
INTRODUCTION = (
    "Exact normalised scores: 1 is the optimum, 0 uniformly random play. Each is computed over "
    "every state of the game, so that the seed of training is the only noise. Intervals come from "
    'resampling seeds, within each game where games are put together: the rows "all" are over the '
    "games that every agent has run. Seconds are those of one run on one core, its exact scores "
    "included; moves are the agent's until a run's exact score first reached 0.9 and 0.99, a mean "
    "over seeds (-: some seed never did)."
)


def _rules(track: Track) -> str:
    """Put the rules of a track into words, and how the figures are computed."""
    seats = "both seats" if track.self_play else "its agent"
    begin = (
        f"Every run makes at most {track.moves:,} moves of {seats} in all, exploration included,"
    )
    scored = (
        "Its last policy is scored, not its best, and the policy at "
        f"{', '.join(map(str, PERCENTS))} per cent of the moves: exactly, over every state of the "
        "game"
    )
    trials = (
        "Trials are those of the search for the hyperparameters, 0 of hyperparameters set by hand "
        "(-: they are not those of the package)."
    )
    if track.self_play:
        return (
            f"{begin} and meets nobody but itself. {scored}. Exploitability is the mean over both "
            "seats of the value in equilibrium minus the value against a best response; the values "
            "of the seats are those against a best response. The normalised score is 1 - "
            f"exploitability / that of uniformly random play; {strata.HEADLINE}; the area is that "
            f"under their curve, over the logarithm of the moves. {strata.INTERVALS} Seconds are "
            f"those of one run, its scores until the end included. {trials}"
        )
    return (
        f"{begin} in a game with its default keywords. {scored}, so that the seed of training is "
        f"the only noise. 1 is the optimum, 0 uniformly random play; {strata.HEADLINE}; the area "
        "is that under the curve of normalised scores, over the logarithm of the moves. "
        f"{strata.INTERVALS} Moves to 0.9 and 0.99 are the first mark with such a score, a mean "
        "over seeds (-: some seed never did); seconds are those of one run, its exact scores "
        f"included. {trials}"
    )
