"""The legal actions as a part of the observation, as libraries that know masks expect them."""

from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np

from ...core import one_of
from .encoding import Features

#: The keys of observation and mask, and the type of masks, that each library expects.
FORMS: dict[str, tuple[str, str, type[np.generic]]] = {
    "rllib": ("observations", "action_mask", np.float32),
    "tianshou": ("obs", "mask", np.bool_),
    "torchrl": ("observation", "action_mask", np.bool_),
}


class MaskInObservation(gym.ObservationWrapper[Any, SupportsIndex, Features]):
    """Shows a dictionary of the observation and the mask of legal actions.

    Exact computation unwraps it: a network is given the observation, and ``score`` itself applies
    the mask.

    Args:
        env: an environment of one game; the encoding "one_hot_float" suits all these libraries.
        library: the library whose keys and types are used. "rllib" has "observations" and
            "action_mask", float32; "tianshou" has "obs" and "mask", bool; "torchrl" has
            "observation" and "action_mask", bool. Masks have shape (action,), one where an action
            is legal.

    Raises:
        ValueError: if the library is unknown.
    """

    def __init__(self, env: gym.Env[Features, SupportsIndex], library: str) -> None:
        super().__init__(env)
        self._names = FORMS[one_of("library", library, list(FORMS))]
        shown, mask, kind = self._names
        assert isinstance(env.action_space, gym.spaces.Discrete)
        space: gym.Space[Any] = gym.spaces.Box(0, 1, (int(env.action_space.n),), kind)
        both: gym.Space[Any] = gym.spaces.Dict({shown: env.observation_space, mask: space})
        self.observation_space = both

    @property
    def key(self) -> str:
        """Key of the observation in the dictionary."""
        return self._names[0]

    def observation(self, observation: Features) -> dict[str, Features]:
        """Put the mask beside an observation."""
        shown, mask, kind = self._names
        legal: Features = self.env.get_wrapper_attr("action_masks")()
        return {shown: observation, mask: legal.astype(kind)}
