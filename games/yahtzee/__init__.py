"""Yahtzee: the rules, and sweeps that hold numbers between turns only."""

from .game import Yahtzee
from .presentation import YahtzeePresentation
from .sweeps import YahtzeeSweeps

__all__ = ["Yahtzee", "YahtzeePresentation", "YahtzeeSweeps"]
