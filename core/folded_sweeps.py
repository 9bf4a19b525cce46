"""Sweeps for one-player policies that fold the action values alike in every state.

A *fold* turns the values of the legal actions of a state into the value of the state: the maximum
for optimal play, the mean for uniformly random play.
"""

from abc import abstractmethod

from .arithmetic import FLOATS, Arithmetic
from .sweeps import Sweeps
from .types import FloatArray, Fold
from .values import Values


class FoldedSweeps(Sweeps):
    """Sweeps of a one-player game that can also sweep by a fold, without a call per decision."""

    @abstractmethod
    def folded(self, fold: Fold, arithmetic: Arithmetic = FLOATS) -> Values | None:
        """Compute the values of a player that decides by the same fold in all states.

        The sweep stores neither action values (``expected`` computes them) nor choices.

        Args:
            fold: the function of the values of the legal actions.
            arithmetic: arithmetic of the values.

        Returns:
            The values, as from ``backward``; None if a sweep by the fold would be no faster.
        """

    @abstractmethod
    def folded_squares(self, fold: Fold, values: Values) -> Values | None:
        """Compute the mean squared deviations from ``values`` (see ``Block.deviations``).

        Args:
            fold: the fold that ``folded`` was called with.
            values: the values that ``folded`` returned.

        Returns:
            The mean squared deviations of all positions; None if the game has no such sweep.
        """

    @abstractmethod
    def refolded(
        self, fold: Fold, numbers: FloatArray, centres: Values | None = None
    ) -> Values | None:
        """Restore values from stored numbers, after computing a part of them again as a check.

        Args:
            fold: the fold of the sweep that computed the numbers.
            numbers: the stored ``numbers`` of the values that ``folded`` or ``folded_squares``
                returned, float64.
            centres: the argument ``values`` of ``folded_squares``, if that function computed the
                numbers; None if ``folded`` did.

        Returns:
            The values; None if the part computed again differs from the stored numbers.
        """
