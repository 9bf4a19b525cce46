"""Reading an observation that a user gives: nothing is cut, rounded or guessed."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, TypeAlias

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from ...core import Game, InputError, IntArray, sweeps_of
from ..law.cut import CutGame
from ..law.explicit import ExplicitGame, View
from ..law.law_game import LawGame

#: Gives the integers, shape (component,), of one observation as an environment shows it.
Reader: TypeAlias = Callable[[Any], IntArray]

LONGEST = 24  # numbers that a message shows


@dataclass(frozen=True)
class Sight:
    """The observations of an environment's agent: encoded, and changed by wrappers."""

    space: Any  # the observation space of the agent
    # Turns observations, integers of shape (state, component), into a batch of that space.
    show: Callable[[IntArray], npt.NDArray[Any]]
    wrapped: bool  # whether wrappers change observations
    # Turns an observation of that space back into integers, or raises an error; None if the
    # observations are the integers.
    read: Reader | None = None


def array_of(
    observation: Any, shape: tuple[int, ...], wanted: str, *, kinds: str = "iuf"
) -> npt.NDArray[Any]:
    """Give an observation, an array, a list or any tensor, as an array of a shape.

    Its dtype is of the accepted ``kinds``; a list of numbers of two kinds has the wider one. The
    form that it must have, ``wanted``, is in words, for messages.
    """
    with suppress(Exception):  # ragged lists, tensors on devices: each library raises its own
        given = np.asarray(observation)
        if given.shape == shape and given.dtype.kind in kinds:
            return given
    raise InputError(f"observation must be {wanted}, got {told(observation)}")


def whole_numbers(observation: Any, sizes: tuple[int, ...], names: tuple[str, ...]) -> IntArray:
    """Read an observation in integers, one for each component; floats must be whole."""
    wanted = f"({', '.join(names)}) below {sizes} in whole numbers"
    given = array_of(observation, (len(sizes),), wanted)
    if not np.all((given >= 0) & (given < sizes) & (given == np.floor(given))):
        raise InputError(f"observation must be {wanted}, got {told(observation)}")
    return given.astype(np.int64)


def told(observation: Any) -> str:
    """Describe in a few words the object that was given as an observation."""
    try:
        given = np.asarray(observation)
    except Exception:  # as in ``array_of``
        return f"{type(observation).__name__} of different lengths or on another device"
    if given.dtype.kind not in "biuf":
        words = " of texts" if given.dtype.kind in "US" and given.ndim else ""
        return "None" if observation is None else type(observation).__name__ + words
    if given.size > LONGEST:
        return f"an array of {given.dtype} and shape {given.shape}"
    return str(given.tolist())


def in_dictionary(key: str, game: Game, sight: Sight, observation: Any) -> IntArray:
    """Read an observation from a dictionary that also holds a mask, or given without it.

    ``sight`` is how the environment shows the entry of the key.
    """
    if isinstance(observation, Mapping):
        if key not in observation:
            raise InputError(
                f"observation must have the key {key}, got the keys "
                f"{', '.join(map(str, observation))}"
            )
        observation = observation[key]
    return integers_of(observation, game, sight)


def changed(wrappers: Sequence[str], observation: Any) -> NoReturn:
    """Refuse an observation that wrappers of these names change, and say which can be read."""
    raise InputError(
        "observation must be one that can be read, and the wrappers of env change it "
        f"({', '.join(wrappers)}): give an observation of env.unwrapped to a solution of "
        f"env.unwrapped, got {told(observation)}"
    )


def integers_of(observation: Any, game: Game, sight: Sight | None) -> IntArray:
    """Give the integers of an observation as an environment shows it, or of integers."""
    if sight is not None and sight.read is not None:
        return sight.read(observation)
    return whole_numbers(observation, game.observation_sizes, game.observation_names)


def state_of(game: Game, seat: int, observation: IntArray) -> IntArray:
    """Return the state in which a player sees an observation before a move, shape (1,).

    An ``InputError`` says that there is none.
    """
    state = game.encode(observation[None])
    known = sweeps_of(game).may_move(seat, state)[0]
    if not known or (game.observe(state, seat)[0] != observation).any():
        raise InputError(
            f"observation must be one that the player in seat {seat} may meet before a move "
            f"in {game!r}, got {observation.tolist()}"
        )
    return state


def shows(game: Game) -> bool:
    """Return whether players see what the environment of a law shows, or the number of a state."""
    return isinstance(game, LawGame | CutGame) or (
        isinstance(game, ExplicitGame) and game.view is not None
    )


def is_viewed(game: Game) -> bool:
    """Return whether players see something else than the number of a state."""
    return isinstance(game, ExplicitGame) and getattr(game.view, "space", None) is not None


def sight_of(
    game: Game,  # the game of its law
    space: gym.Space[Any] | None = None,  # None for that of the numbers of the states
    # from integers, (state, component), to observations of wrappers; None for numbers of states
    show: Callable[[IntArray], npt.NDArray[Any]] | None = None,
    names: tuple[str, ...] = (),  # names of the wrappers
) -> Sight:
    """Return how an environment with a law shows its states, or one of a game that is cut."""
    if isinstance(game, CutGame):
        sizes = gym.spaces.MultiDiscrete(list(game.whole.observation_sizes))
        return Sight(sizes, partial(timeless, lambda seen: seen), wrapped=True)
    assert isinstance(game, ExplicitGame)
    if game.view is not None and is_viewed(game) and show is None:
        return Sight(game.view.space, partial(_shown, game.view), True, partial(_seen, game))
    read = partial(changed, names) if names else partial(_state, game)
    space = gym.spaces.Discrete(game.rows) if space is None else space
    return Sight(space, show or _states, wrapped=True, read=read)


def timeless(
    show: Callable[[IntArray], npt.NDArray[Any]], observations: IntArray
) -> npt.NDArray[Any]:
    """Show observations of a game that is cut without the number of moves."""
    return show(observations[:, :-1])


def _states(observations: IntArray) -> IntArray:
    """Give the number of each state."""
    return observations[:, 0]


def _shown(view: View, observations: IntArray) -> npt.NDArray[Any]:
    """Give what an environment shows in each state."""
    if view.shown is None:
        raise InputError(
            f"env must show arrays to a policy, got observations of {view.space}: wrap it"
        )
    found: npt.NDArray[Any] = view.shown[observations[:, 0]]
    return found


def _seen(game: ExplicitGame, observation: Any) -> IntArray:
    """Read a state, with the number of moves so far, or the observation of one state alone."""
    assert game.view is not None
    shown, given = game.view.shown, np.asarray(observation)
    if shown is None or given.shape != shown.shape[1:] or given.shape == (2,):
        return _state(game, observation)
    (states,) = np.nonzero((shown == given).reshape(len(shown), -1).all(axis=1))
    if len(states) != 1:
        raise InputError(
            f"observation must be that of one state, got that of {len(states)}: give the number of "
            "the state, with the number of moves so far if there is a limit"
        )
    return _state(game, states)


def _state(game: ExplicitGame, observation: Any) -> IntArray:
    """Read a state; in a game with a horizon, a state and the number of moves so far."""
    sizes = game.observation_sizes
    given = np.atleast_1d(observation) if np.ndim(observation) == 0 else observation
    if len(sizes) == 2 and np.size(given) == 1:
        raise InputError(
            "observation must be (state, moves), with the number of moves so far, as values "
            f"within {sizes[-1]} moves depend on it, got {told(observation)}; "
            "env.unwrapped has no limit of moves"
        )
    return whole_numbers(given, sizes, game.observation_names)
