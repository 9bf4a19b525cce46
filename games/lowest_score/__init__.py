"""The lowest-score game: a round, and a match of rounds."""

from .game import LowestScore
from .match import LowestScoreMatch

__all__ = ["LowestScore", "LowestScoreMatch"]
