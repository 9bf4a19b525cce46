"""The games: rules and chance laws, free of reinforcement-learning types."""

from .game import (
    Array,
    BoolArray,
    FloatArray,
    Game,
    IntArray,
    InverseLaws,
    Move,
    Stage,
    at_least,
)
from .greed import Greed

#: Every game by name; ``exactdice/<name>-v0`` is its environment.
GAMES: dict[str, type[Game]] = {game.name: game for game in (Greed,)}

__all__ = [
    "GAMES",
    "Array",
    "BoolArray",
    "FloatArray",
    "Game",
    "Greed",
    "IntArray",
    "InverseLaws",
    "Move",
    "Stage",
    "at_least",
]
