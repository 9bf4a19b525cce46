"""The path by which tables saved before the learners had a folder name their classes."""

from .learners.q_learning import QLearning, QTable

__all__ = ["QLearning", "QTable"]
