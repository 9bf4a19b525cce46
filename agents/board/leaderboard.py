"""The leaderboard of a benchmark's folder: tables as Markdown and CSV.

Scores are exact, so that the seed of training is the only noise. Confidence intervals come from
resampling seeds; an interval for all games resamples the seeds of each game apart (see
``statistics``).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ...core import GAMES, FloatArray, IntArray
from ..algorithms import ALGORITHMS
from ..runs import folders
from ..runs.config import TrainConfig
from .statistics import Estimate, estimate, iqm, mean
from .tables import (
    Part,
    Table,
    interval_text,
    markdown,
    mean_moves,
    moves_text,
    reference_table,
    sizes_of,
    task_name,
    task_of,
    to_csv,
    write_files,
)

Curve: TypeAlias = tuple[IntArray, FloatArray]  # moves, normalised scores


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
    mean: Estimate
    iqm: float
    worst: float
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
    references: Part


def read_board(folder: Path) -> Board:
    """Read the finished runs of a folder, and make the tables.

    Raises:
        RunError: if a run is damaged.
    """
    runs = _read_runs(folder)
    cells = {cell: curve for _, cell, curve in runs}
    return Board(
        cells,
        (HEADER, [_texts(row) for row in summarise(list(cells))]),
        reference_table({cell.game: task_of(config) for config, cell, _ in runs}),
    )


def write_tables(board: Board, folder: Path) -> list[Path]:
    """Write results.csv and leaderboard.md into a folder."""
    parts = [INTRODUCTION, markdown(board.results)]
    parts += [board.references.words, markdown(board.references.table)]
    return write_files(folder, to_csv(Cell, list(board.cells)), "Leaderboard", parts)


def read_cells(folder: Path) -> dict[Cell, Curve]:
    """Read the finished runs of a folder, and their curves: moves and normalised scores.

    Raises:
        RunError: if a run is damaged.
    """
    return {cell: curve for _, cell, curve in _read_runs(folder)}


def _read_runs(folder: Path) -> list[tuple[TrainConfig, Cell, Curve]]:
    games = list(GAMES)
    runs = []
    for path in sorted(folder.glob("*/score.json")):
        config = folders.read_config(path.parent)
        runs.append((config, *_read_cell(path.parent, config)))
    return sorted(
        runs,
        key=lambda run: (
            games.index(run[0].game_name),
            sizes_of(run[0]),
            agent_name(run[1]),
            run[1].seed,
        ),
    )


def _read_cell(folder: Path, config: TrainConfig) -> tuple[Cell, Curve]:
    found, log = folders.read_score(folder), folders.exact_part(folders.read_log(folder))
    steps, scores = log["timesteps"].astype(np.int64), log["normalized"]
    reached = [steps[scores >= least] for least in (0.9, 0.99)]
    cell = Cell(
        game=task_name(config),
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
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.game, agent_name(cell)), []).append(cell)
    rows = [_summary(game, agent, [group]) for (game, agent), group in groups.items()]
    for agent in sorted({agent for _, agent in groups}):
        strata = [group for (_, name), group in groups.items() if name == agent]
        if len(strata) > 1:
            rows.append(_summary("all", agent, strata))
    return rows


def agent_name(run: Cell | TrainConfig) -> str:
    """Return the name of the algorithm, with the reward unless it is the outcome."""
    name = ALGORITHMS[run.algorithm].title
    return name if run.reward == "outcome" else f"{name}, {run.reward} reward"


def _summary(game: str, agent: str, strata: list[list[Cell]]) -> Summary:
    samples = [np.array([cell.normalized for cell in group]) for group in strata]
    cells = list(itertools.chain.from_iterable(strata))
    return Summary(
        game=game,
        agent=agent,
        seeds=len(cells),
        mean=estimate(samples, mean),
        iqm=float(iqm([sample[None] for sample in samples])[0]),
        worst=min(cell.normalized for cell in cells),
        seconds=float(np.mean([cell.seconds for cell in cells])),
        steps_to_90=mean_moves([cell.steps_to_90 for cell in cells]),
        steps_to_99=mean_moves([cell.steps_to_99 for cell in cells]),
    )


HEADER = [
    "game", "agent", "seeds", "mean", "IQM", "worst seed", "95 % interval of the mean",
    "seconds", "moves to 0.9", "moves to 0.99",
]  # fmt: skip
INTRODUCTION = (
    "Exact normalised scores: 1 is the optimum, 0 uniformly random play. Each is computed over "
    "every state of the game, so that the seed of training is the only noise. Intervals come from "
    "resampling seeds, within each game where games are put together. Seconds are those of one "
    "run on one core, its exact scores included; moves are the agent's until a run's exact score "
    "first reached 0.9 and 0.99, a mean over seeds (-: some seed never did)."
)


def _texts(row: Summary) -> list[str]:
    return [
        row.game,
        row.agent,
        str(row.seeds),
        *(f"{number:.4f}" for number in (row.mean.middle, row.iqm, row.worst)),
        interval_text(row.mean, ".4f"),
        f"{row.seconds:.0f}",
        moves_text(row.steps_to_90),
        moves_text(row.steps_to_99),
    ]
