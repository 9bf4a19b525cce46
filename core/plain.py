"""Rules of one game at a time, in Python's own numbers.

Numpy takes about as long for one game as for a hundred. So a game may have its rules a second time
in Python's own numbers, for environments of one game: Yahtzee, whose tables of all moves would have
no room, and Greed in PettingZoo, where no opponent is fixed and so there are no tables. Tests prove
these rules equal to the rules for arrays.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from .game import Game, once_a_game
from .sampling import inverse_laws
from .sweeps import checked_advance
from .types import IntArray

_KNOWN: dict[type[Game], "type[PlainRules]"] = {}
_Kind = TypeVar("_Kind", bound="type[PlainRules]")


class PlainMove(NamedTuple):
    """A move in one game; lists have an entry for each player."""

    outcome: int  # the outcome that chance has drawn
    seat: int  # who moves next; of no meaning once the game is over for all
    state: int
    payoffs: Sequence[float]
    over: Sequence[bool]


class PlainRules:
    """The rules of one game at a time: here by the game's methods for arrays."""

    def __init__(self, game: Any) -> None:
        self._game = game

    def mask(self, state: int) -> npt.NDArray[np.int8]:
        """Say which actions are legal, shape (action,), in fresh memory."""
        return self._game.mask(np.array([state]))[0].astype(np.int8)

    def observe(self, state: int, seat: int) -> IntArray:
        """Give what a player sees, shape (component,), in fresh memory."""
        return self._game.observe(np.array([state]), seat)[0]

    def advance(self, seat: int, state: int, action: int, chance: float) -> PlainMove:
        """Make a legal move whose outcome a uniform random number draws, as ``sampling`` does."""
        seats, states, actions = np.array([[seat], [state], [action]])
        law = int(self._game.law(states, actions)[0])
        outcome = inverse_laws(self._game).draw_one(law, chance)
        move = checked_advance(self._game, seats, states, actions, np.array([outcome]))
        ends = move.payoffs[0].astype(np.float64).tolist(), move.over[0].tolist()
        return PlainMove(outcome, int(move.seats[0]), int(move.states[0]), *ends)


def plain_rules_for(game: type[Game]) -> Callable[[_Kind], _Kind]:
    """Decorate the rules of a class of games that need no arrays."""

    def register(kind: _Kind) -> _Kind:
        _KNOWN[game] = kind
        return kind

    return register


def is_plain(game: Game) -> bool:
    """Say whether a game has rules that need no arrays."""
    return type(game) in _KNOWN


@once_a_game
def plain_rules(game: Game) -> PlainRules:
    """Give the rules for one game at a time: without arrays, if there are such."""
    return _KNOWN.get(type(game), PlainRules)(game)
