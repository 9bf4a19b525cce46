"""The path by which users import masked DQN, and models saved before the learners had a folder."""

from .learners.dqn import MaskedDQN, MaskedDQNPolicy, MaskedQRDQN, MaskedQRDQNPolicy

__all__ = ["MaskedDQN", "MaskedDQNPolicy", "MaskedQRDQN", "MaskedQRDQNPolicy"]
