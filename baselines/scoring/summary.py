"""A score in words: how good the policy is, where it loses most, and its parts as tables."""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from ...core import Game, SizeError
from ...core.words import to_you
from .certificate_file import printable
from .parts import worst_part
from .score import Score

#: Normalised scores closer to 0 than this number count as random play.
LIKE_RANDOM = 1e-9
#: Names of payoffs in games that are won, tied or lost.
_RESULTS = {1.0: "win", 0.5: "tie", 0.0: "loss"}


def pays_wins(game: Game) -> bool:
    """Return whether payoffs are wins: 1 for a win, 0 for a loss, between them for a tie."""
    return game.num_players > 1 and game.payoff_range == (0.0, 1.0)


def quoted(policy: str) -> str:
    """Return a policy's name for use in a sentence, in which ``set`` alone would read as a verb."""
    return f'"{printable(policy)}"'


def summary(score: Score) -> tuple[str, ...]:
    """Return sentences on how good a policy is and, where it is known, on where it loses most."""
    with suppress(SizeError):  # of a game too large for the list of decisions
        if not score.blunders(1):
            return ("It is optimal: no decision costs anything.",)
        return tuple(filter(None, (_quality(score), _to_mend(score))))
    return (_quality(score),)


def lost(cost: float, game: Game) -> str:
    """Return a loss in words: wins in a thousand games, or payoff in one game if not wins."""
    if pays_wins(game):
        return f"{_short(1000 * cost)} wins in a thousand games"
    return f"a payoff of {_short(cost)} a game"


def _quality(score: Score) -> str:
    gives = lost(score.regret, score.task.game)
    if abs(score.normalized) < LIKE_RANDOM:
        return f"It plays as well as uniformly random play: it loses {gives}."
    if score.normalized < 0:
        return f"It plays worse than uniformly random play: it loses {gives}."
    digits = max(1, int(score.nines) - 1)  # so that only the optimum has 100 %
    way = _percent(score.normalized, digits)
    return f"It goes {way} of the way from random play to the optimum: it loses {gives}."


def _to_mend(score: Score) -> str:
    """Return a sentence on where most of the regret lies: in a part of the game or a position."""
    if score.regrets:
        largest = (
            (division, *max(parts.items(), key=lambda part: part[1]), sum(parts.values()))
            for division, parts in score.regrets.items()
        )
        each = (
            f"by {name}, in {part} ({_percent(cost / whole)})"
            for name, part, cost, whole in largest
        )
        return f"Most of that is lost, {'; '.join(each)}."
    part = worst_part(score)
    if part is None:
        return "That is spread over the game: no part has much more of it than of the decisions."
    lost_there, met = _percent(part.regret), _percent(part.decisions)
    return f"{lost_there} of that is lost in {met} of its decisions: {part.words}."


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def _short(number: float) -> str:
    """Return a number as text with at least two digits, and no exponent unless it is tiny."""
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def result(payoff: float, game: Game) -> str:
    """Return a payoff in words: "win", "tie" or "loss" if payoffs are wins, else the number."""
    if pays_wins(game):
        return _RESULTS.get(payoff, f"{payoff:.4g} of a win")
    return f"{payoff:g}"


class Table(NamedTuple):
    """A table: title, names of the columns, rows; the first ``texts`` columns hold words."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1


def costliest(score: Score, count: int) -> Table:
    """Return a table of the costliest decisions, at most ``count``.

    Raises:
        SizeError: if the game is too large for the list of decisions.
    """
    cycles = score.task.game.has_cycles
    rows = (
        (
            blunder.position,
            to_you(blunder.move),
            to_you(blunder.best_move),
            f"{blunder.cost:.6f}",
            f"{blunder.occupancy:.4f}" if cycles else f"{blunder.occupancy:.2%}",
        )
        for blunder in score.blunders(count)
    )
    often = "times a game" if cycles else "of games"
    header = ("position", "played", "best", "cost a game", often)
    return Table("The costliest decisions", header, tuple(rows), texts=3)


def tables(score: Score) -> Iterator[Table]:
    """Yield the tables of a score in parts: the regret by part, and counts beside optimal play.

    There is no table if the game defines no parts, or is too large for them.
    """
    with suppress(SizeError):
        for division, parts in score.regrets.items():
            whole = sum(parts.values()) or 1.0
            divided = ((name, f"{cost:.4f}", f"{cost / whole:.1%}") for name, cost in parts.items())
            header: tuple[str, ...] = (division, "lost a game", "of the regret")
            yield Table(f"Regret by {division}", header, tuple(divided))
        for counted, numbers in score.counts.items():
            header = (counted, quoted(score.policy), "optimal play", "difference")
            rows = (
                (name, *(f"{number:.4f}" for number in (own, best)), f"{own - best:+.4f}")
                for name, (own, best) in numbers.items()
            )
            yield Table(f"{counted.capitalize()} beside optimal play", header, tuple(rows))
