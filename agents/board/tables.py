"""Tables of boards: rows are runs or entries, summarised over seeds and games.

A summary is of *strata*, the rows of one agent in each of some games: a statistic of all games
resamples the seeds of each game apart (see ``statistics``). A column of a table makes the cells of
a summary.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from ...baselines import Task, make_task, reference_names, score
from ...baselines.scoring.figure import FIGURES
from ...core import FloatArray, Table
from ...core.words import first_line
from .statistics import Estimate, Statistic, estimate, mean

_Part = TypeVar("_Part")


class Row(Protocol):
    """A finished run, or a certificate of an entry."""

    @property
    def game(self) -> str:
        """Name of its game."""

    @property
    def agent(self) -> str:
        """Name of the agent, on the board."""

    @property
    def seed(self) -> int:
        """Seed of its training."""

    @property
    def score(self) -> float:
        """The score by which it is ranked: 1 for the optimum, 0 for random play."""

    @property
    def nines(self) -> float:
        """-log10(1 - score), at most 9."""


AnyRow = TypeVar("AnyRow", bound=Row)
Strata: TypeAlias = Sequence[Sequence[Any]]  # the rows of each game


class Column(NamedTuple):
    """One column or several neighbours of a table of summaries.

    Attributes:
        names: in the header.
        cells: makes the texts of a summary.
    """

    names: Sequence[str]
    cells: Callable[[Strata], Sequence[str]]


class Part(NamedTuple):
    """A table that is computed after training, and words on it and on what is left out of it."""

    title: str
    words: str
    table: Table


def by(rows: Iterable[AnyRow], name: str) -> dict[str, list[AnyRow]]:
    """Group rows by one of their texts, such as game or agent."""
    groups: dict[str, list[AnyRow]] = {}
    for row in rows:
        groups.setdefault(getattr(row, name), []).append(row)
    return groups


def strata(rows: Iterable[AnyRow]) -> list[list[AnyRow]]:
    """Group rows by game."""
    return list(by(rows, "game").values())


def ranked(rows: Iterable[AnyRow]) -> dict[str, list[list[AnyRow]]]:
    """Give the strata of each agent; those that have run all games come first, best first."""
    agents = {name: strata(own) for name, own in by(rows, "agent").items()}

    def rank(name: str) -> tuple[int, float]:
        each = [numbers([own], "nines")[0].mean() for own in agents[name]]
        return -len(each), -float(np.mean(each))

    return {name: agents[name] for name in sorted(agents, key=rank)}


def numbers(own: Strata, name: str) -> list[FloatArray]:
    """Return a number of each row, by game; None becomes NaN."""
    return [np.array([getattr(row, name) for row in group], dtype=float) for group in own]


def table(
    names: Sequence[str],
    summarised: Iterable[tuple[Sequence[str], Strata]],
    columns: Sequence[Column],
) -> Table:
    """Make a table of summaries.

    Args:
        names: names of the first columns.
        summarised: the cells of the first columns in a line, and the rows that it summarises.
        columns: the other columns.
    """
    header = [*names, *(name for column in columns for name in column.names)]
    lines = [
        [*first, *(cell for column in columns for cell in column.cells(own))]
        for first, own in summarised
    ]
    return Table(header, lines, texts=len(names))


def single(name: str, cell: Callable[[Strata], str]) -> Column:
    """Make a column of one name."""
    return Column([name], lambda own: [cell(own)])


def average(name: str, attribute: str, form: str, factor: float = 1) -> Column:
    """Make the column of the mean over seeds of a number."""
    return single(
        name, lambda own: format(factor * np.concatenate(numbers(own, attribute)).mean(), form)
    )


def estimated(names: Sequence[str], attribute: str, statistic: Statistic, form: str) -> Column:
    """Make the columns of a statistic and of its interval."""

    def cells(own: Strata) -> Sequence[str]:
        found = estimate(numbers(own, attribute), statistic)
        return f"{found.middle:{form}}", interval_text(found, form)

    return Column(names, cells)


SEEDS = single("seeds", lambda own: str(sum(map(len, own))))
NINES = estimated(["nines", "95 % interval"], "nines", mean, ".3f")
SCORE = average("normalised score", "score", ".4f")
REGRET = single(
    "regret per 1,000 games",
    lambda own: f"{1000 * np.mean(numbers(own, 'regret')[0]):.1f} {unit_of(own[0][0].game)}",
)


def score_table(rows: Sequence[Row], games: Sequence[str]) -> Table:
    """Make the table of the mean scores: a row for each agent, a column for each game.

    Agents have the order of ``ranked``; "-" stands for a game without rows.
    """
    lines = []
    for name, own in ranked(rows).items():
        scores = {group[0].game: SCORE.cells([group])[0] for group in own}
        lines.append([name, *(scores.get(game, "-") for game in games)])
    return Table(["normalised score", *games], lines)


def interval_text(found: Estimate, form: str) -> str:
    """Write the ends of an interval; "-" if there is none, as with one seed."""
    if np.isnan(found.low):
        return "-"
    return f"{found.low:{form}} to {found.high:{form}}"


def unit_of(game: str) -> str:
    """Return what the payoffs of a game count: wins, or points."""
    return "wins" if make_task(game).game.payoff_range == (0.0, 1.0) else "points"


def moves_text(moves: Sequence[int | None]) -> str:
    """Write the mean of moves to a score; "-" if a seed never reached the score."""
    known = [number for number in moves if number is not None]
    return f"{np.mean(known):,.0f}" if len(known) == len(moves) else "-"


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


def _references(task: Task) -> list[str]:
    """List optimal and random play, and the policies whose registration names references."""
    names = ["optimal", "random", *reference_names(task.game)]
    if task.game.num_players > 2:
        names.append("equilibrium")  # it differs from the best response to other opponents
    return names


def reference_table(tasks: Mapping[str, Task], *, more: Sequence[str] = ()) -> Part:
    """Score the reference policies of tasks; those that a game does not have are left out.

    Args:
        tasks: the tasks by name.
        more: names of further columns, in ``FIGURES``.
    """
    figures = [figure for figure in FIGURES if figure.name in more]
    asked = {
        f"{policy} of {name}": (name, partial(score, policy, task))
        for name, task in tasks.items()
        for policy in _references(task)
    }
    scores, left_out = attempted({each: make for each, (_, make) in asked.items()})
    rows = [
        [asked[each][0], found.policy, f"{found.value:.6f}", f"{found.normalized:.4f}"]
        + [figure.text(found) for figure in figures]
        for each, found in scores.items()
    ]
    header = ["game", "policy", "value", "normalised score", *(each.label for each in figures)]
    words = " The policies of the sources, and random and optimal play, scored in the same way:"
    return Part("References", (left_out + words).strip(), Table(header, rows, texts=2))
