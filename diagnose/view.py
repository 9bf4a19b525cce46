"""The agent of an environment: its states, its observations of them and back, and its rewards.

Observations may be in any encoding, behind wrappers, or in mappings with masks.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..baselines import Policy, Sight, Task, solve
from ..baselines.policies.tables import as_numbers
from ..baselines.solving.occupancy import play
from ..baselines.task import task_and_sight
from ..core import FLOATS, FloatArray, InputError, IntArray
from ..core.positions import states_of
from ..core.presentation import present
from ..core.sizes import PIECE, check_memory
from ..core.sweeps import expected_values
from ..envs import RewardMode
from ..envs.api.encoding import Encoding, encoding_of
from .arrays import called, numbers

#: Number of states whose observations are computed at once.
BATCH = 2**13
#: Digits of an observation that count: recordings are often in single precision.
DIGITS = 5


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
        inside &= np.isclose(again, given, rtol=0, atol=10.0**-DIGITS).all(axis=1)
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


class AgentView:
    """The agent of an environment.

    Args:
        env: an environment of this project, a vector of them, or a ``Task``.

    Attributes:
        task: the agent's decision problem.
        sight: how the environment shows its states; None for integers.
        states: the states in which the agent may be to move, in increasing order, shape (state,).
        mode: the reward mode.
        scale: the factor by which rewards are multiplied.
    """

    def __init__(self, env: Any) -> None:
        self.task, self.sight = task_and_sight(env)
        self.states = states_of(self.task.game, self.task.seat)
        inner = getattr(env, "unwrapped", env)
        self.mode: RewardMode = getattr(inner, "reward_mode", "outcome")
        self.scale = float(getattr(inner, "reward_scale", 1.0))

    @cached_property
    def seen(self) -> Seen:
        """The way back from observations to states."""
        return Seen(self.task, self.sight)

    def observations(self, states: IntArray) -> npt.NDArray[Any]:
        """Return states as the environment shows them, shape (state, ...)."""
        seen = self.task.game.observe(states, self.task.seat)
        return np.asarray(seen if self.sight is None else self.sight.show(seen))

    def occupancy(self, policy: Policy) -> FloatArray:
        """Return the occupancy of each of the agent's states, shape (state,).

        It is a probability, or the expected number of visits in a game with cycles, given that the
        agent gets to move: environments replay all other games.
        """
        met: FloatArray = play(policy, self.task, FLOATS).at(self.task.seat, self.states)
        return met

    def rewards(self, states: IntArray, payoffs: FloatArray) -> FloatArray:
        """Convert expected payoffs after states to expected sums of rewards, shape (state,).

        Rewards of the modes "shaped" and "regret" add up to the payoff less the optimal value of
        the state; rewards may be scaled.
        """
        if self.mode != "outcome":
            payoffs = payoffs - solve(self.task).found.at(self.task.seat, states)
        scaled: FloatArray = payoffs * self.scale
        return scaled

    def estimates(
        self, source: Any, states: IntArray, name: str, shape: tuple[int, ...], legal: Any = True
    ) -> FloatArray:
        """Return the estimates of a function or of an array in some states, shape (state, ...).

        Args:
            source: a function of a batch of observations as ``env`` shows them, a torch module, or
                an array for all states of the game.
            states: shape (state,).
            name: of the argument, for messages.
            shape: of an array for all states of the game.
            legal: which of the estimates must be finite.

        Raises:
            InputError: if the estimates have another shape, or are not finite.
        """
        if callable(source):
            given = np.empty((len(states), *shape[1:]))
            for first in range(0, len(states), BATCH):
                piece = slice(first, first + BATCH)
                seen = self.observations(states[piece])
                given[piece] = called(source, name, seen, (len(seen), *shape[1:]))
        else:
            given = numbers(source, name, shape, finite=False)[states]
        wrong = np.argwhere(~np.isfinite(given) & legal)
        if len(wrong):
            place = tuple(wrong[0].tolist())
            game = self.task.game
            seen = game.observe(states[place[0] : place[0] + 1], self.task.seat)[0]
            words = present(game).describe(seen)
            raise InputError(f"{name} must be finite, got {given[place]} at {words}")
        return given


def paid_by_moves(task: Task, mode: RewardMode, states: IntArray, actions: IntArray) -> FloatArray:
    """Return what a reward mode adds to payoffs, whatever a move leads to, shape (move,).

    "regret" pays Q*(s, a) - V*(s), and no payoffs; "shaped" adds V*(s') - V*(s), with V* 0 at ends.
    """
    if mode == "outcome":
        return np.zeros(len(states))
    found = solve(task).found
    best: FloatArray = found.at(task.seat, states)
    if mode == "shaped":
        return -best
    expected: FloatArray = expected_values(task.game, task.seat, states, actions, found)
    return expected - best


def paid_by_results(task: Task, mode: RewardMode, states: IntArray) -> FloatArray:
    """Return what a reward mode adds to payoffs if a move leads to a state, shape (state,)."""
    if mode != "shaped":
        return np.zeros(len(states))
    potential: FloatArray = solve(task).found.at(task.seat, states)
    return potential
