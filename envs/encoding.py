"""Encodings of observations, which are integers, as arrays for different learners."""

import itertools
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from ..baselines import Sight
from ..baselines.policies.observations import array_of, told
from ..core import BoolArray, InputError, IntArray, one_of

EncodingName = Literal["integer", "one_hot", "one_hot_float", "thermometer", "scaled"]
#: A batch of encoded observations, shape (observation, feature).
Features: TypeAlias = npt.NDArray[Any]


class Encoding:
    """An encoding of observations whose component i is one of 0, ..., sizes[i] - 1.

    Args:
        sizes: number of values of each component.
        name: one of these.

            - "integer" leaves the numbers as they are. The space is ``MultiDiscrete``, which
              stable-baselines3 one-hot encodes by itself.
            - "one_hot" has one bit for each value of each component, in ``MultiBinary``.
            - "thermometer" has one bit for each value of each component but 0, which says whether
              the component is at least that value, in ``MultiBinary``.
            - "one_hot_float" has the bits of "one_hot" in single precision, in a ``Box`` from 0 to
              1, a space that every library takes.
            - "scaled" divides each component by its largest value, in a ``Box`` from 0 to 1.

    Attributes:
        space: the observation space.

    Raises:
        ValueError: if the name is unknown, or is "thermometer" or "scaled" for a game with one
            single observation, which would have no features.
    """

    def __init__(self, sizes: tuple[int, ...], name: EncodingName = "integer") -> None:
        self.name: EncodingName = one_of("encoding", name, _names(sizes))
        self._sizes = np.array(sizes)
        self._largest = np.maximum(self._sizes - 1, 1)  # value of each component, at least 1
        self.space: gym.spaces.Space[Any]
        if name == "integer":
            self.space = gym.spaces.MultiDiscrete(self._sizes)
        elif name == "scaled":
            self.space = gym.spaces.Box(0.0, 1.0, (len(sizes),))
        elif name == "one_hot_float":
            self.space = gym.spaces.Box(0.0, 1.0, (len(self._bits[0]),))
        else:
            self.space = gym.spaces.MultiBinary(len(self._bits[0]))

    @cached_property
    def _bits(self) -> tuple[IntArray, IntArray]:
        """The component and the value of each bit."""
        first = 1 if self.name == "thermometer" else 0
        components = np.repeat(np.arange(len(self._sizes)), self._sizes - first)
        values = np.concatenate([np.arange(first, size) for size in self._sizes.tolist()])
        return components, values

    @property
    def components(self) -> IntArray:
        """The component of an observation that each feature encodes, shape (feature,)."""
        whole = self.name in ("integer", "scaled")
        return np.arange(len(self._sizes)) if whole else self._bits[0]

    def encode(self, observations: IntArray) -> Features:
        """Encode observations, integers of shape (observation, component), in fresh memory."""
        if self.name == "integer":
            return observations.copy()
        if self.name == "scaled":
            return (observations / self._largest).astype(np.float32)
        components, values = self._bits
        seen = observations[..., components]
        on: BoolArray = seen >= values if self.name == "thermometer" else seen == values
        return on.astype(self.space.dtype)

    def read(self, observation: Any) -> IntArray:
        """Decode one observation, by any encoding but "integer": integers of shape (component,).

        An ``InputError`` says that ``encode`` never gives this observation, in any dtype.
        """
        count = len(self.components)
        wanted = f"one that env shows, {count} numbers by the encoding {self.name}"
        bits = isinstance(self.space, gym.spaces.MultiBinary)
        given = array_of(observation, (count,), wanted, kinds="iufb" if bits else "iuf")
        if not bits:  # the observation may be a copy in double precision
            given = given.astype(self.space.dtype)
        if np.all((given >= 0) & (given <= 1)):
            integers: IntArray = self.decode(given[None])[0]
            if np.array_equal(self.encode(integers[None])[0], given):
                return integers
        raise InputError(f"observation must be {wanted}, got {told(observation)}")

    @property
    def sight(self) -> Sight:
        """The observations of an agent in this encoding."""
        read = None if self.name == "integer" else self.read
        return Sight(self.space, self.encode, wrapped=False, read=read)

    def decode(self, features: Features) -> IntArray:
        """Invert ``encode``: integers of shape (observation, component)."""
        if self.name == "scaled":
            features = features * self._largest
        elif self.name != "integer":  # single precision has room for sums of bits
            components, values = self._bits
            adds = features.astype(np.float32, copy=False)
            if self.name != "thermometer":
                adds = adds * values.astype(np.float32)
            ends = np.searchsorted(components, np.arange(len(self._sizes) + 1))
            sums = [adds[..., first:end].sum(axis=-1) for first, end in itertools.pairwise(ends)]
            features = np.stack(sums, axis=-1)
        return np.rint(features).astype(np.int64)


def _names(sizes: tuple[int, ...]) -> tuple[EncodingName, ...]:
    """List the encodings that suit observations of these sizes."""
    several = max(sizes) > 1
    return tuple(
        name for name in get_args(EncodingName) if several or name not in ("thermometer", "scaled")
    )


def encoding_of(space: gym.Space[Any], sizes: tuple[int, ...]) -> Encoding | None:
    """Return the encoding with this observation space; None if there is none."""
    encodings = (Encoding(sizes, name) for name in _names(sizes))
    return next((encoding for encoding in encodings if encoding.space == space), None)


def encoding_for(space: gym.Space[Any], sizes: tuple[int, ...]) -> Encoding:
    """Return the encoding with this observation space, or raise an ``InputError``."""
    encoding = encoding_of(space, sizes)
    if encoding is None:
        raise InputError(
            f"observations must be those of the game as it encodes them, {sizes}, got {space}"
        )
    return encoding
