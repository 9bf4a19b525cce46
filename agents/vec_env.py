"""The path by which users import the environment for stable-baselines3."""

from .learners.vec_env import GameVecEnv

__all__ = ["GameVecEnv"]
