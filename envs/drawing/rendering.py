"""The render modes of environments: a text, pixels, or a window."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from gymnasium.error import DependencyNotInstalled

from ...core import Game
from ..engine.lanes import Played
from .painting import Window, to_pixels
from .picture import picture_of
from .scene import Scene, film

MODES = ("ansi", "human", "rgb_array")
FRAMES = 2  # a second


class Renderer:
    """Shows a game.

    Args:
        game: the game to show.
        mode: "ansi" (a text), "rgb_array" (pixels) or "human" (a window, which shows moves one
            after the other).
        names: names of the players, by seat.

    Raises:
        TypeError: if the mode is unknown.
        DependencyNotInstalled: if the mode needs pygame and it is not installed.
    """

    def __init__(self, game: Game, mode: str, names: Sequence[str]) -> None:
        if mode not in MODES:
            # TypeError, as stable-baselines3's make_vec_env then tries again without it.
            raise TypeError(f"render_mode must be None or one of {', '.join(MODES)}, got {mode!r}")
        if mode != "ansi":
            _require_pygame(mode)
        self._game, self._mode, self._names = game, mode, names
        self._scene: Scene | None = None
        self._window = Window(FRAMES) if mode == "human" else None

    def watch(self, played: Sequence[Played], seat: int, state: int, ended: str = "") -> None:
        """Store the scene after some moves, and show the moves one by one in a window.

        Args:
            played: the moves since the last call.
            seat: player to move or, if the game is over, the last player to move.
            state: state in which this player is or was to move.
            ended: the result in words; empty while the game goes on.
        """
        scenes = film(self._game, played, seat, state, self._names, ended)
        self._scene = scenes[-1]
        if self._window is not None:
            for scene in scenes:
                self._window.show(picture_of(scene))

    @property
    def scene(self) -> Scene:
        """The present scene.

        Raises:
            RuntimeError: if no game has begun.
        """
        if self._scene is None:
            raise RuntimeError("no game has begun: call reset before render")
        return self._scene

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Return the text or the pixels, uint8 of shape (400, 600, 3); None for a window."""
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
