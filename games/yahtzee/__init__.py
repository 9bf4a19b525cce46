"""Yahtzee: the rules."""

from .game import Yahtzee

__all__ = ["Yahtzee"]
