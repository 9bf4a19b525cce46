"""What the coach says: what moves are worth, and where the payoff of a game comes from.

Numbers are rounded to a fixed number of digits first and then taken from one another, so that what
is printed adds up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ..core import Game
from .session import Advice, Session

DIGITS = Decimal("0.0001")
TIE = 1e-9  # values that differ by less do so by rounding


@dataclass(frozen=True)
class Unit:
    """What values are counted in.

    Attributes:
        after: what follows a number.
        meaning: what the worth of a move is.
        ends: what is said of a game that pays 0, and of one that pays 1, if words are better.
    """

    after: str
    meaning: str
    ends: tuple[str, ...] = ()

    def ending(self, payoff: float) -> str:
        """Say how a game has ended."""
        if self.ends and payoff in (0, 1):
            return self.ends[int(payoff)]
        if self.ends:
            return f"A tie: you get {payoff:g} {self.after}."
        return f"You get {payoff:g} {'point' if payoff == 1 else self.after}."


WINS = Unit(
    "of a win",
    "the chance to win, a tie counting in part, with perfect play from there on.",
    ("You lose.", "You win."),
)
SUCCEEDS = Unit(
    "of a success",
    "the chance to succeed, with perfect play from there on.",
    ("You do not succeed.", "You succeed."),
)
POINTS = Unit("points", "the expected points, with perfect play from there on.")


def unit_of(game: Game) -> Unit:
    """Say what the payoffs of a game are counted in."""
    if game.payoff_range != (0.0, 1.0):
        return POINTS
    return WINS if game.num_players > 1 else SUCCEEDS


def rounded(number: float) -> Decimal:
    """Round to the digits that are printed; there is no minus zero."""
    return Decimal(number).quantize(DIGITS) + 0


def given_away(advice: Sequence[Advice], action: int) -> Decimal:
    """Give what a move cost, as the rounded values of it and of the best have it."""
    best = max(rounded(one.value) for one in advice)
    return best - rounded(_made(advice, action).value)


def verdict(advice: Sequence[Advice], action: int, unit: Unit) -> str:
    """Judge a move that was made."""
    made, lost = _made(advice, action), given_away(advice, action)
    worth = f"worth {rounded(made.value)} {unit.after}"
    if made.cost < TIE:
        return f"{worth}; no move is better."
    best = min(advice, key=lambda one: one.cost)
    return (
        f"{worth}; gave away {lost or f'less than {DIGITS}'}, as the best is worth "
        f"{rounded(best.value)}: {best.choice.words}."
    )


def _made(advice: Sequence[Advice], action: int) -> Advice:
    return next(one for one in advice if one.choice.action == action)


def ranked(advice: Sequence[Advice]) -> list[tuple[Advice, str, str]]:
    """Give the best moves first, each with its value and what it would give away, in words."""
    best = max(rounded(one.value) for one in advice)
    lines = []
    for one in sorted(advice, key=lambda one: one.cost):
        lost = best - rounded(one.value)
        cost = "the best" if one.cost < TIE else f"gives away {lost or f'less than {DIGITS}'}"
        lines.append((one, str(rounded(one.value)), cost))
    return lines


def balance(session: Session) -> dict[str, Decimal]:
    """Say where a payoff comes from, in numbers that add up as they are printed.

    Returns:
        What was "expected" at the start, "given away" by the moves, as a number below zero that is
        the sum of what was said of them, the "luck" that is the rest, and the "payoff".
    """
    account, moves = session.account, enumerate(reversed(session.actions), start=1)
    lost = sum((given_away(session.advice(before), action) for before, action in moves), rounded(0))
    expected, payoff = rounded(account.expected), rounded(account.payoff)
    luck = payoff - expected + lost
    return {"expected": expected, "given away": -lost + 0, "luck": luck, "payoff": payoff}


def balance_in_words(session: Session, unit: Unit) -> str:
    """Say the same in a sentence."""
    expected, lost, luck, payoff = balance(session).values()
    sign, kind = ("-", "bad luck") if luck < 0 else ("+", "luck")
    return (
        f"{expected} expected at the start - {-lost + 0} given away {sign} {abs(luck)} {kind} = "
        f"{payoff} {unit.after}"
    )
