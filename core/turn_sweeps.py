"""Sweeps of games of turns (see ``turn_blocks`` and ``turn_values``)."""

from collections.abc import Mapping, Sequence

from typing_extensions import override

from .arithmetic import FLOATS, Arithmetic
from .blocks import Blocks
from .sweeps import Sweeps, sweeps_for
from .turn_blocks import TurnBlock
from .turn_game import TurnGame
from .turn_values import TurnMass, TurnValues
from .types import Decide, Start
from .values import Values


@sweeps_for(TurnGame)
class TurnSweeps(Sweeps):
    """The sweeps of a game of turns."""

    game: TurnGame

    @property
    @override
    def turn_game(self) -> TurnGame:
        return self.game

    @override
    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> Blocks:
        count = int(self.game.blocks.max()) + 1
        return Blocks(count, lambda number: TurnBlock(self.game, seat, arithmetic, number))

    @override
    def pays_early(self, seat: int) -> bool:
        return any(leg.pays_early for leg in self.game.legs)

    @override
    def values(self, seat: int, decide: Decide, arithmetic: Arithmetic = FLOATS) -> Values:
        return TurnValues(self.game, seat, arithmetic, decide)

    @override
    def mass(
        self, decide: Decide, starts: Sequence[Start], arithmetic: Arithmetic = FLOATS
    ) -> Values:
        return TurnMass(self.game, arithmetic, decide, starts)

    @override
    def backward_together(
        self, decide: Decide, values: Mapping[int, Values], arithmetic: Arithmetic = FLOATS
    ) -> None:
        self._require_one_pass()
        block = TurnBlock(self.game, list(values), arithmetic, 0)
        for found, row in zip(values.values(), block.backward_together(decide), strict=True):
            assert isinstance(found, TurnValues)
            found.between[:] = row
