"""Networks in fixed point: the same actions on every machine, from a few numbers.

A certificate stores the policy of a game with too many states for tables as a network. In floats
the last bits of the network's preferences, and so some of its actions, depend on the machine. Here
every weight is an integer times 2^-14, and the output of every unit is rounded to an integer times
2^-12, at most 4096 for ReLU. Products and sums are then integers below 2^53 times a power of two,
which floats represent exactly. So the order of additions, which differs between processors and
libraries, does not change the result.

The first layer is a table with one row for each value of each component of an observation, whatever
the encoding of the observations was in training: its output is the sum of one row per component.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from typing_extensions import override

from ...core import FloatArray, Game, InputError, IntArray, frozen, one_of
from ...core.tour import Grid
from .preferences import GridActions, NetworkPolicy

Activation = Literal["relu", "tanh"]

#: Binary places of weights, of the outputs of units, and of arguments of the hyperbolic tangent.
WEIGHTS, UNITS, STEPS = 14, 12, 10
#: From this argument on, the hyperbolic tangent is rounded to 1.
FLAT = 8
#: Largest output of a unit, and limit of sums, both as integers.
MOST, LIMIT = 2**24 - 1, 2**53
#: Number of states in a batch.
TOGETHER = 4096


class FixedPointNetwork(NetworkPolicy):
    """A perceptron in fixed point, which takes the legal action with the largest preference.

    Args:
        game: the rules.
        units: number of units of each hidden layer, first to last, at least one layer.
        activation: the activation function of the units.
        numbers: all weights and biases times 2^14, integers of shape (number,). The first layer has
            one row of units for each value of each component, then the biases; each further hidden
            layer has the weights, shape (unit, unit before), then the biases; the output layer,
            which has one unit per action, comes last.
        name: name for people.

    Attributes:
        game: the rules.
        units: as given.
        activation: as given.
        numbers: as given.

    Raises:
        ValueError: if there are too few or too many numbers, or a sum of products could be too
            large to be exact.
    """

    def __init__(
        self,
        game: Game,
        units: Sequence[int],
        activation: Activation,
        numbers: IntArray,
        name: str = "a network",
    ) -> None:
        super().__init__(name, deterministic=True, masked=True, rounding=0.0)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise InputError(f"network must have integers in a row, got {numbers.dtype}")
        self.game, self.units, self.numbers = game, tuple(units), frozen(numbers)
        self.activation: Activation = one_of("activation", activation, get_args(Activation))
        self._firsts = np.concatenate([[0], np.cumsum(game.observation_sizes)])
        widths = [int(self._firsts[-1]), *self.units, game.num_actions]
        shapes = [shape for before, own in pairwise(widths) for shape in ((own, before), (own,))]
        sizes = [int(np.prod(shape)) for shape in shapes]
        if len(numbers) != sum(sizes):
            raise InputError(f"network must have {sum(sizes)} numbers, got {len(numbers)}")
        parts = np.split(numbers.astype(np.float64), np.cumsum(sizes)[:-1])
        arrays = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        rows, bias, *later = arrays
        self._table = rows.reshape(widths[0], widths[1]) + 0.0
        self._bias = bias
        self._layers = list(zip(later[::2], later[1::2], strict=True))
        self._check_sums()

    def _check_sums(self) -> None:
        """Raise an error if a sum of products could be too large for a float to be exact."""
        largest = [np.abs(self._table).max() * len(self._firsts) + np.abs(self._bias).max()]
        most = 2**UNITS if self.activation == "tanh" else MOST
        for weight, bias in self._layers:
            largest.append((np.abs(weight).sum(axis=1) * most + np.abs(bias) * 2**UNITS).max())
        if np.abs(self.numbers.astype(np.float64)).max() >= 2**31:  # certificates have four bytes
            raise InputError(f"weights must be below {2 ** (31 - WEIGHTS):,} in size")
        if not max(largest) < LIMIT / 2:
            raise InputError(
                f"weights must be so small that sums are exact, below 2^52, got {max(largest):.3g}"
            )

    @override
    def prefer(self, observations: IntArray, num_actions: int) -> FloatArray:
        found = np.empty((len(observations), num_actions))
        for first in range(0, len(observations), TOGETHER):
            own = slice(first, first + TOGETHER)
            weight, bias = self._layers[-1]
            found[own] = _product(self._hidden(self._first(observations[own])), weight, bias)
        return found

    @override
    def grid_actions(self, game: Game, seat: int) -> GridActions:
        weight, bias = self._layers[-1]

        def actions(grid: Grid) -> IntArray:
            rows, columns = (
                self._first(game.observe(states, seat))
                for states in (grid.states[:, 0], grid.states[0])
            )
            columns = columns - rows[0]
            entries = np.empty(grid.states.shape, dtype=np.int64)
            step = max(1, TOGETHER // len(columns))
            for first in range(0, len(rows), step):
                own = slice(first, first + step)
                some = (rows[own, None] + columns).reshape(-1, rows.shape[1])
                hidden = self._hidden(some).reshape(-1, len(columns), weight.shape[1])
                chosen = np.maximum(grid.actions[own], 0)
                preferences = weight[chosen] @ hidden.swapaxes(1, 2)
                preferences += (bias * 2.0**UNITS)[chosen][..., None]
                entries[own] = np.where(grid.legal[own], preferences, -np.inf).argmax(axis=1)
            return entries

        return actions

    def _first(self, observations: IntArray) -> FloatArray:
        """Return the first layer before its activation, times 2^14, shape (state, unit)."""
        total = np.tile(self._bias, (len(observations), 1))
        for first, values in zip(self._firsts, observations.T, strict=False):
            total += self._table[first + values]
        return total

    def _hidden(self, first: FloatArray) -> FloatArray:
        """Return the outputs of the last hidden layer, times 2^12, shape (state, unit).

        Args:
            first: the first layer before its activation, as from ``_first``.
        """
        units = self._activated(first, WEIGHTS)
        for weight, bias in self._layers[:-1]:
            units = self._activated(_product(units, weight, bias), WEIGHTS + UNITS)
        return units

    def _activated(self, sums: FloatArray, bits: int) -> FloatArray:
        """Return the outputs of units, times 2^12, from sums that are integers times 2^-bits."""
        if self.activation == "relu":
            sums *= 2.0 ** (UNITS - bits)
            return np.floor(np.clip(sums, 0, MOST, out=sums) + 1 / 2, out=sums)
        sums *= 2.0 ** (STEPS - bits)
        steps = np.floor(np.clip(sums, -FLAT << STEPS, FLAT << STEPS, out=sums) + 1 / 2, out=sums)
        units: FloatArray = _tangents().take(steps.astype(np.int64) + (FLAT << STEPS))
        return units


def _product(units: FloatArray, weight: FloatArray, bias: FloatArray) -> FloatArray:
    """Return the sums of a layer, times 2^26, shape (state, unit)."""
    product: FloatArray = units @ weight.T
    product += bias * 2.0**UNITS
    return product


@cache
def _tangents() -> FloatArray:
    """Return a table of the hyperbolic tangent, times 2^12 and rounded.

    No entry is so close to the middle between two integers that the last bit of the library's
    tangent changes the rounding.
    """
    arguments = np.arange(-FLAT << STEPS, (FLAT << STEPS) + 1) / 2**STEPS
    return frozen(np.rint(np.tanh(arguments) * 2**UNITS))
