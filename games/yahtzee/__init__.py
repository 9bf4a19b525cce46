"""Yahtzee: the rules, and sweeps that store numbers only for the beginnings of turns."""

from .game import Yahtzee
from .plain import PlainYahtzee
from .presentation import YahtzeePresentation
from .sweeps import YahtzeeSweeps

__all__ = ["PlainYahtzee", "Yahtzee", "YahtzeePresentation", "YahtzeeSweeps"]
