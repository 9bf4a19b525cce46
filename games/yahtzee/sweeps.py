"""The sweeps of Yahtzee, which store numbers between turns and compute numbers inside turns."""

from collections.abc import Sequence

import numpy as np
from typing_extensions import override

from ...core.arithmetic import FLOATS, Arithmetic, Values
from ...core.blocks import Blocks
from ...core.errors import SizeError
from ...core.moves import Moves
from ...core.sweeps import FoldedSweeps, sweeps_for
from ...core.tour import Choose, Tour
from ...core.types import Array, BoolArray, Decide, FloatArray, Fold, IntArray, Start
from .block import YahtzeeBlock, agrees, fill
from .dice import KEEPS, dice
from .game import MORE, Yahtzee
from .tour import tour
from .turn import boxes_of
from .values import YahtzeeMass, YahtzeeValues

#: Games with more states than this, that is with two boxes or more, have no tables of moves: the
#: rules are as fast.
MOST_STATES = 2**10


@sweeps_for(Yahtzee)
class YahtzeeSweeps(FoldedSweeps):
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
        known: BoolArray = (states >= 0) & (states < self.game.num_states)
        return known

    @override
    def folded(self, fold: Fold, arithmetic: Arithmetic = FLOATS) -> Values | None:
        if not arithmetic.rounds:
            return None
        values = YahtzeeValues(self.game, arithmetic, fold)
        fill(self.game, values.later, fold, arithmetic)
        return values.frozen()

    @override
    def folded_squares(self, fold: Fold, values: Values) -> Values | None:
        if not isinstance(values, YahtzeeValues) or values.between.dtype == object:
            return None
        spreads = YahtzeeValues(self.game, FLOATS, fold, centres=values.between)
        fill(self.game, spreads.later, fold, FLOATS)
        return spreads.frozen()

    @override
    def refolded(
        self, fold: Fold, numbers: FloatArray, centres: Values | None = None
    ) -> Values | None:
        if numbers.shape != (len(self.game.contexts) + 1,) or numbers[-1] != 0:
            return None
        about = centres.between if isinstance(centres, YahtzeeValues) else None
        values = YahtzeeValues(self.game, FLOATS, fold, numbers, about)
        return values.frozen() if agrees(self.game, values.later, fold) else None

    @override
    def tour(self, choose: Choose | None, values: Values, decision: int) -> Tour | None:
        if not isinstance(values, YahtzeeValues) or values.between.dtype == object:
            return None
        return tour(self.game, choose, values, decision)

    @override
    def expected(
        self, seat: int, states: IntArray, values: Values, arithmetic: Arithmetic = FLOATS
    ) -> Array:
        if not isinstance(values, YahtzeeValues):
            return super().expected(seat, states, values, arithmetic)
        known, (contexts, left, rolls) = self.game.contexts, self.game.locate(states)
        legal, worth, scale = boxes_of(known, contexts, rolls, values.later, arithmetic)
        found = np.full((len(states), self.game.num_actions), -np.inf, arithmetic.dtype)
        found[:, KEEPS:] = np.where(legal, arithmetic.unscaled(worth, scale), -np.inf)
        for left_after in range(MORE):
            own = np.flatnonzero(left == left_after + 1)
            means = values.means(contexts[own], left_after)
            found[own, :KEEPS] = np.where(dice().parts[rolls[own]], means, -np.inf)
        return found
