"""Reading of users' arrays and functions, with checks of their shapes and numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..baselines.policies.door import packages_of
from ..baselines.policies.tables import as_numbers
from ..core import BoolArray, FloatArray, InputError, IntArray

#: Numbers agree if they differ by no more than this part of the largest: single precision.
CLOSE = 1e-4


def numbers(given: Any, name: str, shape: tuple[int, ...], *, finite: bool = True) -> FloatArray:
    """Return an array, or a tensor of any library, as float64; drop a last axis of length 1.

    Args:
        given: the array.
        name: name of the argument, for messages.
        shape: the required shape.
        finite: whether all numbers must be finite.

    Raises:
        InputError: if the array has another shape, or entries that are not such numbers.
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
    """Return a number as a float, after checking that it is from 0 to 1.

    Raises:
        InputError: if it is no number from 0 to 1.
    """
    if isinstance(given, str) or np.ndim(given) or given is None or not 0 <= given <= 1:
        shown = given if isinstance(given, int | float) else f"a {type(given).__name__}"
        raise InputError(f"{name} must be from 0 to 1, got {shown}")
    return float(given)


def whole(given: Any, name: str, shape: tuple[int, ...]) -> IntArray:
    """Read an array of whole numbers.

    Raises:
        InputError: if ``numbers`` rejects the array, or a number is not whole.
    """
    read = numbers(given, name, shape)
    if not np.array_equal(read, np.rint(read)):
        raise InputError(f"{name} must be whole numbers, got {read[read != np.rint(read)][0]}")
    return read.astype(np.int64)


def flags(given: Any, name: str, shape: tuple[int, ...]) -> BoolArray:
    """Read an array of truth values, or of 0 and 1.

    Raises:
        InputError: if ``whole`` rejects the array, or a number is neither 0 nor 1.
    """
    read = whole(given, name, shape)
    if not np.isin(read, (0, 1)).all():
        raise InputError(f"{name} must be 0 or 1, got {read[~np.isin(read, (0, 1))][0]}")
    return read.astype(bool)


def leading_shape(given: Any, name: str, axes: int) -> tuple[int, ...]:
    """Return the length of the first axes of an array, or of the first entry without masks.

    Raises:
        InputError: if the array has fewer axes, or the mapping is empty.
    """
    if isinstance(given, Mapping):
        shown = [entry for key, entry in given.items() if "mask" not in key]
        given = next(iter(shown or given.values()))
    first: npt.NDArray[Any] = as_numbers(given, name)
    if first.ndim < axes or not first.size:
        wanted = "(time, lane, ...)" if axes == 2 else "(transition, ...)"
        raise InputError(f"{name} must be of shape {wanted}, got {first.shape}")
    return first.shape[:axes]


def called(function: Any, name: str, observations: Any, shape: tuple[int, ...]) -> FloatArray:
    """Call a function, or a torch module, with a batch of observations; return its numbers.

    Args:
        function: torch modules get a tensor of the dtype of their parameters.
        name: name of the argument, for messages.
        observations: shape (observation, ...), or a mapping of such arrays.
        shape: the required shape; of one number an observation, a last axis of length 1 may follow.

    Raises:
        InputError: if it cannot be called, or gives an array of another shape.
    """
    if "torch" in packages_of(function) and callable(function):
        from .networks import Network  # needs torch

        function = Network(function, name, *(shape[1:] or (None,)))
    if not callable(function):
        raise InputError(
            f"{name} must be a function of observations, got a {type(function).__name__}"
        )
    given = as_numbers(function(observations), name)
    if given.shape not in ({shape} if shape[1:] else {shape, (*shape, 1)}):
        raise InputError(f"{name} must give numbers of shape {shape}, got {given.shape}")
    return given.reshape(shape).astype(np.float64)


def agree(ours: FloatArray, theirs: FloatArray, size: float = 1e-6) -> BoolArray:
    """Say which numbers agree up to single precision.

    Args:
        ours: the numbers as they must be.
        theirs: the numbers that were recorded.
        size: of the numbers that they were computed from, if these are larger.
    """
    finite = np.isfinite(ours) & np.isfinite(theirs)
    size = max(float(np.abs(ours).max(initial=0, where=finite)), size)
    right: BoolArray = ours == theirs  # infinite ones, too
    right[finite] = np.abs(ours[finite] - theirs[finite]) <= CLOSE * size
    return right
