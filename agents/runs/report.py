"""Scores in words, for the terminal."""

from contextlib import suppress
from dataclasses import replace
from itertools import groupby

from rich.console import Console
from rich.text import Text

from ...baselines import Score
from ...baselines.scoring.certificate_file import printable
from ...baselines.scoring.figure import FIGURES
from ...baselines.scoring.summary import costliest, pays_wins, quoted, result, summary, tables
from ...core import SizeError, Table
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
    rows = [(figure.label, figure.text(score)) for figure in columns]
    Table(["", quoted(score.policy)], rows).show(console)
    for sentence in summary(score):
        console.print(Text(sentence), soft_wrap=True)
    console.print(_in_depth(score), highlight=False, soft_wrap=True)
    for each in tables(score):
        each.show(console)
    try:
        costly = costliest(score, 10)
    except SizeError as error:
        console.print(f"no decisions: {error}", highlight=False, markup=False, soft_wrap=True)
        return
    if costly.rows:
        replace(costly, title="costliest decisions").show(console)


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
