"""The contract of games, and the sweeps of any game, with numpy (and platformdirs) only."""

from .arithmetic import EXACT, FLOATS, Arithmetic, Values, arithmetic
from .checks import at_least, is_bool, one_of
from .errors import GameError, InputError, KeywordError, SizeError, WriteError
from .folders import append, make_folder, user_folder, write_file
from .game import GAMES, Game
from .leg import Leg
from .moves import Moves
from .named_policy import NamedPolicy
from .presentation import (
    Die,
    Gauge,
    Group,
    Layout,
    Note,
    Piece,
    Presentation,
    Row,
    Tile,
    Tokens,
    present,
    presents,
)
from .sampling import AliasLaws, InverseLaws
from .sweeps import Sweeps, sweeps_for, sweeps_of
from .table import InParts, Table
from .turn import Turn
from .turn_game import TurnGame
from .turn_sweeps import TurnSweeps
from .types import Array, BoolArray, Decide, FloatArray, IntArray, Move, Stage, frozen

__all__ = [
    "EXACT", "FLOATS", "GAMES", "AliasLaws", "Arithmetic", "Array", "BoolArray", "Decide", "Die",
    "FloatArray", "Game", "GameError", "Gauge", "Group", "InParts", "InputError", "IntArray",
    "InverseLaws", "KeywordError", "Layout", "Leg", "Move", "Moves", "NamedPolicy", "Note", "Piece",
    "Presentation", "Row", "SizeError", "Stage", "Sweeps", "Table", "Tile", "Tokens", "Turn",
    "TurnGame", "TurnSweeps", "Values", "WriteError", "append", "arithmetic", "at_least", "frozen",
    "is_bool", "make_folder", "one_of", "present", "presents", "sweeps_for", "sweeps_of",
    "user_folder", "write_file",
]  # fmt: skip
