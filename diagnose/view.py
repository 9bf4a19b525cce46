"""The agent of an environment, and what users give of it: observations, arrays and functions.

Observations may be in any encoding, behind wrappers, or in mappings with masks.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..baselines import LawGame, Policy, Problem, Task, as_policy, solve, task_and_sight
from ..baselines.law.numbers import as_numbers
from ..baselines.operators.induction import visit_action_values
from ..baselines.policies.door import packages_of
from ..baselines.solving.occupancy import play
from ..core import FLOATS, BoolArray, FloatArray, InputError, IntArray, Values, present
from ..core.errors import needing
from ..core.positions import pieces, places_in, states_of
from ..core.sizes import PIECE, check_memory
from ..envs import Encoding, RewardMode, encoding_of

#: Number of states whose observations are computed at once.
BATCH = 2**13
#: Digits of an observation that count: recordings are often in single precision.
DIGITS = 5
#: How far observations of half precision may be off.
HALF = 1e-3


def numbers(given: Any, name: str, shape: tuple[int, ...], *, finite: bool = True) -> FloatArray:
    """Return an array, or a tensor of any library, as float64; drop a last axis of length 1."""
    array = as_numbers(given, name)
    if array.shape == (*shape, 1):
        array = array[..., 0]
    if array.shape != shape:
        raise InputError(f"{name} must be of shape {shape}, got {array.shape}")
    wrong = np.argwhere(~np.isfinite(array))
    if finite and len(wrong):
        place = tuple(wrong[0].tolist())
        at = ", ".join(map(str, place))
        raise InputError(f"{name} must be finite, got {array[place]} at entry {at}")
    return array.astype(np.float64)


def factor(given: Any, name: str) -> float:
    """Return a number as a float, after checking that it is from 0 to 1."""
    if isinstance(given, str) or np.ndim(given) or given is None or not 0 <= given <= 1:
        shown = given if isinstance(given, int | float) else f"a {type(given).__name__}"
        raise InputError(f"{name} must be from 0 to 1, got {shown}")
    return float(given)


def whole(given: Any, name: str, shape: tuple[int, ...], most: int | None = None) -> IntArray:
    """Read an array of whole numbers; with ``most`` they must be from 0 to this number."""
    read = numbers(given, name, shape)
    if not np.array_equal(read, np.rint(read)):
        raise InputError(f"{name} must be whole numbers, got {read[read != np.rint(read)][0]}")
    found = read.astype(np.int64)
    if most is not None and (found.min() < 0 or found.max() > most):
        raise InputError(f"{name} must be from 0 to {most}, got {found.min()} to {found.max()}")
    return found


def flags(given: Any, name: str, shape: tuple[int, ...], missing: bool = False) -> BoolArray:
    """Read an array of truth values, or of 0 and 1; None is an array of ``missing``."""
    if given is None:
        return np.full(shape, missing)
    read = whole(given, name, shape)
    if not np.isin(read, (0, 1)).all():
        raise InputError(f"{name} must be 0 or 1, got {read[~np.isin(read, (0, 1))][0]}")
    return read.astype(bool)


def shape_of(given: Any, name: str) -> tuple[int, ...]:
    """Return the shape of an array, or of the first entry without masks."""
    if isinstance(given, Mapping):
        shown = [entry for key, entry in given.items() if "mask" not in key]
        given = next(iter(shown or given.values()))
    return as_numbers(given, name).shape


def leading_shape(given: Any, name: str, axes: int) -> tuple[int, ...]:
    """Return the length of the first axes of an array, or of the first entry without masks."""
    shape = shape_of(given, name)
    if len(shape) < axes or 0 in shape:
        wanted = "(time, lane, ...)" if axes == 2 else "(transition, ...)"
        raise InputError(f"{name} must be of shape {wanted}, got {shape}")
    return shape[:axes]


def called(function: Any, name: str, observations: Any, shape: tuple[int, ...]) -> FloatArray:
    """Call a function, or a torch module, with a batch of observations; return its numbers.

    Observations are of shape (observation, ...), or a mapping of such arrays. If the required shape
    has one number for each, a last axis of length 1 may follow.
    """
    if not callable(function):
        raise InputError(
            f"{name} must be a function of observations, got a {type(function).__name__}"
        )
    if "torch" in packages_of(function):
        from .networks import Network  # needs torch

        function = Network(function, name, *(shape[1:] or (None,)))
    given = as_numbers(function(observations), name)
    if given.shape not in ({shape} if shape[1:] else {shape, (*shape, 1)}):
        raise InputError(f"{name} must give numbers of shape {shape}, got {given.shape}")
    return given.reshape(shape).astype(np.float64)


def _clusters(rows: FloatArray) -> Callable[[FloatArray], npt.NDArray[Any]]:
    """Return the function that gives observations, (observation, feature), sortable keys.

    Observations whose features are those of one of the different ``rows`` up to rounding have the
    key of this one.
    """
    intervals = []
    for feature in rows.T:
        values = np.unique(feature)
        near = 10.0**-DIGITS * max(1.0, float(np.abs(values).max(initial=0)))
        apart = np.diff(values) > near
        intervals.append((near, values[np.append(True, apart)], values[np.append(apart, True)]))

    def keys(given: FloatArray) -> npt.NDArray[Any]:
        places = np.empty(given.shape, dtype=np.int64)
        for column, (near, starts, ends) in enumerate(intervals):
            found = np.searchsorted(starts, given[:, column] + near, "right") - 1
            inside = (found >= 0) & (given[:, column] <= ends[found] + near)
            places[:, column] = np.where(inside, found, -1)
        whole: Any = places.view(np.dtype((np.void, 8 * given.shape[1])))
        return whole[:, 0]

    return keys


def _entry(observations: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Any:
    """Return the entry of a mapping that has the shape of observations."""
    fitting = [key for key, entry in observations.items() if np.shape(entry) == shape]
    shown = [key for key in fitting if "mask" not in key]
    if len(shown) != 1:
        raise InputError(
            f"{name} must have one entry of shape {shape} beside masks, got "
            f"{', '.join(f'{key} {np.shape(entry)}' for key, entry in observations.items())}"
        )
    return observations[shown[0]]


class AgentView:
    """The agent of an environment: its decision problem, and how it sees and is rewarded.

    A game within a limit of moves is viewed without it if recorded observations do not tell the
    moves so far.
    """

    def __init__(
        self,
        env: Any,  # an environment of this project, a vector of them, or a ``Task``
        observations: Any = None,  # what changes them before they are recorded (see ``audit``)
        axes: tuple[int, ...] | None = None,  # shape of a recorded one; None if none was recorded
    ) -> None:
        self.task, self.sight = task_and_sight(env)  # the sight is None for integers
        inner = getattr(env, "unwrapped", env)
        if axes is not None and isinstance(self.task.game, LawGame) and self.task.game.horizon:
            self._read_time(axes, inner)
        self._given = observations
        self._change: Callable[[Any], Any] | None = None
        if observations is not None:
            with needing("audits of changed observations", "torch"):
                from ..agents.learners.networks import change_of
            self._change = change_of(observations)
        self.states = states_of(self.task.game, self.task.seat)  # in increasing order
        self.mode: RewardMode = getattr(inner, "reward_mode", "outcome")
        self.scale = float(getattr(inner, "reward_scale", 1.0))  # factor of rewards

    def _read_time(self, axes: tuple[int, ...], env: Any) -> None:
        """Leave out the limit of moves if observations of this shape do not tell the time."""
        game: Any = self.task.game
        shown = None  # of an environment of this project; others do not show the time
        if isinstance(env, Task):
            shown = Encoding(game.observation_sizes, "integer")
        elif self.sight is not None and not self.sight.wrapped:
            shown = encoding_of(self.sight.space, game.observation_sizes)
        if shown and axes == shown.space.shape:
            self.sight = shown.sight
        elif shown or not hasattr(env, "task"):
            self.task = Task(game.without_limit())
            if shown and not isinstance(env, Task):
                self.sight = Encoding(self.task.game.observation_sizes, shown.name).sight

    def observations(self, states: IntArray) -> npt.NDArray[Any]:
        """Return states as the environment shows them, shape (state, ...)."""
        seen = self.task.game.observe(states, self.task.seat)
        shown = np.asarray(seen if self.sight is None else self.sight.show(seen))
        return shown if self._change is None else np.asarray(self._change(shown))

    def states_at(self, observations: Any, name: str, shape: tuple[int, ...]) -> IntArray:
        """Return the state of each observation, -1 if the agent sees it in no state.

        Observations are of shape (*shape, ...), or a mapping with one such entry beside masks. In a
        known encoding they are decoded; else those of all states are listed and looked up.
        """
        encoding = self._encoding
        axes = (encoding.space.shape or ()) if encoding else self._listed[0]
        if isinstance(observations, Mapping):
            observations = _entry(observations, name, (*shape, *axes))
        given = as_numbers(observations, name)
        if not axes and given.shape == (*shape, 1):  # as stable-baselines3 keeps numbers of states
            given = given[..., 0]
        if given.shape != (*shape, *axes):
            named = ("transition",) if len(shape) == 1 else ("time", "lane")
            wanted = shape if given.ndim == len(shape) + len(axes) else named
            shown = ", ".join(map(str, (*wanted, *axes)))
            flat_width = sum(self.task.game.observation_sizes)
            bits = given.shape[-1] == flat_width and encoding and encoding.name == "integer"
            hint = ": has env the encoding one_hot_float, or FlattenObservation?" if bits else ""
            raise InputError(f"{name} must be of shape ({shown}), got {given.shape}{hint}")
        flat = given.reshape(-1, *axes)
        if encoding:
            return self._decoded(encoding, flat).reshape(shape)
        _, keys_of, keys, states = self._listed
        rows = flat.reshape(len(flat), int(np.prod(axes))).astype(np.float64)
        places = places_in(keys, keys_of(rows))
        return np.where(places < 0, -1, states[places]).reshape(shape)

    @cached_property
    def _encoding(self) -> Encoding | None:
        """The encoding of observations; None if they are changed."""
        sizes = self.task.game.observation_sizes
        if self._change is not None:
            return None
        if self.sight is None:
            return Encoding(sizes, "integer")
        return None if self.sight.wrapped else encoding_of(self.sight.space, sizes)

    @cached_property
    def _listed(self) -> tuple[tuple[int, ...], Callable[[FloatArray], Any], Any, IntArray]:
        """The shape of an observation; the function to keys, and all in order with their states."""
        width, own = sum(self.task.game.observation_sizes), self.states
        check_memory("observations of the agent's states", len(own), 8.0 * width)
        each = pieces(len(own), PIECE)
        shown = np.concatenate([self.observations(own[piece]) for piece in each])
        rows = shown.reshape(len(shown), -1).astype(np.float64)
        keys_of = _clusters(rows)
        keys = keys_of(rows)
        order = np.argsort(keys)
        if (keys[order][1:] == keys[order][:-1]).any():
            raise InputError("env must show different states differently, to be audited")
        return shown.shape[1:], keys_of, keys[order], own[order]

    def _decoded(self, encoding: Encoding, given: npt.NDArray[Any]) -> IntArray:
        """Decode observations, -1 if the encoding never gives them to the agent."""
        sizes = np.array(self.task.game.observation_sizes)
        given = np.where(np.isfinite(given), given, -1.0)
        seen = encoding.decode(given)
        inside = np.logical_and(seen >= 0, seen < sizes).all(axis=1)
        seen[~inside] = 0
        again = encoding.encode(seen)
        near = 10.0**-DIGITS if given.dtype.itemsize > 2 else HALF
        inside &= np.isclose(again, given, rtol=0, atol=near).all(axis=1)
        states = self.task.game.encode(seen)
        inside &= places_in(self.states, states) >= 0
        return np.where(inside, states, -1)

    @property
    def problem(self) -> Problem:
        """The agent's decision problem, as its environment shows it."""
        return Problem(self.task, sight=self.sight)

    def player(self, policy: Any, *, deterministic: bool = False, masked: bool = True) -> Policy:
        """Return a policy (see ``as_policy``); models get observations as they were changed."""
        model = {"torch", "stable_baselines3"} & set(packages_of(policy))
        reading: Any = {"observations": self._given if model else None, "masked": masked}
        return as_policy(policy, self.problem, deterministic=deterministic, **reading)

    def occupancy(self, policy: Policy) -> FloatArray:
        """Return the occupancy of the agent's states, given that it gets to move, (state,)."""
        return play(policy, self.problem).at(self.task.seat, self.states)

    def rewards(self, states: IntArray, payoffs: FloatArray) -> FloatArray:
        """Convert expected payoffs after states to expected sums of rewards, shape (state,).

        Rewards of the modes "shaped" and "regret" add up to the payoff less the optimal value of
        the state; rewards may be scaled.
        """
        if self.mode != "outcome":
            payoffs = payoffs - solve(self.task).found.at(self.task.seat, states)
        return payoffs * self.scale

    def estimates(
        self, source: Any, states: IntArray, name: str, shape: tuple[int, ...], legal: Any = True
    ) -> FloatArray:
        """Return the estimates of a source in some states, shape (state, ...).

        The source is a function of a batch of observations as ``env`` shows them, a torch module,
        or an array for all states of the game, of this shape. Legal estimates must be finite.
        """
        if callable(source):
            given = np.empty((len(states), *shape[1:]))
            for piece in pieces(len(states), BATCH):
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

    def visit(self, values: Values, visit: Callable[[IntArray, FloatArray], None]) -> None:
        """Call ``visit`` with states of the agent and the expected values of actions there.

        They are of shape (state,) and (state, action), and meaningless for illegal actions.
        """
        law, seat = self.problem.law, self.task.seat
        visit_action_values(law, lambda stage, of: visit(stage.states, of), values, seat, FLOATS)
