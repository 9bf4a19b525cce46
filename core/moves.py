"""All moves of a game as flat tables, from which environments play many games at once.

Games of turns have the tables of their legs instead (see ``leg``): the moves of a turn do not
depend on the context, so that one table of the turn serves all contexts.
"""

from typing import NamedTuple

import numpy as np

from .arithmetic import FLOATS
from .errors import SizeError
from .game import Game
from .listing import batches, list_moves
from .positions import states_of
from .totals import require_totals
from .types import BoolArray, FloatArray, IntArray

#: Largest number of outcomes of moves that are listed one by one: 570 MB.
MOST = 2**25


class Moves(NamedTuple):
    """The moves of one seat, with the payoffs of a player, who may have another seat.

    Attributes:
        laws: row of ``Game.laws`` for each move, shape (state, action); -1 if the action is illegal
            or the seat is never to move in the state.
        firsts: entry of outcome 0 of each move, shape (state, action): outcome k has the entry
            ``firsts + k``.
        leads_to: seat * num_states + state of the next position, shape (entry,); -1 if the game is
            over for the player.
        paying: the entries with which the player is paid or the game is over, shape (payment,).
        payoffs: what the player is paid with these, shape (payment,).
    """

    laws: IntArray
    firsts: IntArray
    leads_to: IntArray
    paying: IntArray
    payoffs: FloatArray

    @property
    def over(self) -> BoolArray:
        """Whether the game is over with a payment, shape (payment,)."""
        over: BoolArray = self.leads_to[self.paying] < 0
        return over


def flat_moves(game: Game, seat: int, player: int) -> Moves:
    """List the moves of a seat one by one, and check them.

    Raises:
        GameError: if a move leads back or breaks another rule, or if payoffs add up to a total
            outside ``payoff_range``.
        SizeError: if there are too many.
    """
    own = states_of(game, seat)
    sizes = game.laws.shape[1] - np.argmax(game.laws[:, ::-1] > 0, axis=1)  # up to the last one
    laws, firsts = np.full((2, game.num_states, game.num_actions), -1, dtype=np.int32)
    position = np.min_scalar_type(-game.num_players * game.num_states)
    none = np.zeros(0, dtype=np.int32)
    listed, count = [(none.astype(position), none, np.zeros(0))], 0
    for batch in batches(game, own):
        rows, actions, ways = list_moves(game, seat, own[batch], FLOATS)
        states = own[batch][rows]
        begins = count + np.cumsum(sizes[ways.laws]) - sizes[ways.laws]
        laws[states, actions], firsts[states, actions] = ways.laws, begins
        size = int(sizes[ways.laws].sum())
        if count + size > MOST:
            raise SizeError(
                f"moves must have at most {MOST} outcomes to be listed, got {count + size}"
            )
        entries, effect = begins[ways.moves] + ways.outcomes, ways.effect
        over, paid = effect.over[:, player], effect.payoffs[:, player]
        leads_to = np.zeros(size, dtype=position)
        after = effect.seats * game.num_states + effect.states
        leads_to[entries - count] = np.where(over, -1, after)
        pays = over | (paid != 0)
        listed.append((leads_to, entries[pays].astype(np.int32), paid[pays].astype(np.float64)))
        count += size
    moves = Moves(laws, firsts, *(np.concatenate(column) for column in zip(*listed, strict=True)))
    if not moves.over.all():
        require_totals(game, player, FLOATS)
    return moves
