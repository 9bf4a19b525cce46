"""Named policies: a function that makes the policy for a game, and its words for people."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy.typing as npt

#: A function from the game to actions, shape (state,), or to probabilities, shape (state, action).
#: Entries of states in which the policy's seat is never to move are ignored. If the name has an
#: argument, such as "hold:<points>", the function also gets the text after the colon.
Maker: TypeAlias = Callable[..., npt.ArrayLike]


@dataclass(frozen=True)
class NamedPolicy:
    """A registered policy."""

    make: Maker
    # The names that the leaderboard scores, such as ("hold:20",); () for none. None stands for the
    # policy's own name, or for no name if it has an argument.
    references: tuple[str, ...] | None = None
    title: str = ""  # name of the player for people; empty for the policy's own name
    about: str = ""  # a sentence for people on how the player plays; empty for none
