"""PyTorch modules as policies: a module maps observations to preferences for actions."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from inspect import getattr_static
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import torch as th

from ...baselines import NetworkPolicy, Reading
from ...baselines.policies.networks import ROUNDING, as_preferences
from ...core import InputError, IntArray
from .grids import Perceptron, PerceptronPolicy, perceptron

#: A function from a batch of observations to a batch of network inputs.
Change = Callable[[Any], Any]


class ModulePolicy(PerceptronPolicy):
    """The policy of a module that returns logits or action values, one for each action.

    The module is called on a batch of observations, with the dtype and device of its weights, in
    evaluation mode (no dropout). A module made by ``torch.compile`` is called uncompiled.
    """

    def __init__(self, module: th.nn.Module, reading: Reading) -> None:
        self._module: th.nn.Module = getattr(module, "_orig_mod", module)
        name = type(self._module).__name__
        if reading.sight is None:
            raise InputError(
                f"env must be an environment, whose observations are the input of {name}, a torch "
                "module, got a task"
            )
        if getattr_static(type(self._module), "forward") is th.nn.Module.forward:
            raise InputError(
                f"policy must be a module that gives a preference for each action, got {name}, "
                "which has no forward: pass the part of it that does, or exactdice.from_network of "
                "a function"
            )
        self._like = next(self._module.parameters(), th.zeros(0))
        finest = th.finfo(self._like.dtype).eps if self._like.is_floating_point() else 0.0
        super().__init__(name, reading.deterministic, reading.masked, max(ROUNDING, 8 * finest))
        self._space = reading.sight.space
        self._show, self._change = reading.sight.show, change_of(reading.observations)

    def kept(self) -> NetworkPolicy:
        """Return a copy of the module and of its input, which training does not change."""
        with suppress(Exception):  # a module may raise anything when it is copied
            other = copy.copy(self)
            other._module = copy.deepcopy(self._module)
            other._change = copy.deepcopy(self._change)
            return other
        return self

    def prefer(self, observations: IntArray, num_actions: int) -> npt.NDArray[Any]:
        """Compute the preferences with the module, shape (observation, action)."""
        given = self._outputs(self._input(observations))
        call = "net(torch.as_tensor(seen).float())"
        return as_preferences(given, (len(observations), num_actions), self, call)

    def _perceptron(self) -> Perceptron | None:

        def features(observations: IntArray) -> th.Tensor:
            return self._input(observations).to(self._like).flatten(1)

        return perceptron(self._module, features)

    def _input(self, observations: IntArray) -> th.Tensor:
        return th.as_tensor(np.asarray(self._change(self._show(observations))))

    def _outputs(self, seen: th.Tensor) -> Any:
        """Call the module in evaluation mode: with floats, or numbers of states as they are."""
        with th.no_grad(), _evaluation_mode(self._module):
            try:
                return self._module(seen.to(self._like))
            except Exception as error:  # a module may raise any exception
                if seen.ndim == 1 and not seen.is_floating_point():
                    with suppress(Exception):
                        return self._module(seen.to(self._like.device))  # an embedding
                said = " ".join(str(error).split())[:200]
                raise InputError(
                    f"policy must accept the observations of env, {tuple(seen.shape)} for a batch, "
                    f"got {self.__name__}, which raises: {said}{self._hint(seen)}"
                ) from error

    def _hint(self, seen: th.Tensor) -> str:
        """Ask whether the module was trained on one-hot observations, if it has their width."""
        widths = (
            part.in_features for part in self._module.modules() if hasattr(part, "in_features")
        )
        with suppress(NotImplementedError):  # of spaces that cannot be flattened
            if next(widths, 0) == gym.spaces.flatdim(self._space) != seen.shape[-1]:
                return ": has its env the wrapper FlattenObservation?"
        return ""


@contextmanager
def _evaluation_mode(module: th.nn.Module) -> Iterator[None]:
    """Put all parts of a module into evaluation mode, and afterwards back into their own modes."""
    training = [part for part in module.modules() if part.training]
    module.eval()
    compiled = getattr(module, "_compiled_call_impl", None) is not None  # by module.compile()
    try:
        with th.compiler.set_stance("force_eager") if compiled else nullcontext():
            yield
    finally:
        for part in training:
            part.training = True


def normalisers(env: Any) -> list[Any]:
    """List the ``VecNormalize`` of a vector of environments, innermost first."""
    found: list[Any] = []
    while "venv" in getattr(env, "__dict__", ()):  # a VecEnvWrapper finds attributes of its parts
        if hasattr(type(env), "normalize_obs"):
            found.insert(0, env)
        env = env.venv
    return found


def change_of(observations: Any) -> Change:
    """Return the function from a batch of observations to a batch of network inputs.

    A user gives the function; a vector of environments, whose ``VecNormalize`` wrappers are applied
    in order; an object with a method ``normalize_obs``; or None for the identity.
    """
    if observations is None:
        return lambda features: features
    if found := normalisers(observations):
        return partial(_through, found)  # unlike a lambda, it is copied with them
    change = getattr(observations, "normalize_obs", observations)
    if callable(change):
        return change
    raise InputError(
        "observations must be a VecNormalize or a function from a batch of observations to a "
        f"batch, got {type(observations).__name__}"
    )


def _through(layers: list[Any], features: Any) -> Any:
    for each in layers:
        features = each.normalize_obs(features)
    return features
