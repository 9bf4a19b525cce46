"""The sweeps of Yahtzee, which store numbers between turns and compute numbers inside turns.

The game is one block, which stores one number for each context: the backward pass the value before
the first roll of the turn, the forward pass the probability mass that enters the turn. Contexts are
numbered turn by turn, so a pass visits them in the order of their numbers, a few hundred at a time.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import override

from ...core import (
    FLOATS,
    Arithmetic,
    Array,
    BoolArray,
    Decide,
    FloatArray,
    IntArray,
    Moves,
    SizeError,
    Sweeps,
    Values,
    sweeps_for,
)
from ...core.blocks import Block, Blocks, PayoffLaw
from ...core.kept import kept
from ...core.tour import Choose, Tour
from ...core.types import Fold, Start
from .dice import DICE, FACES, KEEPS, ROLLS, dice
from .game import MORE, Yahtzee
from .tour import tour
from .turn import Turns
from .values import RecentValues, YahtzeeMass, YahtzeeValues

#: Games with more states than this, that is with two boxes or more, have no tables of moves: the
#: rules are as fast.
MOST_STATES = 2**10


@sweeps_for(Yahtzee)
class YahtzeeSweeps(Sweeps):
    """Sweeps of Yahtzee, one turn in many contexts side by side."""

    game: Yahtzee
    is_listed = False

    @override
    def moves(self, seat: int, player: int) -> Moves:
        if self.game.num_states > MOST_STATES:
            raise SizeError(
                f"tables of moves must be of at most {MOST_STATES} states, got "
                f"{self.game.num_states}"
            )
        return super().moves(seat, player)

    @override
    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> Blocks:
        return Blocks(1, lambda _: YahtzeeBlock(self.game, arithmetic))

    @override
    def values(self, seat: int, decide: Decide, arithmetic: Arithmetic = FLOATS) -> Values:
        return YahtzeeValues(self.game, arithmetic, decide)

    @override
    def mass(
        self, decide: Decide, starts: Sequence[Start], arithmetic: Arithmetic = FLOATS
    ) -> Values:
        return YahtzeeMass(self.game, arithmetic, decide, starts)

    @override
    def may_move(self, seat: int, states: IntArray) -> BoolArray:
        return (states >= 0) & (states < self.game.num_states)

    @override
    def folded(self, fold: Fold, around: Values | None = None) -> Values | None:
        what: str = fold
        centres = None
        if around is not None:
            if not isinstance(around, YahtzeeValues) or around.numbers.dtype == object:
                return None
            what, centres = f"{fold}, squares", around.numbers

        def values(numbers: FloatArray | None = None) -> YahtzeeValues:
            return YahtzeeValues(self.game, FLOATS, fold, numbers, centres)

        def fits(numbers: FloatArray) -> bool:
            right = numbers.shape == (len(self.game.contexts) + 1,) and numbers[-1] == 0
            return bool(right) and values(numbers).agree()

        return values(kept(self.game, what, lambda: values().filled().numbers, fits)).frozen()

    @override
    def tour(self, choose: Choose | None, values: Values, decision: int) -> Tour | None:
        if not isinstance(values, YahtzeeValues) or values.numbers.dtype == object:
            return None
        return tour(self.game, choose, values, decision)

    @override
    def expected(
        self, seat: int, states: IntArray, values: Values, arithmetic: Arithmetic = FLOATS
    ) -> Array:
        if not isinstance(values, YahtzeeValues):
            return super().expected(seat, states, values, arithmetic)
        known, (contexts, left, rolls) = self.game.contexts, self.game.locate(states)
        legal, worth = Turns(known, contexts, values.later).boxes(rolls)
        found = np.full((len(states), self.game.num_actions), -np.inf, arithmetic.dtype)
        found[:, KEEPS:] = np.where(legal, worth, -np.inf)
        for left_after in range(MORE):
            own = np.flatnonzero(left == left_after + 1)
            means = values.means(contexts[own], left_after)
            found[own, :KEEPS] = np.where(dice().parts[rolls[own]], means, -np.inf)
        return found

    @override
    def worth(
        self,
        seat: int,
        states: IntArray,
        actions: IntArray,
        values: Values,
        arithmetic: Arithmetic = FLOATS,
    ) -> Array:
        known = values.of_moves(states, actions) if isinstance(values, RecentValues) else None
        return super().worth(seat, states, actions, values, arithmetic) if known is None else known

    @override
    def in_play(self, values: Values, lanes: int) -> Values:
        if isinstance(values, YahtzeeValues) and values.are_best:
            return RecentValues(self.game, values.numbers, lanes)
        return super().in_play(values, lanes)


class YahtzeeBlock(Block):
    """The whole game as one block."""

    is_swept_whole = True

    def __init__(self, game: Yahtzee, arithmetic: Arithmetic) -> None:
        super().__init__(arithmetic)
        self._game = game
        self.pays_early = len(game.chosen) > 1

    @override
    def deviations(self, values: Any, spreads: Any) -> Array:
        """Return the values before the first rolls, shape (context + 1,).

        The squared deviations of a turn are taken from these values.
        """
        return values.numbers

    @override
    def backward(
        self, decide: Decide, gains: Array | None, cut: Array, values: Any = None
    ) -> Array:
        numbers = None if values is None else values.numbers
        YahtzeeValues(self._game, self._arithmetic, decide, numbers, gains).filled()
        return cut

    @override
    def forward(
        self, decide: Decide, mass: Any, returning: Array, law: PayoffLaw | None = None
    ) -> None:
        known = self._game.contexts
        for columns in known.batches():
            own = mass.met(columns)
            if not len(own):
                continue
            _, mass_taken = mass.flow(own, decide)
            places, rolls, boxes = np.nonzero(mass_taken)
            taken, ended = known.take(own[places], rolls, boxes), mass_taken[places, rolls, boxes]
            np.add.at(mass.numbers, taken.contexts, ended)
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
