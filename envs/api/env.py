"""``GameEnv``, the Gymnasium environment of one game."""

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from ...baselines import Task, make_task
from ...core import BoolArray, FloatArray, InputError, is_bool
from ...core.sizes import show
from ..drawing import FRAMES, MODES
from ..encoding import EncodingName, Features
from ..engine.engine import Engine, RewardMode
from ..planners import SparseLaw, Transitions, sparse_law, tabulate_transitions


class GameEnv(gym.Env[Features, SupportsIndex]):
    """One agent in one seat of a dice game against fixed opponents.

    The observation space is ``MultiDiscrete`` (the game's ``observation_names`` name its
    components), or another one by ``encoding``; the action space is ``Discrete``. After every reset
    and step ``info["action_mask"]``, int8 of shape (action,), has 1 for legal actions. An illegal
    action ends the episode with the worst payoff and ``info["illegal_action"] = True``. When the
    game is over, ``info["outcome"]`` is its payoff, all that was paid since the agent's first move,
    and the observation is still the one before the agent's last move.

    Args:
        game: name of the game; or a task, such as that of ``from_P``, without keywords.
        seat: the agent's seat; seat 0 moves first. ``reset`` makes the moves of opponents before
            the agent's first move, and starts again if the game ends before it.
        reward: "outcome", "regret" or "shaped" (see ``Engine``).
        encoding: the form of observations, "integer" or another one (see ``Encoding``).
        render_mode: None, "ansi" (a text), "rgb_array" (pixels, uint8 of shape (400, 600, 3)) or
            "human" (a window); the last two need pygame. A render mode shows every move of the
            opponents, for which games are played by the rules instead of tables; so a seed gives
            other games than without a render mode.
        keywords: the game's own, such as ``max_score``; and ``opponent`` (``opponents`` in some
            games): a policy's name, a table (state, action), actions (state,), or a callable on
            (observations, masks).

    Attributes:
        task: the agent's decision problem, from which exact computation starts.
        reward_mode: the reward mode.
        sight: the observations of the agent.

    Raises:
        ValueError: if an argument is out of range, naming it.
        TypeError: if a keyword is not one of the game's or the render mode is unknown.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  the base class declares it for instances
        "render_modes": list(MODES),
        "render_fps": FRAMES,
    }

    def __init__(
        self,
        game: str | Task,
        seat: int = 0,
        reward: RewardMode = "outcome",
        encoding: EncodingName = "integer",
        render_mode: str | None = None,
        **keywords: Any,
    ) -> None:
        self.task = make_task(game, seat, **keywords)
        self.render_mode = render_mode
        self._renderer: Any = None
        if render_mode is not None:
            from ..drawing.painting import Renderer  # which most programs never need
            from ..drawing.scene import names_of

            self._names = names_of(self.task)
            self._renderer = Renderer(self.task.game, render_mode, self._names)
        self._engine = Engine(self.task, 1, reward, encoding, tables=render_mode is None)
        self.observation_space, self.action_space = self._engine.spaces()
        self.reward_mode, self.sight = reward, self._engine.encoding.sight
        self._num_actions = self.task.game.num_actions
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Features, dict[str, Any]]:
        """Start a new game."""
        super().reset(seed=seed, options=options)
        self._engine.lanes.start_one(self.np_random)
        self._over = False
        self._watch()
        return self._engine.lanes.observe_one(), {"action_mask": self._engine.lanes.mask_of_one()}

    def step(self, action: SupportsIndex) -> tuple[Features, float, bool, bool, dict[str, Any]]:
        """Make one move; the opponents reply.

        Raises:
            ValueError: if the action is no integer, or outside the action space.
            RuntimeError: if the game is over.
        """
        if self._over:
            raise RuntimeError("the game is over: call reset before step")
        chosen = check_action(action, self._num_actions)
        reward, over, payoff, illegal = self._engine.step_one(chosen, self.np_random)
        self._over = over
        if self._renderer is not None and over:
            from ..drawing.scene import ending

            self._watch("illegal move" if illegal else ending(self.task, payoff, self._names))
        else:
            self._watch()
        info: dict[str, Any] = {"action_mask": self._engine.lanes.mask_of_one()}
        if over:
            info["outcome"] = payoff
            if illegal:
                info["illegal_action"] = True
        return self._engine.lanes.observe_one(), reward, over, False, info

    @property
    def state(self) -> int:
        """The state in which the agent is to move, or has moved last, as the game numbers it."""
        return self._engine.lanes.state_of_one()

    def action_masks(self) -> BoolArray:
        """Say which actions are legal, bool of shape (action,); MaskablePPO calls this method."""
        return self._engine.lanes.masks()[0]

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Let a ``with`` block change the state by ``go_to``, and restore the state at its end."""
        before = self._engine.lanes.states(), self._over
        try:
            yield
        finally:
            self._engine.lanes.go_to(before[0])
            self._over = before[1]

    def go_to(self, state: int) -> None:
        """Put the game into a state in which the agent is to move."""
        self._engine.lanes.go_to(np.array([state]))
        self._over = False

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Show the game and the last moves in the form ``render_mode``.

        Raises:
            RuntimeError: if no game has begun.
        """
        return self._renderer and self._renderer.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._renderer is not None:
            self._renderer.close()

    @property
    def P(self) -> Transitions:  # noqa: N802  the name that planners read
        """The agent's transition law by Gymnasium's toy-text convention, built on demand.

        ``P[state][action]`` lists (probability, next state, reward, terminated). Rewards are
        those of the reward mode. The last state is the end: it is absorbing and pays nothing.

        Raises:
            ValueError: if the game is too large to list.
        """
        return tabulate_transitions(self._engine)

    @property
    def sparse_P(self) -> SparseLaw:  # noqa: N802  as P
        """The agent's transition law as sparse matrices, which fit in memory for default sizes.

        Raises:
            ModuleNotFoundError: if SciPy is not installed.
            ValueError: if the matrices would take more memory than the limit.
        """
        return sparse_law(self._engine.problem, self._engine.reward)

    @property
    def initial_state_distrib(self) -> FloatArray:
        """The law of the agent's first state; states are numbered as in ``P``, shape (state,)."""
        return np.append(self._engine.problem.initial, 0.0)

    def _watch(self, ended: str = "") -> None:
        """Pass the last moves, and the result in words if the game is over, to the renderer."""
        if self._renderer is not None:
            self._renderer.watch(self._engine.lanes.played, self.task.seat, self.state, ended)


def check_action(action: Any, num_actions: int) -> int:
    """Return an action as an integer: an int, or an integer scalar or 0-d array of any library."""
    try:
        chosen = None if is_bool(action) else operator.index(action)
    except TypeError:  # 1.9, "1", None: int() would take some of them for an action
        chosen = None
    if chosen is None:
        raise InputError(f"action must be an integer, got {' '.join(repr(action).split())}")
    if not 0 <= chosen < num_actions:
        raise InputError(f"action must be from 0 to {num_actions - 1}, got {show(chosen)}")
    return chosen
