"""The numbers of a score, and how each is shown: in JSON, in the terminal and on web pages."""

from contextlib import suppress
from decimal import Context, Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, NamedTuple

from ...core import SizeError


class Figure(NamedTuple):
    """A number of a ``Score``: how JSON, the terminal and web pages show it."""

    name: str  # the attribute of ``Score``, and the key in JSON
    label: str = ""  # its name for people; empty if it stands in JSON only
    meaning: str = ""  # a phrase that explains it
    format: str = ".6f"  # format of the number, as for ``format``
    # For the terminal, with the number at ``{}``; empty for a column of the table.
    sentence: str = ""
    logged: bool = False  # whether a training loop logs it

    def of(self, score: object) -> Any:
        """Give the number, a float of a fraction; None if the game has none, or is too large."""
        with suppress(SizeError):
            value = getattr(score, self.name)
            return float(value) if isinstance(value, Fraction) else value
        return None

    def in_json(self, score: object) -> Any:
        """Give the number in JSON's types: None of what is not finite."""
        value = self.of(score)
        return None if isinstance(value, float) and not isfinite(value) else value

    def text(self, score: object) -> str:
        """Write the number; empty if it is None."""
        value = self.of(score)
        if isinstance(value, float) and not isfinite(value):
            return "unknown"
        return "" if value is None else format(value, self.format)


#: The figures of a score, in the order in which JSON, the terminal and web pages show them.
FIGURES = (
    Figure("value", "value", "expected payoff", logged=True),
    Figure("optimum", "optimum", "the best against the same opponents"),
    Figure("random", "random", "uniformly random play"),
    Figure("regret", "regret", "optimum minus value", logged=True),
    Figure("normalized", "normalised score", "1 is the optimum, 0 random play", logged=True),
    Figure("nines", "nines", "-log10(1 - normalised score), at most 9", format=".3f"),
    Figure("outcomes"),
    Figure(
        "optimal_share",
        "optimal decisions",
        "each weighted by how often it is met",
        format=".2%",
        sentence="{} of its decisions are optimal",
    ),
    Figure(
        "flawless",
        "flawless games",
        "without a single mistake",
        format=".2%",
        sentence="it plays {} of its games without a mistake",
    ),
    Figure(
        "deviation",
        "standard deviation",
        "of the payoff of a game",
        format=".4f",
        sentence="standard deviation of the payoff: {}",
    ),
    Figure("error_bound"),
    Figure(
        "exploitability_in_seat",
        "exploitability",
        "equilibrium value of the seat minus the value against a best response",
        sentence="exploitability in this seat: {}",
    ),
)
#: Names of the figures that a training loop logs.
LOGGED = tuple(figure.name for figure in FIGURES if figure.logged)


def nines(normalized: float) -> float:
    """Return -log10(1 - normalised score), at most 9: 2 for a score of 0.99, 3 for 0.999.

    Scores of good policies crowd near 1, where nines still tell them apart. Decimals have the
    logarithm rounded alike on every machine, which the libraries of processors do not promise.
    """
    missing = 1 - normalized
    if missing <= 1e-9:
        return 9.0
    context = Context(prec=20)
    return float(context.divide(context.ln(Decimal(1 / missing)), context.ln(Decimal(10))))
