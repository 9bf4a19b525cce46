"""Sweeps of games for one player whose decisions are all the same fold of the values of actions."""

from abc import abstractmethod

from .arithmetic import FLOATS, Arithmetic
from .sweeps import Sweeps
from .types import FloatArray, Fold
from .values import Values


class FoldedSweeps(Sweeps):
    """Sweeps of a game for one player that also folds, which is faster than to ask a decision."""

    @abstractmethod
    def folded(self, fold: Fold, arithmetic: Arithmetic = FLOATS) -> Values | None:
        """Compute the values if the player decides by the same fold in all states.

        It makes no table of the values of actions, and keeps no choice (see ``expected``).

        Args:
            fold: of the values of the legal actions.
            arithmetic: of the values.

        Returns:
            As ``backward``. None if it would be no faster.
        """

    @abstractmethod
    def folded_squares(self, fold: Fold, values: Values) -> Values | None:
        """Sweep ``Block.deviations`` for a fold that ``folded`` has found; None if it cannot."""

    @abstractmethod
    def refolded(
        self, fold: Fold, numbers: FloatArray, centres: Values | None = None
    ) -> Values | None:
        """Make values of numbers that were kept, if a part that is computed again is the same.

        Args:
            fold: as of ``folded``.
            numbers: the ``numbers`` of values that ``folded`` has found, in floats.
            centres: the values of ``folded_squares``, if that has found the numbers; else None.

        Returns:
            The values; None if the numbers differ.
        """
