"""The ids of the environments in Gymnasium's registry."""

from typing import Any

import gymnasium as gym

#: The forms of a game's environment: the end of the id's name, and keywords.
FORMS: dict[str, dict[str, Any]] = {"": {}, "-OneHot": {"encoding": "one_hot_float"}}


def register_ids(game: str) -> None:
    """Register the environment of a game, by its name, in all forms; see ``register``."""
    for form, keywords in FORMS.items():
        env_id = f"exactdice/{game}{form}-v0"
        if env_id not in gym.registry:
            gym.register(
                id=env_id,
                entry_point="exactdice.envs:GameEnv",
                vector_entry_point="exactdice.envs:GameVectorEnv",
                kwargs={"game": game, **keywords},
            )
