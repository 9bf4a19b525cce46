"""A leg in some of its contexts, swept as columns side by side."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .arithmetic import Arithmetic
from .leg import Leg
from .sizes import HELD
from .turn import Piece
from .turn_game import TurnGame
from .types import Array, BoolArray, Decide, IntArray, Stage
from .values import Values


@dataclass(frozen=True, eq=False)
class LegPart:
    """A leg in some of its contexts.

    Attributes:
        game: the rules.
        number: of the leg.
        columns: the contexts, counted in the leg, in growing order; a slice if they are in a row.
        own: the same contexts, counted over all legs, shape (context,).
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

    def leads_on(self, seat: int) -> tuple[IntArray, IntArray, IntArray]:
        """List the results with which the game goes on for a player.

        Returns:
            Result, place of the context in ``own``, and context that follows, each (way,).
        """
        results, contexts = np.nonzero(~self.leg.settled[:, self.columns, seat])
        return results, contexts, self.leg.following[:, self.columns][results, contexts]

    def worth(self, seats: int | list[int], between: Array, arithmetic: Arithmetic) -> Array:
        """Give what results pay, and what follows them is worth: shape (..., result, context).

        Args:
            seats: the players. Several make a first axis of all arrays.
            between: values before the first roll of all contexts, shape (..., context).
            arithmetic: of the values.
        """
        paid = _of_seats(self.leg.paid(arithmetic), seats)[..., self.columns]
        worth = self.ahead(seats, between, paid)
        if self.leg.pays_early:  # else there is nothing to add, which takes time with fractions
            worth = worth + np.where(self._settled(seats), 0, paid)
        return worth

    def ahead(self, seats: int | list[int], between: Array, settled: Array | int = 0) -> Array:
        """Give what follows results is worth, or other numbers where nothing follows.

        Args:
            seats: as for ``worth``.
            between: as for ``worth``.
            settled: the other numbers, shape (..., result, context).
        """
        following = np.where(self.leg.ends[:, self.columns], 0, self.leg.following[:, self.columns])
        return np.where(self._settled(seats), settled, between[..., following])

    def _settled(self, seats: int | list[int]) -> BoolArray:
        return _of_seats(self.leg.settled, seats)[..., self.columns]

    def squares(self, seat: int, means: Array, spreads: Array, arithmetic: Arithmetic) -> Array:
        """Give mean squares about the value before the first roll, shape (result, context).

        Args:
            seat: the player.
            means: values before the first roll of all contexts, shape (context,).
            spreads: their variances, of the same shape.
            arithmetic: of the values.
        """
        away = self.worth(seat, means, arithmetic) - means[self.own]
        squares: Array = away * away + self.ahead(seat, spreads)
        return squares

    def settled(self, seat: int, ended: Array, arithmetic: Arithmetic) -> tuple[Array, Array]:
        """List a player's payoffs that results settle, and the mass of each, both of shape (way,).

        Args:
            seat: the player.
            ended: mass of the results, shape (result, context).
            arithmetic: of the payoffs.
        """
        settled = self.leg.settled[:, self.columns, seat] & (ended != 0)
        return self.leg.paid(arithmetic)[:, self.columns, seat][settled], ended[settled]

    def within(self, on: BoolArray) -> "LegPart":
        """Give the leg in those of these contexts where ``on``, bool, of shape (context,)."""
        if on.all():
            return self
        columns = np.arange(len(self.leg.contexts))[self.columns]
        return replace(self, columns=columns[on], own=self.own[on])

    def nothing(self, arithmetic: Arithmetic) -> Array:
        """Give zeros, shape (state of the turn, context)."""
        return arithmetic.zeros(self.leg.turn.num_states, len(self.own))

    def states(self, in_turn: slice | None = None) -> IntArray:
        """Give some states of the turn, or all, in all contexts, shape (state * context,)."""
        in_turn = in_turn or slice(0, self.leg.turn.num_states)
        return self.game.states_in(self.number, in_turn, self.columns)

    def _stage(self, piece: Piece, arithmetic: Arithmetic) -> Stage:
        states = self.states(piece.states)
        scale = np.full(len(states), piece.scale, arithmetic.dtype)
        legal = np.repeat(self.leg.turn.legal[piece.states], len(self.own), axis=0)
        return Stage(self.leg.seat, states, scale, legal)

    def backward(self, decide: Decide, ends: Array, arithmetic: Arithmetic) -> tuple[Values, Array]:
        """Sweep the turn backward (see ``Turn.backward``).

        Args:
            decide: as in ``Sweeps.backward``, or for several seats ``Sweeps.backward_together``.
            ends: value of each result, shape (result, context), or (seat, result, context).
            arithmetic: of the values.

        Returns:
            Values of the states, shape (state, context), and before the first roll, (context,).
        """

        def decide_states(piece: Piece, expected: Array) -> Array:
            *rows, count, actions, columns = expected.shape  # (..., state, action, context)
            by_state = expected.swapaxes(-2, -1).reshape(*rows, count * columns, actions)
            return decide(self._stage(piece, arithmetic), by_state).reshape(*rows, count, columns)

        return self.leg.turn.backward(decide_states, ends, arithmetic)

    def forward(
        self, decide: Decide, begun: Array, entering: Array, arithmetic: Arithmetic
    ) -> tuple[Values, Array]:
        """Sweep the turn forward (see ``Turn.forward``).

        Args:
            decide: as in ``Sweeps.forward``.
            begun: mass of states that no move has brought there, shape (state, context).
            entering: mass before the first roll, shape (context,).
            arithmetic: of the mass.

        Returns:
            Mass of the states, shape (state, context), and of the results, (result, context).
        """

        def divide(piece: Piece, met: Array) -> Array:
            stage = self._stage(piece._replace(scale=1), arithmetic)
            weights = decide(stage, arithmetic.unscaled(met.ravel(), piece.scale))
            whole: Array = arithmetic.scaled(weights, piece.scale)  # (state, action)
            return whole.reshape(*met.shape, -1).swapaxes(1, 2)

        states, chances = self.leg.turn.first_roll(arithmetic)
        begun[states] += chances[:, None] * entering
        return self.leg.turn.forward(divide, begun, arithmetic)


def _of_seats(table: Array, seats: int | list[int]) -> Array:
    """Pick the entries of players from a table (result, context, player); several come first."""
    return np.moveaxis(table, -1, 0)[seats]


def parts_of(game: TurnGame, number: int, contexts: BoolArray | None = None) -> Iterator[LegPart]:
    """Cut some contexts of a leg, or all, into parts whose numbers are few enough to be held.

    Args:
        game: the rules.
        number: of the leg.
        contexts: whether a context is meant, shape (context,), counted in the leg; None for all.
    """
    leg, first = game.legs[number], int(game.first_contexts[number])
    meant = np.arange(len(leg.contexts)) if contexts is None else np.flatnonzero(contexts)
    step = max(1, HELD // leg.turn.num_states)
    for columns in (meant[start : start + step] for start in range(0, len(meant), step)):
        in_a_row = columns[-1] - columns[0] == len(columns) - 1
        within = slice(int(columns[0]), int(columns[-1]) + 1) if in_a_row else columns
        yield LegPart(game, number, within, first + columns)
