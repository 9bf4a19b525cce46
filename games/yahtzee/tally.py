"""The sums of a tour of Yahtzee: what is lost and where, the points of boxes, the bonuses."""

import numpy as np

from ...core.contract import CLOSE
from ...core.tour import Costliest, Decisions, Tour
from ...core.types import FloatArray, IntArray
from .card import BOXES, FIFTY, UPPER_BONUS, YAHTZEE, points
from .contexts import Taken
from .dice import DICE, FACES, KEEPS, ROLLS
from .game import IN_TURN, MORE, Yahtzee
from .presentation import title_of

#: Contexts from which a box may lead to the same one: by box, upper points and 50 held before.
_INTO = len(BOXES) * (DICE * FACES + 1) * 2


class Tally:
    """The sums of a tour.

    Args:
        game: the rules.
    """

    def __init__(self, game: Yahtzee) -> None:
        self._game = game
        #: By turn, rolls left and the box that is taken, last for dice that are kept.
        self._regrets = np.zeros((len(game.chosen), MORE + 1, len(BOXES) + 1))
        self._points = np.zeros(len(BOXES))
        self._upper = self._further = self._fifty = self._moves = self._mistakes = 0.0
        self._costliest = Costliest()

    def add(self, turn: int, left: int, decisions: Decisions, wrong: IntArray) -> None:
        """Add decisions with some rolls left.

        Args:
            turn: number of the turn, from 0 on.
            left: number of rolls.
            decisions: all of them.
            wrong: the places of those that cost something.
        """
        self._moves += float(decisions.occupancy.sum())
        mistakes = decisions.take(wrong)
        self._mistakes += float(mistakes.occupancy.sum())
        into = np.where(mistakes.actions < KEEPS, len(BOXES), mistakes.actions - KEEPS)
        self._regrets[turn, left] += np.bincount(into, mistakes.costs, len(BOXES) + 1)
        self._costliest.add(mistakes)

    def score(
        self,
        rolls: IntArray,
        boxes: IntArray,
        holds_fifty: IntArray,
        taken: Taken,
        chances: FloatArray,
    ) -> None:
        """Add the points of boxes.

        Args:
            rolls: the dice, shape (box taken,).
            boxes: the boxes.
            holds_fifty: 1 if a further Yahtzee is paid, else 0.
            taken: the points.
            chances: probability that the box is taken so.
        """
        five = points().five[rolls] >= 0
        further = self._game.bonus * (five & (holds_fifty > 0))
        scored = taken.points - taken.upper_bonus - further
        self._points += np.bincount(boxes, chances * scored, len(BOXES))
        self._upper += float((chances * taken.upper_bonus).sum())
        self._further += float((chances * further).sum())
        self._fifty += float(chances[(boxes == YAHTZEE) & (scored == FIFTY)].sum())

    def tour(self, ended: FloatArray, decision: int) -> Tour:
        """Give the figures once all turns are played.

        Args:
            ended: the four numbers of the end (see ``tour``).
            decision: roundings of the chances of decisions.

        Raises:
            ArithmeticError: if the probabilities of all games do not add up to 1.
        """
        total, mean, square, flawless = ended.tolist()
        if not abs(total - 1) <= CLOSE:
            raise ArithmeticError(f"probabilities of all games must add up to 1, got {total!r}")
        return Tour(
            mean,
            max(0.0, square - mean * mean),
            self._moves,
            self._mistakes,
            min(1.0, flawless),
            self._costliest.sorted(),
            self._divided(),
            self._counts(),
            self._roundings(decision),
        )

    def _divided(self) -> dict[str, dict[str, float]]:
        """Divide the regret by round, by roll and by the box that is taken."""
        by_round, by_left = self._regrets.sum(axis=(1, 2)), self._regrets.sum(axis=(0, 2))
        *by_box, keeping = self._regrets.sum(axis=(0, 1)).tolist()
        boxes = {title_of(box): by_box[box] for box in self._game.chosen}
        return {
            "round": {str(1 + turn): cost for turn, cost in enumerate(by_round.tolist())},
            "roll": {str(1 + made): cost for made, cost in enumerate(by_left[::-1].tolist())},
            "box": {"Dice kept": keeping, **boxes},
        }

    def _counts(self) -> dict[str, dict[str, float]]:
        """Give the points by box, and the chances of the upper bonus and of 50 for a Yahtzee."""
        scored = self._points.tolist()
        boxes = {title_of(box): scored[box] for box in self._game.chosen}
        bonuses = {"Upper bonus": self._upper, "Further Yahtzees": self._further}
        chances = {"Upper bonus": self._upper / UPPER_BONUS, "Yahtzee": self._fifty}
        return {"points": {**boxes, **bonuses}, "chance": chances}

    def _roundings(self, decision: int) -> int:
        """Bound the roundings of products of chances and points, and of sums of these."""
        known = self._game.contexts
        roll = DICE * (FACES + 2)
        turn = (MORE + 1) * (roll + decision + ROLLS + 4) + _INTO * IN_TURN
        last = (len(known) - known.levels[-2]) * IN_TURN * len(BOXES)
        return len(self._game.chosen) * turn + last
