"""What a game is, and how any game is swept; it names no game and needs numpy only."""

from .arithmetic import EXACT, FLOATS, Arithmetic, Array, Values, arithmetic
from .board import Die, Gauge, Note, Piece, Row, Tile, Tokens
from .checks import at_least, one_of
from .errors import GameError, InputError, KeywordError, SizeError
from .game import (
    GAMES,
    BoolArray,
    Decide,
    FloatArray,
    Game,
    IntArray,
    Move,
    Stage,
    frozen,
)
from .layout import Layout
from .moves import Moves, SeatTurn
from .sampling import AliasLaws, InverseLaws
from .turn import Turn
from .turn_game import Leg, TurnGame

__all__ = [
    "EXACT",
    "FLOATS",
    "GAMES",
    "AliasLaws",
    "Arithmetic",
    "Array",
    "BoolArray",
    "Decide",
    "Die",
    "FloatArray",
    "Game",
    "GameError",
    "Gauge",
    "InputError",
    "IntArray",
    "InverseLaws",
    "KeywordError",
    "Layout",
    "Leg",
    "Move",
    "Moves",
    "Note",
    "Piece",
    "Row",
    "SeatTurn",
    "SizeError",
    "Stage",
    "Tile",
    "Tokens",
    "Turn",
    "TurnGame",
    "Values",
    "arithmetic",
    "at_least",
    "frozen",
    "one_of",
]
