"""Greed: its rules and its sweep."""

from .game import Greed

__all__ = ["Greed"]
