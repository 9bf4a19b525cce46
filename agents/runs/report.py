"""Scores in words, for the terminal."""

from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table

from ...baselines import Score
from ...baselines.scoring.certificate import printable
from ...baselines.scoring.figure import FIGURES, Figure
from ...core import SizeError


def report(score: Score, console: Console) -> None:
    """Print the exact score and the costliest decisions."""
    kind = "deterministic" if score.deterministic else "stochastic"
    held = "masked" if score.masked else "not masked"
    title = f"{score.policy} ({kind}, {held}) in {score.task.words}"
    console.print(printable(title), highlight=False, markup=False, soft_wrap=True)
    columns = [figure for figure in FIGURES if figure.label and not figure.sentence]
    table = Table(*(figure.label for figure in columns), box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_row(*(figure.text(score) for figure in columns))
    console.print(table)
    console.print(_in_depth(score), highlight=False, soft_wrap=True)
    try:
        costly = score.blunders(10)
    except SizeError as error:
        console.print(f"no decisions: {error}", highlight=False, markup=False, soft_wrap=True)
        return
    if not costly:
        console.print("no decision costs anything")
        return
    console.print("costliest decisions:")
    for blunder in costly:
        console.print(f"    {blunder.words}", highlight=False, markup=False, soft_wrap=True)


def _text(figure: Figure, score: Score) -> str:
    """Write a figure; nothing if the game is too large for it."""
    try:
        return figure.text(score)
    except SizeError:
        return ""


def _in_depth(score: Score) -> str:
    """Put outcomes, and the figures that have sentences, into words."""
    lines = []
    if score.outcomes is not None:
        each = (f"{payoff:g} ({chance:.2%})" for payoff, chance in score.outcomes.items())
        lines.append(f"payoffs and their probabilities: {', '.join(each)}")
    told = [figure for figure in FIGURES if figure.sentence and _text(figure, score)]
    for _, alike in groupby(told, lambda figure: figure.format):  # of one format: on one line
        lines.append("; ".join(one.sentence.format(one.text(score)) for one in alike))
    return "\n".join(lines)
