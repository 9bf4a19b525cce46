"""The games: rules and chance laws, free of reinforcement-learning types."""

from .arithmetic import EXACT, FLOATS, Arithmetic, Array, Values, arithmetic
from .board import Die, Gauge, Note, Piece, Row, Tile, Tokens
from .checks import at_least, one_of
from .drawing import AliasLaws, InverseLaws
from .errors import GameError, InputError, KeywordError, SizeError
from .four_two_one import FourTwoOne
from .four_two_one_match import FourTwoOneMatch
from .game import (
    BoolArray,
    Decide,
    FloatArray,
    Game,
    IntArray,
    Move,
    Stage,
    frozen,
)
from .greed import Greed
from .lowest_score import LowestScore
from .lowest_score_match import LowestScoreMatch
from .moves import Moves, SeatTurn
from .shut_the_box import ShutTheBox
from .turn import Turn
from .turn_game import Leg, TurnGame

#: Every game by name, to which ``exactdice.register`` adds; ``exactdice/<name>-v0`` is its
#: environment.
GAMES: dict[str, type[Game]] = {
    game.name: game
    for game in (Greed, LowestScore, LowestScoreMatch, ShutTheBox, FourTwoOne, FourTwoOneMatch)
}

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
    "FourTwoOne",
    "FourTwoOneMatch",
    "Game",
    "GameError",
    "Gauge",
    "Greed",
    "InputError",
    "IntArray",
    "InverseLaws",
    "KeywordError",
    "Leg",
    "LowestScore",
    "LowestScoreMatch",
    "Move",
    "Moves",
    "Note",
    "Piece",
    "Row",
    "SeatTurn",
    "ShutTheBox",
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
