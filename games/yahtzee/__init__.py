"""Yahtzee: the rules, and sweeps that store numbers only for the beginnings of turns."""

from .game import Yahtzee
from .presentation import YahtzeePresentation
from .sweeps import YahtzeeSweeps

__all__ = ["Yahtzee", "YahtzeePresentation", "YahtzeeSweeps"]
