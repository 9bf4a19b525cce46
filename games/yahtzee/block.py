"""The game as one block, which stores one number for each context.

The backward pass stores the value before the first roll of the turn, the forward pass the
probability mass that enters the turn. Contexts are numbered turn by turn, so a pass visits them in
the order of their numbers, a few hundred at a time.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from typing_extensions import override

from ...core.arithmetic import FLOATS, Arithmetic
from ...core.blocks import PayoffLaw, WholeGame
from ...core.progress import tell
from ...core.types import Array, Decide, Fold, IntArray
from .dice import DICE, FACES, ROLLS
from .game import MORE, Yahtzee
from .passes import swept_back, swept_forward
from .turn import Later

#: Number of contexts that are swept at once; their arrays fit into the processor's cache.
TOGETHER = 256


class YahtzeeBlock(WholeGame):
    """The whole game as one block.

    Args:
        game: the rules.
        arithmetic: the arithmetic of values and probability mass.
    """

    def __init__(self, game: Yahtzee, arithmetic: Arithmetic) -> None:
        super().__init__(arithmetic)
        self._game = game
        self.pays_early = len(game.chosen) > 1

    @override
    def deviations(self, values: Any, spreads: Any) -> Array:
        """Return the values before the first rolls, shape (context + 1,).

        The squared deviations of a turn are taken from these values.
        """
        centres: Array = values.between
        return centres

    @override
    def backward(
        self, decide: Decide, gains: Array | None, cut: Array, values: Any = None
    ) -> Array:
        numbers = self._arithmetic.zeros(len(self._game.contexts) + 1)
        later = Later(numbers if values is None else values.between, gains)
        fill(self._game, later, decide, self._arithmetic)
        return cut

    @override
    def forward(
        self, decide: Decide, mass: Any, returning: Array, law: PayoffLaw | None = None
    ) -> None:
        known = self._game.contexts
        for columns in batches(self._game):
            own = columns[mass.is_met(columns)]
            if not len(own):
                continue
            flow = swept_forward(
                self._game, own, mass.between[own], mass.begun(own), decide, self._arithmetic
            )
            places, rolls, boxes = np.nonzero(flow.taken)
            taken, ended = known.take(own[places], rolls, boxes), flow.taken[places, rolls, boxes]
            np.add.at(mass.between, taken.contexts, ended)
            if law is not None:  # the game has one box, whose points are the whole payoff
                law.add(taken.points, ended)

    @override
    def roundings(self, decision: int, stay: float) -> int:
        """Count the roundings of all rolls and decisions of a game.

        Each die adds six means and divides the sum. The first means are of the values of boxes,
        each a sum of points and the value of the next context.
        """
        roll = DICE * (FACES + 1)
        turns = len(self._game.chosen)
        return 1 + roll + turns * ((MORE + 1) * (roll + decision + 3) + 2)

    @override
    def forward_roundings(self, decision: int) -> int:
        """Count the roundings of all turns; a context sums the mass from all states before it."""
        into = 3 * ROLLS * len(self._game.contexts)
        return self.roundings(decision, 0.0) + len(self._game.chosen) * min(into, 2**40)


def fill(
    game: Yahtzee,
    later: Later,
    decide: Decide | Fold,
    arithmetic: Arithmetic,
) -> None:
    """Write the value of each context before the first roll into ``later``, last turns first.

    Args:
        game: the rules.
        later: its array ``values`` is filled.
        decide: the argument ``decide`` of ``swept_back``.
        arithmetic: the arithmetic of the values.
    """
    for columns in reversed(batches(game)):
        later.values[columns] = swept_back(game, columns, later, decide, arithmetic).start
        tell(len(game.contexts) - int(columns[0]), len(game.contexts), "beginnings of turns")


def agrees(game: Yahtzee, later: Later, fold: Fold) -> bool:
    """Return whether stored values agree with a fold, in a random sample of contexts of each turn.

    The function computes a few hundred contexts of each turn again from the stored values of the
    next turns and compares them to the last bit. The sample always contains the empty card.
    """
    rng = np.random.default_rng()
    for begin, end in pairwise(game.contexts.levels):
        first = int(rng.integers(begin, end))
        columns = np.arange(first, min(first + TOGETHER, end))
        again = swept_back(game, columns, later, fold, FLOATS).start
        if not np.array_equal(again, later.values[columns]):
            return False
    return True


def batches(game: Yahtzee) -> list[IntArray]:
    """Cut all contexts, turn by turn, into batches that are swept together."""
    levels = game.contexts.levels
    return [
        np.arange(first, min(first + TOGETHER, end))
        for begin, end in pairwise(levels)
        for first in range(begin, end, TOGETHER)
    ]
