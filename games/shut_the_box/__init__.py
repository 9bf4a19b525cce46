"""Shut the Box: the rules."""

from .game import ShutTheBox
from .presentation import ShutTheBoxPresentation

__all__ = ["ShutTheBox", "ShutTheBoxPresentation"]
