"""Scores in words, for the terminal."""

from rich import box
from rich.console import Console
from rich.table import Table

from ...baselines import Score
from ...baselines.scoring.certificate import printable


def report(score: Score, console: Console) -> None:
    """Print the exact score and the costliest decisions."""
    kind = "deterministic" if score.deterministic else "stochastic"
    held = "masked" if score.masked else "not masked"
    title = f"{score.policy} ({kind}, {held}) in {score.task.words}"
    console.print(printable(title), highlight=False, markup=False, soft_wrap=True)
    table = Table(
        "value",
        "optimum",
        "random",
        "regret",
        "normalised score",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    numbers = (score.value, score.optimum, score.random, score.regret, score.normalized)
    table.add_row(*(f"{number:.6f}" for number in numbers))
    console.print(table)
    console.print(_in_depth(score), highlight=False, soft_wrap=True)
    costly = score.blunders(10)
    if not costly:
        console.print("no decision costs anything")
        return
    console.print("costliest decisions:")
    for blunder in costly:
        console.print(f"    {blunder.words}", highlight=False, markup=False, soft_wrap=True)


def _in_depth(score: Score) -> str:
    """Put outcomes, optimal decisions and exploitability into words."""
    outcomes = ", ".join(f"{payoff:g} ({chance:.2%})" for payoff, chance in score.outcomes.items())
    lines = [
        f"payoffs and their probabilities: {outcomes}",
        f"{score.optimal_share:.2%} of its decisions are optimal; it plays {score.flawless:.2%} "
        "of its games without a mistake",
    ]
    if score.exploitability_in_seat is not None:
        lines.append(f"exploitability in this seat: {score.exploitability_in_seat:.6f}")
    return "\n".join(lines)
