"""The sums of a tour of Yahtzee: the regret in parts, the points of each box, the bonuses."""

import numpy as np

from ...core.contract import CLOSE
from ...core.tour import Costliest, Decisions, Tour
from ...core.types import FloatArray, IntArray
from .card import BOXES, FIFTY, UPPER_BONUS, YAHTZEE, points
from .contexts import Taken
from .dice import DICE, FACES, KEEPS, ROLLS
from .game import IN_TURN, MORE, Yahtzee
from .presentation import title_of

#: Largest number of contexts from which taking a box leads to one given context: one for each box,
#: points of the box, and whether 50 were held before.
_INTO = len(BOXES) * (DICE * FACES + 1) * 2


class Tally:
    """Adds up the figures of a tour, move by move.

    Args:
        game: the rules.
    """

    def __init__(self, game: Yahtzee) -> None:
        self._game = game
        #: Regret, shape (turn, rolls left, box taken); the last column is for keeping dice.
        self._regrets = np.zeros((len(game.chosen), MORE + 1, len(BOXES) + 1))
        self._points = np.zeros(len(BOXES))
        self._upper = self._further = self._fifty = self._moves = self._mistakes = 0.0
        self._costliest = Costliest()

    def add(self, turn: int, left: int, decisions: Decisions, wrong: IntArray) -> None:
        """Add the decisions of one turn with one number of rolls left.

        Args:
            turn: number of the turn, from 0.
            left: number of rolls left.
            decisions: all decisions, optimal or not.
            wrong: indices of the suboptimal decisions.
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
        """Add the points of the boxes taken; all arrays have shape (box taken,).

        Args:
            rolls: index of the roll.
            boxes: the box that the roll takes.
            holds_fifty: 1 if a further Yahtzee earns the bonus, else 0.
            taken: the points of the move, and its upper bonus.
            chances: probability that a game contains this move.
        """
        five = points().five[rolls] >= 0
        further = self._game.bonus * (five & (holds_fifty > 0))
        scored = taken.points - taken.upper_bonus - further
        self._points += np.bincount(boxes, chances * scored, len(BOXES))
        self._upper += float((chances * taken.upper_bonus).sum())
        self._further += float((chances * further).sum())
        self._fifty += float(chances[(boxes == YAHTZEE) & (scored == FIFTY)].sum())

    def tour(self, ended: FloatArray, decision: int) -> Tour:
        """Return the figures of the tour, once all turns have been added.

        Args:
            ended: the four numbers at the end of the game (see the module ``tour``), shape (4,).
            decision: number of roundings in the probability of a decision.

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
        """Return the regret by turn, by roll and by the box taken, in points."""
        by_round, by_left = self._regrets.sum(axis=(1, 2)), self._regrets.sum(axis=(0, 2))
        *by_box, keeping = self._regrets.sum(axis=(0, 1)).tolist()
        boxes = {title_of(box): by_box[box] for box in self._game.chosen}
        return {
            "turn": {str(1 + turn): cost for turn, cost in enumerate(by_round.tolist())},
            "roll": {str(1 + made): cost for made, cost in enumerate(by_left[::-1].tolist())},
            "box": {"Dice kept": keeping, **boxes},
        }

    def _counts(self) -> dict[str, dict[str, float]]:
        """Return the points by box, and the chances of the upper bonus and of 50 for a Yahtzee."""
        scored = self._points.tolist()
        boxes = {title_of(box): scored[box] for box in self._game.chosen}
        bonuses = {"Upper bonus": self._upper, "Further Yahtzees": self._further}
        chances = {"Upper bonus": self._upper / UPPER_BONUS, "Yahtzee": self._fifty}
        return {"points": {**boxes, **bonuses}, "chance": chances}

    def _roundings(self, decision: int) -> int:
        """Bound the number of roundings in the sum of probabilities times points."""
        known = self._game.contexts
        roll = DICE * (FACES + 2)
        turn = (MORE + 1) * (roll + decision + ROLLS + 4) + _INTO * IN_TURN
        last = (len(known) - known.levels[-2]) * IN_TURN * len(BOXES)
        return len(self._game.chosen) * turn + last
