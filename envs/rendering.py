"""What ``render`` gives: a text, pixels, or a window."""

import numpy as np
import numpy.typing as npt
from gymnasium.error import DependencyNotInstalled

from ..baselines import Task
from .lanes import Played
from .painting import Window, to_pixels
from .picture import picture_of
from .scene import Scene, ending, event_of, names_of, scene_at

MODES = ("ansi", "human", "rgb_array")
FRAMES = 2  # a second


class Renderer:
    """Shows the game of one agent.

    Args:
        task: what the agent faces.
        mode: "ansi" (a text), "rgb_array" (pixels) or "human" (a window, in which the moves of
            the others are shown one after the other).

    Raises:
        TypeError: if the mode is unknown.
        DependencyNotInstalled: if the mode needs pygame, which is not there.
    """

    def __init__(self, task: Task, mode: str) -> None:
        if mode not in MODES:
            # TypeError, as stable-baselines3's make_vec_env then tries again without it.
            raise TypeError(f"render_mode must be None or one of {', '.join(MODES)}, got {mode!r}")
        if mode != "ansi":
            _require_pygame(mode)
        self._task, self._mode, self._names = task, mode, names_of(task)
        self._scene: Scene | None = None
        self._window = Window(FRAMES) if mode == "human" else None

    def watch(self, played: list[Played], state: int, payoff: float | None = None) -> None:
        """Look at the game after some moves.

        Args:
            played: the moves since the agent was last to move.
            state: in which the agent is to move, or was last to.
            payoff: of the agent, if the game is over.
        """
        game, names = self._task.game, self._names
        events = [event_of(game, move, names) for move in played]
        if payoff is None:
            self._scene = scene_at(game, self._task.seat, state, names, events)
        elif played:
            last, ended = played[-1], ending(self._task, payoff, names)
            made = last.seat, last.state
            self._scene = scene_at(game, *made, names, events, last.action, ended)
        else:
            ended = f"{names[self._task.seat]} made an illegal move"
            self._scene = scene_at(game, self._task.seat, state, names, ended=ended)
        if self._window is not None:
            for number, move in enumerate(played[:-1] if payoff is not None else played):
                made = move.seat, move.state
                scene = scene_at(game, *made, names, events[: number + 1], move.action)
                self._window.show(picture_of(scene))
            self._window.show(picture_of(self._scene))

    @property
    def scene(self) -> Scene:
        """What is to be seen now.

        Raises:
            RuntimeError: if no game has begun.
        """
        if self._scene is None:
            raise RuntimeError("no game has begun: call reset before render")
        return self._scene

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Give the text or the pixels, uint8 of shape (400, 600, 3); None if there is a window."""
        if self._mode == "ansi":
            return self.scene.words
        return to_pixels(picture_of(self.scene)) if self._mode == "rgb_array" else None

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._window.close()


def _require_pygame(mode: str) -> None:
    try:
        import pygame  # noqa: F401
    except ModuleNotFoundError:
        raise DependencyNotInstalled(
            f"render_mode {mode!r} needs pygame: pip install 'exactdice[board]'"
        ) from None
