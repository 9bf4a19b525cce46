"""The coach's words: on the values of moves, on a whole game, and on the parts of its payoff.

Numbers are rounded to a fixed number of digits before they are subtracted, so that printed numbers
add up.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from math import floor
from operator import and_, or_

from ..baselines.advice import BEST, GOOD, THRESHOLDS, Advice, Choice, is_decision, made_of
from ..core import Game, present
from ..core.words import YOU, either, listed, plural, sentence
from .session import Session

EXACT = Decimal("0.0001")  # the digits of details
SOME = 3  # moves in a hint, of which one is best
FEW_SIGNS = 2  # most pieces that a hint names because no better move takes them
MOST_NAMED = 3  # costliest moves
ACCURACY = "100 %: nothing given away; 0 %: as much as by random moves in the same positions."


@dataclass(frozen=True)
class Unit:
    """The unit of values."""

    after: str  # words that follow a payoff
    meaning: str  # what the value of a move means
    # What the player is told if the game pays 0, and if it pays 1; empty for points.
    ends: tuple[str, ...] = ()
    sign: str = "%"  # the sign that follows a printed number
    factor: int = 100  # the printed number of a payoff of 1
    digits: Decimal = Decimal("0.1")  # the smallest printed number

    def ending(self, payoff: float) -> str:
        """Describe the end of a game with this payoff."""
        if self.ends and payoff in (0, 1):
            return self.ends[int(payoff)]
        if self.ends:
            return f"A tie: you get {payoff:g} {self.after}."
        return f"You get {payoff:g} {'point' if payoff == 1 else self.after}."

    def rounded(self, number: float) -> Decimal:
        """Round a payoff to what is printed, without a minus zero."""
        return (Decimal(number) * self.factor).quantize(self.digits) + 0

    def shown(self, printed: Decimal) -> str:
        """Write a rounded number with its sign: "51.4 %"."""
        return f"{printed} {self.sign}"

    def signed(self, number: float) -> str:
        """Write a gain with its sign: "+1.2 %"."""
        printed = self.rounded(number)
        return f"{'+' if printed > 0 else ''}{self.shown(printed)}"

    def lost(self, printed: Decimal) -> str:
        """Write the rounded loss of a move that is not best."""
        return self.shown(printed) if printed else f"less than {self.digits} {self.sign}"

    def thresholds(self, spread: float) -> str:
        """Write the sentence on the grades of moves, in the unit (``spread_of``)."""
        named = [
            f"{name} from {self.shown(self.rounded(least * spread))}"
            for name, least in THRESHOLDS.items()
        ]
        return f"By what a move gives away: {', '.join(named)}."


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
POINTS = Unit(
    "points",
    "expected points, with optimal play from there on.",
    sign="points",
    factor=1,
    digits=Decimal("0.01"),
)


def unit_of(game: Game) -> Unit:
    """Return the unit of a game's payoffs."""
    if game.payoff_range != (0.0, 1.0):
        return POINTS
    return WINS if game.num_players > 1 else SUCCEEDS


def given_away(advice: Sequence[Advice], action: int, unit: Unit) -> Decimal:
    """Return the rounded value of the best move minus that of a move."""
    best = max(unit.rounded(one.value) for one in advice)
    return best - unit.rounded(made_of(advice, action).value)


def verdict(advice: Sequence[Advice], action: int, unit: Unit) -> str:
    """Say how good a move was; nothing if there was only one."""
    if len(advice) == 1:
        return ""
    made = made_of(advice, action)
    worth = unit.shown(unit.rounded(made.value))
    if not is_decision(advice):
        return f"All moves are worth the same: {worth}."
    if made.grade == BEST:
        return f"Best: {worth}."
    best = min(advice, key=lambda one: one.cost)
    lost = unit.lost(given_away(advice, action, unit))
    better = f"{best.choice.words} ({unit.shown(unit.rounded(best.value))} instead of {worth})"
    return f"{made.grade.capitalize()}: gives away {lost}. Best: {better}."


def hints(session: Session, advice: Sequence[Advice], unit: Unit) -> list[str]:
    """Give hints in steps: a reason, a few moves of which one is best, and the best move.

    The reason is what the better moves have in common: at least ``SOME`` moves, if there are more.
    """
    if not is_decision(advice):
        return ["All moves are worth the same."]
    sorted_moves = sorted(advice, key=lambda one: one.cost)
    small = sum(one.grade in (BEST, GOOD) for one in advice)
    steps = [
        f"{small} of {len(advice)} moves {plural(small, 'is', 'are')} good; the worst gives away "
        f"{unit.lost(given_away(advice, sorted_moves[-1].choice.action, unit))}."
    ]
    if len(advice) > SOME:
        many = max(small, SOME)
        choices = [one.choice for one in sorted_moves]
        does = present(session.task.game).does
        alike = in_common(choices[:many], choices[many:], session.scene.signs, does)
        steps[0] += f" The better moves {alike}." if alike else ""
        some = [one.choice.words for one in advice if one in sorted_moves[:SOME]]
        steps.append(f"One of these is best: {either(some)}.")
    best = sorted_moves[0]
    words = either(one.choice.words for one in advice if one.grade == BEST)
    return [*steps, f"Best: {words} ({unit.shown(unit.rounded(best.value))})."]


def in_common(
    better: Sequence[Choice],
    others: Sequence[Choice],
    signs: Mapping[int, int | str],
    does: Mapping[str, str],
) -> str:
    """Say what the better moves have in common and some others have not; empty if nothing.

    That is their verb, and the pieces that all of them take or none, or a bound of how many.
    """
    verbs = {_verb(one) for one in better}
    if len(verbs) > 1:
        return ""
    (verb,) = verbs
    alike = [one for one in others if _verb(one) == verb]
    each, rest = (
        [Counter(signs[part] for part in one.parts) for one in some] for some in (better, alike)
    )
    shared = reduce(and_, each)
    shunned = reduce(or_, rest, Counter[int | str]()).keys() - reduce(or_, each).keys()
    if any(shared - one for one in rest):
        pieces = " ".join([verb, *sorted(map(str, shared.elements()))])
    elif 0 < len(shunned) <= FEW_SIGNS:
        pieces = f"do not {verb} {either(sorted(map(str, shunned)))}"
    else:
        pieces = _bound(better, alike)
    kind = does.get(verb, verb) if len(alike) < len(others) else ""
    return pieces if pieces.startswith(kind) else listed(filter(None, [kind, pieces]))


def _verb(choice: Choice) -> str:
    """Return the words of a move that precede its pieces: "put aside"."""
    return re.split(r" (?=\d|[A-Z]|nothing)", choice.words)[0]


def _bound(better: Sequence[Choice], others: Sequence[Choice]) -> str:
    """Say how many pieces or dice the better moves take at least or at most, or nothing."""
    own, rest = (
        {len(one.parts) or int(next(iter(re.findall(r"\d+", one.words)), 0)): one for one in some}
        for some in (better, others)
    )
    below, above = (sum(test(many) for many in rest) for test in (min(own).__gt__, max(own).__lt__))
    if not below and not above:
        return ""
    which, bound = ("least", min(own)) if below >= above else ("most", max(own))
    if own[bound].parts:
        return f"{_verb(own[bound])} at {which} {bound} {plural(bound, 'piece')}"
    return own[bound].words.replace(str(bound), f"at {which} {bound}", 1)


def balance(session: Session, seat: int) -> dict[str, Decimal]:
    """Split the payoff of the person in a seat into parts that add up as they are printed.

    The losses "given away" by moves are those that the coach has printed, a sum of at most 0; the
    "luck" is the rest.
    """
    account, unit = session.account_of(seat), unit_of(session.task.game)
    lost = sum((one.printed for one in steps(session) if one.seat == seat), unit.rounded(0))
    expected, payoff = unit.rounded(account.expected), unit.rounded(account.payoff)
    luck = payoff - expected + lost
    return {"expected": expected, "given away": -lost + 0, "luck": luck, "payoff": payoff}


def balance_in_words(session: Session, seat: int, unit: Unit) -> str:
    """Write ``balance`` as an equation."""
    parts = balance(session, seat)
    sign, kind = ("-", "bad luck") if parts["luck"] < 0 else ("+", "luck")
    expected, payoff = (unit.shown(parts[name]) for name in ("expected", "payoff"))
    lost, luck = (unit.shown(abs(parts[name])) for name in ("given away", "luck"))
    return f"{expected} expected at the start - {lost} given away {sign} {luck} {kind} = {payoff}"


def result(session: Session, unit: Unit) -> str:
    """Say how the game has ended; nothing while it goes on."""
    if session.payoff is None:
        return ""
    own = session.names[session.task.seat] == YOU
    return unit.ending(session.payoff) if own else sentence(session.ended)


@dataclass(frozen=True)
class Step:
    """A move of the person, as it looks after the game."""

    number: int  # how many moves were made before it
    seat: int  # the person's
    words: str  # the move in words
    verdict: str  # the coach's verdict; empty for a forced move
    grade: str  # its grade; empty if no move gave anything away
    cost: float  # the value of the best move minus that of the move
    average: float  # the mean of the cost over all legal moves
    printed: Decimal  # the cost, rounded
    lost: str  # the loss in words; empty if the move is best


def steps(session: Session) -> list[Step]:
    """Describe each move of the persons so far."""
    unit, found = unit_of(session.task.game), []
    for number, (action, moment) in enumerate(zip(session.actions, session.moments, strict=False)):
        advice = session.advice(len(session.actions) - number)
        made, printed = made_of(advice, action), given_away(advice, action, unit)
        told, grade = verdict(advice, action, unit), grade_of(advice, action)
        average = sum(one.cost for one in advice) / len(advice)
        lost = unit.lost(printed) if made.cost else ""
        words = made.choice.words
        found.append(
            Step(number, moment.seat, words, told, grade, made.cost, average, printed, lost)
        )
    return found


def grade_of(advice: Sequence[Advice], action: int) -> str:
    """Return the grade of a move; empty if no move gives anything away."""
    return made_of(advice, action).grade if is_decision(advice) else ""


def accuracy(lost: float, average: float) -> str:
    """Write the share of what random moves lose that a person's moves kept, rounded down: "87 %".

    With c_k the cost of move k and m_k the mean cost of the legal moves before it,

        accuracy = 1 - (sum over k of c_k) / (sum over k of m_k),

    at least 0: the normalised score of the moves at the decisions of the games. Both sums are
    given; without a decision the second one is 0, and the text is empty.
    """
    return "" if not average else f"{floor(100 * max(0.0, 1 - lost / average))} %"


def costliest(made: list[Step]) -> list[Step]:
    """Return the moves that gave most away, the costliest first."""
    lossy = [one for one in made if one.cost]
    return sorted(lossy, key=lambda one: one.cost, reverse=True)[:MOST_NAMED]
