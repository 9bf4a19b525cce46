"""Rules in Python's own numbers, which are faster than arrays for a few games at once.

Most games are played by tables of all their moves. A game of one player whose tables would have no
room may have such rules.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .game import Game, once_a_game
from .types import IntArray

_KNOWN: dict[type[Game], "type[PlainRules]"] = {}
_Kind = TypeVar("_Kind", bound="type[PlainRules]")


class PlainRules(ABC):
    """The rules of a game of one player, which must be those of the game's methods for arrays.

    Args:
        game: the game.
    """

    @abstractmethod
    def __init__(self, game: Any) -> None: ...

    @abstractmethod
    def mask(self, state: int) -> npt.NDArray[np.int8]:
        """Say which actions are legal, shape (action,), in fresh memory."""

    @abstractmethod
    def observe(self, state: int) -> IntArray:
        """Give the observation of a state, shape (component,), in fresh memory."""

    @abstractmethod
    def advance(self, state: int, action: int, chance: float) -> tuple[int, float]:
        """Make a legal move whose outcome a uniform random number draws, as ``sampling`` does.

        Returns:
            The next state, -1 if the game is over, and the payment.
        """


def plain_rules_for(game: type[Game]) -> Callable[[_Kind], _Kind]:
    """Decorate the plain rules of a class of games."""

    def register(kind: _Kind) -> _Kind:
        _KNOWN[game] = kind
        return kind

    return register


@once_a_game
def plain_rules(game: Game) -> PlainRules | None:
    """Give the plain rules of a game; None if it has none."""
    kind = _KNOWN.get(type(game))
    return None if kind is None else kind(game)
