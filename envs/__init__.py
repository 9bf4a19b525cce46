"""The games as Gymnasium environments."""

import json
from importlib.resources import files

import gymnasium as gym

from ..baselines import register_environment
from ..games import GAMES
from .encoding import Encoding, EncodingName, Features, encoding_for, encoding_of
from .engine import Engine, RewardMode
from .env import GameEnv
from .vector import GameVectorEnv
from .wrappers import look, sight_in_training

#: Exact values of the default environments by id: "optimum", "random" and "worst".
REFERENCE: dict[str, dict[str, float]] = json.loads(
    files(__package__).joinpath("reference.json").read_text()
)


def register() -> None:
    """Register ``exactdice/<game>-v0`` for every game, and environments with exact computation.

    There is no reward threshold: the optimum depends on the keywords, and Gymnasium has one
    threshold for all of them. ``REFERENCE`` has the optima of the defaults.
    """
    register_environment("gymnasium", look)
    for name in GAMES:
        gym.register(
            id=f"exactdice/{name}-v0",
            entry_point="exactdice.envs:GameEnv",
            vector_entry_point="exactdice.envs:GameVectorEnv",
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
    "encoding_for",
    "encoding_of",
    "register",
    "sight_in_training",
]
