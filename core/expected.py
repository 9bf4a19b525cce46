"""Expected values of single moves, from the values of later positions."""

from .arithmetic import FLOATS, Arithmetic
from .game import Game
from .listing import expected_worth, list_ways
from .sweeps import sweeps_of
from .types import Array, IntArray
from .values import Values


def expected_values(
    game: Game,
    seat: int,
    states: IntArray,
    actions: IntArray,
    values: Values,
    arithmetic: Arithmetic = FLOATS,
) -> Array:
    """Compute the expected value of some legal moves to the player who makes them.

    Args:
        game: the rules.
        seat: who moves.
        states: where, shape (move,).
        actions: how, shape (move,).
        values: of later positions to ``seat``.
        arithmetic: of the values.

    Returns:
        Expected values, shape (move,).
    """
    if (known := values.of_moves(states, actions)) is not None:
        return known
    checked = sweeps_of(game).is_listed
    ways = list_ways(game, seat, states, actions, arithmetic, checked)
    return expected_worth(ways, len(states), seat, values, arithmetic)
