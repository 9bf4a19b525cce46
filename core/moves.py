"""All moves of a game as flat tables, made by its rules, for whoever plays many games at once.

Most games list the moves of a seat one by one (``Moves``). Games of turns against chance say which
turns they are made of (``SeatTurn``), and in which contexts: what a player can do in a turn does
not depend on its context, so that a table of the turn serves them all.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .effects import legal_moves, require_moves, require_rows
from .errors import SizeError

if TYPE_CHECKING:
    from .game import FloatArray, Game, IntArray
    from .turn import Turn


#: Outcomes of moves that are listed one by one: 256 MB.
MOST = 2**25


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

    laws: "IntArray"
    firsts: "IntArray"
    leads_to: "IntArray"
    payoffs: "FloatArray"


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
    turn: "Turn"
    starts: "IntArray"
    width: int
    seen: slice
    following: "IntArray"
    payoffs: "FloatArray"


def list_moves(game: "Game", seat: int, player: int) -> Moves:
    """List the moves of a seat one by one, and check them (see ``Game.moves`` and ``contract``).

    Raises:
        GameError: if a move leads back or breaks another rule.
        SizeError: if there are too many.
    """
    _ = game.checked_order
    own = game.states_of(seat)
    pair, actions = legal_moves(game, own)
    states = own[pair]
    laws, firsts = np.full((2, game.num_states, game.num_actions), -1)
    rows = game.law(states, actions)
    require_rows(game, seat, states, actions, rows)
    laws[states, actions] = rows
    sizes = game.laws.shape[1] - np.argmax(game.laws[:, ::-1] > 0, axis=1)  # up to the last one
    counts = sizes[rows]
    if counts.sum() > MOST:
        raise SizeError(f"moves must have at most {MOST} outcomes to be listed, got {counts.sum()}")
    first = firsts[states, actions] = np.cumsum(counts) - counts
    leads_to = np.zeros(int(counts.sum()), dtype=np.int64)
    paid = np.zeros(len(leads_to))
    over = np.zeros(len(leads_to), dtype=bool)
    for outcome in range(game.laws.shape[1]):
        where = np.flatnonzero(game.laws[rows, outcome] > 0)
        seats, outcomes = np.full(len(where), seat), np.full(len(where), outcome)
        move = game.advance(seats, states[where], actions[where], outcomes)
        require_moves(game, seats, states[where], actions[where], move)
        entries = first[where] + outcome
        leads_to[entries] = move.seats * game.num_states + move.states
        over[entries], paid[entries] = move.over[:, player], move.payoffs[:, player]
    payoffs, numbers = np.unique(paid[over], return_inverse=True)
    leads_to[over] = -1 - numbers
    return Moves(laws, firsts, leads_to, payoffs)
