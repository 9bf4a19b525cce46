"""The moves of any game, listed one outcome at a time.

What can be seen of the rules is checked as moves are listed (see ``contract``).
"""

from collections.abc import Iterator

import numpy as np

from .arithmetic import Arithmetic
from .checks import roundings_between
from .contract import exact_laws_of, order_of
from .effects import legal_moves, require_moves, require_rows
from .game import Game
from .identity import once_a_game
from .types import Array, FloatArray, IntArray, Move


def outcomes(
    game: Game, seat: int, states: IntArray, actions: IntArray, arithmetic: Arithmetic
) -> Iterator[tuple[IntArray, Array, Move]]:
    """List what may come of some moves, one outcome at a time: which moves, chance, effect."""
    rows = game.law(states, actions)
    require_rows(game, seat, states, actions, rows)
    laws, advance = arithmetic.laws(game), arithmetic.rules(game)
    for outcome in range(laws.shape[1]):
        where = np.flatnonzero(laws[rows, outcome] > 0)
        seats = np.full(len(where), seat)
        move = advance(seats, states[where], actions[where], np.full(len(where), outcome))
        yield where, laws[rows[where], outcome], move


def moves(
    game: Game, seat: int, states: IntArray, arithmetic: Arithmetic
) -> Iterator[tuple[IntArray, IntArray, Array, Move]]:
    """List every legal move from some states: place in ``states``, action, chance, effect."""
    _ = order_of(game)  # if nothing is swept
    pair, action = legal_moves(game, states)
    for where, chance, move in outcomes(game, seat, states[pair], action, arithmetic):
        row, done = pair[where], action[where]
        require_moves(game, np.full(len(row), seat), states[row], done, move)
        yield row, done, chance, move


def transitions(game: Game, seat: int, state: int, action: int) -> tuple[FloatArray, Move]:
    """List one move: the probabilities of its possible outcomes, and their effects."""
    row = int(game.law(np.array([state]), np.array([action]))[0])
    possible = np.flatnonzero(game.laws[row])
    seats, states, actions = (np.full(len(possible), entry) for entry in (seat, state, action))
    return game.laws[row, possible], game.advance(seats, states, actions, possible)


@once_a_game
def law_roundings(game: Game) -> int:
    """Count the roundings that take a probability of ``exact_laws`` to that of ``laws``."""
    return game.law_roundings or roundings_between(game.laws, exact_laws_of(game))


def move_roundings(game: Game) -> int:
    """Bound the roundings of the expected value of one action.

    They are those of a payoff, of its probability, of their product, and of each addition.
    """
    most = int(np.count_nonzero(game.laws, axis=1).max())
    return 1 + law_roundings(game) + most
