"""A game that is swept whole, as the one block that it is."""

from collections.abc import Callable

import numpy as np
from typing_extensions import override

from .arithmetic import Arithmetic
from .blocks import Block
from .sweeps import Sweeps
from .types import Array, Decide, Stage
from .values import Values


class WholeGame(Block):
    """A game without cycles that has sweeps of its own: a block whose cut is empty.

    Args:
        sweeps: of the game.
        seat: for whom values are computed.
        arithmetic: of values and mass.
        backward_roundings: bounds the roundings between a position and the end, given those of a
            decision.
        forward_roundings: likewise those of one pass forward.
    """

    is_swept_whole = True
    successors = ()

    def __init__(
        self,
        sweeps: Sweeps,
        seat: int,
        arithmetic: Arithmetic,
        backward_roundings: Callable[[int], int],
        forward_roundings: Callable[[int], int],
    ) -> None:
        self._sweeps, self._seat, self._arithmetic = sweeps, seat, arithmetic
        self._backward_roundings, self._forward_roundings = backward_roundings, forward_roundings
        self.groups = self.places = np.zeros(0, dtype=np.int64)

    @property
    @override
    def stages(self) -> list[Stage]:
        return [Stage(*stage, np.ones(len(stage[1]))) for stage in self._sweeps.game.stages()]

    @override
    def gains(self, values: Values | None) -> None:
        return None

    @override
    def at_cut(self, values: Values) -> Array:
        return self._arithmetic.zeros(0)

    @override
    def backward(
        self, decide: Decide, gains: None, cut: Array, values: Values | None = None
    ) -> Array:
        found = self._sweeps.backward(decide, self._seat, self._arithmetic)
        if values is not None:
            values.take_over(found)
        return cut

    @override
    def returns(self, decide: Decide) -> Array:
        return self._arithmetic.zeros(0, 0, 0)

    @override
    def arrive(self, decide: Decide, mass: Array) -> Array:
        return self._arithmetic.zeros(0)

    @override
    def forward(self, decide: Decide, mass: Array, returning: Array) -> None:
        self._sweeps.move_on(decide, mass, self._seat, self._arithmetic)

    @override
    def roundings(self, decision: int, stay: float) -> float:
        return self._backward_roundings(decision)

    @override
    def forward_roundings(self, decision: int) -> int:
        return self._forward_roundings(decision)

    @override
    def describe_cut(self, point: int) -> str:
        raise IndexError(f"a game without cycles has no cut, got point {point}")
