"""Yahtzee: the rules, and sweeps that hold numbers between turns only."""

from .game import Yahtzee
from .sweeps import YahtzeeSweeps

__all__ = ["Yahtzee", "YahtzeeSweeps"]
