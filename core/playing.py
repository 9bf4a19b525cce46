"""Games played by their rules, a batch of games at once.

Whatever plays a game by its rules comes here: environments of games whose tables would be too
large, a person's game, PettingZoo, and learners that play both seats. A generator draws one number
for the beginning of each game, and one for the outcome of each move.
"""

from collections.abc import Callable, Sequence
from itertools import starmap
from math import inf
from typing import NamedTuple

import numpy as np

from .errors import GameError
from .game import Game, once_a_game
from .sampling import InverseLaws, draw
from .sweeps import checked_advance
from .types import BoolArray, FloatArray, IntArray, Move


class Played(NamedTuple):
    """A move that a player has made."""

    seat: int
    state: int
    action: int
    outcome: int  # the outcome that chance has drawn


class Reached(NamedTuple):
    """Where games have come to."""

    seats: IntArray  # (game,) who is to move; meaningless once the game is over
    states: IntArray  # (game,)
    payoffs: FloatArray  # (game, player) what was paid on the way
    over: BoolArray  # (game,) whether the game is over for all players without a policy


#: Chooses actions, (state,), of a seat in some states with a random generator.
Choosing = Callable[[int, IntArray, np.random.Generator], IntArray]


@once_a_game
def _start_law(game: Game) -> tuple[IntArray, InverseLaws]:
    states, chances = game.initial_law()
    return states, InverseLaws(chances.astype(np.float64)[None])


@once_a_game
def _longest(game: Game) -> float:
    """Bound the number of moves in a game: each leads to a later stage, without cycles."""
    return inf if game.has_cycles else len(game.stages())


def begin(game: Game, count: int, rng: np.random.Generator) -> IntArray:
    """Draw the states in which player 0 begins some games, shape (game,)."""
    states, law = _start_law(game)
    return states[law.draw(np.zeros(count, dtype=np.int64), rng)]


def make(
    game: Game,
    seats: IntArray,
    states: IntArray,
    actions: IntArray,
    rng: np.random.Generator,
    played: list[Played] | None = None,
) -> Move:
    """Make a legal move in each of some games; chance draws the outcomes.

    The moves are added to ``played``.
    """
    outcomes = draw(game, states, actions, rng)
    if played is not None:
        columns = (column.tolist() for column in (seats, states, actions, outcomes))
        played += starmap(Played, zip(*columns, strict=True))
    return checked_advance(game, seats, states, actions, outcomes)


def play_on(
    game: Game,
    waiting_for: Sequence[int],
    choose: Choosing,
    seats: IntArray,
    states: IntArray,
    rng: np.random.Generator,
    played: list[Played] | None = None,
) -> Reached:
    """Let the players with policies move until another player is to move, or games are over.

    Those of the seats ``waiting_for`` have no policy; the moves are added to ``played``.
    """
    seats, states = seats.copy(), states.copy()
    payoffs = np.zeros((len(seats), game.num_players))
    over, moves = np.zeros(len(seats), dtype=bool), np.zeros(len(seats), dtype=np.int64)
    moves_on, longest = np.ones(game.num_players, dtype=bool), _longest(game)
    moves_on[waiting_for] = False
    while len(others := np.flatnonzero(moves_on[seats] & ~over)):
        seat = int(seats[others[0]])
        moving = others[seats[others] == seat]
        moves[moving] += 1
        if moves.max() > longest:
            raise GameError(f"{game!r} must end, but others move in circles")
        actions = choose(seat, states[moving], rng)
        move = make(game, seats[moving], states[moving], actions, rng, played)
        seats[moving], states[moving] = move.seats, move.states
        payoffs[moving] += move.payoffs
        over[moving] = move.over[:, waiting_for].all(axis=1)
    return Reached(seats, states, payoffs, over)
