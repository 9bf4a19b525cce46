"""Names of the states and actions of toy text and MiniGrid, and the pictures of these states."""

import copy
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

from ...baselines.law.explicit import Frame, View
from ...core import Array, InputError
from ...core.words import first_line

#: Directions of arrows.
RIGHT, DOWN, LEFT, UP = range(4)
FACING = ("right", "down", "left", "up")
ASIDE = 0.27  # part of a cell from its middle to the mark of an agent that faces a side
TILE = 48  # pixels of a cell of MiniGrid


def toy_text(bare: Any) -> View | None:
    """Return the names and pictures of an environment of toy text; None of another one."""
    from gymnasium.envs import toy_text as known

    states: tuple[str, ...] = ()
    kind = type(bare)
    if issubclass(kind, known.FrozenLakeEnv | known.CliffWalkingEnv):
        lake = issubclass(kind, known.FrozenLakeEnv)
        shape = bare.desc.shape if lake else bare.shape
        arrows = [LEFT, DOWN, RIGHT, UP] if lake else [UP, RIGHT, DOWN, LEFT]
        rows, columns = np.divmod(np.arange(int(np.prod(shape))), shape[1])
        places = np.stack([(columns + 0.5) / shape[1], (rows + 0.5) / shape[0]], axis=1)
        actions = tuple(FACING[each] for each in arrows)
        layers, names = np.zeros(len(places), dtype=np.int64), [""]
    elif issubclass(kind, known.TaxiEnv):
        arrows = [DOWN, UP, RIGHT, LEFT, -1, -1]
        actions = ("south", "north", "east", "west", "pick up", "drop off")
        stands = "red", "green", "yellow", "blue"
        place = [*(f"passenger at {stand}" for stand in stands), "passenger in the taxi"]
        decoded = np.array([[*bare.decode(state)] for state in range(bare.observation_space.n)])
        layers = decoded[:, 2] * len(stands) + decoded[:, 3]
        names = [f"{where}, to {to}" for where in place for to in stands]
        states = tuple(
            f"row {row}, column {column}, {names[layer]}"
            for (row, column, *_), layer in zip(decoded.tolist(), layers, strict=True)
        )
        corners = np.array([bare.get_surf_loc(each[:2]) for each in decoded.tolist()])
        places = (corners + np.array(bare.cell_size) / 2) / known.taxi.WINDOW_SIZE
    else:
        return None
    directions = np.tile(arrows, (len(places), 1))
    frame = Frame(partial(_drawn, copy.copy(bare)), places, directions, layers, names)
    return View(actions=actions, states=states, frame=frame)


def _drawn(bare: Any, state: int) -> Array:
    """Return the picture that an environment of toy text draws of a state."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # which does not look for a screen
    bare.s, bare.lastaction, bare.render_mode = state, None, "rgb_array"
    try:
        return np.array(bare.render())
    except gym.error.DependencyNotInstalled as error:
        raise InputError(f"env must draw its states: {first_line(error)}") from None


def minigrid(
    env: Any, keys: Sequence[Any], actions: Sequence[str]
) -> tuple[tuple[str, ...], Frame]:
    """Return the names and pictures of the states of MiniGrid, given by their keys (``_of_grid``).

    Keys that are no tuples are of states after the end of a game.
    """
    keys = [key[0] if isinstance(key, tuple) else None for key in keys]
    from minigrid.core.constants import IDX_TO_COLOR, IDX_TO_OBJECT, STATE_TO_IDX

    doors = {number: name for name, number in STATE_TO_IDX.items()}

    def named(thing: Any) -> str:
        return f"{IDX_TO_COLOR[thing[1]]} {IDX_TO_OBJECT[thing[0]]}"

    def layer_name(carried: Any, _mission: str, grid: Any) -> str:
        parts = [f"carrying the {named(carried)}"] if carried else []
        things = [thing for thing in grid if thing and IDX_TO_OBJECT[thing[0]] == "door"]
        return ", ".join([*parts, *(f"{named(door)} {doors[door[2]]}" for door in things)])

    rests: dict[Any, int] = {}
    layers = [rests.setdefault(key[1:], len(rests)) if key else 0 for key in keys]
    names = [layer_name(*rest) for rest in rests]
    at = np.array([key[0] if key else (np.nan, np.nan, 0) for key in keys])
    facing = at[:, 2].astype(np.int64)
    aside = ASIDE * np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])[facing]
    places = (at[:, :2] + 0.5 + aside) / (env.width, env.height)
    arrows = np.full((len(keys), len(actions)), -1)
    arrows[:, [name == "forward" for name in actions]] = facing[:, None]
    states = [
        "over"
        if key is None
        else f"x {key[0][0]}, y {key[0][1]}, facing {FACING[key[0][2]]}"
        + (f", {names[layer]}" if names[layer] else "")
        for key, layer in zip(keys, layers, strict=True)
    ]
    draw = partial(_drawn_grid, keys, (env.width, env.height))
    return tuple(states), Frame(draw, places, arrows, np.array(layers), names)


def _drawn_grid(keys: Sequence[Any], size: tuple[int, int], state: int) -> Array:
    """Return the picture that MiniGrid draws of a state."""
    from minigrid.core.grid import Grid

    (*place, facing), _, _, things = keys[state]
    cells = np.array([thing[:3] if thing else (1, 0, 0) for thing in things])
    grid, _ = Grid.decode(cells.reshape(*size[::-1], 3).swapaxes(0, 1))
    return np.array(grid.render(TILE, tuple(place), facing))
