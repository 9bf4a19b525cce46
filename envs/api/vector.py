"""``GameVectorEnv``, the Gymnasium vector environment of many games."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from ...baselines import Task, make_task
from ...core import BoolArray, FloatArray, InputError, IntArray, is_bool
from ..encoding import EncodingName, Features
from ..engine.engine import Engine, RewardMode
from ..engine.lanes import Outcome

#: Names in a vector of the attributes of a single game, where they differ.
OF_A_GAME = {"action_space": "single_action_space", "observation_space": "single_observation_space"}


class GameVectorEnv(VectorEnv[Features, IntArray, Any]):
    """A batch of games that make their moves together; the first axis of arrays is the game.

    Each game follows ``GameEnv``. Every key k of the infos has a mask _k. ``action_mask``, int8 of
    shape (num_envs, action), holds for every game, also after a reset of some games;
    ``_action_mask`` marks the games of the last call. In the mode SAME_STEP the last observation
    and info of an episode are ``final_obs`` and ``final_info``; in the mode DISABLED, games that
    are over must be reset by ``options={"reset_mask": ...}`` before the next step.

    Args:
        game: name of the game; or a task, such as that of ``from_P``, without keywords.
        num_envs: number of games, at least 1.
        autoreset_mode: the time at which a game that is over starts again, as a
            ``gymnasium.vector.AutoresetMode`` or its value ("NextStep", "SameStep", "Disabled").
        seat: the agent's seat (see ``GameEnv``).
        reward: the reward mode.
        encoding: the form of observations.
        render_mode: must be None.
        keywords: the game's own, and its opponents (see ``GameEnv``).

    Attributes:
        task: the agent's decision problem in each game.
        reward_mode: the reward mode.
        sight: the observations of the agent of a game.
    """

    def __init__(
        self,
        game: str | Task,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        seat: int = 0,
        reward: RewardMode = "outcome",
        encoding: EncodingName = "integer",
        render_mode: None = None,
        **keywords: Any,
    ) -> None:
        if render_mode is not None:
            raise InputError(f"render_mode must be None for a vector, got {render_mode!r}")
        self.task = make_task(game, seat, **keywords)
        self._engine = Engine(self.task, num_envs, reward, encoding)
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.render_mode = None
        self.single_observation_space, self.single_action_space = self._engine.spaces()
        self.reward_mode, self.sight = reward, self._engine.encoding.sight
        self.observation_space = gym.vector.utils.batch_space(
            self.single_observation_space, num_envs
        )
        self.action_space = gym.vector.utils.batch_space(self.single_action_space, num_envs)
        self._num_actions = self.task.game.num_actions
        self._lanes, self._nobody = np.arange(num_envs), np.zeros(num_envs, dtype=bool)
        self._over, self._waiting = ~self._nobody, True  # whether a game must start again

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Features, dict[str, Any]]:
        """Start all games again, or the games that ``options["reset_mask"]`` marks.

        Args:
            seed: an integer, or a list of an integer for each game; all of them together seed the
                one generator. In a list, None stands for a number that the generator draws.
            options: may hold ``reset_mask``, bool of shape (num_envs,).

        Raises:
            ValueError: if ``seed`` or ``reset_mask`` has another type or shape.
        """
        self._seed(seed)
        wanted = np.ones(self.num_envs, dtype=bool)
        if options is not None and "reset_mask" in options:
            wanted = np.asarray(options["reset_mask"])
            if wanted.shape != (self.num_envs,) or wanted.dtype != bool or not wanted.any():
                raise InputError(
                    f"reset_mask must be bool of shape ({self.num_envs},) with one True at least, "
                    f"got {wanted!r}"
                )
        self._engine.lanes.start(np.flatnonzero(wanted), self.np_random)
        self._over = self._over & ~wanted
        self._waiting = bool(self._over.any())
        return self._engine.lanes.observations(), self._infos(wanted.copy())

    def step(
        self, actions: IntArray
    ) -> tuple[Features, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """Make one move in every game.

        Raises:
            ValueError: if an action is outside the action space.
            RuntimeError: if a game is over and must be reset first (mode DISABLED).
        """
        actions = check_actions(actions, self.num_envs, self._num_actions)
        if self._waiting and self.autoreset_mode is AutoresetMode.DISABLED:
            raise RuntimeError(f"games {np.flatnonzero(self._over).tolist()} are over: reset them")
        outcome = self._engine.step(self._lanes, actions, self.np_random, self._over)
        self._over = over = outcome.over
        self._waiting = bool(np.count_nonzero(over))  # faster than any()
        ends = self._ends(outcome) if self._waiting else {}
        if self._waiting and self.autoreset_mode is AutoresetMode.SAME_STEP:
            ended = np.flatnonzero(over)
            final_obs = np.full(self.num_envs, None, dtype=object)
            final_obs[ended] = np.fromiter(
                self._engine.lanes.observations()[ended], object, len(ended)
            )
            ends = {"final_obs": final_obs, "final_info": {**self._infos(over.copy()), **ends}}
            ends |= {"_final_obs": over.copy(), "_final_info": over.copy()}
            self._engine.lanes.start(ended, self.np_random)
            self._over, self._waiting = self._nobody, False
        infos = {**self._infos(~self._nobody), **ends}
        observations = self._engine.lanes.observations()
        return observations, outcome.rewards, over.copy(), self._nobody.copy(), infos

    def _seed(self, seed: Any) -> None:
        """Seed the generator of all games (see ``reset``)."""
        if seed is None or isinstance(seed, int | np.integer):
            super().reset(seed=None if seed is None else int(seed))
            return
        listed = isinstance(seed, list | tuple) or (isinstance(seed, np.ndarray) and seed.ndim == 1)
        if not listed or len(seed) != self.num_envs or not all(map(_is_seed, seed)):
            raise InputError(
                f"seed must be one integer, or a list of {self.num_envs}, one for each game, "
                f"each at least 0 or None, got {seed!r}"
            )
        if any(one is not None for one in seed):
            seeds = [self.np_random.integers(2**31) if one is None else one for one in seed]
            self.np_random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seeds)))

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call ``action_masks`` of every game, or return an attribute of each.

        Raises:
            AttributeError: if games have no such attribute, or ``name`` is another method.
        """
        if name == "action_masks":
            return tuple(self.action_masks(*args, **kwargs))
        value = getattr(self, OF_A_GAME.get(name, name))
        if callable(value):
            raise AttributeError(f"{name} must be 'action_masks', the only method of a game")
        return (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of every game."""
        return self.call(name)

    def action_masks(self) -> BoolArray:
        """Say which actions are legal, bool of shape (num_envs, action)."""
        return self._engine.lanes.masks()

    def _infos(self, news: BoolArray) -> dict[str, Any]:
        """Return the infos about legal actions; ``news`` marks the games of the last call."""
        masks = self.action_masks().view(np.int8)
        return {"action_mask": masks, "_action_mask": news}

    def _ends(self, outcome: Outcome) -> dict[str, Any]:
        """Return the infos about games that have just ended."""
        infos: dict[str, Any] = {"outcome": outcome.payoffs.copy(), "_outcome": outcome.over.copy()}
        if np.count_nonzero(outcome.illegal):
            infos |= {"illegal_action": outcome.illegal, "_illegal_action": outcome.illegal.copy()}
        return infos


def _is_seed(one: Any) -> bool:
    return one is None or (isinstance(one, int | np.integer) and int(one) >= 0)


def check_actions(actions: Any, num_envs: int, num_actions: int) -> IntArray:
    """Return the actions as integers of shape (num_envs,)."""
    mixed = isinstance(actions, list | tuple) and any(map(is_bool, actions))
    try:
        checked = np.asarray(actions, bool if mixed else None)
    except (TypeError, ValueError) as error:  # rows of different lengths, tensors elsewhere
        raise InputError(f"actions must be {num_envs} integers, got none: {error}") from None
    if checked.shape != (num_envs,) or checked.dtype.kind not in "iu":
        raise InputError(
            f"actions must be {num_envs} integers, "
            f"got an array of {checked.dtype} and shape {checked.shape}"
        )
    chosen: IntArray = checked.astype(np.int64)
    outside = chosen.view(np.uint64) >= num_actions  # unsigned, negative ones are large
    if np.count_nonzero(outside):
        first = checked[outside][0]
        raise InputError(f"actions must be from 0 to {num_actions - 1}, got {first}")
    return chosen
