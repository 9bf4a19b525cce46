"""What the network of a model is given: a state as its environments show it, and normalised.

It is read from the environment that a model carries. A policy without its model carries none, so
that the model is looked for: what it was trained under must not be dropped unseen.
"""

import gc
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import gymnasium as gym
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
from ...core import Game, InputError
from ...envs import Opaque, encoding_of, not_followed, sight_in_training
from .vec_env import GameVecEnv

#: Wrappers of vectors that leave the game alone.
HARMLESS = {VecCheckNan, VecMonitor, VecVideoRecorder}
#: What policies are known to need that they do not carry, also when their models are gone.
_NEEDS: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()

#: From a batch of observations to a batch.
Change = Callable[[Any], Any]


def shown_to(
    model: Any, game: Game, sight: Sight | None, observations: Any
) -> tuple[Sight, Change]:
    """Find out what the network of a model is given.

    Args:
        model: a model, or its policy.
        game: the game in which it is scored.
        sight: what the environment shows that it is scored in, None if nobody said.
        observations: what the network is given of that, None for what the model's ``VecNormalize``
            makes of it, if it has one.

    Returns:
        What the model is shown, and what changes that into what the network is given.

    Raises:
        ValueError: if the spaces are not those of the game, or it cannot be known.
    """
    holder = model if isinstance(model, BaseAlgorithm) else _holder(model)
    env = getattr(holder, "env", None)
    told = sight is not None and sight.wrapped
    if not told:
        sight = _own_sight(env, model, game)
    changes = _normalisers(env)
    if holder is not model:
        found = {"VecNormalize"} if any(each.norm_obs for each in changes) else set()
        found |= {"wrappers"} if sight is not None and not told else set()
        _check_policy(model, found, {"VecNormalize": observations is not None, "wrappers": told})
    change = change_of(env if observations is None and changes else observations)
    return _fitting(model, game, sight), change


def _check_policy(policy: Any, found: set[str], told: dict[str, bool]) -> None:
    """Refuse a policy whose model was trained under more than is known of it.

    Args:
        policy: the policy of a model.
        found: what its model was trained under.
        told: whether the user has said what takes the place of that.
    """
    needs = found | _NEEDS.get(policy, set())
    if needs:
        _NEEDS[policy] = needs
    missing = sorted(need for need in needs if not told[need])
    if missing:
        raise InputError(
            f"model must be given whole, as it was trained under {' and '.join(missing)}, of which "
            "its policy alone knows nothing: pass the model, or observations= and the environment "
            "with its wrappers"
        )


def _holder(policy: Any) -> BaseAlgorithm | None:
    """Find the model that holds a policy, None if there is none any more."""
    for place in gc.get_referrers(policy):
        owners = gc.get_referrers(place) if type(place) is dict else [place]
        for owner in owners:
            if issubclass(type(owner), BaseAlgorithm) and owner.policy is policy:
                return owner  # type: ignore[no-any-return]
    return None


def _fitting(model: Any, game: Game, sight: Sight | None) -> Sight:
    """Check that what is shown fits the spaces of a model; by default its space says what it is."""
    encoding = encoding_of(model.observation_space, game.observation_sizes)
    if sight is None and encoding is not None:
        sight = Sight(encoding.space, encoding.encode, wrapped=False)
    seen, actions = model.observation_space, model.action_space
    if sight is None or sight.space != seen or actions != gym.spaces.Discrete(game.num_actions):
        expected = game.observation_sizes if sight is None else sight.space
        got = " ".join(f"{seen} and {actions}".split())  # large boxes are shown in several lines
        raise InputError(
            f"model must be trained for observations {expected} and {game.num_actions} actions "
            f"({game!r}), got one for {got}"
        )
    return sight


def _own_sight(env: VecEnv | None, model: Any, game: Game) -> Sight | None:
    """Give what wrappers made of observations in training, None if there were none.

    The wrappers are put into states of the game they were made for, so that it has to be this one.
    """
    while isinstance(env, VecEnvWrapper):
        if type(env) not in (*HARMLESS, VecNormalize):
            raise not_followed(type(env).__name__)
        env = env.venv
    if env is None or isinstance(env, GameVecEnv):
        return None
    if encoding_of(model.observation_space, game.observation_sizes) is None and not isinstance(
        env, DummyVecEnv
    ):
        return None  # the spaces will say more
    if type(env) is SubprocVecEnv:
        _check_other_processes(env)
        return None
    if type(env) is not DummyVecEnv:
        raise not_followed(f"a {type(env).__name__}")
    return _common_sight(env, model, game)


def _common_sight(env: DummyVecEnv, model: Any, game: Game) -> Sight | None:
    """Give what all environments of a vector show if wrappers have a part in it."""
    try:
        sights = [sight_in_training(each) for each in env.envs]
    except TypeError:  # an environment of others
        if encoding_of(model.observation_space, game.observation_sizes) is None:
            return None  # the spaces will say more
        raise not_followed(f"an environment {type(env.envs[0].unwrapped).__name__}") from None
    if not any(sight.wrapped for sight in sights):
        return None
    if not all(sight.wrapped for sight in sights):
        raise not_followed("wrappers in some of its environments")
    trained: Game = env.envs[0].unwrapped.task.game  # type: ignore[attr-defined]
    if trained != game:
        raise InputError(
            f"model must be trained in {game!r} if it is shown what wrappers make of it, got "
            f"one of {trained!r}: pass the environment to score it in with the same wrappers"
        )
    return sights[0]


def _check_other_processes(env: SubprocVecEnv) -> None:
    """See that environments in other processes are bare ones of this project."""
    try:
        if env.closed:
            raise EOFError
        bare = env.has_attr("go_to") and not any(env.env_is_wrapped(Opaque))  # type: ignore[arg-type]
    except (EOFError, OSError):  # the other process has ended
        raise InputError(
            "model must be able to ask its environments what they show, and its SubprocVecEnv is "
            "closed: score it before that, or load it without an environment"
        ) from None
    if not bare:
        raise not_followed("a wrapper in another process")


def _normalisers(env: Any) -> list[VecNormalize]:
    """List the normalisations of a vector of environments, innermost first."""
    found: list[VecNormalize] = []
    while isinstance(env, VecEnvWrapper):
        if isinstance(env, VecNormalize):
            found.insert(0, env)
        env = env.venv
    return found


def change_of(observations: Any) -> Change:
    """Give what changes observations as a function from a batch to a batch; None changes nothing.

    Args:
        observations: a function, a vector of environments with all ``VecNormalize`` in it, or an
            object with a method ``normalize_obs``.

    Raises:
        ValueError: if it is no such thing.
    """
    if observations is None:
        return lambda features: features
    normalisers = _normalisers(observations) if isinstance(observations, VecEnvWrapper) else []
    if normalisers:
        return lambda features: _through(normalisers, features)
    change = getattr(observations, "normalize_obs", observations)
    if callable(change):
        return change  # type: ignore[no-any-return]
    raise InputError(
        "observations must be a VecNormalize or a function from a batch of observations to a "
        f"batch, got {type(observations).__name__}"
    )


def _through(normalisers: list[VecNormalize], features: Any) -> Any:
    for each in normalisers:
        features = each.normalize_obs(features)
    return features
