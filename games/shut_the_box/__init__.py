"""Shut the Box: its rules."""

from .game import ShutTheBox

__all__ = ["ShutTheBox"]
