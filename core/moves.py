"""All moves of a game as flat tables, made by its rules, for whoever plays many games at once.

Games of turns have their legs instead (see ``leg``): what a player can do in a turn does not depend
on its context, so that a table of the turn serves them all.
"""

from typing import NamedTuple

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
