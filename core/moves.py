"""All moves of a game as flat tables, made by its rules, for whoever plays many games at once.

Most games list the moves of a seat one by one (``Moves``). Games of turns against chance say which
turns they are made of (``SeatTurn``), and in which contexts: what a player can do in a turn does
not depend on its context, so that a table of the turn serves them all.
"""

from typing import NamedTuple

from .turn import Turn
from .types import FloatArray, IntArray


class Moves(NamedTuple):
    """The moves of one seat, as another one, the player, is concerned by them.

    Attributes:
        laws: row of ``Game.laws`` that a move follows, shape (state, action); -1 if it is illegal,
            or the state is not one of the seat's.
        firsts: where a move's outcomes are listed, of the same shape: outcome k leads to entry
            ``firsts + k`` of ``leads_to``.
        leads_to: shape (entry,): seat * num_states + state of who moves next, or -1 - p if the
            game is over for the player with payoff number p.
        payoffs: by number.
    """

    laws: IntArray
    firsts: IntArray
    leads_to: IntArray
    payoffs: FloatArray


class SeatTurn(NamedTuple):
    """A turn of one seat, in every context in which it may begin.

    Contexts come in blocks of ``width``. State s of the turn in context c of block b is the state
    ``starts[b] + s * width + c`` of the game.

    Attributes:
        seat: whose turn it is.
        turn: what is played.
        starts: shape (block,).
        width: contexts in a block.
        seen: components of an observation that tell the states of the turn, not the contexts.
        following: where a result leads, shape (result, block * context): a context, counted over
            all contexts of all ``SeatTurn``s; -1 if the game is over for the player.
        payoffs: the player's payoff, of the same shape, where it is.
    """

    seat: int
    turn: Turn
    starts: IntArray
    width: int
    seen: slice
    following: IntArray
    payoffs: FloatArray
