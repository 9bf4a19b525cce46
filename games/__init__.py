"""The games of the package, and the classes and functions for a game of one's own."""

from ..core import (
    EXACT,
    FLOATS,
    GAMES,
    AliasLaws,
    Arithmetic,
    Array,
    BoolArray,
    Decide,
    Die,
    FloatArray,
    Game,
    GameError,
    Gauge,
    InputError,
    IntArray,
    InverseLaws,
    KeywordError,
    Layout,
    Leg,
    Move,
    Moves,
    Note,
    Piece,
    Presentation,
    Row,
    SizeError,
    Stage,
    Tile,
    Tokens,
    Turn,
    TurnGame,
    Values,
    arithmetic,
    at_least,
    frozen,
    one_of,
    present,
    presents,
)
from .four_two_one import FourTwoOne, FourTwoOneMatch
from .greed import Greed
from .lowest_score import LowestScore, LowestScoreMatch
from .shut_the_box import ShutTheBox
from .yahtzee import Yahtzee

GAMES.update(
    (game.name, game)
    for game in (
        *(Greed, LowestScore, LowestScoreMatch, ShutTheBox, FourTwoOne, FourTwoOneMatch),
        Yahtzee,
    )
)

#: The game of a command that names none.
DEFAULT_GAME = Greed.name

__all__ = [
    "DEFAULT_GAME",
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
    "Layout",
    "Leg",
    "LowestScore",
    "LowestScoreMatch",
    "Move",
    "Moves",
    "Note",
    "Piece",
    "Presentation",
    "Row",
    "ShutTheBox",
    "SizeError",
    "Stage",
    "Tile",
    "Tokens",
    "Turn",
    "TurnGame",
    "Values",
    "Yahtzee",
    "arithmetic",
    "at_least",
    "frozen",
    "one_of",
    "present",
    "presents",
]
