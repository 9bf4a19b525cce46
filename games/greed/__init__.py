"""Greed: the rules, and sweeps by a recursion."""

from .game import Greed, PlainGreed
from .presentation import GreedPresentation
from .sweeps import GreedSweeps

__all__ = ["Greed", "GreedPresentation", "GreedSweeps", "PlainGreed"]
