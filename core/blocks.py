"""Games with cycles: blocks of positions, each swept once the values of its cut are known.

Positions fall into *blocks*, and no move leads to an earlier one. Inside a block moves may lead in
circles, all of which pass the block's *cut*, such as the beginnings of turns. Cut there, a block is
like a game without cycles: given values of the cut, one pass backward gives the value of every
position, and again those of the cut, which must come out as they were put in. Forward, one pass
follows the mass that enters the block until it leaves or comes to the cut.

Both passes are affine in what is put in at the cut. So the probabilities to come from one point of
the cut to another tell what it must be (``baselines.solving.cycles``). Points that moves connect
form a *group*; these probabilities are zero between groups.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from .arithmetic import Values
from .types import Array, Decide, IntArray, Stage


class Block(ABC):
    """Positions of a game, ready to be swept for one player.

    Attributes:
        groups: group of each point of the cut, shape (cut,).
        places: its number in its group, of the same shape.
        successors: numbers of the later blocks to which moves lead.
    """

    groups: IntArray
    places: IntArray
    successors: Sequence[int]

    @property
    @abstractmethod
    def stages(self) -> Sequence[Stage]:
        """All positions of the block, by player."""

    @abstractmethod
    def gains(self, values: Values | None) -> Any:
        """Give what moves are worth that leave the block, in the form that ``backward`` takes.

        Args:
            values: of later blocks; None if neither they nor the end are worth anything.
        """

    @abstractmethod
    def at_cut(self, values: Values) -> Array:
        """Give the values of the cut, shape (cut,), from those of all positions."""

    @abstractmethod
    def backward(
        self, decide: Decide, gains: Any, cut: Array, values: Values | None = None
    ) -> Array:
        """Visit the stages last to first with the expected value of every action.

        Args:
            decide: as in ``Sweeps.backward``.
            gains: of moves that leave the block.
            cut: values of the cut where moves lead to it, shape (cut,).
            values: where those of the block's positions go; None if nobody wants them.

        Returns:
            Values of the cut, as this pass finds them, shape (cut,).
        """

    @abstractmethod
    def returns(self, decide: Decide) -> Array:
        """Give the probabilities to come from one point of the cut next to another.

        Args:
            decide: as in ``Sweeps.forward``.

        Returns:
            Shape (group, place of the one, place of the other).
        """

    @abstractmethod
    def arrive(self, decide: Decide, mass: Array) -> Array:
        """Give what comes to the cut of the mass that begins in the block, shape (cut,).

        Args:
            decide: as in ``Sweeps.forward``.
            mass: shape (player to move, state).
        """

    @abstractmethod
    def forward(self, decide: Decide, mass: Array, returning: Array) -> None:
        """Visit the stages first to last, moving mass along.

        Args:
            decide: as in ``Sweeps.forward``.
            mass: what begins in the block, shape (player to move, state); all mass of the block
                takes its place, and what leaves it is added to that of later ones.
            returning: what comes to the cut from inside the block, shape (cut,).
        """

    @abstractmethod
    def roundings(self, decision: int) -> int:
        """Bound the roundings of a decision, of its moves, and of all else up to the next one."""

    @abstractmethod
    def forward_roundings(self, decision: int) -> int:
        """Bound the roundings of one pass forward (see ``Sweeps.forward_roundings``)."""

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
