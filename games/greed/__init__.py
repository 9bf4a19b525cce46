"""Greed: the rules, and sweeps by a recursion."""

from .game import Greed
from .sweeps import GreedSweeps

__all__ = ["Greed", "GreedSweeps"]
