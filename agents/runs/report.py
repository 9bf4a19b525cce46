"""Scores in words, for the terminal."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...baselines import Blunder, Score
from ...baselines.scoring.certificate import printable
from ...baselines.scoring.figure import FIGURES, Figure
from ...baselines.scoring.summary import Table as Numbers
from ...baselines.scoring.summary import pays_wins, result, summary, tables
from ...core import SizeError
from ...core.progress import tell
from ...core.words import to_you

_LOOK: Any = {"box": box.SIMPLE_HEAD, "pad_edge": False, "title_justify": "left"}


def compute(score: Score) -> None:
    """Compute all that ``report`` prints; a score computes a figure when it is first asked."""
    for number, figure in enumerate(FIGURES):
        tell(number, len(FIGURES), figure.label or figure.name)
        with suppress(SizeError):  # of a game too large for the figure
            getattr(score, figure.name)


def report(score: Score, console: Console) -> None:
    """Print the exact score and the costliest decisions."""
    console.print(printable(score.title), highlight=False, markup=False, soft_wrap=True)
    columns = [figure for figure in FIGURES if figure.label and not figure.sentence]
    table = Table(*(figure.label for figure in columns), box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_row(*(figure.text(score) for figure in columns))
    console.print(table)
    for sentence in summary(score):
        console.print(Text(sentence), soft_wrap=True)
    console.print(_in_depth(score), highlight=False, soft_wrap=True)
    for each in tables(score):
        console.print(_numbers(each))
    try:
        costly = score.blunders(10)
    except SizeError as error:
        console.print(f"no decisions: {error}", highlight=False, markup=False, soft_wrap=True)
        return
    if costly:
        console.print(_table(costly, score.task.game.has_cycles))


def _table(costly: Sequence[Blunder], has_cycles: bool) -> Table:
    """Make a table of blunders, whose words wrap at the width of the terminal."""
    table = Table(title="costliest decisions", **_LOOK)
    table.add_column("position", min_width=16)
    for name in ("played", "best"):
        table.add_column(name)
    for name in ("cost a game", "times a game" if has_cycles else "of games"):
        table.add_column(name, justify="right", min_width=8)
    for blunder in costly:
        met = f"{blunder.occupancy:.4f}" if has_cycles else f"{blunder.occupancy:.2%}"
        moves = (to_you(words) for words in (blunder.move, blunder.best_move))
        table.add_row(*map(Text, (blunder.position, *moves, f"{blunder.cost:.6f}", met)))
    return table


def _numbers(each: Numbers) -> Table:
    """Make a table whose columns after the first are numbers."""
    name, *columns = each.header
    table = Table(name, title=each.title, **_LOOK)
    for column in columns:
        table.add_column(column, justify="right")
    for row in each.rows:
        table.add_row(*map(Text, row))
    return table


def text_of(figure: Figure, score: Score) -> str:
    """Write a figure; nothing if the game is too large for it."""
    try:
        return figure.text(score)
    except SizeError:
        return ""


def _in_depth(score: Score) -> str:
    """Put outcomes, and the figures that have sentences, into words."""
    lines = []
    if score.outcomes is not None:
        game, law = score.task.game, sorted(score.outcomes.items(), reverse=True)
        each = (f"{result(payoff, game)} ({chance:.2%})" for payoff, chance in law)
        what = "results" if pays_wins(game) else "payoffs"
        lines.append(f"{what} and their probabilities: {', '.join(each)}")
    told = [figure for figure in FIGURES if figure.sentence and text_of(figure, score)]
    for _, alike in groupby(told, lambda figure: figure.format):  # of one format: on one line
        lines.append("; ".join(one.sentence.format(one.text(score)) for one in alike))
    return "\n".join(lines)
