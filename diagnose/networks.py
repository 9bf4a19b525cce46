"""Modules of torch that users give: their parameters, and calls of them that are checked."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import torch as th

from ..baselines.law.numbers import as_numbers
from ..core import FloatArray, InputError
from ..core.errors import answering
from .records import each_array

#: Parameters by the names of a module's parameters.
Parameters: TypeAlias = Mapping[str, th.Tensor]


def parameters_of(module: Any, name: str) -> dict[str, th.Tensor]:
    """Return the parameters of a module that require a gradient, by name."""
    if not isinstance(module, th.nn.Module):
        raise InputError(f"{name} must be a torch module, got a {type(module).__name__}")
    return {key: given for key, given in module.named_parameters() if given.requires_grad}


def joined(
    parameters: Mapping[str, th.Tensor], found: Mapping[str, th.Tensor | None]
) -> FloatArray:
    """Join the gradients of parameters, or tensors of their shapes, to a vector; None is zeros."""
    pairs = ((found[key], parameter) for key, parameter in parameters.items())
    parts = [th.zeros_like(parameter) if part is None else part for part, parameter in pairs]
    return np.concatenate([part.detach().cpu().double().numpy().ravel() for part in parts])


def tensors(observations: Any, like: th.Tensor) -> Any:
    """Turn observations, or each entry of a mapping, into tensors of a dtype and device.

    Numbers of states, of a ``Discrete`` space, stay whole, as embeddings need them.
    """

    def tensor(given: Any) -> th.Tensor:
        array = as_numbers(given, "observations")
        if array.ndim == 1 and array.dtype.kind in "iu":
            return th.as_tensor(array.astype(np.int64), device=like.device)
        return th.as_tensor(array).to(like)

    return each_array(observations, tensor)


class Network:
    """A torch module as a function of observations, whose results are checked.

    Its width is the number of results for each observation; None for one, with or without an axis.
    """

    def __init__(self, module: Any, name: str, width: int | None) -> None:
        self.parameters = parameters_of(module, name)
        self._module, self.__name__, self._width = module, name, width
        self._like = next(module.parameters(), th.zeros(0))

    def __call__(self, observations: Any) -> th.Tensor:
        """Return the results of a batch of observations, shape (observation, width)."""
        seen = tensors(observations, self._like)
        shown = next(iter(seen.values())) if isinstance(seen, dict) else seen
        with answering(f"{self.__name__} must take observations of shape {tuple(shown.shape)}"):
            given: Any = self._module(seen)
        if not isinstance(given, th.Tensor):
            raise InputError(f"{self.__name__} must give a tensor, got a {type(given).__name__}")
        one, shape = self._width is None, (len(shown), *([self._width] if self._width else ()))
        if given.shape != shape and not (one and given.shape == (*shape, 1)):
            raise InputError(
                f"{self.__name__} must give numbers of shape {shape}, got {tuple(given.shape)}"
            )
        if not th.isfinite(given).all():
            wrong = given[~th.isfinite(given)][0].item()
            raise InputError(f"{self.__name__} must give finite numbers, got {wrong}")
        return given.reshape(shape)
