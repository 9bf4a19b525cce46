"""What users give as numbers: arrays, lists and tensors of any library, or a refusal by name."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ...core import InputError

#: How far a float32 network's answers may differ from batch to batch, as a share of the largest.
#: Such a network is right to about 1e-6 of that, and a law moves by no more than its logits.
ROUNDING = 1e-4


def as_numbers(given: Any, name: str) -> npt.NDArray[Any]:
    """Read an array of whole numbers, floats or truth values.

    Args:
        given: an array, a list, or a tensor, with a gradient or without.
        name: what it is called in messages.

    Raises:
        ValueError: if it is anything else.
    """
    if isinstance(given, np.ma.MaskedArray):
        raise InputError(
            f"{name} must be numbers, got a masked array: give one without, such as its filled(0)"
        )
    if isinstance(given, tuple) and len(given) == 2 and given[1] is None:
        raise InputError(
            f"{name} must be numbers, got a pair of an array and None, as predict of a model gives "
            "it: take the first of the two"
        )
    if given is None:
        raise InputError(f"{name} must be numbers, got nothing (None)")
    try:
        array = np.asarray(_of_tensor(given))
    except Exception as error:  # each library has its own for what is no array
        said = " ".join(str(error).split())[:120]
        raise InputError(
            f"{name} must be numbers in rows of one length, got a {type(given).__name__}: {said}"
        ) from None
    if array.dtype.kind not in "uifb":
        raise InputError(f"{name} must be numbers, got {array.dtype} of shape {array.shape}")
    return array


def _of_tensor(given: Any) -> Any:
    """Take a tensor of torch off its device and its gradient; numpy knows no bfloat16."""
    if not hasattr(given, "detach"):
        return given
    tensor = given.detach().cpu()
    return tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor
