"""A leg in those of its contexts that belong to one block."""

from dataclasses import dataclass

import numpy as np

from .arithmetic import Arithmetic
from .leg import Leg
from .turn_game import TurnGame
from .types import Array, BoolArray, IntArray, Stage


@dataclass(frozen=True, eq=False)
class LegPart:
    """Some contexts of a leg.

    Attributes:
        game: the rules.
        number: of the leg.
        columns: its contexts that are meant, counted in the leg; a slice if all are.
        own: the same, counted over all legs, shape (context,).
    """

    game: TurnGame
    number: int
    columns: IntArray | slice
    own: IntArray

    @property
    def leg(self) -> Leg:
        """The leg."""
        return self.game.legs[self.number]

    @property
    def targets(self) -> IntArray:
        """Contexts that results lead to, in growing order."""
        goes_on = ~self.leg.ends[:, self.columns]
        return np.unique(self.leg.following[:, self.columns][goes_on])

    @property
    def following(self) -> IntArray:
        """Context that each result leads to, shape (result, context); 0 where all is settled."""
        following = self.leg.following[:, self.columns]
        return np.where(self.leg.ends[:, self.columns], 0, following)

    def settled(self, seats: list[int]) -> BoolArray:
        """Say whether a result settles players' payoffs, shape (seat, result, context)."""
        settled = self.leg.settled[:, self.columns][..., seats]
        return np.moveaxis(settled, -1, 0)

    def paid(self, seats: list[int], arithmetic: Arithmetic) -> Array:
        """Give players' payoffs, shape (seat, result, context)."""
        payoffs = self.leg.paid[arithmetic][:, self.columns][..., seats]
        return np.moveaxis(payoffs, -1, 0).astype(arithmetic.dtype, copy=False)

    def leads_on(self, seat: int) -> tuple[IntArray, IntArray, IntArray]:
        """List the results with which the game goes on for a player.

        Returns:
            Result, place of the context in ``own``, and context that follows, each (way,).
        """
        results, contexts = np.nonzero(~self.settled([seat])[0])
        return results, contexts, self.leg.following[:, self.columns][results, contexts]

    def states(self, in_turn: slice) -> IntArray:
        """Give some states of the turn in all contexts, shape (state * context,)."""
        return self.game.states_in(self.number, in_turn, self.columns)

    def stage(self, in_turn: slice, arithmetic: Arithmetic, scale: int = 1) -> Stage:
        """Give the same as a stage, whose numbers are multiplied by a scale."""
        states = self.states(in_turn)
        return Stage(self.leg.seat, states, np.full(len(states), scale, dtype=arithmetic.dtype))


def parts_of(game: TurnGame, inside: BoolArray) -> list[LegPart]:
    """Give the parts of all legs that have contexts in a block.

    Args:
        game: the rules.
        inside: whether each context belongs to the block, shape (context,), over all legs.
    """
    parts = []
    for number, first in enumerate(game.first_contexts[:-1].tolist()):
        columns = np.flatnonzero(inside[first : first + len(game.legs[number].contexts)])
        if len(columns) == len(game.legs[number].contexts):
            parts.append(LegPart(game, number, slice(None), first + columns))
        elif len(columns):
            parts.append(LegPart(game, number, columns, first + columns))
    return parts
