"""A game without cycles that is swept as a whole: a block whose cut is empty."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import override

from .arithmetic import Arithmetic
from .blocks import Block
from .types import Array, Decide, IntArray


class WholeGame(Block):
    """A game without cycles that has sweeps of its own; a subclass writes them.

    Args:
        arithmetic: of values and mass.
    """

    is_swept_whole = True
    successors = ()

    def __init__(self, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic
        self.groups = self.places = np.zeros(0, dtype=np.int64)

    @property
    @override
    def positions(self) -> Sequence[tuple[int, IntArray]]:
        return ()

    @override
    def gains(self, values: Any) -> None:
        return None

    @override
    def deviations(self, values: Any, spreads: Any) -> Any:
        raise NotImplementedError("a game that pays at its end has a law of payoffs instead")

    @override
    def at_cut(self, values: Any) -> Array:
        return self._arithmetic.zeros(0)

    @override
    def returns(self, decide: Decide) -> Array:
        return self._arithmetic.zeros(0, 0, 0)

    @override
    def arrive(self, decide: Decide, mass: Any) -> Array:
        return self._arithmetic.zeros(0)

    @override
    def describe_cut(self, point: int) -> str:
        raise IndexError(f"a game without cycles has no cut, got point {point}")
