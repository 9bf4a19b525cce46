"""Scores in words, for the terminal."""

from contextlib import suppress
from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...baselines import Score
from ...baselines.scoring.certificate_file import printable
from ...baselines.scoring.figure import FIGURES
from ...baselines.scoring.summary import Table as Numbers
from ...baselines.scoring.summary import costliest, pays_wins, quoted, result, summary, tables
from ...core import SizeError
from ...core.progress import tell

#: Least width of a column of words, largest of a name above numbers, space between two columns.
WORDS, NAME, GAP = 10, 16, 3


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
    rows = tuple((figure.label, figure.text(score)) for figure in columns)
    show(Numbers("", ("", quoted(score.policy)), rows), console)
    for sentence in summary(score):
        console.print(Text(sentence), soft_wrap=True)
    console.print(_in_depth(score), highlight=False, soft_wrap=True)
    for each in tables(score):
        show(each, console)
    try:
        costly = costliest(score, 10)
    except SizeError as error:
        console.print(f"no decisions: {error}", highlight=False, markup=False, soft_wrap=True)
        return
    if costly.rows:
        show(costly._replace(title="costliest decisions"), console)


def show(numbers: Numbers, console: Console) -> None:
    """Print a table whose words wrap at the width of the terminal, and whose numbers stay whole.

    If the terminal is too narrow for the columns, print a line for each cell.
    """
    table, room = Table(box=box.SIMPLE_HEAD, pad_edge=False), console.width
    for place, (name, *cells) in enumerate(zip(numbers.header, *numbers.rows, strict=True)):
        if place < numbers.texts:
            table.add_column(Text(name), overflow="fold")
            room -= WORDS + GAP
        else:
            width = max([*map(len, cells), *(min(NAME, len(word)) for word in name.split())])
            table.add_column(Text(name), width=width, justify="right", overflow="fold")
            room -= width + GAP
    if numbers.title:
        console.print(Text(numbers.title, "italic"), soft_wrap=True)
    if room < 0:
        for row in numbers.rows:
            named = zip(numbers.header, row, strict=True)
            lines = (f"{name}: {cell}" if name else cell for name, cell in named)
            console.print(Text("\n".join(["", *lines])))
        return
    for row in numbers.rows:
        table.add_row(*map(Text, row))
    console.print(table)


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
