"""The rules, checked for games whose moves nothing else checks."""

from .effects import require_moves
from .game import Game
from .sweeps import sweeps_of
from .types import IntArray, Move


def checked_advance(
    game: Game,
    seats: IntArray,
    states: IntArray,
    actions: IntArray,
    outcomes: IntArray,
) -> Move:
    """Apply ``Game.advance``, and check the moves of a game whose moves would be listed.

    Games that list their moves themselves were checked when they were made.

    Raises:
        GameError: naming the first move that breaks a rule.
    """
    move = game.advance(seats, states, actions, outcomes)
    if sweeps_of(game).is_listed:
        require_moves(game, seats, states, actions, move)
    return move
