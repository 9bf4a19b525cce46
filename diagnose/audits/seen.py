"""States of recorded observations, in any encoding, behind wrappers, or in mappings with masks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...baselines import Sight, Task
from ...baselines.policies.tables import as_numbers
from ...core import InputError, IntArray
from ...core.positions import states_of
from ...core.sizes import PIECE, check_memory
from ...envs.api.encoding import Encoding, encoding_of

#: Digits of an observation that count: recordings are often in single precision.
DIGITS = 5
CLOSE = 10.0**-DIGITS


class Seen:
    """Maps an agent's observations back to states.

    Observations in a known encoding are decoded. If wrappers change observations, those of all
    states are listed and looked up.

    Args:
        task: the agent's decision problem.
        sight: how the environment shows its states; None for integers.

    Attributes:
        shape: shape of an observation.

    Raises:
        InputError: if two states look alike.
        SizeError: if wrappers change observations, and there are too many states to be listed.
    """

    def __init__(self, task: Task, sight: Sight | None) -> None:
        self._game, self._own = task.game, states_of(task.game, task.seat)
        sizes = task.game.observation_sizes
        self._encoding: Encoding | None = Encoding(sizes, "integer")
        if sight is not None:
            self._encoding = None if sight.wrapped else encoding_of(sight.space, sizes)
        if self._encoding is None:
            assert sight is not None
            self._list(task, sight)
        else:
            self.shape: tuple[int, ...] = self._encoding.space.shape or ()

    def _list(self, task: Task, sight: Sight) -> None:
        """List the observations of all states."""
        width = sum(task.game.observation_sizes)
        check_memory("observations of the agent's states", len(self._own), 8.0 * width)
        shown = []
        for first in range(0, len(self._own), PIECE):
            seen = task.game.observe(self._own[first : first + PIECE], task.seat)
            shown.append(np.asarray(sight.show(seen)))
        self.shape = shown[0].shape[1:]
        keys = _keys(np.concatenate(shown))
        self._order = np.argsort(keys)
        self._keys = keys[self._order]
        if (self._keys[1:] == self._keys[:-1]).any():
            raise InputError("env must show different states differently, to be audited")

    def states(self, observations: Any, name: str, shape: tuple[int, ...]) -> IntArray:
        """Return the state of each observation, -1 if the agent sees it in no state.

        Args:
            observations: shape (*shape, ...), or a mapping with one such entry.
            name: of the observations, for messages.
            shape: of what is returned.

        Raises:
            InputError: if the observations have another shape.
        """
        if isinstance(observations, Mapping):
            observations = self._entry(observations, name, shape)
        given = as_numbers(observations, name)
        if given.shape != (*shape, *self.shape):
            axes = ("transition",) if len(shape) == 1 else ("time", "lane")
            wanted = shape if given.ndim == len(shape) + len(self.shape) else axes
            shown = ", ".join(map(str, (*wanted, *self.shape)))
            raise InputError(f"{name} must be of shape ({shown}), got {given.shape}")
        flat = given.reshape(-1, *self.shape)
        states: IntArray = self._decoded(flat) if self._encoding else self._looked_up(flat)
        return states.reshape(shape)

    def _decoded(self, given: npt.NDArray[Any]) -> IntArray:
        """Decode observations, -1 if the encoding never gives them to the agent."""
        assert self._encoding is not None
        sizes = np.array(self._game.observation_sizes)
        given = np.where(np.isfinite(given), given, -1.0)
        seen = self._encoding.decode(given)
        inside = np.logical_and(seen >= 0, seen < sizes).all(axis=1)
        seen[~inside] = 0
        again = self._encoding.encode(seen)
        inside &= np.isclose(again, given, rtol=0, atol=CLOSE).all(axis=1)
        states = self._game.encode(seen)
        places = np.minimum(np.searchsorted(self._own, states), len(self._own) - 1)
        inside &= self._own[places] == states
        return np.where(inside, states, -1)

    def _looked_up(self, given: npt.NDArray[Any]) -> IntArray:
        keys = _keys(given)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[places] == keys, self._own[self._order[places]], -1)

    def _entry(self, observations: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Any:
        """Return the entry of a mapping that has the shape of observations."""
        wanted = (*shape, *self.shape)
        fitting = [key for key, entry in observations.items() if np.shape(entry) == wanted]
        shown = [key for key in fitting if "mask" not in key]
        if len(shown) != 1:
            raise InputError(
                f"{name} must have one entry of shape {wanted} beside masks, got "
                f"{', '.join(f'{key} {np.shape(entry)}' for key, entry in observations.items())}"
            )
        return observations[shown[0]]


def _keys(observations: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make one sortable key of each observation."""
    rows = observations.reshape(len(observations), -1)
    rounded = np.round(rows.astype(np.float64), DIGITS) + 0.0  # no -0.0
    rounded = np.ascontiguousarray(rounded)
    return rounded.view(np.dtype((np.void, rounded.shape[1] * 8)))[:, 0]
