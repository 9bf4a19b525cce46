"""Networks as policies: they choose legal actions by preferences (logits or action values)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...core import BoolArray, FloatArray, Game, InputError, IntArray
from ...core.tour import Grid
from .tables import as_numbers

#: Largest difference between results of a float32 network in two batches, as a share of the
#: largest result. Such a network has errors of about 1e-6, and a law none larger than its logits.
ROUNDING = 1e-4
#: A function from a grid to the network's choice in each state, shape (row, column): the index of
#: the action in its row of ``Grid.actions``.
GridActions: TypeAlias = Callable[[Grid], IntArray]


class NetworkPolicy(ABC):
    """A function on (observations, masks) that chooses actions by preferences.

    Args:
        name: name for people.
        deterministic: whether it takes the legal action with the largest preference; if not, it
            draws from the softmax of the preferences.
        masked: whether only legal actions may be chosen.
        rounding: largest difference between preferences in two batches, as a share of the largest.
    """

    def __init__(
        self, name: str, deterministic: bool, masked: bool, rounding: float = ROUNDING
    ) -> None:
        self.__name__ = name
        self.rounding = rounding
        self._deterministic, self._masked = deterministic, masked

    @property
    def takes_best(self) -> bool:
        """Whether it takes the legal action with the largest preference."""
        return self._deterministic and self._masked

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
        """Round the network to fixed point (see ``FixedPointNetwork``), for a certificate.

        Raises:
            ValueError: if the network is no perceptron of ReLU or Tanh.
        """
        raise InputError(f"{self.__name__} must be a perceptron to be kept in fixed point")

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
        legal = masks if self._masked else np.ones_like(masks)
        chooses = legal.sum(axis=1) > 1
        certain = legal.argmax(axis=1)
        given: npt.NDArray[Any] = certain if self._deterministic else legal.astype(np.float64)
        preferences = np.where(legal, 0.0, -np.inf)
        if chooses.any():
            seen, within = observations[chooses], legal[chooses]
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

    Args:
        function: the function.
        show: turns observations of integers into the function's input.
        name: name for people.
        deterministic: whether it takes the legal action of largest preference.
        masked: whether only legal actions may be chosen.
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
        """Call the function.

        Raises:
            ValueError: if the function does not return a preference for each action.
        """
        given = self._function(self._show(observations))
        wanted = len(observations), num_actions
        return as_preferences(given, wanted, self.__name__, "function(seen)")


def as_preferences(
    given: Any, wanted: tuple[int, int], name: str, call: str
) -> npt.NDArray[np.float64]:
    """Return a network's output as preferences, shape (state, action).

    Raises:
        ValueError: if it has another shape. If the preferences are a part of it, such as the logits
            of a law beside a value, the message has code for them, from ``call`` of the network.
    """
    several, must = isinstance(given, tuple), f"policy must give preferences of shape {wanted}"
    for index, part in enumerate(given if several else (given,)):
        place = f"[{index}]" * several + ".logits" * hasattr(part, "logits")
        if place and (hasattr(part, "logits") or getattr(part, "shape", ()) == wanted):
            raise InputError(
                f"{must} alone, got {type(given).__name__} of {name}: give "
                f"exactdice.from_network(lambda seen: {call}{place}, env)"
            )
    preferences = as_numbers(given, "policy").astype(np.float64)
    if preferences.shape != wanted:
        raise InputError(f"{must} (state, action), got {preferences.shape} of {name}")
    return preferences


def choose(
    preferences: npt.NDArray[Any], observations: IntArray, legal: BoolArray, deterministic: bool
) -> npt.NDArray[Any]:
    """Turn preferences into actions (state,), or into their softmax, a law (state, action).

    Args:
        preferences: logits or action values, shape (state, action).
        observations: observations of the same states, for messages.
        legal: which actions may be chosen, shape (state, action).
        deterministic: whether the likeliest action is taken.

    Raises:
        ValueError: if a preference is NaN, or no legal action has a finite one.
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
    law: npt.NDArray[Any] = weights / weights.sum(axis=1, keepdims=True)
    return law
