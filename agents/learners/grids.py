"""Fast evaluation of multi-layer perceptrons on grids of states.

Each component of an observation depends on the row of the grid or on its column alone (``Grid``).
If each feature of the network's input encodes one component, the first layer W f + b gives for the
state in row r and column c

    (W f(r, 0) + b) + (W f(0, c) + b) - (W f(0, 0) + b),

so it is computed for the states of the first row and of the first column alone, and added up. The
last layer is computed for the legal actions of each row only.

Whether the first layer is such a sum is tested with random observations x and y: if z has some
components of x and the others of y, and w the rest, then its values at x and y sum to those at z
and w.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import torch as th
from torch import nn

from ...baselines.policies.networks import (
    ROUNDING,
    WEIGHTS,
    Activation,
    FixedPointNetwork,
    GridActions,
    NetworkPolicy,
)
from ...core import Game, InputError, IntArray
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
