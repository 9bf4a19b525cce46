"""Networks as policies: they choose legal actions by preferences (logits or action values).

A certificate stores the policy of a game with too many states for tables as a network *in fixed
point*, which has the same actions on every machine. In floats the last bits of a network's
preferences, and so some of its actions, depend on the machine. In fixed point every weight is an
integer times 2^-14, and the output of every unit is rounded to an integer times 2^-12, at most 4096
for ReLU. Products and sums are then integers below 2^53 times a power of two, which floats
represent exactly. So the order of additions, which differs between processors and libraries, does
not change the result.

The first layer is a table with one row for each value of each component of an observation, whatever
the encoding of the observations was in training: its output is the sum of one row per component.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core import BoolArray, FloatArray, Game, InputError, IntArray, frozen, one_of
from ...core.positions import pieces
from ...core.tour import Grid
from ..law.numbers import as_numbers

Activation = Literal["relu", "tanh"]

#: Binary places of weights, of the outputs of units, and of arguments of the hyperbolic tangent.
WEIGHTS, UNITS, STEPS = 14, 12, 10
#: From this argument on, the hyperbolic tangent is rounded to 1.
FLAT = 8
#: Largest output of a unit, and limit of sums, both as integers.
LARGEST_UNIT, LIMIT = 2**24 - 1, 2**53
#: Number of states in a batch.
TOGETHER = 4096
#: Largest difference between results of a float32 network in two batches, as a share of the
#: largest result. Such a network has errors of about 1e-6, and a law none larger than its logits.
ROUNDING = 1e-4
#: A function from a grid to the network's choice in each state, shape (row, column): the index of
#: the action in its row of ``Grid.actions``.
GridActions: TypeAlias = Callable[[Grid], IntArray]


class NetworkPolicy(ABC):
    """A function on (observations, masks) that chooses actions by preferences."""

    def __init__(
        self,
        name: str,  # for people
        deterministic: bool,  # takes the best legal action, else draws from the softmax
        masked: bool,  # whether only legal actions may be chosen
        # largest difference of preferences in two batches, as a share of the largest
        rounding: float = ROUNDING,
    ) -> None:
        self.__name__ = name
        self.rounding = rounding
        self._deterministic, self.masked = deterministic, masked

    @property
    def takes_best(self) -> bool:
        """Whether it takes the legal action with the largest preference."""
        return self._deterministic and self.masked

    def kept(self) -> "NetworkPolicy":
        """Return a copy that later training does not change; the policy itself if it has none."""
        return self

    @abstractmethod
    def prefer(self, observations: IntArray, num_actions: int) -> npt.NDArray[Any]:
        """Return a preference for each action, shape (observation, action)."""

    def confirm(self, preferences: npt.NDArray[Any], observations: IntArray) -> None:  # noqa: B027
        """Raise an error if the model itself acts differently; by default nothing is checked."""

    def grid_actions(self, game: Game, seat: int) -> GridActions | None:  # noqa: B027
        """Return a faster function for the actions of a grid of states; None if there is none.

        It is called only if the policy is deterministic and masked.
        """

    def in_fixed_point(self, game: Game) -> "NetworkPolicy":
        """Round a perceptron of ReLU or Tanh to fixed point (see ``FixedPointNetwork``)."""
        raise InputError(f"{self.__name__} must be a perceptron to be kept in fixed point")

    @property
    def drawn(self) -> str:
        """The argument of ``from_network`` for a policy that draws, as code."""
        return "" if self._deterministic else ", deterministic=False"

    def follow(
        self, preferences: npt.NDArray[Any], observations: IntArray, legal: BoolArray
    ) -> npt.NDArray[Any]:
        """Return actions (observation,), or a law (observation, action), for some preferences."""
        return choose(preferences, observations, legal, self._deterministic)

    def tell(
        self, observations: IntArray, masks: BoolArray, again: bool = False
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return actions or a law, and the preferences, which are -inf for illegal actions.

        The network is not called for states with one legal action. With ``again`` the preferences
        are not confirmed, since the caller compares them with confirmed ones.
        """
        legal = masks if self.masked else np.ones_like(masks)
        chooses = np.flatnonzero(legal.sum(axis=1) > 1)
        certain = legal.argmax(axis=1)
        given: npt.NDArray[Any] = certain if self._deterministic else legal.astype(np.float64)
        preferences = np.where(legal, 0.0, -np.inf)
        if len(chooses):
            seen, within = np.take(observations, chooses, axis=0), np.take(legal, chooses, axis=0)
            preferred = self.prefer(seen, masks.shape[1])
            if not again:
                self.confirm(preferred, seen)
            chosen = self.follow(preferred, seen, within)
            preferences[chooses] = np.where(within, preferred, -np.inf)
            given = certain if chosen.ndim == 1 else legal.astype(np.float64)
            given[chooses] = chosen
        return given, preferences

    def __call__(self, observations: IntArray, masks: BoolArray) -> npt.NDArray[Any]:
        """Return actions (observation,) if deterministic, else a law (observation, action)."""
        return self.tell(observations, masks)[0]


class FunctionNetwork(NetworkPolicy):
    """A function from observations, as an environment shows them, to preferences.

    Observations of integers become the function's input by ``show``; see ``NetworkPolicy`` for the
    other arguments.
    """

    def __init__(
        self,
        function: Callable[[npt.NDArray[Any]], Any],
        show: Callable[[IntArray], npt.NDArray[Any]],
        name: str,
        deterministic: bool,
        masked: bool,
    ) -> None:
        super().__init__(name, deterministic, masked)
        self._function, self._show = function, show

    def prefer(self, observations: IntArray, num_actions: int) -> npt.NDArray[Any]:
        """Call the function, whose result must be a preference for each action."""
        try:
            given = self._function(self._show(observations))
        except TypeError as error:
            if "must be Tensor, not numpy.ndarray" not in str(error):  # as torch says it
                raise
            raise InputError(
                f"function must take arrays, got {self.__name__}, which takes tensors: give score "
                "the torch module, or from_network(lambda seen: net(torch.as_tensor(seen)), env)"
            ) from error
        wanted = len(observations), num_actions
        return as_preferences(given, wanted, self, "function(seen)")


def as_preferences(
    given: Any, wanted: tuple[int, int], policy: NetworkPolicy, call: str
) -> npt.NDArray[np.float64]:
    """Return a network's output as preferences, shape (state, action).

    If these are a part of it, such as the logits of a law beside a value, the error has code for
    them, from ``call`` of the network.
    """
    several, must = isinstance(given, tuple), f"policy must give preferences of shape {wanted}"
    for index, part in enumerate(given if several else (given,)):
        place = f"[{index}]" * several + ".logits" * hasattr(part, "logits")
        if place and (hasattr(part, "logits") or getattr(part, "shape", ()) == wanted):
            raise InputError(
                f"{must} alone, got {type(given).__name__} of {policy.__name__}: give "
                f"exactdice.from_network(lambda seen: {call}{place}, env{policy.drawn})"
            )
    preferences = as_numbers(given, "policy").astype(np.float64)
    if preferences.shape != wanted:
        raise InputError(f"{must} (state, action), got {preferences.shape} of {policy.__name__}")
    return preferences


def choose(
    preferences: npt.NDArray[Any], observations: IntArray, legal: BoolArray, deterministic: bool
) -> npt.NDArray[Any]:
    """Turn preferences into actions (state,), or into their softmax, a law (state, action).

    Preferences are logits or action values; they, and which actions are legal, are of shape (state,
    action). If ``deterministic``, the likeliest action is taken. The observations of the same
    states are for messages.
    """
    preferences = np.where(legal, preferences.astype(np.float64), -np.inf)
    largest: FloatArray = preferences.max(axis=1, keepdims=True)
    if not np.isfinite(largest).all():
        state = int(np.argmin(np.isfinite(largest)))
        raise InputError(
            f"model must give numbers, got {largest[state, 0]} at observation "
            f"{observations[state].tolist()}"
        )
    best: IntArray = preferences.argmax(axis=1)
    if deterministic:
        return best
    weights = np.exp(preferences - largest)
    return weights / weights.sum(axis=1, keepdims=True)


class FixedPointNetwork(NetworkPolicy):
    """A perceptron in fixed point, which takes the legal action with the largest preference.

    All weights and biases times 2^14 are ``numbers``, integers of shape (number,). The first layer
    has one row of units for each value of each component, then the biases; each further hidden
    layer has the weights, shape (unit, unit before), then the biases; the output layer, which has
    one unit per action, comes last.
    """

    def __init__(
        self,
        game: Game,
        # number of units of each hidden layer, first to last, at least one layer
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
        self._table = arrays[0].reshape(widths[0], widths[1]) + 0.0
        self._bias = arrays[1]
        self._layers = list(zip(arrays[2::2], arrays[3::2], strict=True))
        # No sum of products may be too large for a float to be exact.
        largest = [np.abs(self._table).max() * len(self._firsts) + np.abs(self._bias).max()]
        most = 2**UNITS if self.activation == "tanh" else LARGEST_UNIT
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
        for own in pieces(len(observations), TOGETHER):
            hidden = self._hidden(self._first(observations[own]))
            found[own] = _product(hidden, *self._layers[-1])
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
            for own in pieces(len(rows), max(1, TOGETHER // len(columns))):
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
        """Return the last hidden layer's outputs, times 2^12, (state, unit), from ``_first``."""
        units = self._activated(first, WEIGHTS)
        for weight, bias in self._layers[:-1]:
            units = self._activated(_product(units, weight, bias), WEIGHTS + UNITS)
        return units

    def _activated(self, sums: FloatArray, bits: int) -> FloatArray:
        """Return the outputs of units, times 2^12, from sums that are integers times 2^-bits."""
        if self.activation == "relu":
            sums *= 2.0 ** (UNITS - bits)
            return np.floor(np.clip(sums, 0, LARGEST_UNIT, out=sums) + 1 / 2, out=sums)
        sums *= 2.0 ** (STEPS - bits)
        steps = np.floor(np.clip(sums, -FLAT << STEPS, FLAT << STEPS, out=sums) + 1 / 2, out=sums)
        return _tangents().take(steps.astype(np.int64) + (FLAT << STEPS))


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
