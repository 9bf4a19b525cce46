"""What a game teaches: the chances from move to move, the accuracy, and the costliest moves."""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from .coach import Unit, given_away, made_of, unit_of, verdict
from .grades import TIE, grade, is_decision
from .session import Session

MOST = 3  # costliest moves
ACCURACY = "100 %: nothing given away; 0 %: as much as by random moves in the same positions."


@dataclass(frozen=True)
class Step:
    """A move of the person, as it looks after the game.

    Attributes:
        number: how many moves were made before it.
        seat: the person's.
        words: the move in words.
        verdict: the coach's verdict; empty for a forced move.
        grade: its grade; empty if no move gave anything away.
        cost: the value of the best move minus that of the move.
        average: the mean of the cost over all legal moves.
        lost: the loss as printed; empty if the move is best.
    """

    number: int
    seat: int
    words: str
    verdict: str
    grade: str
    cost: float
    average: float
    lost: str


def steps(session: Session) -> list[Step]:
    """Describe each move of the persons so far."""
    unit, made = unit_of(session.task.game), len(session.actions)
    return [_step(session, number, unit, session.actions[number]) for number in range(made)]


def _step(session: Session, number: int, unit: Unit, action: int) -> Step:
    advice = session.advice(len(session.actions) - number)
    made = made_of(advice, action)
    return Step(
        number,
        session.moment(number).seat,
        made.choice.words,
        verdict(advice, action, unit),
        grade(made) if is_decision(advice) else "",
        made.cost,
        sum(one.cost for one in advice) / len(advice),
        "" if made.cost < TIE else unit.lost(given_away(advice, action, unit)),
    )


def accuracy(made: list[Step]) -> Decimal | None:
    """Return the share of what random moves lose that these moves kept, in whole percent.

    With c_k the cost of move k and m_k the mean cost of the legal moves before it,

        accuracy = 1 - (sum over k of c_k) / (sum over k of m_k),

    at least 0. It is the normalised score of the moves at the decisions of this game. It is rounded
    down, so that 100 % means that nothing was given away; None if there was no decision.
    """
    lost = sum(one.cost for one in made if one.cost >= TIE)
    return in_percent(share_kept(lost, sum(one.average for one in made)))


def share_kept(lost: float, average: float) -> float | None:
    """Return the accuracy of moves that lost so much where random moves lose ``average``."""
    return None if average < TIE else max(0.0, 1 - lost / average)


def in_percent(share: float | None) -> Decimal | None:
    """Write an accuracy in whole percent, rounded down."""
    return None if share is None else Decimal(100 * share).quantize(Decimal(1), ROUND_FLOOR)


def costliest(made: list[Step]) -> list[Step]:
    """Return the moves that gave most away, the costliest first."""
    lossy = [one for one in made if one.cost >= TIE]
    return sorted(lossy, key=lambda one: one.cost, reverse=True)[:MOST]
