"""The states in which a seat may be to move, and the legal actions of many states at once."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .contract import checked_mask
from .errors import SizeError
from .game import Game, ListedGame, once_a_game
from .sizes import VARIABLE, limit_factor, show
from .types import BoolArray, IntArray, Stage, frozen

#: Number of states in a piece; their masks fit into the processor's cache.
PIECE = 4096
#: Largest number of states in a game whose states are visited one by one; a list of this many
#: takes 512 MB.
MOST_STATES = 2**26


def has_few_states(game: Game) -> bool:
    """Return whether a game has few enough states for computations that visit each of them."""
    return game.num_states <= MOST_STATES * limit_factor()


def require_few_states(game: Game) -> None:
    """Raise a ``SizeError`` unless a game has few enough states to visit each of them."""
    if not has_few_states(game):
        most = int(MOST_STATES * limit_factor())
        raise SizeError(
            f"{game!r} must have at most {show(most)} states, got {show(game.num_states)}: in "
            "so large a game policies have exact scores, and there are no arrays of all states, "
            f"no tables and no audits ({VARIABLE} changes the limit)"
        )


@once_a_game
def states_of(game: Game, seat: int) -> IntArray:
    """List the states in which a seat may be to move, in increasing order, shape (state,)."""
    require_few_states(game)
    if isinstance(game, ListedGame) and game.num_players == 1:
        return frozen(np.arange(game.num_states))
    known = np.zeros(game.num_states, dtype=bool)
    for mover, states in game.stages():
        if mover == seat:
            known[states] = True
    return frozen(np.flatnonzero(known))


def by_name(game: Game, observation: Iterable[int]) -> dict[str, int]:
    """Return an observation as integers by the names of its components, as JSON has it.

    The time may be left out at the end, as in decisions that are added up over all times.
    """
    return dict(zip(game.observation_names, map(int, observation), strict=False))


def legal_moves(game: Game, states: IntArray) -> tuple[IntArray, IntArray]:
    """List the legal moves in some states: indices into ``states``, and actions, shape (move,)."""
    rows, actions = np.nonzero(checked_mask(game, states))
    return rows, actions


def legal_in(game: Game, stage: Stage) -> BoolArray:
    """Return the mask of a stage, shape (state, action)."""
    return game.mask(stage.states) if stage.mask is None else stage.mask


def are_legal(game: Game, states: IntArray, actions: IntArray) -> BoolArray:
    """Return whether the action chosen in each state is legal, bool, shape (state,)."""
    legal = np.empty(len(states), dtype=bool)
    for piece in pieces(len(states)):
        chosen = actions[piece]
        legal[piece] = game.mask(states[piece])[np.arange(len(chosen)), chosen]
    return legal


def first_actions(game: Game, states: IntArray) -> IntArray:
    """Return the smallest legal action of each state, shape (state,)."""
    first = [game.mask(states[piece]).argmax(axis=1) for piece in pieces(len(states))]
    return np.concatenate([np.empty(0, dtype=np.int64), *first])


def pieces(count: int, size: int = PIECE) -> Iterator[slice]:
    """Divide the indices 0 to ``count`` - 1 into slices of a size."""
    for first in range(0, count, size):
        yield slice(first, first + size)


def places_in(ordered: Any, given: Any) -> IntArray:
    """Return the place of each entry in an ordered array, -1 if it is not there."""
    if not len(ordered):
        return np.full(given.shape, -1)
    places = np.minimum(np.searchsorted(ordered, given), len(ordered) - 1)
    return np.where(ordered[places] == given, places, -1)
