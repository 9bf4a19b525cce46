"""The sweeps of a game as exact computation asks for them, until games speak of arithmetic."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..games import Array, Game, IntArray, frozen
from ..games import Stage as Positions
from ..games.arithmetic import EXACT, FLOATS, Arithmetic


class Stage(NamedTuple):
    """Positions of one player that no move connects."""

    seat: int  # player to move
    states: IntArray  # (state,)
    scale: Any  # what the numbers of each state are multiplied by, (state,)


#: What a sweep asks at each stage (see ``Game``).
Decide: TypeAlias = Callable[[Stage, Array], Array]


class Values:
    """Values of all positions, as they leave a sweep.

    Args:
        game: whose positions they are.
        numbers: shape (player to move, state), scaled if exact.
    """

    def __init__(self, game: Game, numbers: Array) -> None:
        self._game = game
        self._numbers = frozen(numbers)

    def at(self, seat: int, states: IntArray) -> Array:
        """Give the values of some states with a player to move: floats or fractions."""
        numbers = self._numbers[seat, states]
        if self._numbers.dtype != object:
            found: Array = numbers
            return found
        scale = self._game.denominators(states)
        pairs = zip(numbers.tolist(), scale.tolist(), strict=True)
        return np.array([Fraction(number, one) for number, one in pairs], dtype=object)

    @property
    def array(self) -> Array:
        """All values, shape (player to move, state)."""
        if self._numbers.dtype != object:
            return self._numbers
        states = np.arange(self._game.num_states)
        return frozen(np.stack([self.at(seat, states) for seat in range(len(self._numbers))]))

    def complement(self) -> "Values":
        """Give the values to the other player of a zero-sum game."""
        if self._numbers.dtype != object:
            return Values(self._game, sum(self._game.payoff_range) - self._numbers)
        total = sum(self._game.exact_range, Fraction(0))
        scale = self._game.denominators(np.arange(self._game.num_states))
        whole = int(total) if total.denominator == 1 else total
        return Values(self._game, scale * whole - self._numbers)


def backward(game: Game, decide: Decide, seat: int, arithmetic: Arithmetic) -> Values:
    """Sweep back (see ``Game.backward``)."""
    numbers = game.backward(_scaling(game, decide, arithmetic), seat, arithmetic == EXACT)
    return Values(game, numbers)


def backward_together(
    game: Game, decide: Decide, seats: Sequence[int], arithmetic: Arithmetic
) -> tuple[Values, ...]:
    """Sweep back for several players (see ``Game.backward_together``)."""
    every = game.backward_together(_scaling(game, decide, arithmetic), seats, arithmetic == EXACT)
    return tuple(Values(game, numbers) for numbers in every)


def forward(game: Game, decide: Decide, start: Array, seat: int, arithmetic: Arithmetic) -> Array:
    """Sweep forward (see ``Game.forward``)."""
    return game.forward(_scaling(game, decide, FLOATS), start.astype(arithmetic.dtype), seat)


def settled(
    game: Game, seat: int, states: IntArray, player: int, arithmetic: Arithmetic
) -> tuple[IntArray, IntArray, Array, Array]:
    """List how moves can end the game (see ``Game.settled``)."""
    return game.settled(seat, states, player, arithmetic == EXACT)


def expect(game: Game, seat: int, states: IntArray, actions: IntArray, values: Values) -> Array:
    """Give the expected values of moves (see ``Game.expect``)."""
    return game.expect(seat, states, actions, values._numbers)


def _scaling(
    game: Game, decide: Decide, arithmetic: Arithmetic
) -> Callable[[Positions, Array], Array]:
    def decide_scaled(stage: Positions, numbers: Array) -> Array:
        scale = game.denominators(stage.states) if arithmetic == EXACT else None
        return decide(Stage(stage.seat, stage.states, scale), numbers)

    return decide_scaled
