"""How exact computation counts: in floats, or without rounding.

Public functions turn their argument ``exact`` into one of the two arithmetics, which is handed down
from there. Without rounding, values are fractions, but sweeps compute with integers over
denominators that they know, which is many times as fast: nothing scaled leaves a sweep.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt


class Arithmetic(ABC):
    """Numbers of one kind.

    Attributes:
        dtype: of arrays of such numbers.
    """

    dtype: ClassVar[np.dtype[Any]]

    @abstractmethod
    def number(self, value: Any) -> Any:
        """Give a number as it leaves: a float, or a fraction."""

    @abstractmethod
    def exactly(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give an array of such numbers, each exactly the number it was."""

    def zeros(self, *shape: int) -> npt.NDArray[Any]:
        """Give an array of zeros."""
        return np.zeros(shape, dtype=self.dtype)


@dataclass(frozen=True)
class Floats(Arithmetic):
    """Numbers of 64 bits."""

    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float64)

    def number(self, value: Any) -> float:
        """Give a float."""
        return float(value)

    def exactly(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give floats as they are."""
        return values


@dataclass(frozen=True)
class Exact(Arithmetic):
    """Integers and fractions."""

    dtype: ClassVar[np.dtype[Any]] = np.dtype(object)

    def number(self, value: Any) -> Fraction:
        """Give a fraction."""
        return Fraction(value)

    def exactly(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give fractions."""
        fractions: npt.NDArray[Any] = np.vectorize(Fraction, otypes=[object])(values)
        return fractions


FLOATS = Floats()
EXACT = Exact()


def arithmetic(exact: bool) -> Arithmetic:
    """Give the arithmetic that a user asks for."""
    return EXACT if exact else FLOATS
