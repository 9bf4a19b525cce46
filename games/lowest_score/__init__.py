"""The lowest-score game: a round, and a match of rounds."""

from .game import LowestScore
from .match import LowestScoreMatch
from .match_presentation import LowestScoreMatchPresentation
from .presentation import LowestScorePresentation

__all__ = [
    "LowestScore",
    "LowestScoreMatch",
    "LowestScoreMatchPresentation",
    "LowestScorePresentation",
]
