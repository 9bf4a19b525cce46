"""Values and mass of games of turns, held between turns only.

A game of turns has far more positions than contexts. So a sweep keeps one number for each context:
backward the value before the first roll, forward the mass that enters. The numbers inside a turn
are swept again, for the contexts that are asked for.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from typing_extensions import override

from .arithmetic import Arithmetic, BetweenTurns, Values, complement
from .leg import Leg
from .positions import places_in
from .sizes import HELD
from .turn import Piece
from .turn_game import TurnGame
from .types import Array, BoolArray, Decide, IntArray, Stage, Start, frozen


@dataclass(frozen=True, eq=False)
class LegPart:
    """A leg in some of its contexts."""

    game: TurnGame  # the rules
    number: int  # of the leg
    # The contexts, counted in the leg, in growing order; a slice if they are in a row.
    columns: IntArray | slice
    own: IntArray  # (context,) the same contexts, counted over all legs
    arithmetic: Arithmetic  # of values and mass

    @property
    def leg(self) -> Leg:
        """The leg."""
        return self.game.legs[self.number]

    @property
    def targets(self) -> IntArray:
        """Contexts that results lead to, in growing order."""
        goes_on = ~self.leg.ends[:, self.columns]
        following = self.leg.following[:, self.columns][goes_on]
        return np.flatnonzero(np.bincount(following.astype(np.int64, copy=False)))

    def leads_on(self, seat: int) -> tuple[IntArray, IntArray, IntArray]:
        """List the results with which the game goes on for a player.

        Returns:
            Result, place of the context in ``own``, and context that follows, each (way,).
        """
        results, contexts = np.nonzero(~self.leg.settled[:, self.columns, seat])
        return results, contexts, self.leg.following[:, self.columns][results, contexts]

    def worth(self, seats: int | list[int], between: Array) -> Array:
        """Give what results pay, and what follows them is worth: shape (..., result, context).

        Several seats make a first axis of all arrays. The values ``between`` turns are those before
        the first roll of all contexts, shape (..., context).
        """
        paid = _of_seats(self.leg.paid(self.arithmetic), seats)[..., self.columns]
        worth = self.ahead(seats, between, paid)
        if self.leg.pays_early:  # else there is nothing to add, which takes time with fractions
            worth = worth + np.where(self._settled(seats), 0, paid)
        return worth

    def ahead(self, seats: int | list[int], between: Array, settled: Array | int = 0) -> Array:
        """Give, as ``worth``, what follows results is worth, or ``settled`` where nothing does."""
        following = np.where(self.leg.ends[:, self.columns], 0, self.leg.following[:, self.columns])
        return np.where(self._settled(seats), settled, between[..., following])

    def _settled(self, seats: int | list[int]) -> BoolArray:
        return _of_seats(self.leg.settled, seats)[..., self.columns]

    def settled(self, seat: int, ended: Array) -> tuple[Array, Array]:
        """List a player's payoffs that results settle, and the mass of each, both of shape (way,).

        The mass that has ``ended`` is that of the results, shape (result, context).
        """
        settled = self.leg.settled[:, self.columns, seat] & (ended != 0)
        return self.leg.paid(self.arithmetic)[:, self.columns, seat][settled], ended[settled]

    def within(self, on: BoolArray) -> "LegPart":
        """Give the leg in those of these contexts where ``on``, bool, of shape (context,)."""
        if on.all():
            return self
        columns = np.arange(len(self.leg.contexts))[self.columns]
        return replace(self, columns=columns[on], own=self.own[on])

    def nothing(self) -> Array:
        """Give zeros, shape (state of the turn, context)."""
        return self.arithmetic.zeros(self.leg.turn.num_states, len(self.own))

    def states(self, in_turn: slice | None = None) -> IntArray:
        """Give some states of the turn, or all, in all contexts, shape (state * context,)."""
        in_turn = in_turn or slice(0, self.leg.turn.num_states)
        return self.game.states_in(self.number, in_turn, self.columns)

    def _stage(self, piece: Piece) -> Stage:
        states = self.states(piece.states)
        scale = np.full(len(states), piece.scale, self.arithmetic.dtype)
        legal = np.repeat(self.leg.turn.legal[piece.states], len(self.own), axis=0)
        return Stage(self.leg.seat, states, scale, legal)

    def backward(self, decide: Decide, ends: Array) -> tuple[Values, Array]:
        """Sweep the turn backward (see ``Turn.backward``).

        Args:
            decide: see ``types.Decide``, or for several seats ``Sweeps.backward_together``.
            ends: value of each result, shape (result, context), or (seat, result, context).

        Returns:
            Values of the states, shape (state, context), and before the first roll, (context,).
        """

        def decide_states(piece: Piece, expected: Array) -> Array:
            *rows, count, actions, columns = expected.shape  # (..., state, action, context)
            by_state = expected.swapaxes(-2, -1).reshape(*rows, count * columns, actions)
            return decide(self._stage(piece), by_state).reshape(*rows, count, columns)

        return self.leg.turn.backward(decide_states, ends, self.arithmetic)

    def forward(self, decide: Decide, begun: Array, entering: Array) -> tuple[Values, Array]:
        """Sweep the turn forward (see ``Turn.forward``).

        Args:
            decide: see ``types.Decide``.
            begun: mass of states that no move has brought there, shape (state, context).
            entering: mass before the first roll, shape (context,).

        Returns:
            Mass of the states, shape (state, context), and of the results, (result, context).
        """
        arithmetic = self.arithmetic

        def divide(piece: Piece, met: Array) -> Array:
            stage = self._stage(piece._replace(scale=1))
            weights = decide(stage, arithmetic.unscaled(met.ravel(), piece.scale))
            whole: Array = arithmetic.scaled(weights, piece.scale)  # (state, action)
            return whole.reshape(*met.shape, -1).swapaxes(1, 2)

        states, chances = self.leg.turn.first_roll(arithmetic)
        begun[states] += chances[:, None] * entering
        return self.leg.turn.forward(divide, begun, arithmetic)


def _of_seats(table: Array, seats: int | list[int]) -> Array:
    """Pick the entries of players from a table (result, context, player); several come first."""
    return np.moveaxis(table, -1, 0)[seats]


def parts_of(
    game: TurnGame, number: int, arithmetic: Arithmetic, contexts: BoolArray | None = None
) -> Iterator[LegPart]:
    """Cut some contexts of a leg, or all, into parts whose numbers are few enough to be held.

    ``contexts`` says whether a context of the leg is meant, shape (context,); None for all.
    """
    leg, first = game.legs[number], int(game.first_contexts[number])
    meant = np.arange(len(leg.contexts)) if contexts is None else np.flatnonzero(contexts)
    step = max(1, HELD // leg.turn.num_states)
    for columns in (meant[start : start + step] for start in range(0, len(meant), step)):
        in_a_row = columns[-1] - columns[0] == len(columns) - 1
        within = slice(int(columns[0]), int(columns[-1]) + 1) if in_a_row else columns
        yield LegPart(game, number, within, first + columns, arithmetic)


class TurnNumbers(BetweenTurns):
    """Numbers of positions, computed from those of contexts, counted over all legs."""

    _game: TurnGame
    _last: tuple[LegPart, Values] | None = None

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
            for part in parts_of(game, number, self._arithmetic, asked):
                columns = part.own - game.first_contexts[number]
                here = (contexts >= columns[0]) & (contexts <= columns[-1])
                places = np.searchsorted(columns, contexts[here])
                numbers[where[here]] = self._of(part)[in_turn[here], places]
        return numbers

    @cached_property
    @override
    def array(self) -> Array:
        game, arithmetic = self._game, self._arithmetic
        numbers = arithmetic.numbers(arithmetic.zeros(game.num_players, game.num_states))
        for number, leg in enumerate(game.legs):
            for part in parts_of(game, number, arithmetic):
                numbers[leg.seat, part.states()] = self._swept(part).array.ravel()
        return frozen(numbers)


class TurnValues(TurnNumbers):
    """Values of all positions to one player.

    ``between`` has the value of each context before the first roll, (context,); None for zeros.
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
        ends = part.worth(self._seat, self.numbers)
        return part.backward(self._decide, ends)[0]

    @override
    def centres(self, seats: int | IntArray, states: IntArray) -> Array:
        """Give the values before the first roll of the turns in which the positions are."""
        centres = self._arithmetic.zeros(len(states))
        movers = np.broadcast_to(seats, states.shape)
        for number, where, _, contexts in self._game.locate(states, movers):
            centres[where] = self.numbers[self._game.first_contexts[number] + contexts]
        return centres

    @override
    def again(self, stage: Stage, expected: Array) -> Array:
        return self._decide(stage, expected)

    @override
    def subtracted_from(self, payoffs: tuple[Any, Any], decide: Decide) -> Values:
        between = complement(self.numbers, payoffs)
        other = TurnValues(self._game, 1 - self._seat, self._arithmetic, decide, between)
        return other.frozen()


class TurnMass(TurnNumbers):
    """Probability mass of all positions.

    Attributes:
        numbers: mass that moves bring to each context, before its first roll.
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
        begun = part.nothing()
        for in_turn, contexts, chances in self._starts.get(part.number, []):
            places = places_in(part.own, contexts)
            here = places >= 0
            begun[in_turn[here], places[here]] += chances[here]
        return begun

    @override
    def total(self, seat: int) -> Any:
        return self.totals[seat]

    @override
    def _swept(self, part: LegPart) -> Values:
        entering = self.numbers[part.own]
        return part.forward(self._decide, self.begun(part), entering)[0]
