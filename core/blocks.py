"""Blocks of positions: what all exact computation sweeps.

Positions fall into *blocks*, and no move leads to an earlier one. Inside a block moves may lead in
circles, all of which pass the block's *cut*, such as the beginnings of turns. Cut there, a block is
like a game without cycles: given values of the cut, one pass backward gives the value of every
position, and again those of the cut, which must come out as they were put in. Forward, one pass
follows the mass that enters the block until it leaves or comes to the cut. A game without cycles is
one block, whose cut is empty.

Both passes are affine in what is put in at the cut. So the probabilities to come from one point of
the cut to another determine its values. Points that moves connect form a *group*; these
probabilities are zero between groups.

Each class of sweeps has a class of blocks. For games without cycles, it implements ``backward``,
``forward`` and the bounds of roundings; the defaults of ``Block`` are an empty cut and no later
block.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .arithmetic import Arithmetic
from .types import Array, Decide, IntArray, Lazy


class PayoffLaw:
    """Probability of each payoff to one player, added up as games end.

    If moves pay before the end, states do not hold the payoffs so far, and there is no such law.
    """

    def __init__(self) -> None:
        self.chances: dict[Any, Any] = {}

    def add(self, payoffs: Array, mass: Array) -> None:
        """Add the mass of some ends of games to that of the payoff of each, both (way,)."""
        for payoff in set(payoffs.tolist()):
            paid = mass[payoffs == payoff].sum()
            self.chances[payoff] = self.chances.get(payoff, 0) + paid


class Block(ABC):
    """Positions of a game, ready to be swept for one player in an arithmetic.

    In all methods, ``decide`` is what ``types.Decide`` says; values and mass are of the kinds that
    ``Sweeps.values`` and ``Sweeps.mass`` give.
    """

    # Whether the block is a game without cycles that has a sweep of its own, whose length is known.
    is_swept_whole: bool = False
    # Whether both passes decide in all stages, whatever the mass, by what decisions have returned.
    decides_all: bool = False
    pays_early: bool = False  # whether a move pays a player for whom the game goes on

    groups: IntArray  # (cut,) group of each point of the cut
    places: IntArray  # (cut,) its number in its group
    successors: Sequence[int] = ()  # numbers of the later blocks to which moves lead

    def __init__(self, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic
        self.groups = self.places = np.zeros(0, dtype=np.int64)

    @property
    def positions(self) -> Sequence[tuple[int, IntArray]]:
        """All positions of a block with a cut: players to move, and their states, (state,)."""
        return ()

    def gains(self, values: Any) -> Any:
        """Give what moves are worth that leave the block, in the form that ``backward`` takes.

        The values are those of later blocks; None if neither they nor the end are worth anything.
        """
        return None

    def deviations(self, values: Any, spreads: Any) -> Any:
        """Give squared deviations as gains, with which ``backward`` finds variances.

        With r what a way pays, V(s) the value of a position s and V(s') that of the next, the
        variance W of what is still paid to a player whose opponents and who itself have policies is

            W(s) = mean of (r + V(s') - V(s))^2 + W(s'),

        by the law of total variance. Deviations may also be taken a turn at a time: from the value
        of its beginning, ``Values.centres``, about which the numbers inside the turn then are.
        Values are those of all positions; ``backward`` has found the spreads of later blocks.
        """
        raise NotImplementedError("a game that pays at its end has a law of payoffs instead")

    def at_cut(self, values: Any) -> Array:
        """Give the values of the cut, shape (cut,)."""
        return self._arithmetic.zeros(0)

    @abstractmethod
    def backward(self, decide: Decide, gains: Any, cut: Array, values: Any = None) -> Array:
        """Visit the stages last to first with the expected value of every action.

        Args:
            decide: what all players do.
            gains: of moves that leave the block.
            cut: values of the cut where moves lead to it, shape (cut,).
            values: where those of the block go; None if nobody wants them.

        Returns:
            Values of the cut, as this pass finds them, shape (cut,).
        """

    def returns(self, decide: Decide) -> Array:
        """Give the probabilities to come from one point of the cut next to another.

        They are of shape (group, place of the one, place of the other).
        """
        return self._arithmetic.zeros(0, 0, 0)

    def arrive(self, decide: Decide, mass: Any) -> Array:
        """Give what comes to the cut of the mass that begins in the block, shape (cut,)."""
        return self._arithmetic.zeros(0)

    @abstractmethod
    def forward(
        self, decide: Decide, mass: Any, returning: Array, law: PayoffLaw | None = None
    ) -> None:
        """Visit the stages first to last, moving mass along.

        Args:
            decide: what all players do.
            mass: what begins in the block; all mass of the block takes its place, and what leaves
                it is added to that of later ones.
            returning: what comes to the cut from inside the block, shape (cut,).
            law: the payoffs of games that end in the block are added to it, unless it is None.
        """

    @abstractmethod
    def roundings(self, decision: int, stay: float) -> float:
        """Bound the roundings between a position and where the block is left, on average.

        Those of one more move, listed outcome by outcome, are included: its expected value is
        computed from the values that a pass leaves (``Sweeps.worth``).

        Args:
            decision: roundings of a decision, which turns the values of actions into that of a
                state.
            stay: the expected number of decisions in the block, at most; not used if it is swept
                whole.
        """

    @abstractmethod
    def forward_roundings(self, decision: int) -> int:
        """Bound how many roundings mass goes through, in one pass, on any way to a position.

        A move takes those of a ``decision``, which turns the mass of a state into weights of its
        actions, of a probability and of the product with it; at a position all ways to it are added
        up.
        """

    def describe_cut(self, point: int) -> str:
        """Name a point of the cut, for the author of the game."""
        raise IndexError(f"a game without cycles has no cut, got point {point}")


def for_one(decide: Decide) -> Decide:
    """Decide for one player as for several, whose axis comes first."""
    return lambda stage, expected: decide(stage, expected[0])[None]


#: The blocks of a game, first to last.
Blocks: TypeAlias = Lazy[Block]
