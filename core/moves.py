"""All moves of a game as flat tables, from which environments play many games at once.

Games of turns have the tables of their legs instead (see ``leg``): the moves of a turn do not
depend on the context, so that one table of the turn serves all contexts.
"""

from typing import NamedTuple

from .types import FloatArray, IntArray


class Moves(NamedTuple):
    """The moves of one seat, with the payoffs of a player, who may have another seat.

    Attributes:
        laws: row of ``Game.laws`` for each move, shape (state, action); -1 if the action is illegal
            or the seat is never to move in the state.
        firsts: index of a move's first outcome in ``leads_to``, shape (state, action): outcome k
            has the entry ``firsts + k``.
        leads_to: shape (entry,): seat * num_states + state of the next position, or -1 - p if the
            game is then over for the player, with payoff number p.
        payoffs: the payoffs by number.
    """

    laws: IntArray
    firsts: IntArray
    leads_to: IntArray
    payoffs: FloatArray
