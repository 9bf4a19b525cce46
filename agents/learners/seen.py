"""The input of a model's network: the observation of a state, after wrappers and normalisation.

The module reads wrappers and normalisation from the training environment that a model holds. A
policy alone holds none, and looks the same with and without them, so that it is taken only with the
argument ``observations``, which says what its network is given.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecCheckNan,
    VecEnv,
    VecEnvWrapper,
    VecMonitor,
    VecNormalize,
    VecVideoRecorder,
)

from ...baselines import Sight
from ...baselines.law.law_game import LawGame
from ...baselines.policies.observations import sight_of
from ...core import Game, InputError
from ...envs import Opaque, encoding_of, inspect_training, not_followed
from ...envs.api.given import has_law
from .networks import Change, change_of, normalisers
from .vec_env import GameVecEnv

#: Wrappers of vector environments that change neither observations nor actions.
HARMLESS = {VecCheckNan, VecMonitor, VecVideoRecorder}


def shown_to(
    model: Any,  # or its policy
    game: Game,  # in which it is scored
    sight: Sight | None,  # of the environment in which it is scored; None if it is not known
    observations: Any,  # turns these into the network's input; by default its own ``VecNormalize``
) -> tuple[Sight, Change]:
    """Find the observations of an environment, and the function to the input of a network."""
    if not isinstance(model, BaseAlgorithm) and observations is None:
        raise InputError(
            f"observations must be given for {type(model).__name__}, a policy without its model, "
            "which does not say what its network is given: pass the model, or observations=, a "
            "VecNormalize or a function, lambda seen: seen if it was trained without"
        )
    env = getattr(model, "env", None)
    own = sight if sight is not None and sight.wrapped else _own_sight(env, model, game)
    change = change_of(env if observations is None and normalisers(env) else observations)
    if sight is not None and _leads_to(model.observation_space, sight, game, observations):
        own = Sight(model.observation_space, sight.show, wrapped=True)
    return _fitting(model, game, own), change


def _leads_to(space: gym.Space[Any], sight: Sight, game: Game, observations: Any) -> bool:
    """Return whether a user's function leads from the space of an environment to another one."""
    if sight.space == space or not callable(observations) or hasattr(observations, "normalize_obs"):
        return False
    shown = sight.show(np.zeros((1, len(game.observation_sizes)), dtype=np.int64))
    return np.asarray(observations(shown)).shape[1:] == space.shape


def _fitting(model: Any, game: Game, sight: Sight | None) -> Sight:
    """Return the observations, after checking that they fit the spaces of a model.

    ``sight`` None stands for the model's own observation space.
    """
    sight = sight or _bare_sight(model.observation_space, game)
    seen, actions = model.observation_space, model.action_space
    if sight is None or sight.space != seen or actions != gym.spaces.Discrete(game.num_actions):
        expected = game.observation_sizes if sight is None else sight.space
        got = " ".join(f"{seen} and {actions}".split())  # large boxes are shown in several lines
        raise InputError(
            f"model must be trained for observations {expected} and {game.num_actions} actions "
            f"({game!r}), got one for {got}: pass observations=, a function to those of the model"
        )
    return sight


def _bare_sight(space: gym.Space[Any], game: Game) -> Sight | None:
    """Return how an environment without wrappers shows a game in a space; None if none does."""
    if isinstance(game, LawGame) and space == gym.spaces.Discrete(game.rows):
        return sight_of(game, space)
    encoding = encoding_of(space, game.observation_sizes)
    return None if encoding is None else Sight(encoding.space, encoding.encode, wrapped=False)


def _own_sight(env: VecEnv | None, model: Any, game: Game) -> Sight | None:
    """Return the observations that the wrappers of training show; None without wrappers."""
    while isinstance(env, VecEnvWrapper):
        if type(env) not in (*HARMLESS, VecNormalize):
            raise not_followed(type(env).__name__)
        env = env.venv
    if env is None or isinstance(env, GameVecEnv):
        return None
    if _bare_sight(model.observation_space, game) is None and not isinstance(env, DummyVecEnv):
        return None  # ``_fitting`` compares the spaces, with a better message
    if type(env) is SubprocVecEnv:
        _check_other_processes(env)
        return None
    if type(env) is not DummyVecEnv:
        raise not_followed(f"a {type(env).__name__}")
    return _common_sight(env, model, game)


def _common_sight(env: DummyVecEnv, model: Any, game: Game) -> Sight | None:
    """Return the observations of the environments of a vector; None if they have no wrappers.

    The wrappers compute observations from states of the game of training, which must be ``game``.
    """
    try:
        tasks, sights = zip(*map(inspect_training, env.envs), strict=True)
    except TypeError:  # not an environment of this project
        if _bare_sight(model.observation_space, game) is None:
            return None  # ``_fitting`` compares the spaces, with a better message
        raise not_followed(f"an environment {type(env.envs[0].unwrapped).__name__}") from None
    if not any(sight.wrapped for sight in sights):
        return None
    if not all(sight.wrapped for sight in sights):
        raise not_followed("wrappers in some of its environments")
    trained: Any = tasks[0].game
    same = trained == game
    if has_law(env.envs[0].unwrapped) and isinstance(game, LawGame):  # shows no moves so far
        same = trained.rows == game.rows
    if not same:
        raise InputError(
            f"model must be trained in {game!r}, as wrappers make its observations, got a model "
            f"trained in {trained!r}: pass the environment to score it in with the same wrappers"
        )
    return sights[0]


def _check_other_processes(env: SubprocVecEnv) -> None:
    """Check that environments in other processes are unwrapped ones of this project."""
    try:
        if env.closed:
            raise EOFError
        law = env.has_attr("P") and any(map(env.has_attr, ("initial_state_distrib", "isd")))
        ours = env.has_attr("go_to") or law
        bare = ours and not any(env.env_is_wrapped(Opaque))  # type: ignore[arg-type]
    except (EOFError, OSError):  # the other process has ended
        raise InputError(
            "model must have open environments, which give its observations, and its SubprocVecEnv "
            "is closed: score it before that, or load it without an environment"
        ) from None
    if not bare:
        raise not_followed("a wrapper in another process")
