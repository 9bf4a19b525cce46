"""Yahtzee: the rules, and sweeps that store numbers only for the beginnings of turns."""

from .game import PlainYahtzee, Yahtzee
from .presentation import YahtzeePresentation
from .sweeps import YahtzeeSweeps

__all__ = ["PlainYahtzee", "Yahtzee", "YahtzeePresentation", "YahtzeeSweeps"]
