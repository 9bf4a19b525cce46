"""The types that rules, sweeps and tables share: arrays, moves, stages, the order of positions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Array: TypeAlias = npt.NDArray[Any]  # floats, or Python integers and fractions in exact computation


class Move(NamedTuple):
    """The results of a batch of moves."""

    seats: IntArray  # (move,) next player to move
    states: IntArray  # (move,) next state; meaningless if the game is over for all players
    payoffs: Array  # (move, player), floats or fractions: what the move pays the player
    over: BoolArray  # (move, player), whether the game is over for the player, who gets no more


class Start(NamedTuple):
    """Probability mass of a player's states that no move has brought there."""

    seat: int
    states: IntArray  # (state,)
    chances: Array  # (state,)


class Stage(NamedTuple):
    """Positions of one player that no move connects."""

    seat: int  # player to move
    states: IntArray  # (state,)
    scale: Array  # (state,), the factor of all values here: an integer, or 1 in floats
    mask: "BoolArray | None" = None  # (state, action), the legal actions if they have been listed

    @property
    def positions(self) -> tuple[int, IntArray]:
        """The index of the positions in arrays of shape (player to move, state)."""
        return self.seat, self.states


class Order(NamedTuple):
    """The stage and the block of every position, arrays of shape (player, state)."""

    stages: "IntArray"  # number of the stage; -1 if no stage has the position
    blocks: "IntArray"  # number of the block, from 0 on, first to last; -1 if no block has it
    cut: "BoolArray"  # whether the position is in the cut of its block


#: A function that a sweep calls at each stage. Backward it turns action values, (state, action),
#: into the value of each state, (state,), all multiplied by the scale of the stage. Forward it
#: turns the mass of each state, (state,), into the weights of its actions, (state, action). The
#: sweep may overwrite the array that it passes once the function has returned.
Decide: TypeAlias = Callable[[Stage, Array], Array]

#: A decision that is the same in all states: the largest value of the legal actions, or their mean.
Fold: TypeAlias = Literal["best", "mean"]

_AnyArray = TypeVar("_AnyArray", bound=npt.NDArray[Any])
_Entry = TypeVar("_Entry")


@dataclass(frozen=True)
class Lazy(Sequence[_Entry]):
    """A sequence whose entries are made each time they are asked for: together they are large."""

    length: int
    make: Callable[[int], _Entry]  # gives the entry of a number from 0 on

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: Any) -> Any:
        """Make an entry, or list those of a slice."""
        numbers = range(self.length)[index]
        return [self[n] for n in numbers] if isinstance(numbers, range) else self.make(numbers)


def frozen(array: _AnyArray) -> _AnyArray:
    """Make an array read-only, as callers share it through the cache, and return it."""
    array.setflags(write=False)
    return array
