"""The types that rules, sweeps and tables share: arrays, moves, stages, the order of positions."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Array: TypeAlias = npt.NDArray[Any]  # floats, or Python integers and fractions in exact computation


class Move(NamedTuple):
    """Where a batch of moves leads, one entry a move."""

    seats: IntArray  # (move,) player to move next
    states: IntArray  # (move,) state next; meaningless where the game is over
    payoffs: Array  # (move, player), floats or fractions, zero until it is over for the player
    over: BoolArray  # (move, player), whether the player's payoff is settled


class Start(NamedTuple):
    """Probability mass of a player's states that no move has brought there."""

    seat: int
    states: IntArray  # (state,)
    chances: Array  # (state,)


class Stage(NamedTuple):
    """Positions of one player that no move connects."""

    seat: int  # player to move
    states: IntArray  # (state,)
    scale: Array  # (state,), what the numbers here are multiplied by: integers, 1 in floats
    mask: "BoolArray | None" = None  # (state, action), legal actions if they have been listed

    @property
    def positions(self) -> tuple[int, IntArray]:
        """Index of the positions in arrays of shape (player to move, state)."""
        return self.seat, self.states


class Order(NamedTuple):
    """Where the positions of a game stand, arrays of shape (player, state)."""

    stages: "IntArray"  # number of the stage, -1 if the position is in none
    blocks: "IntArray"  # number of the block, from 0 on, first to last; -1 likewise
    cut: "BoolArray"  # whether it is in the cut of its block


#: What a sweep asks at each stage, giving it numbers and taking others back: backward the expected
#: values of all actions, (state, action), for the value of each state, (state,); forward the mass
#: of each state, (state,), for the weights of all its actions, (state, action). Expected values
#: and values are multiplied by the scale of the stage. What a sweep gives it may overwrite later.
Decide: TypeAlias = Callable[[Stage, Array], Array]


_AnyArray = TypeVar("_AnyArray", bound=npt.NDArray[Any])


def frozen(array: _AnyArray) -> _AnyArray:
    """Make an array read-only, which many share: who wrote into it would change all answers."""
    array.setflags(write=False)
    return array
