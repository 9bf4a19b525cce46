"""The path by which models saved before the learners had a folder name their classes."""

from .learners.dqn import MaskedDQN, MaskedDQNPolicy

__all__ = ["MaskedDQN", "MaskedDQNPolicy"]
