"""The games as environments of PettingZoo: ``exactdice.pettingzoo.env("Greed", max_score=20)``."""

from .envs.api.pettingzoo import env, raw_env

__all__ = ["env", "raw_env"]
