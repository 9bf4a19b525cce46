"""Tables of boards: their texts, as Markdown and CSV, and the tasks and policies that they name."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from ...baselines import Task, make_task, reference_names, score
from ...core import write_file
from ...core.words import first_line
from ..runs.config import TrainConfig
from ..runs.options import task_from_options
from .statistics import Estimate

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Table: TypeAlias = tuple[Sequence[str], Sequence[Sequence[str]]]  # header, rows
_Part = TypeVar("_Part")


class Part(NamedTuple):
    """A table that is computed after training, and words on it and on what is left out of it."""

    words: str
    table: Table


def attempted(parts: Mapping[str, Callable[[], _Part]]) -> tuple[dict[str, _Part], str]:
    """Make parts of a result, by name; say which are left out because of an error, and of which.

    Nothing that comes after training may lose its result, so no error of a part ends the rest.
    """
    made, left_out = dict[str, _Part](), ""
    for name, make in parts.items():
        try:
            made[name] = make()
        except Exception as error:  # a game may also have policies of strangers
            left_out += f" Left out: {name}: {first_line(error).rstrip('.')}."
    return made, left_out


def task_of(config: TrainConfig) -> Task:
    """Return the task on which the agent of a run is scored."""
    return task_from_options(config.game, _keywords(config))


def task_name(config: TrainConfig) -> str:
    """Name the task of a run: its game, with the keywords if they make another task."""
    words = [f"{name} {value}" for name, value in _keywords(config).items()]
    if not words or task_of(config) == make_task(config.game_name):
        return config.game_name
    return f"{config.game_name}, {', '.join(words)}"


def sizes_of(config: TrainConfig) -> list[tuple[str, float, str]]:
    """Return the keywords of a run's task for sorting: numbers by size."""
    return [
        (name, value if isinstance(value, int) else 0, str(value))
        for name, value in sorted(_keywords(config).items())
    ]


def _keywords(config: TrainConfig) -> dict[str, Any]:
    """Return the keywords of a run that make its task."""
    given = config.hyperparameters.env_kwargs.items()
    return {name: value for name, value in given if name not in ("reward", "encoding")}


def markdown(table: Table) -> str:
    """Write a table as Markdown."""
    header, rows = table
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def to_csv(kind: "type[DataclassInstance]", rows: "Sequence[DataclassInstance]") -> str:
    """Write a line for each instance of a dataclass, with all digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(entry.name for entry in fields(kind))
    writer.writerows(astuple(row) for row in rows)
    return text.getvalue()


def write_files(folder: Path, runs: str, title: str, parts: Sequence[str]) -> list[Path]:
    """Write results.csv, and leaderboard.md of a title and parts, into a folder."""
    files = {
        "results.csv": runs,
        "leaderboard.md": "\n\n".join([f"# {title}", *parts]) + "\n",
    }
    for name, text in files.items():
        write_file(folder / name, text.encode())
    return [folder / name for name in files]


def interval_text(found: Estimate, form: str) -> str:
    """Write the ends of an interval; "-" if there is none, as with one seed."""
    if np.isnan(found.low):
        return "-"
    return f"{format(found.low, form)} to {format(found.high, form)}"


def unit_of(game: str) -> str:
    """Return what the payoffs of a game count: wins, or points."""
    return "wins" if make_task(game).game.payoff_range == (0.0, 1.0) else "points"


def mean_moves(numbers: Sequence[int | None]) -> float | None:
    """Return the mean of moves to a score; None if a seed never reached the score."""
    known = [number for number in numbers if number is not None]
    return float(np.mean(known)) if len(known) == len(numbers) else None


def moves_text(number: float | None) -> str:
    """Write moves to a score; "-" if it was never reached."""
    return "-" if number is None else f"{number:,.0f}"


def _references(task: Task) -> list[str]:
    """List optimal and random play, and the policies whose registration names references."""
    names = ["optimal", "random", *reference_names(task.game)]
    if task.game.num_players > 2:
        names.append("equilibrium")  # it differs from the best response to other opponents
    return names


def reference_table(tasks: Mapping[str, Task], columns: Iterable[Any] = ()) -> Part:
    """Score the reference policies of tasks; those that a game does not have are left out.

    Args:
        tasks: the tasks by name.
        columns: further columns, as ``Figure``.
    """
    more = list(columns)
    asked = {
        f"{policy} of {name}": (name, partial(score, policy, task))
        for name, task in tasks.items()
        for policy in _references(task)
    }
    scores, left_out = attempted({each: make for each, (_, make) in asked.items()})
    rows = [
        [asked[each][0], found.policy, f"{found.value:.6f}", f"{found.normalized:.4f}"]
        + [figure.text(found) for figure in more]
        for each, found in scores.items()
    ]
    header = ["game", "policy", "value", "normalised score", *(figure.label for figure in more)]
    words = " The policies of the sources, and random and optimal play, scored in the same way:"
    return Part((left_out + words).strip(), (header, rows))
