"""Reading the arrays of users: their shapes, and what numbers they may hold."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..baselines.policies.tables import as_numbers
from ..core import BoolArray, FloatArray, InputError, IntArray


def numbers(given: Any, name: str, shape: tuple[int, ...]) -> FloatArray:
    """Read an array of numbers, or a tensor of any library.

    Raises:
        InputError: if it has another shape, or is no array of numbers.
    """
    array = as_numbers(given, name)
    if array.shape != shape:
        raise InputError(f"{name} must be of shape {shape}, got {array.shape}")
    return array.astype(np.float64)


def whole(given: Any, name: str, shape: tuple[int, ...]) -> IntArray:
    """Read an array of whole numbers; a last axis of length 1 is dropped.

    Raises:
        InputError: as ``numbers`` does, or if one is not whole.
    """
    array = as_numbers(given, name)
    if array.ndim == len(shape) + 1 and array.shape[-1] == 1:
        array = array[..., 0]
    read = numbers(array, name, shape)
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
