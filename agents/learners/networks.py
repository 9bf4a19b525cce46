"""PyTorch modules as policies: a module maps observations to preferences for actions.

Multi-layer perceptrons are evaluated fast on grids of states (``Grid``), where each component of an
observation depends on the row or on the column alone. If each feature of the network's input
encodes one component, the first layer W f + b gives for the state in row r and column c

    (W f(r, 0) + b) + (W f(0, c) + b) - (W f(0, 0) + b),

so it is computed for the states of the first row and of the first column alone, and added up. The
last layer is computed for the legal actions of each row only.

Whether the first layer is such a sum is tested with random observations x and y: if z has some
components of x and the others of y, and w the rest, then its values at x and y sum to those at z
and w.
"""

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from inspect import getattr_static
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch as th
from torch import nn

from ...baselines import NetworkPolicy, Reading
from ...baselines.policies.networks import (
    ROUNDING,
    WEIGHTS,
    Activation,
    FixedPointNetwork,
    GridActions,
    as_preferences,
)
from ...core import Array, Game, InputError, IntArray
from ...core.tour import Grid

#: A function from observations to the input of the first layer, shape (state, feature).
Features = Callable[[IntArray], th.Tensor]
#: Number of pairs of random observations, and the seed of the generator.
PAIRS, SEED = 256, 0

#: Layers that treat each row of a batch independently, in training as well.
_ROWWISE = (
    *(nn.Linear, nn.LayerNorm, nn.Identity),
    *(nn.Tanh, nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Softplus),
)

#: The activation functions of networks in fixed point.
_ACTIVATIONS: dict[type, Activation] = {nn.ReLU: "relu", nn.Tanh: "tanh"}
#: A function from a batch of observations to a batch of network inputs.
Change = Callable[[Any], Any]


class Perceptron(NamedTuple):
    """A multi-layer perceptron: linear layers with elementwise functions between them."""

    first: nn.Linear
    hidden: list[nn.Module]  # all layers between the first and the last
    weight: th.Tensor  # of the last layer, (action, unit)
    bias: th.Tensor  # of the last layer, (action,)
    features: Features

    def is_sum(self, game: Game) -> bool:
        """Return whether the first layer is a sum of functions of single components."""
        rng, sizes = np.random.default_rng(SEED), game.observation_sizes
        first, second = rng.integers(0, sizes, (2, PAIRS, len(sizes)))
        swapped = rng.random(first.shape) < 1 / 2
        others = np.where(swapped, second, first), np.where(swapped, first, second)
        with th.no_grad():
            try:
                ones, twos = (
                    self.first(self.features(x)).double() + self.first(self.features(y)).double()
                    for x, y in ((first, second), others)
                )
            except Exception:  # a user's change of observations may refuse those of no state
                return False
            return bool(((ones - twos).abs() <= ROUNDING * (1 + ones.abs().max())).all())

    def actions(self, game: Game, seat: int, grid: Grid) -> IntArray:
        """Return the index in ``Grid.actions`` of the network's choice, shape (row, column)."""
        states = grid.states
        with th.no_grad():
            rows, columns = (
                self.first(self.features(game.observe(some, seat)))
                for some in (states[:, 0], states[0])
            )
            units = (rows[:, None] + (columns - rows[0])[None]).reshape(-1, rows.shape[1])
            for layer in self.hidden:
                units = layer(units)
            actions = th.as_tensor(np.maximum(grid.actions, 0), device=units.device)
            units = units.reshape(*states.shape, -1).transpose(1, 2)
            preferences = th.baddbmm(self.bias[actions][..., None], self.weight[actions], units)
            legal = th.as_tensor(grid.legal, device=units.device)
            preferences.masked_fill_(~legal, -th.inf)
            best, entries = preferences.max(dim=1)
            if not bool(th.isfinite(best).all()):
                raise InputError(
                    f"model must give numbers, got {float(best.min())} as a preference"
                )
            found: IntArray = entries.cpu().numpy()
        return found

    def in_fixed_point(self, game: Game, name: str) -> FixedPointNetwork:
        """Round the network to fixed point; its first layer must be a sum over components."""
        kinds = {type(layer) for layer in self.hidden[::2]}
        alternate = all(isinstance(layer, nn.Linear) for layer in self.hidden[1::2])
        if len(kinds) != 1 or not kinds <= set(_ACTIVATIONS) or not alternate:
            raise InputError(f"{name} must have layers of ReLU or of Tanh, got others")
        weights = [each for layer in (self.first, *self.hidden) for each in layer.parameters()]
        if not all(bool(x.isfinite().all()) for x in (*weights, self.weight, self.bias)):
            raise InputError(f"{name} must have weights that are numbers, got NaN or infinity")
        if not self.is_sum(game):
            raise InputError(f"{name} must get observations in an encoding of single components")
        sizes = game.observation_sizes
        values = np.zeros((sum(sizes) + 1, len(sizes)), dtype=np.int64)  # the last row stays 0
        components = np.repeat(np.arange(len(sizes)), sizes)
        values[np.arange(sum(sizes)), components] = np.concatenate([np.arange(n) for n in sizes])
        linear = [layer for layer in self.hidden[1::2] if isinstance(layer, nn.Linear)]
        with th.no_grad():
            first = self.first(self.features(values)).double()
            parts = [first[:-1] - first[-1], first[-1]]
            for layer in linear:
                bias = th.zeros(layer.out_features) if layer.bias is None else layer.bias
                parts += [layer.weight, bias]
            parts += [self.weight, self.bias]
            numbers = th.cat([part.double().cpu().flatten() for part in parts]).numpy()
        whole = np.rint(numbers * 2**WEIGHTS).astype(np.int64)
        units = (self.first.out_features, *(layer.out_features for layer in linear))
        return FixedPointNetwork(game, units, _ACTIVATIONS[kinds.pop()], whole, name)


def perceptron(module: nn.Module, features: Features, quantiles: int = 1) -> Perceptron | None:
    """Return the perceptron that the layers of a module form; None if they form none.

    ``features`` does what a first layer does that flattens. The preference of an action is the mean
    of its ``quantiles`` outputs of the last layer.
    """
    parts = module.named_modules(remove_duplicate=False)  # a layer may stand in several places
    layers = [part for _, part in parts if type(part) is not nn.Sequential]
    if isinstance(layers[0], nn.Flatten):
        del layers[0]
    if len(layers) < 3 or not all(type(layer) in _ROWWISE for layer in layers):
        return None
    first, *hidden, last = layers
    if not isinstance(first, nn.Linear) or not isinstance(last, nn.Linear):
        return None
    weight = last.weight.reshape(quantiles, -1, last.weight.shape[1]).mean(dim=0)
    bias = th.zeros(len(weight)) if last.bias is None else last.bias.reshape(quantiles, -1).mean(0)
    return Perceptron(first, hidden, weight.detach(), bias.detach().to(weight.device), features)


class PerceptronPolicy(NetworkPolicy):
    """A policy whose network may be a perceptron: then it has a fast way for grids."""

    @abstractmethod
    def _perceptron(self) -> Perceptron | None:
        """Return the network; None if it is no perceptron."""

    def grid_actions(self, game: Game, seat: int) -> GridActions | None:
        """Return the function for the actions on grids; None if the network has no fast way."""
        network = self._perceptron()
        if network is None or not network.is_sum(game):
            return None
        return partial(network.actions, game, seat)

    def in_fixed_point(self, game: Game) -> NetworkPolicy:
        """Round the network to fixed point (see ``FixedPointNetwork``)."""
        if (network := self._perceptron()) is None:
            return super().in_fixed_point(game)
        return network.in_fixed_point(game, f"{self.__name__} in fixed point")


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

    def prefer(self, observations: IntArray, num_actions: int) -> Array:
        """Compute the preferences with the module, shape (observation, action)."""
        given = self._outputs(self._input(observations))
        call = "net(torch.as_tensor(seen).float())"
        return as_preferences(given, (len(observations), num_actions), self, call)

    def _perceptron(self) -> Perceptron | None:
        return perceptron(self._module, lambda seen: self._input(seen).to(self._like).flatten(1))

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
