"""PyTorch modules as policies: a module maps observations to preferences for actions."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from inspect import getattr_static
from typing import Any

import numpy as np
import numpy.typing as npt
import torch as th
from torch import nn

from ...baselines import NetworkPolicy, Reading
from ...baselines.policies.consistency import ROUNDING
from ...baselines.policies.preferences import GridActions
from ...core import Game, InputError, IntArray
from .grids import Features, Perceptron, flat, grid_actions, in_fixed_point, perceptron
from .seen import change_of


class ModulePolicy(NetworkPolicy):
    """The policy of a module that returns logits or action values, one for each action.

    Args:
        module: is called on a batch of observations, with the dtype and device of its weights, in
            evaluation mode (no dropout). A module made by ``torch.compile`` is called uncompiled.
        reading: the observations of the environment, and how the policy plays.

    Raises:
        ValueError: if ``reading`` names no observations, or the module has no ``forward``. Calls
            of the policy raise it if the module refuses the observations, or returns another shape.
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
        """Compute the preferences with the module, shape (observation, action).

        Raises:
            ValueError: if the module refuses the observations, or returns another shape.
        """
        seen = self._change(self._show(observations))
        given = self._outputs(th.as_tensor(np.asarray(seen)))
        wanted = (len(observations), num_actions)
        if not isinstance(given, th.Tensor) or given.shape != wanted:
            got = tuple(given.shape) if isinstance(given, th.Tensor) else type(given).__name__
            raise InputError(
                f"policy must give preferences of shape {wanted} (state, action), got {got} "
                f"of {self.__name__}"
            )
        preferences: npt.NDArray[Any] = given.double().cpu().numpy()
        return preferences

    def grid_actions(self, game: Game, seat: int) -> GridActions | None:
        """Return the function for the actions on grids; None if the module is no perceptron."""
        found = self._perceptron()
        return None if found is None else grid_actions(*found, game, seat)

    def in_fixed_point(self, game: Game) -> NetworkPolicy:
        """Round a sequence of layers to fixed point (see ``FixedPointNetwork``).

        Raises:
            ValueError: if the module is no sequence of linear layers with ReLU or Tanh between.
        """
        if (found := self._perceptron()) is None:
            return super().in_fixed_point(game)
        return in_fixed_point(*found, game, f"{self.__name__} in fixed point")

    def _perceptron(self) -> tuple[Perceptron, Features] | None:
        """Return the module and the function to its input; None if it is no perceptron."""
        layers = list(flat(self._module))
        if isinstance(layers[0], nn.Flatten):
            del layers[0]
        network = perceptron(layers)
        if network is None:
            return None

        def features(observations: IntArray) -> th.Tensor:
            seen = self._change(self._show(observations))
            return th.as_tensor(np.asarray(seen)).to(self._like).flatten(1)

        return network, features

    def _outputs(self, seen: th.Tensor) -> Any:
        """Call the module in evaluation mode."""
        with th.no_grad(), _evaluation_mode(self._module):
            try:
                return self._module(seen.to(self._like))
            except Exception as error:  # a module may raise any exception
                said = " ".join(str(error).split())[:200]
                raise InputError(
                    f"policy must accept the observations of env, {tuple(seen.shape)} for a batch, "
                    f"got {self.__name__}, which raises: {said}"
                ) from error


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
