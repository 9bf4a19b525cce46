"""Learning agents, scored exactly while they train.

Nothing is imported here: the modules need stable-baselines3 and PyTorch, which the rest of the
package does not.
"""

from pathlib import Path
from typing import Any

from ..baselines import PolicyLike, Reading, Sight, Task, register_converter, register_environment
from ..baselines.policies.tables import as_numbers
from ..core import Game, InputError


def register() -> None:
    """Have exact computation understand models, networks, files and vectors of other libraries."""
    register_converter("stable_baselines3", _from_model)
    register_converter("torch", _from_torch)
    register_converter("pathlib", _from_file)
    register_environment("stable_baselines3", _look)


def _from_model(model: Any, game: Game, reading: Reading) -> PolicyLike:
    from .learners.adapter import from_model

    return from_model(model, game, reading)


def _from_torch(module: Any, _game: Game, reading: Reading) -> PolicyLike:
    if hasattr(module, "detach"):  # a tensor, which is a table
        return as_numbers(module, "policy")
    from .learners.networks import from_module

    return from_module(module, reading)


def _from_file(path: Path, game: Game, reading: Reading) -> PolicyLike:
    if path.suffix == ".npz":
        if reading.observations is not None:
            raise InputError(f"observations must be left out, as {path} holds a table")
        from ..baselines.scoring.certificate import read_policy

        return read_policy(path, game)
    try:
        from .runs.saved import from_file
    except ModuleNotFoundError as error:
        raise InputError(
            f"{path} needs more libraries ({error.name}): pip install 'exactdice[agents]'"
        ) from None
    return from_file(path, game, reading)


def _look(env: Any) -> tuple[Task, Sight]:
    from .learners.adapter import look

    return look(env)
