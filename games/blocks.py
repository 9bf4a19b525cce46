"""Games with cycles: blocks of positions, each swept once the values of its cut are known.

Positions fall into *blocks*, and no move leads to an earlier one. Inside a block moves may lead in
circles, all of which pass the block's *cut*, such as the beginnings of turns. Cut there, a block is
like a game without cycles: given values of the cut, one pass backward gives the value of every
position, those of the cut included, which must come out as they were put in. Forward, one pass
follows the mass that enters the block until it leaves or returns to the cut.

Both passes are affine in what is given at the cut, so that a few passes with unit vectors tell what
it must be (``baselines.cycles``). Parts of a block that no move connects form *groups*; one pass
carries a unit vector of every group at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from .arithmetic import Array, Values
from .game import Decide, IntArray, Stage


class Block(ABC):
    """Positions of a game for one player, ready to be swept; rows are swept side by side.

    Attributes:
        positions: player to move and state of each of its positions, both of shape (position,).
        stages: the same positions, first to last.
        groups: group of each point of the cut, shape (cut,).
        places: its number in its group, of the same shape.
    """

    positions: tuple[IntArray, IntArray]
    stages: Sequence[Stage]
    groups: IntArray
    places: IntArray

    @abstractmethod
    def gains(self, values: Values) -> Array:
        """Give what moves are worth that leave the block, in the form that ``backward`` takes.

        Args:
            values: of later blocks, shape (player to move, state).
        """

    @abstractmethod
    def backward(self, decide: Decide, gains: Array | None, cut: Array) -> tuple[Array, Array]:
        """Visit the stages last to first with the expected value of every action.

        Args:
            decide: takes a stage and expected values, shape (row, state, action), meaningless for
                illegal actions; gives the values of the states, shape (row, state).
            gains: of moves that leave the block, the same in all rows; None for nothing.
            cut: values of the cut where moves lead to it, shape (row, cut).

        Returns:
            Values of the positions, shape (row, position), and again of the cut, (row, cut).
        """

    @abstractmethod
    def forward(self, decide: Decide, start: Array, cut: Array) -> tuple[Array, Array]:
        """Visit the stages first to last, moving mass along until it leaves or comes to the cut.

        Args:
            decide: takes a stage and the mass of its states, shape (row, state); gives the weights
                of its actions, shape (row, state, action).
            start: mass that does not come from this block, shape (row, position).
            cut: mass that does, at the cut, shape (row, cut).

        Returns:
            All mass, shape (row, position), and what came to the cut, shape (row, cut).
        """

    @abstractmethod
    def leave(self, decide: Decide, met: Array, mass: Array) -> None:
        """Add what leaves the block to the mass of later ones.

        Args:
            decide: as in ``forward``.
            met: mass of the positions, shape (position,).
            mass: shape (player to move, state), which grows.
        """

    @abstractmethod
    def at_cut(self, values: Values) -> Array:
        """Pick the values of the cut, shape (cut,), from those of all positions."""

    @abstractmethod
    def describe_cut(self, point: int) -> str:
        """Name a point of the cut, for the author of the game."""


class Blocks(ABC):
    """The blocks of a game, first to last, made when their turn comes: together they are large."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, number: int) -> Block: ...

    def __iter__(self) -> Iterator[Block]:
        """Make one after the other, first to last."""
        return (self[number] for number in range(len(self)))

    def __reversed__(self) -> Iterator[Block]:
        """Make one after the other, last to first."""
        return (self[number] for number in reversed(range(len(self))))
