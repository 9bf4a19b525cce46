"""Multi-layer perceptrons on grids of states, whose first layer is a sum of two parts.

Each component of an observation depends on the row of the grid or on its column alone (``Grid``).
If each feature of the network's input encodes one component, the first layer W f + b gives for the
state in row r and column c

    (W f(r, 0) + b) + (W f(0, c) + b) - (W f(0, 0) + b),

so that it is computed for the states of the first row and of the first column, and added. The last
layer is computed for the legal actions of each row only.

Whether the first layer is such a sum is tested with random observations x and y: if z has some
components of x and the others of y, and w the rest, then its values at x and y sum to those at z
and w.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch as th
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn

from ...baselines.policies.consistency import ROUNDING
from ...baselines.policies.fixed_point import WEIGHTS, Activation, FixedPointNetwork
from ...baselines.policies.preferences import GridActions
from ...core import Game, InputError, IntArray
from ...core.tour import Grid
from .kinds import ACTORS, QUANTILES

#: Gives the input of the first layer, shape (state, feature), for observations.
Features = Callable[[IntArray], th.Tensor]
#: Pairs of random observations, and their seed.
PAIRS, SEED = 256, 0

#: Layers that change each row of a batch by itself, also in training.
_ROWWISE = (
    *(nn.Linear, nn.LayerNorm, nn.Identity),
    *(nn.Tanh, nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Softplus),
)

#: The functions of units that networks in fixed point have.
_ACTIVATIONS: dict[type, Activation] = {nn.ReLU: "relu", nn.Tanh: "tanh"}


class Perceptron(NamedTuple):
    """A network: linear layers with functions of single numbers between them.

    Attributes:
        first: the first layer.
        hidden: the layers after it, but for the last.
        weight: of the last layer, shape (action, unit).
        bias: of the last layer, shape (action,).
    """

    first: nn.Linear
    hidden: list[nn.Module]
    weight: th.Tensor
    bias: th.Tensor

    def is_sum(self, game: Game, features: Features) -> bool:
        """Say whether the first layer is a sum of functions of single components."""
        rng, sizes = np.random.default_rng(SEED), game.observation_sizes
        first, second = rng.integers(0, sizes, (2, PAIRS, len(sizes)))
        swapped = rng.random(first.shape) < 1 / 2
        others = np.where(swapped, second, first), np.where(swapped, first, second)
        with th.no_grad():
            try:
                ones, twos = (
                    self.first(features(x)).double() + self.first(features(y)).double()
                    for x, y in ((first, second), others)
                )
            except Exception:  # a user's change of observations may refuse those of no state
                return False
            return bool(((ones - twos).abs() <= ROUNDING * (1 + ones.abs().max())).all())

    def actions(self, game: Game, seat: int, grid: Grid, features: Features) -> IntArray:
        """Give the entry of the legal action of largest preference, shape (row, column).

        Args:
            game: the rules.
            seat: the player.
            grid: the states.
            features: the input of the network.

        Raises:
            ValueError: if a preference is no number.
        """
        states = grid.states
        with th.no_grad():
            rows, columns = (
                self.first(features(game.observe(some, seat))) for some in (states[:, 0], states[0])
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


def in_fixed_point(
    network: Perceptron, features: Features, game: Game, name: str
) -> FixedPointNetwork:
    """Round a network whose first layer is a sum to fixed point.

    Args:
        network: the network.
        features: its input.
        game: the rules.
        name: name for people.

    Raises:
        ValueError: if its first layer is no sum, or its units have another function than ReLU or
            the hyperbolic tangent.
    """
    kinds = {type(layer) for layer in network.hidden[::2]}
    alternate = all(isinstance(layer, nn.Linear) for layer in network.hidden[1::2])
    if len(kinds) != 1 or not kinds <= set(_ACTIVATIONS) or not alternate:
        raise InputError(f"{name} must have layers of ReLU or of Tanh, got others")
    if not network.is_sum(game, features):
        raise InputError(f"{name} must get observations in an encoding of single components")
    sizes = game.observation_sizes
    values = np.zeros((sum(sizes) + 1, len(sizes)), dtype=np.int64)  # last the row of zeros
    components = np.repeat(np.arange(len(sizes)), sizes)
    values[np.arange(sum(sizes)), components] = np.concatenate([np.arange(n) for n in sizes])
    linear = [layer for layer in network.hidden[1::2] if isinstance(layer, nn.Linear)]
    with th.no_grad():
        first = network.first(features(values)).double()
        parts = [first[:-1] - first[-1], first[-1]]
        for layer in linear:
            bias = th.zeros(layer.out_features) if layer.bias is None else layer.bias
            parts += [layer.weight, bias]
        parts += [network.weight, network.bias]
        numbers = th.cat([part.double().cpu().flatten() for part in parts]).numpy()
    whole = np.rint(numbers * 2**WEIGHTS).astype(np.int64)
    units = (network.first.out_features, *(layer.out_features for layer in linear))
    return FixedPointNetwork(game, units, _ACTIVATIONS[kinds.pop()], whole, name)


def perceptron(layers: list[nn.Module], quantiles: int = 1) -> Perceptron | None:
    """Read layers as a perceptron; None if they are none.

    Args:
        layers: one after the other.
        quantiles: the last layer has so many outputs for each action, whose mean counts.
    """
    *inner, last = layers
    if len(inner) < 2 or not all(type(layer) in _ROWWISE for layer in layers):
        return None
    first, *hidden = inner
    if not isinstance(first, nn.Linear) or not isinstance(last, nn.Linear):
        return None
    weight = last.weight.reshape(quantiles, -1, last.weight.shape[1]).mean(dim=0)
    bias = th.zeros(len(weight)) if last.bias is None else last.bias.reshape(quantiles, -1).mean(0)
    return Perceptron(first, hidden, weight.detach(), bias.detach().to(weight.device))


def perceptron_of(policy: BasePolicy) -> tuple[Perceptron, Callable[[th.Tensor], th.Tensor]] | None:
    """Give the actor or the action values of a policy of stable-baselines3 as a perceptron.

    Returns:
        The perceptron, and the function from observations to its input; None if it is none.
    """
    network: Any = policy  # stable-baselines3 declares its parts as tensors or modules
    quantiles = 1
    if isinstance(policy, QUANTILES):
        network = network.quantile_net
        layers, extractor = network.quantile_net, network.features_extractor
        quantiles = network.n_quantiles
    elif isinstance(policy, DQNPolicy):
        network = network.q_net
        layers, extractor = network.q_net, network.features_extractor
    elif isinstance(policy, ACTORS):
        layers = nn.Sequential(network.mlp_extractor.policy_net, network.action_net)
        extractor = network.pi_features_extractor
    else:
        return None
    found = perceptron(list(flat(layers)), quantiles)
    if found is None or type(extractor) is not FlattenExtractor:
        return None
    return found, lambda batch: BasePolicy.extract_features(network, batch, extractor)


def grid_actions(
    network: Perceptron, features: Features, game: Game, seat: int
) -> GridActions | None:
    """Give the actions of a perceptron on grids; None if its first layer is no sum."""
    if not network.is_sum(game, features):
        return None
    return lambda grid: network.actions(game, seat, grid, features)


def flat(module: nn.Module) -> Iterator[nn.Module]:
    """Yield the layers of nested sequences in their order."""
    if type(module) is nn.Sequential:
        for part in module:
            yield from flat(part)
    else:
        yield module
