"""The coach's words on the values of moves, and on the parts of a game's payoff.

Numbers are rounded to a fixed number of digits before they are subtracted, so that printed numbers
add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ..core import Game
from .session import Advice, Session

DIGITS = Decimal("0.0001")
TIE = 1e-9  # smaller differences of values are taken as rounding errors


@dataclass(frozen=True)
class Unit:
    """The unit of values.

    Attributes:
        after: words that follow a number.
        meaning: what the value of a move means.
        ends: what the player is told if the game pays 0, and if it pays 1; empty for points.
    """

    after: str
    meaning: str
    ends: tuple[str, ...] = ()

    def ending(self, payoff: float) -> str:
        """Describe the end of a game with this payoff."""
        if self.ends and payoff in (0, 1):
            return self.ends[int(payoff)]
        if self.ends:
            return f"A tie: you get {payoff:g} {self.after}."
        return f"You get {payoff:g} {'point' if payoff == 1 else self.after}."


WINS = Unit(
    "of a win",
    "win probability, ties counted in part, with optimal play from there on.",
    ("You lose.", "You win."),
)
SUCCEEDS = Unit(
    "of a success",
    "probability of success, with optimal play from there on.",
    ("You do not succeed.", "You succeed."),
)
POINTS = Unit("points", "expected points, with optimal play from there on.")


def unit_of(game: Game) -> Unit:
    """Return the unit of a game's payoffs."""
    if game.payoff_range != (0.0, 1.0):
        return POINTS
    return WINS if game.num_players > 1 else SUCCEEDS


def rounded(number: float) -> Decimal:
    """Round to the printed digits, without a minus zero."""
    return Decimal(number).quantize(DIGITS) + 0


def given_away(advice: Sequence[Advice], action: int) -> Decimal:
    """Return the rounded value of the best move minus that of a move."""
    best = max(rounded(one.value) for one in advice)
    return best - rounded(_made(advice, action).value)


def verdict(advice: Sequence[Advice], action: int, unit: Unit) -> str:
    """Say how good a move was."""
    made, lost = _made(advice, action), given_away(advice, action)
    worth = f"worth {rounded(made.value)} {unit.after}"
    if made.cost < TIE:
        return f"{worth}; no move is better."
    best = min(advice, key=lambda one: one.cost)
    more = lost or f"less than {DIGITS}"
    return f"{worth}. Best: {best.choice.words} ({rounded(best.value)}, {more} more)."


def _made(advice: Sequence[Advice], action: int) -> Advice:
    return next(one for one in advice if one.choice.action == action)


def ranked(advice: Sequence[Advice]) -> list[tuple[Advice, str, str]]:
    """List (move, value, loss in words), the best moves first."""
    best = max(rounded(one.value) for one in advice)
    lines = []
    for one in sorted(advice, key=lambda one: one.cost):
        lost = best - rounded(one.value)
        cost = "the best" if one.cost < TIE else f"gives away {lost or f'less than {DIGITS}'}"
        lines.append((one, str(rounded(one.value)), cost))
    return lines


def balance(session: Session) -> dict[str, Decimal]:
    """Split a payoff into parts that add up as they are printed.

    Returns:
        The payoff "expected" at the start; the losses "given away" by moves, as the coach has
        printed them, a sum of at most 0; the "luck", which is the rest; and the "payoff".
    """
    account, moves = session.account, enumerate(reversed(session.actions), start=1)
    lost = sum((given_away(session.advice(before), action) for before, action in moves), rounded(0))
    expected, payoff = rounded(account.expected), rounded(account.payoff)
    luck = payoff - expected + lost
    return {"expected": expected, "given away": -lost + 0, "luck": luck, "payoff": payoff}


def balance_in_words(session: Session, unit: Unit) -> str:
    """Write ``balance`` as an equation."""
    expected, lost, luck, payoff = balance(session).values()
    sign, kind = ("-", "bad luck") if luck < 0 else ("+", "luck")
    return (
        f"{expected} expected at the start - {-lost + 0} given away {sign} {abs(luck)} {kind} = "
        f"{payoff} {unit.after}"
    )
