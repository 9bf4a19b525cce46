"""A wrapper that puts masks into observations, for libraries that read them there."""

from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np

from ...core import one_of
from .encoding import Features

#: For each library: the keys of observation and mask, and the dtype of masks.
FORMS: dict[str, tuple[str, str, type[np.generic]]] = {
    "rllib": ("observations", "action_mask", np.float32),
    "tianshou": ("obs", "mask", np.bool_),
    "torchrl": ("observation", "action_mask", np.bool_),
}


class MaskInObservation(gym.ObservationWrapper[Any, SupportsIndex, Features]):
    """Makes each observation a dictionary of the observation and the mask of legal actions.

    ``score`` undoes this wrapper: it gives a network the observation alone and applies the mask.

    Args:
        env: an environment of one game; the encoding "one_hot_float" suits all these libraries.
        library: the library with which the environment is used. The keys and the dtype of masks
            are "observations" and "action_mask", float32, for "rllib"; "obs" and "mask", bool, for
            "tianshou"; "observation" and "action_mask", bool, for "torchrl". Masks have shape
            (action,), and 1 for a legal action.

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
        """The key of the observation in the dictionary."""
        return self._names[0]

    def observation(self, observation: Features) -> dict[str, Features]:
        """Return the dictionary of an observation and its mask."""
        shown, mask, kind = self._names
        legal: Features = self.env.get_wrapper_attr("action_masks")()
        return {shown: observation, mask: legal.astype(kind)}
