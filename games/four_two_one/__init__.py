"""421: a turn or a set, and the whole match."""

from .game import FourTwoOne
from .match import FourTwoOneMatch
from .match_presentation import FourTwoOneMatchPresentation
from .presentation import FourTwoOnePresentation

__all__ = ["FourTwoOne", "FourTwoOneMatch", "FourTwoOneMatchPresentation", "FourTwoOnePresentation"]
