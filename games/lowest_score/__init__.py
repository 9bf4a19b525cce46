"""The lowest-score game: a round, and a match of rounds."""

from .game import LowestScore
from .match import LowestScoreMatch
from .presentation import LowestScoreMatchPresentation, LowestScorePresentation

__all__ = [
    "LowestScore",
    "LowestScoreMatch",
    "LowestScoreMatchPresentation",
    "LowestScorePresentation",
]
