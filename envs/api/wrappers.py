"""Wrappers: the task of a wrapped environment, the observations of its agent, and our own wrapper.

Some wrappers do not change the game. A wrapper of observations is called for every observation,
after the environment has been put into the state, so that a network gets the same input as in play.
Wrappers that change actions, rewards or the length of games are refused.
"""

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper

from ...baselines import Sight, Task
from ...baselines.law.cut import CutGame
from ...baselines.policies.kinds import TimelessPolicy
from ...baselines.policies.observations import changed, in_dictionary, sight_of, timeless
from ...core import InputError, IntArray, one_of
from ...core.words import meant
from ..encoding import Features
from .env import GameEnv
from .given import from_P, has_law, hint
from .vector import GameVectorEnv

#: Wrappers that do not change the game, by package and class.
HARMLESS = {
    "gymnasium.AddWhiteNoise",  # to pictures
    "gymnasium.Autoreset",
    "gymnasium.DictInfoToList",
    "gymnasium.HumanRendering",
    "gymnasium.ObstructView",
    "gymnasium.OrderEnforcing",
    "gymnasium.PassiveEnvChecker",
    "gymnasium.RecordEpisodeStatistics",
    "gymnasium.RecordVideo",
    "gymnasium.RenderCollection",
    "sb3_contrib.ActionMasker",
    "stable_baselines3.Monitor",
}

#: The wrapper that cuts games off.
LIMIT = "gymnasium.TimeLimit"

#: Wrappers that change rewards or the length of games, but neither observations nor actions.
REWARDS = {"gymnasium.NormalizeReward", LIMIT}

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


def inspect_env(env: Any) -> tuple[Task, Sight]:
    """Return the task of an environment of Gymnasium, or its id, and its agent's observations.

    A ``TypeError`` says that it is no environment of this project, an ``InputError`` that a wrapper
    changes the game.
    """
    if isinstance(env, str):
        # The command line knows environments of others by gym:ID; exactdice:ID imports the package.
        name = env.removeprefix("exactdice:").removeprefix("gym:")
        if name not in gym.registry:
            known = [each for each in gym.registry if each.startswith("exactdice/")]
            alike = [each for each in known if each.lower() == f"exactdice/{name.lower()}-v0"]
            near = f"; did you mean {alike[0]}?" if alike else hint(name) or meant(name, known)
            raise TypeError(f"env must be the id of an environment, got {env!r}{near}")
        env = gym.make(name)
    return _inspect(env, _refuse_changes)


def inspect_training(env: Any) -> tuple[Task, Sight]:
    """Return the task of a model's training environment, and the observations of the model."""
    return _inspect(env, _refuse_actions)


def _inspect(env: Any, check: Callable[[Any, Task], None]) -> tuple[Task, Sight]:
    inner, *layers = reversed(layers_of(env))
    shown = [layer for layer in layers if _kind(type(layer)) == "observations"]
    if has_law(inner):
        limited = [layer for layer in layers if place_of(type(layer)) == LIMIT]
        limits = (layer._max_episode_steps for layer in limited)
        task = from_P(inner, horizon=min(limits, default=None))
        for layer in layers:
            if layer not in limited:
                check(layer, task)
        names = tuple(type(layer).__name__ for layer in shown)
        show = _PushingStates(inner, shown) if shown else None
        return task, sight_of(task.game, env.observation_space, show, names)
    if not isinstance(inner, GameEnv | GameVectorEnv):
        advice = "; exactdice.explore(env) lists an environment that can be copied"
        if isinstance(inner, VectorEnv):
            advice = "; of a vector of environments pass one, such as env.envs[0]"
        raise TypeError(f"env must be an exactdice environment or have P, got {inner}{advice}")
    limit = min((each._max_episode_steps for each in layers if _cuts(each, inner.task)), default=0)
    if limit and not shown and isinstance(inner, GameEnv):
        others = [layer for layer in layers if not _cuts(layer, inner.task)]
        return _within(inner, limit, others, check)
    for layer in layers:
        check(layer, inner.task)
    if shown and isinstance(shown[-1], MaskInObservation):  # exact computation applies the mask
        masked = shown.pop()
        sight = _sight(inner, shown, masked.env.observation_space)
        read = partial(in_dictionary, masked.key, inner.task.game, sight)
        return inner.task, replace(sight, read=read)
    return inner.task, _sight(inner, shown, env.observation_space)


def _within(
    inner: GameEnv, limit: int, others: list[Any], check: Callable[[Any, Task], None]
) -> tuple[Task, Sight]:
    """Return the task of a game that is cut after so many moves of the agent."""
    for layer in others:
        check(layer, inner.task)
    if inner._engine.reward != "outcome":  # the sums of others are no outcomes of cut games
        raise InputError(
            f"reward must be 'outcome' where TimeLimit cuts games, got {inner._engine.reward!r}"
        )
    whole, policies = inner.task, inner._engine.problem.policies
    game = CutGame(whole.game, whole.seat, limit)
    opponents = [TimelessPolicy(policies[seat], limit + 1) for seat in whole.others]
    sight = Sight(inner.observation_space, partial(timeless, inner.sight.show), wrapped=True)
    return Task(game, whole.seat, opponents), sight


def _sight(inner: GameEnv | GameVectorEnv, shown: list[Any], space: gym.Space[Any]) -> Sight:
    """Return the observations of an agent behind wrappers of observations."""
    if not shown:
        return inner.sight
    assert isinstance(inner, GameEnv)
    if isinstance(space, gym.spaces.Dict | gym.spaces.Tuple):
        raise InputError(f"env must show arrays, got observations of {space}")
    read = partial(changed, [type(layer).__name__ for layer in shown])
    return Sight(space, _Pushing(inner, shown), wrapped=True, read=read)


def layers_of(env: Any) -> list[Any]:
    """Return an environment and its wrappers, outermost first."""
    found = [env]
    while isinstance(found[-1], gym.Wrapper | VectorWrapper):
        found.append(found[-1].env)
    return found


def place_of(kind: type) -> str:
    """Return package and name of a class."""
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def _kind(kind: Any) -> str:
    """Say what a wrapper changes: "nothing", "observations" alone, "rewards" or "all" it may."""
    if issubclass(kind, gym.ObservationWrapper):
        alone = kind.step is gym.ObservationWrapper.step
        if alone and kind.reset is gym.ObservationWrapper.reset:
            return "observations"
    if place_of(kind) in HARMLESS:
        return "nothing"
    plain = issubclass(kind, gym.RewardWrapper) and kind.step is gym.RewardWrapper.step
    if place_of(kind) in REWARDS or (plain and kind.reset is gym.Wrapper.reset):
        return "rewards"
    return "all"


def _refuse_changes(layer: Any, task: Task) -> None:
    """Raise an error for a wrapper that may change the game."""
    if _kind(type(layer)) in ("nothing", "observations"):
        return
    if place_of(type(layer)) != LIMIT:
        raise InputError(
            f"env must be scored as it is played, and the wrapper {type(layer).__name__} may "
            "change its observations, actions, rewards or length in ways that cannot be followed: "
            "if observations alone, pass env.unwrapped and observations=, a function from a batch "
            "that this shows to what the wrapper makes of it; else pass the environment without "
            "it, such as env.unwrapped, to score the game itself"
        )
    if _cuts(layer, task):
        raise InputError(
            f"env must not be cut off behind wrappers: TimeLimit ends games of {task.game!r} after "
            f"{layer._max_episode_steps} moves of the agent: pass the environment without them"
        )


def _cuts(layer: Any, task: Task) -> bool:
    """Whether a wrapper is a limit of moves, and games may be longer."""
    longest = sum(seat == task.seat for seat, _ in task.game.stages())
    limited = place_of(type(layer)) == LIMIT
    return limited and (task.game.has_cycles or layer._max_episode_steps < longest)


def _refuse_actions(layer: Any, _task: Task) -> None:
    """Raise an error for a wrapper that may change actions, or observations in unknown ways."""
    if _kind(type(layer)) == "all":
        raise not_followed(f"the wrapper {type(layer).__name__}")


def not_followed(what: str) -> InputError:
    """Make the error for a model trained under a wrapper that cannot be followed."""
    return InputError(
        "model must be shown states and make moves as in the game, one at a time, and it was "
        f"trained under {what}, which cannot be followed: pass observations=, a function from a "
        "batch that env shows to what the wrapper makes of it, or exactdice.from_network of a "
        "function from what env shows to its logits or action values"
    )


class Opaque(ABC):  # noqa: B024  its subclasses are recognised, not written
    """Wrappers that may change observations or actions; all classes of such wrappers count as one.

    ``env_is_wrapped`` of stable-baselines3 sends this class to environments in other processes,
    which answer whether one of their wrappers is an instance of it.
    """

    @classmethod
    def __subclasshook__(cls, kind: type) -> bool:
        return _kind(kind) not in ("nothing", "rewards")


@dataclass(frozen=True, eq=False)
class _Pushing:
    """Calls wrappers for observations, after putting the environment into the state of each."""

    env: Any  # the bare environment
    layers: list[Any]  # its wrappers of observations, innermost first

    def __call__(self, observations: IntArray) -> Features:
        """Return the observations behind all wrappers, as a batch: one for each state."""
        for layer in self.layers:
            if getattr(layer, "update_running_mean", False):
                raise InputError(
                    f"env must show a state alike every time, and {type(layer).__name__} changes "
                    "its statistics with every observation: set its update_running_mean to False"
                )
        forth = self._push(observations)
        back = self._push(observations[::-1])[::-1]
        if not np.array_equal(forth, back, equal_nan=True):
            names = ", ".join(type(layer).__name__ for layer in self.layers)
            raise InputError(
                "env must show a state alike every time, so that a policy is a function of the "
                f"state: the wrappers {names} do not"
            )
        return forth

    def _push(self, observations: IntArray) -> Features:
        states = self.env.task.game.encode(observations).tolist()
        shown = []
        with self.env.elsewhere():
            for state, features in zip(states, self.env.sight.show(observations), strict=True):
                self.env.go_to(state)
                for layer in self.layers:
                    features = layer.observation(features)
                shown.append(np.array(features))
        return np.stack(shown)


class _PushingStates(_Pushing):
    """The same for an environment with a law, whose observations are the numbers of its states."""

    def _push(self, observations: IntArray) -> Features:
        states, places = np.unique(observations[:, 0], return_inverse=True)
        shown = []
        for state in states.tolist():
            for layer in self.layers:
                state = layer.observation(state)
            shown.append(np.array(state))
        return np.stack(shown)[places]
