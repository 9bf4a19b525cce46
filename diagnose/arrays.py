"""Reading the arrays of users: their shapes, and what numbers they may hold."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..baselines.policies.tables import as_numbers
from ..core import BoolArray, FloatArray, InputError, IntArray


def numbers(given: Any, name: str, shape: tuple[int, ...], *, finite: bool = True) -> FloatArray:
    """Read an array of numbers, or a tensor of any library; a last axis of length 1 is dropped.

    Args:
        given: the array.
        name: of the argument, for messages.
        shape: that it must have.
        finite: whether all numbers must be finite.

    Raises:
        InputError: if it has another shape, or is no array of such numbers.
    """
    array = as_numbers(given, name)
    if array.shape == (*shape, 1):
        array = array[..., 0]
    if array.shape != shape:
        raise InputError(f"{name} must be of shape {shape}, got {array.shape}")
    wrong = np.argwhere(~np.isfinite(array))
    if finite and len(wrong):
        place = tuple(wrong[0].tolist())
        at = ", ".join(map(str, place))
        raise InputError(f"{name} must be finite, got {array[place]} at entry {at}")
    return array.astype(np.float64)


def factor(given: Any, name: str) -> float:
    """Read a number from 0 to 1.

    Raises:
        InputError: if it is no such number.
    """
    if isinstance(given, str) or np.ndim(given) or given is None or not 0 <= given <= 1:
        shown = given if isinstance(given, int | float) else f"a {type(given).__name__}"
        raise InputError(f"{name} must be from 0 to 1, got {shown}")
    return float(given)


def whole(given: Any, name: str, shape: tuple[int, ...]) -> IntArray:
    """Read an array of whole numbers.

    Raises:
        InputError: as ``numbers`` does, or if one is not whole.
    """
    read = numbers(given, name, shape)
    if not np.array_equal(read, np.rint(read)):
        raise InputError(f"{name} must be whole numbers, got {read[read != np.rint(read)][0]}")
    return read.astype(np.int64)


def flags(given: Any, name: str, shape: tuple[int, ...]) -> BoolArray:
    """Read an array of truth values, or of 0 and 1.

    Raises:
        InputError: as ``whole`` does, or if a number is another one.
    """
    read = whole(given, name, shape)
    if not np.isin(read, (0, 1)).all():
        raise InputError(f"{name} must be 0 or 1, got {read[~np.isin(read, (0, 1))][0]}")
    return read.astype(bool)


def leading_shape(given: Any, name: str, axes: int) -> tuple[int, ...]:
    """Return the length of the first axes of an array, or of the first entry of a mapping.

    Raises:
        InputError: if it has fewer axes, or nothing in it.
    """
    first: npt.NDArray[Any] = as_numbers(
        next(iter(given.values())) if isinstance(given, Mapping) else given, name
    )
    if first.ndim < axes or not first.size:
        wanted = "(time, lane, ...)" if axes == 2 else "(transition, ...)"
        raise InputError(f"{name} must be of shape {wanted}, got {first.shape}")
    return first.shape[:axes]
