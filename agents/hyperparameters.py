"""Hyperparameters: YAML files in the shape that rl_zoo3 reads (its option ``-conf``).

A file maps ids of environments to the arguments of a model, among them

    n_envs, n_timesteps    games played at once, moves to train for
    env_kwargs             keyword arguments of the environment
    callback               a list of callbacks by name

and numbers such as lin_0.003 that fall linearly to zero. Nothing in a file is run as code.
"""

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

import yaml

from ..envs import RewardMode
from ..games import InputError

Algorithm = Literal["ppo", "dqn", "qlearning"]


def read_hyperparameters(
    game: str, algorithm: Algorithm, reward: RewardMode, file: Path | None = None
) -> dict[str, Any]:
    """Read what a file says of a game's environment, or else what it says of ``default``.

    Args:
        game: name of the game.
        algorithm: which of the files that come with the package, if none is given.
        reward: the same.
        file: the file.

    Raises:
        ValueError: if the file cannot be read, says nothing of the game, or is of another shape.
    """
    source: Path | Traversable = file or _tuned(algorithm, reward)
    try:
        content = yaml.safe_load(source.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"conf must be a YAML file, got {source}: {reason}") from None
    env_id = f"exactdice/{game}-v0"
    entry = (content.get(env_id) or content.get("default")) if isinstance(content, dict) else None
    if not isinstance(entry, dict):
        raise InputError(f"conf must hold a mapping for {env_id}, got none in {source}")
    return entry


def read_changes(texts: Mapping[str, str]) -> dict[str, Any]:
    """Read hyperparameters that were given one by one, as on a command line.

    Raises:
        ValueError: if one is not YAML.
    """
    changes = {}
    for name, text in texts.items():
        try:
            changes[name] = yaml.safe_load(text)
        except yaml.YAMLError:
            raise InputError(f"{name} must be a value in YAML, got {text!r}") from None
    return changes


def _tuned(algorithm: Algorithm, reward: RewardMode) -> Traversable:
    """Give the tuned file that comes with the package."""
    name = f"{algorithm}-regret" if (algorithm, reward) == ("ppo", "regret") else algorithm
    return files(__package__) / "hyperparams" / f"{name}.yml"
