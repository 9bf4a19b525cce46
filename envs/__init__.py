"""The games as Gymnasium environments."""

import json
from importlib.resources import files

import gymnasium as gym

from ..games import GAMES
from .encoding import Encoding, EncodingName, Features, encoding_of
from .engine import Engine, RewardMode
from .env import GameEnv
from .vector import GameVectorEnv

#: Exact values of the default environments by id: "optimum", "random" and "worst".
REFERENCE: dict[str, dict[str, float]] = json.loads(
    files(__package__).joinpath("reference.json").read_text()
)


def register() -> None:
    """Register ``exactdice/<game>-v0`` for every game."""
    for name in GAMES:
        env_id = f"exactdice/{name}-v0"
        gym.register(
            id=env_id,
            entry_point="exactdice.envs:GameEnv",
            vector_entry_point="exactdice.envs:GameVectorEnv",
            reward_threshold=REFERENCE[env_id]["optimum"],
            kwargs={"game": name},
        )


__all__ = [
    "REFERENCE",
    "Encoding",
    "EncodingName",
    "Engine",
    "Features",
    "GameEnv",
    "GameVectorEnv",
    "RewardMode",
    "encoding_of",
    "register",
]
