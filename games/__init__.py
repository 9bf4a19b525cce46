"""The games of the package, and the classes and functions for a game of one's own."""

from .. import core
from ..core import *  # noqa: F403  all names of ``core.__all__``
from .four_two_one import FourTwoOne, FourTwoOneMatch
from .greed import Greed
from .lowest_score import LowestScore, LowestScoreMatch
from .shut_the_box import ShutTheBox
from .yahtzee import Yahtzee

#: The game of a command that names none.
DEFAULT_GAME = Greed.name

__all__ = [
    "DEFAULT_GAME",
    "FourTwoOne",
    "FourTwoOneMatch",
    "Greed",
    "LowestScore",
    "LowestScoreMatch",
    "ShutTheBox",
    "Yahtzee",
]
__all__ += core.__all__
