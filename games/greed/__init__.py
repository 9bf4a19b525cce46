"""Greed: its rules, its recursion, and the sweeps made of it."""

from .game import Greed
from .sweeps import GreedSweeps

__all__ = ["Greed", "GreedSweeps"]
