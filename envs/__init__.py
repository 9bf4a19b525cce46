"""The games as Gymnasium environments."""

import json
from pathlib import Path

from .api.env import GameEnv
from .api.explored import explore
from .api.given import from_P
from .api.registration import find_game, full_place, register
from .api.spiel import from_spiel
from .api.vector import GameVectorEnv
from .api.wrappers import MaskInObservation, Opaque, inspect_training, not_followed
from .encoding import Encoding, EncodingName, Features, encoding_for, encoding_of
from .engine.engine import Engine, RewardMode
from .planners import SparseLaw, sparse_law

#: Exact values of default environments by id: "optimum", "random" and "worst"; Yahtzee has no
#: "worst", and a game of one's own no entry.
REFERENCE: dict[str, dict[str, float]] = json.loads(
    Path(__file__).with_name("reference.json").read_text(encoding="utf-8")
)

__all__ = [
    "REFERENCE", "Encoding", "EncodingName", "Engine", "Features", "GameEnv", "GameVectorEnv",
    "MaskInObservation", "Opaque", "RewardMode", "SparseLaw", "encoding_for", "encoding_of",
    "explore", "find_game", "from_P", "from_spiel", "full_place", "inspect_training",
    "not_followed", "register", "sparse_law",
]  # fmt: skip
