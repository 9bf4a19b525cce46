"""Values and mass of games of turns, held between turns only.

A game of turns has far more positions than contexts. So a sweep keeps one number for each context:
backward the value before the first roll, forward the mass that enters. The numbers inside a turn
are swept again, for the contexts that are asked for.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from typing_extensions import override

from .arithmetic import Arithmetic
from .leg_part import LegPart, parts_of
from .turn_game import TurnGame
from .types import Array, Decide, IntArray, Stage, Start, frozen
from .values import Values, complement


class TurnNumbers(Values):
    """Numbers of positions, computed from those between turns.

    Args:
        game: the rules.
        arithmetic: of the numbers.
        decide: what all players do (see ``types.Decide``); it is called again.
        between: number of each context, shape (context,), counted over all legs.

    Attributes:
        between: the same; a sweep fills it in.
    """

    def __init__(
        self, game: TurnGame, arithmetic: Arithmetic, decide: Decide, between: Array
    ) -> None:
        super().__init__(between)
        self.between = between
        self._game, self._arithmetic, self._decide = game, arithmetic, decide
        self._last: tuple[LegPart, Values] | None = None

    @abstractmethod
    def _swept(self, part: LegPart) -> Values:
        """Sweep a leg in some contexts: numbers of shape (state of the turn, context)."""

    def _of(self, part: LegPart) -> Values:
        """Give the numbers of a part; those of the last one are kept, as stages follow in a row."""
        last = self._last  # another thread may replace it
        if last is None or not np.array_equal(last[0].own, part.own):
            last = self._last = part, self._swept(part)
        return last[1]

    @override
    def at(self, seats: int | IntArray, states: IntArray) -> Array:
        game, numbers = self._game, self._arithmetic.zeros(len(states))
        movers = np.broadcast_to(seats, states.shape)
        for number, where, in_turn, contexts in game.locate(states, movers):
            asked = np.zeros(len(game.legs[number].contexts), dtype=bool)
            asked[contexts] = True
            for part in parts_of(game, number, asked):
                columns = part.own - game.first_contexts[number]
                here = (contexts >= columns[0]) & (contexts <= columns[-1])
                places = np.searchsorted(columns, contexts[here])
                numbers[where[here]] = self._of(part)[in_turn[here], places]
        return numbers

    @override
    def __getitem__(self, index: Any) -> Any:
        return self.array[index]

    @cached_property
    @override
    def array(self) -> Array:
        game = self._game
        arithmetic = self._arithmetic
        numbers = arithmetic.numbers(arithmetic.zeros(game.num_players, game.num_states))
        for number, leg in enumerate(game.legs):
            for part in parts_of(game, number):
                numbers[leg.seat, part.states()] = self._swept(part).array.ravel()
        return frozen(numbers)

    @override
    def at_stage(self, stage: Stage) -> Array:
        scaled: Array = self._arithmetic.scaled(self.at(*stage.positions), stage.scale)
        return scaled

    @override
    def frozen(self) -> Values:
        frozen(self.between)
        return self


class TurnValues(TurnNumbers):
    """Values of all positions to one player.

    Args:
        game: the rules.
        seat: the player.
        arithmetic: of the values.
        decide: see ``Sweeps.backward``.
        between: value of each context before the first roll, shape (context,); zeros if None.
    """

    def __init__(
        self,
        game: TurnGame,
        seat: int,
        arithmetic: Arithmetic,
        decide: Decide,
        between: Array | None = None,
    ) -> None:
        between = arithmetic.zeros(game.first_contexts[-1]) if between is None else between
        super().__init__(game, arithmetic, decide, between)
        self._seat = seat

    @override
    def _swept(self, part: LegPart) -> Values:
        ends = part.worth(self._seat, self.between, self._arithmetic)
        return part.backward(self._decide, ends, self._arithmetic)[0]

    @override
    def centres(self, seats: int | IntArray, states: IntArray) -> Array:
        """Give the values before the first roll of the turns in which the positions are."""
        centres = self._arithmetic.zeros(len(states))
        movers = np.broadcast_to(seats, states.shape)
        for number, where, _, contexts in self._game.locate(states, movers):
            centres[where] = self.between[self._game.first_contexts[number] + contexts]
        return centres

    @override
    def again(self, stage: Stage, expected: Array) -> Array:
        return self._decide(stage, expected)

    @override
    def subtracted_from(self, payoffs: tuple[Any, Any], decide: Decide) -> Values:
        between = complement(self.between, payoffs)
        other = TurnValues(self._game, 1 - self._seat, self._arithmetic, decide, between)
        return other.frozen()


class TurnMass(TurnNumbers):
    """Probability mass of all positions.

    Args:
        game: the rules.
        arithmetic: of the mass.
        decide: see ``Sweeps.forward``.
        starts: mass that no move has brought where it is.

    Attributes:
        between: mass that moves bring to each context, before its first roll.
        totals: mass of all positions of each player, shape (player,). Blocks add theirs as they
            are swept forward.
    """

    def __init__(
        self, game: TurnGame, arithmetic: Arithmetic, decide: Decide, starts: Sequence[Start]
    ) -> None:
        super().__init__(game, arithmetic, decide, arithmetic.zeros(game.first_contexts[-1]))
        self.totals = arithmetic.zeros(game.num_players)
        self._starts: dict[int, list[tuple[IntArray, IntArray, Array]]] = {}  # by leg
        for seat, states, chances in starts:
            movers = np.full_like(states, seat)
            for number, where, in_turn, contexts in game.locate(states, movers):
                begun = in_turn, game.first_contexts[number] + contexts, chances[where]
                self._starts.setdefault(number, []).append(begun)

    def begun(self, part: LegPart) -> Array:
        """Give mass that no move has brought where it is, shape (state of the turn, context)."""
        begun = part.nothing(self._arithmetic)
        for in_turn, contexts, chances in self._starts.get(part.number, []):
            places = np.searchsorted(part.own, contexts)
            here = part.own[np.minimum(places, len(part.own) - 1)] == contexts
            begun[in_turn[here], places[here]] += chances[here]
        return begun

    @override
    def total(self, seat: int) -> Any:
        return self.totals[seat]

    @override
    def _swept(self, part: LegPart) -> Values:
        entering = self.between[part.own]
        return part.forward(self._decide, self.begun(part), entering, self._arithmetic)[0]
