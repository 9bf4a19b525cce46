"""Torch modules on the observations of all states of an agent, and sums of their gradients."""

from typing import Any

import numpy as np
import torch as th

from ..baselines.policies.consistency import ROUNDING
from ..baselines.policies.tables import as_numbers
from ..core import FloatArray, InputError, IntArray
from .view import BATCH, AgentView


class Network:
    """A torch module as a function of observations, whose results are checked.

    Args:
        module: the module.
        name: name of the argument, for messages.
        width: number of results for each observation; None for one, with or without an axis.
    """

    def __init__(self, module: Any, name: str, width: int | None) -> None:
        if not isinstance(module, th.nn.Module):
            raise InputError(f"{name} must be a torch module, got a {type(module).__name__}")
        self._module, self.__name__, self._width = module, name, width
        self._like = next(module.parameters(), th.zeros(0))

    @property
    def parameters(self) -> dict[str, th.Tensor]:
        """The parameters that require a gradient, by name.

        Raises:
            InputError: if the module has no such parameters.
        """
        named = self._module.named_parameters()
        learnt: dict[str, th.Tensor] = {name: given for name, given in named if given.requires_grad}
        if not learnt:
            raise InputError(
                f"{self.__name__} must have parameters that require a gradient, got none"
            )
        return learnt

    def __call__(self, observations: Any) -> th.Tensor:
        """Return the results of a batch of observations, shape (observation, width).

        Raises:
            InputError: if the module refuses the observations, or if the results are of another
                shape or not finite.
        """
        like, count = self._like, len(observations)
        seen = th.as_tensor(np.asarray(observations), dtype=like.dtype, device=like.device)
        try:
            given: Any = self._module(seen)
        except Exception as error:
            said = " ".join(str(error).split())[:120]
            raise InputError(
                f"{self.__name__} must take observations of shape {tuple(seen.shape)}, got a "
                f"{type(error).__name__}: {said}"
            ) from error
        if not isinstance(given, th.Tensor):
            raise InputError(f"{self.__name__} must give a tensor, got a {type(given).__name__}")
        shape = (count,) if self._width is None else (count, self._width)
        if tuple(given.shape) not in ({shape, (count, 1)} if self._width is None else {shape}):
            raise InputError(
                f"{self.__name__} must give numbers of shape {shape}, got {tuple(given.shape)}"
            )
        if not th.isfinite(given).all():
            wrong = given[~th.isfinite(given)][0].item()
            raise InputError(f"{self.__name__} must give finite numbers, got {wrong}")
        return given.reshape(shape)

    def repeatable(self, observations: Any) -> FloatArray:
        """Return the results as an array, after computing them twice in different batches.

        Raises:
            InputError: if the results depend on chance or on the rest of the batch.
        """
        given, again = (as_numbers(self(part), "") for part in (observations, observations[::2]))
        if not np.allclose(given[::2], again, rtol=0, atol=ROUNDING * abs(given).max()):
            raise InputError(
                f"{self.__name__} must answer alike to an observation every time, got other "
                "numbers in another batch: call its method eval() first"
            )
        return given.astype(np.float64)


class Sums:
    """Sums over states of the gradients of a network's results, each multiplied by weights.

    States are collected until they fill a batch, so that the memory does not grow with the game.

    Args:
        view: the agent.
        network: the network.
        count: number of sums.
    """

    def __init__(self, view: AgentView, network: Network, count: int) -> None:
        self._view, self._network = view, network
        zeros = {key: th.zeros_like(given) for key, given in network.parameters.items()}
        self._sums = [{key: zero.clone() for key, zero in zeros.items()} for _ in range(count)]
        self._states: list[IntArray] = []
        self._weights: list[list[FloatArray]] = []

    def add(self, states: IntArray, weights: list[FloatArray]) -> None:
        """Add states, (state,), and for each sum the weights of their results, (state, ...)."""
        for first in range(0, len(states), BATCH):
            piece = slice(first, first + BATCH)
            self._states.append(states[piece])
            self._weights.append([part[piece] for part in weights])
            if sum(map(len, self._states)) >= BATCH:
                self._flush()

    def finish(self) -> list[dict[str, th.Tensor]]:
        """Return the sums by the names of the parameters."""
        if self._states:
            self._flush()
        return self._sums

    def _flush(self) -> None:
        parameters = self._network.parameters
        with th.enable_grad():
            given = self._network(self._view.observations(np.concatenate(self._states)))
        if not given.requires_grad:
            raise InputError(
                f"{self._network.__name__} must give results with a gradient, got a detached tensor"
            )
        for total, parts in zip(self._sums, zip(*self._weights, strict=True), strict=True):
            weights = th.as_tensor(np.concatenate(parts), dtype=given.dtype, device=given.device)
            found = th.autograd.grad(
                given, list(parameters.values()), weights, retain_graph=True, allow_unused=True
            )
            for key, part in zip(parameters, found, strict=True):
                if part is not None:
                    total[key] += part
        self._states, self._weights = [], []
