"""Painters of pictures: as SVG, which needs nothing, and as pixels, which need pygame.

The render modes of environments are a text, pixels and a window (``Renderer``).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from gymnasium.error import DependencyNotInstalled

from ...core import Game
from ...core.errors import needing
from ...core.playing import Played
from . import FRAMES, MODES
from .picture import WIDE, Disc, Picture, Shape, Text, picture_of
from .scene import Scene, film

if TYPE_CHECKING:
    import pygame

#: Factor by which pictures are painted larger and then scaled down, for smooth edges.
FINE = 3
#: Ratio of font sizes: pygame measures the height of letters, SVG the height of a line.
LETTERS = 1.3
FONTS = "'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"


def to_svg(picture: Picture, label: str) -> str:
    """Write a picture as SVG, with a description for screen readers."""
    shapes = "\n".join(map(_element, picture.shapes))
    width, height = picture.page.width, picture.page.height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escape(label)}" '
        f'font-family="{FONTS}">\n{shapes}\n</svg>\n'
    )


def _element(shape: Shape) -> str:
    part = "" if shape.part is None else f' data-part="{shape.part}"'
    if isinstance(shape, Text):
        return (
            f'<text x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size:g}" '
            f'fill="{shape.fill}" text-anchor="{shape.anchor}" dominant-baseline="central"{part}>'
            f"{escape(shape.words)}</text>"
        )
    line = f' stroke="{shape.line}" stroke-width="{shape.thick:g}"' if shape.line else ""
    painted = f'fill="{shape.fill}"{line}{part}/>'
    if isinstance(shape, Disc):
        return f'<circle cx="{shape.x:g}" cy="{shape.y:g}" r="{shape.radius:g}" {painted}'
    return (
        f'<rect x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}" '
        f'height="{shape.height:g}" rx="{shape.radius:g}" {painted}'
    )


def to_pixels(picture: Picture) -> npt.NDArray[np.uint8]:
    """Paint a picture: uint8 of shape (height, width, 3), for ``WIDE`` (400, 600, 3)."""
    import pygame

    pixels: npt.NDArray[np.uint8] = pygame.surfarray.array3d(_surface(picture))
    return np.ascontiguousarray(pixels.swapaxes(0, 1))


def _surface(picture: Picture) -> "pygame.Surface":
    import pygame

    pygame.font.init()
    fonts = lru_cache(partial(pygame.font.Font, None))  # pygame's own, the same everywhere
    width, height = picture.page.width, picture.page.height
    large = pygame.Surface((width * FINE, height * FINE))
    for shape in picture.shapes:
        _paint(large, shape, fonts)
    return pygame.transform.smoothscale(large, (width, height))


def _paint(
    surface: "pygame.Surface", shape: Shape, fonts: "Callable[[int], pygame.font.Font]"
) -> None:
    import pygame

    if isinstance(shape, Text):
        written = fonts(round(shape.size * FINE * LETTERS)).render(shape.words, True, shape.fill)
        left = {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor] * written.get_width()
        place = shape.x * FINE - left, shape.y * FINE - written.get_height() / 2
        surface.blit(written, place)
        return
    for colour, thick in ((shape.fill, 0), (shape.line, round(shape.thick * FINE))):
        if not colour:
            continue
        if isinstance(shape, Disc):
            place = shape.x * FINE, shape.y * FINE
            pygame.draw.circle(surface, colour, place, shape.radius * FINE, thick)
        else:
            sides = shape.x, shape.y, shape.width, shape.height
            corners = pygame.Rect(*(round(FINE * side) for side in sides))
            radius = round(shape.radius * FINE)
            pygame.draw.rect(surface, colour, corners, thick, border_radius=radius)


class Renderer:
    """Shows a game with its players' names, in a render mode of ``GameEnv``."""

    def __init__(self, game: Game, mode: str, names: Sequence[str]) -> None:
        if mode not in MODES:
            # TypeError, as stable-baselines3's make_vec_env then tries again without it.
            raise TypeError(f"render_mode must be None or one of {', '.join(MODES)}, got {mode!r}")
        if mode != "ansi":
            with needing(f"render_mode {mode!r}", "'exactdice[board]'", DependencyNotInstalled):
                import pygame
        self._game, self._mode, self._names = game, mode, names
        self._scene: Scene | None = None
        self._window: pygame.Surface | None = None  # it opens with the first picture

    def watch(self, played: Sequence[Played], seat: int, state: int, ended: str = "") -> None:
        """Store the scene after some moves (see ``film``), and show each in a window."""
        scenes = film(self._game, played, seat, state, self._names, ended)
        self._scene = scenes[-1]
        if self._mode == "human":
            for scene in scenes:
                self._show(picture_of(scene))

    def _show(self, picture: Picture) -> None:
        """Show a picture in the window for the time of a frame."""
        import pygame

        if self._window is None:
            pygame.display.init()
            pygame.display.set_caption("exactdice")
            self._window = pygame.display.set_mode((WIDE.width, WIDE.height))
            self._clock = pygame.time.Clock()
        self._window.blit(_surface(picture), (0, 0))
        pygame.event.pump()
        pygame.display.update()
        self._clock.tick(FRAMES)

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Return the text or the pixels; None for a window."""
        if self._mode == "human":
            return None
        if self._scene is None:
            raise RuntimeError("no game has begun: call reset before render")
        return self._scene.words if self._mode == "ansi" else to_pixels(picture_of(self._scene))

    def close(self) -> None:
        """Close the window, if one is open."""
        if self._window is not None:
            import pygame

            pygame.display.quit()
            self._window = None
