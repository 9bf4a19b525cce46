"""421: a turn or a set, and the whole match."""

from .game import FourTwoOne
from .match import FourTwoOneMatch

__all__ = ["FourTwoOne", "FourTwoOneMatch"]
