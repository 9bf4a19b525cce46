"""The leaderboard of a benchmark's folder: tables as Markdown and CSV.

Scores are exact, so that the seed of training is the only noise. Confidence intervals come from
resampling seeds; an interval for all games resamples the seeds of each game apart (the stratified
bootstrap of Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice",
NeurIPS 2021, section 4).
"""

import csv
import io
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ...baselines import Task, make_task, reference_names, score
from ...core import GAMES, FloatArray, IntArray
from ..algorithms import ALGORITHMS
from ..runs import folders
from ..runs.config import TrainConfig

Curve: TypeAlias = tuple[IntArray, FloatArray]  # moves, normalised scores
Table: TypeAlias = tuple[Sequence[str], Sequence[Sequence[str]]]  # header, rows

RESAMPLES = 10_000


@dataclass(frozen=True)
class Cell:
    """One finished training run."""

    game: str
    algorithm: str
    reward: str
    seed: int
    value: float
    optimum: float
    random: float
    regret: float
    normalized: float
    steps: int
    seconds: float
    steps_to_90: int | None  # moves to the first normalised score of 0.9; None if never reached
    steps_to_99: int | None


@dataclass(frozen=True)
class Summary:
    """Statistics over the seeds of one agent in one game, or in all games."""

    game: str
    agent: str
    seeds: int
    mean: float
    iqm: float
    worst: float
    low: float
    high: float
    seconds: float
    steps_to_90: float | None
    steps_to_99: float | None


@dataclass(frozen=True)
class Board:
    """The finished runs of a folder, and the tables made from them.

    Attributes:
        cells: the runs and their learning curves.
        results: the rows of all games and agents.
        references: the scores of the reference policies.
    """

    cells: dict[Cell, Curve]
    results: Table
    references: Table


def read_board(folder: Path) -> Board:
    """Read the finished runs of a folder, and make the tables.

    Raises:
        RunError: if a run is damaged.
    """
    cells = read_cells(folder)
    games = list(dict.fromkeys(cell.game for cell in cells))
    references = [
        [game, policy, f"{value:.6f}", f"{normalized:.4f}"]
        for game, policy, value, normalized in reference_scores(games)
    ]
    return Board(
        cells,
        (HEADER, [_texts(row) for row in summarise(list(cells))]),
        (["game", "policy", "value", "normalised score"], references),
    )


def write(folder: Path) -> list[Path]:
    """Write results.csv and leaderboard.md of the finished runs in a folder."""
    return write_tables(read_board(folder), folder)


def write_tables(board: Board, folder: Path) -> list[Path]:
    """Write results.csv and leaderboard.md into a folder."""
    files = {
        "results.csv": to_csv(list(board.cells)),
        "leaderboard.md": to_markdown(board.results, board.references),
    }
    for name, text in files.items():
        folders.write(folder / name, text.encode())
    return [folder / name for name in files]


def read_cells(folder: Path) -> dict[Cell, Curve]:
    """Read the finished runs of a folder, and their curves: moves and normalised scores.

    Raises:
        RunError: if a run is damaged.
    """
    cells = {}
    for path in sorted(folder.glob("*/score.json")):
        cell, curve = _read_cell(path.parent)
        cells[cell] = curve
    games = list(GAMES)
    order = sorted(cells, key=lambda cell: (games.index(cell.game), agent_name(cell), cell.seed))
    return {cell: cells[cell] for cell in order}


def _read_cell(folder: Path) -> tuple[Cell, Curve]:
    config = folders.read_config(folder)
    found, log = folders.read_score(folder), folders.read_log(folder)
    steps, scores = log["timesteps"].astype(np.int64), log["normalized"]
    reached = [steps[scores >= least] for least in (0.9, 0.99)]
    cell = Cell(
        game=config.game_name,
        algorithm=config.algorithm,
        reward=str(config.reward),
        seed=config.seed,
        **{name: found[name] for name in folders.NUMBERS},
        steps_to_90=int(reached[0][0]) if len(reached[0]) else None,
        steps_to_99=int(reached[1][0]) if len(reached[1]) else None,
    )
    return cell, (steps, scores)


def summarise(cells: Sequence[Cell]) -> list[Summary]:
    """Summarise the seeds of every game and agent, and of every agent over all its games."""
    rows = [
        _summary(game, agent, [list(group)])
        for (game, agent), group in itertools.groupby(
            cells, lambda cell: (cell.game, agent_name(cell))
        )
    ]
    for agent in sorted({agent_name(cell) for cell in cells}):
        own = [cell for cell in cells if agent_name(cell) == agent]
        strata = [list(group) for _, group in itertools.groupby(own, lambda cell: cell.game)]
        if len(strata) > 1:
            rows.append(_summary("all", agent, strata))
    return rows


def agent_name(run: Cell | TrainConfig) -> str:
    """Return the name of the algorithm, with the reward unless it is the outcome."""
    name = ALGORITHMS[run.algorithm].title
    return name if run.reward == "outcome" else f"{name}, {run.reward} reward"


def _summary(game: str, agent: str, strata: list[list[Cell]]) -> Summary:
    from scipy import stats  # slow to import, and not needed by workers

    samples = [np.array([cell.normalized for cell in group]) for group in strata]
    cells = list(itertools.chain.from_iterable(strata))
    everything = np.concatenate(samples)
    low = high = float(everything.mean())
    if min(len(sample) for sample in samples) > 1 and np.ptp(everything) > 0:
        interval = stats.bootstrap(  # resamples within each of the samples
            samples,
            lambda *groups, axis: np.concatenate(groups, axis=axis).mean(axis=axis),
            n_resamples=RESAMPLES,
            method="percentile",
            rng=0,
        ).confidence_interval
        low, high = float(interval.low), float(interval.high)
    return Summary(
        game=game,
        agent=agent,
        seeds=len(cells),
        mean=float(everything.mean()),
        iqm=float(stats.trim_mean(everything, 0.25)),
        worst=float(everything.min()),
        low=low,
        high=high,
        seconds=float(np.mean([cell.seconds for cell in cells])),
        steps_to_90=_mean([cell.steps_to_90 for cell in cells]),
        steps_to_99=_mean([cell.steps_to_99 for cell in cells]),
    )


def _mean(steps: list[int | None]) -> float | None:
    """Return the mean; None if a seed never reached the score."""
    known = [number for number in steps if number is not None]
    return float(np.mean(known)) if len(known) == len(steps) else None


def reference_scores(games: Iterable[str]) -> list[tuple[str, str, float, float]]:
    """Score the reference policies of games: (game, policy, value, normalised score)."""
    return [
        (game, name, found.value, found.normalized)
        for game in games
        for task in [make_task(game)]
        for name in _references(task)
        for found in [score(name, task)]
    ]


def _references(task: Task) -> list[str]:
    """List optimal and random play, and the policies whose registration names references."""
    names = ["optimal", "random", *reference_names(task.game)]
    if task.game.num_players > 2:
        names.append("equilibrium")  # it differs from the best response to other opponents
    return names


def to_csv(cells: Sequence[Cell]) -> str:
    """Write one line for each run, with all digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(entry.name for entry in fields(Cell))
    writer.writerows(astuple(cell) for cell in cells)
    return text.getvalue()


HEADER = [
    "game", "agent", "seeds", "mean", "IQM", "worst seed", "95 % interval of the mean",
    "seconds", "moves to 0.9", "moves to 0.99",
]  # fmt: skip
INTRODUCTION = (
    "Exact normalised scores: 1 is the optimum, 0 uniformly random play. Each is computed over "
    "every state of the game, so that the seed of training is the only noise. Intervals come from "
    "resampling seeds, within each game where games are put together. Seconds are those of one "
    "run on one core, its exact scores included; moves are the agent's until the mean exact score "
    "first reached 0.9 and 0.99 (-: some seed never did)."
)
REFERENCES = "The policies of the sources, and random and optimal play, scored in the same way:"


def to_markdown(results: Table, references: Table) -> str:
    """Write the tables as Markdown."""
    parts = ["# Leaderboard", INTRODUCTION, _markdown(*results), REFERENCES, _markdown(*references)]
    return "\n\n".join(parts) + "\n"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    table = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in table)


def _texts(row: Summary) -> list[str]:
    def moves(number: float | None) -> str:
        return "-" if number is None else f"{number:,.0f}"

    return [
        row.game,
        row.agent,
        str(row.seeds),
        *(f"{number:.4f}" for number in (row.mean, row.iqm, row.worst)),
        f"{row.low:.4f} to {row.high:.4f}",
        f"{row.seconds:.0f}",
        moves(row.steps_to_90),
        moves(row.steps_to_99),
    ]
