"""Scores in words, for the terminal."""

from contextlib import suppress
from itertools import groupby
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...baselines import Score
from ...baselines.scoring.certificate_file import printable
from ...baselines.scoring.figure import FIGURES
from ...baselines.scoring.summary import Table as Numbers
from ...baselines.scoring.summary import costliest, pays_wins, result, summary, tables
from ...core import SizeError
from ...core.progress import tell


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
        console.print(drawn(each))
    try:
        costly = costliest(score, 10)
    except SizeError as error:
        console.print(f"no decisions: {error}", highlight=False, markup=False, soft_wrap=True)
        return
    if costly.rows:
        console.print(drawn(costly._replace(title="costliest decisions")))


def drawn(numbers: Numbers) -> Table:
    """Draw a table, whose words wrap at the width of the terminal."""
    look: Any = {"box": box.SIMPLE_HEAD, "pad_edge": False, "title_justify": "left"}
    table = Table(title=numbers.title or None, **look)
    for place, name in enumerate(numbers.header):
        if place < numbers.texts:
            least = 16 if numbers.texts > 1 and not place else None
            table.add_column(name, min_width=least, overflow="fold")
        else:
            table.add_column(name, justify="right", min_width=8)
    for row in numbers.rows:
        table.add_row(*map(Text, row))
    return table


def _in_depth(score: Score) -> str:
    """Put outcomes, and the figures that have sentences, into words."""
    lines = []
    if score.outcomes is not None:
        game, law = score.task.game, sorted(score.outcomes.items(), reverse=True)
        each = (f"{result(payoff, game)} ({chance:.2%})" for payoff, chance in law)
        what = "results" if pays_wins(game) else "payoffs"
        lines.append(f"{what} and their probabilities: {', '.join(each)}")
    told = [figure for figure in FIGURES if figure.sentence and figure.text(score)]
    for _, alike in groupby(told, lambda figure: figure.format):  # of one format: on one line
        lines.append("; ".join(one.sentence.format(one.text(score)) for one in alike))
    return "\n".join(lines)
