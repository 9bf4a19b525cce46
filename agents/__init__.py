"""Learning agents, scored exactly while they train.

Users import classes from here: ``from exactdice.agents import ExactEvalCallback`` (see
``paths.PUBLIC``). A class is imported when it is first asked for, as the modules need
stable-baselines3 and PyTorch, which the rest of the package does not.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from ..baselines import PolicyLike, Reading, Sight, Task, register_converter, register_environment
from ..baselines.policies.tables import as_numbers
from ..core import Game, InputError
from .paths import PUBLIC, find_moved


def __getattr__(name: str) -> Any:
    """Import a public class."""
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def register() -> None:
    """Register converters of models, networks, files and vectors of environments to policies."""
    find_moved()
    register_converter("stable_baselines3", _from_model)
    register_converter("torch", _from_torch)
    register_converter("pathlib", _from_file)
    register_environment("stable_baselines3", _task_and_sight)


def _from_model(model: Any, game: Game, reading: Reading) -> PolicyLike:
    from .learners.adapter import from_model

    return from_model(model, game, reading)


def _from_torch(module: Any, _game: Game, reading: Reading) -> PolicyLike:
    if hasattr(module, "detach"):  # a tensor, which is a table
        return as_numbers(module, "policy")
    from .learners.networks import ModulePolicy

    return ModulePolicy(module, reading)


def _from_file(path: Path, game: Game, reading: Reading) -> PolicyLike:
    if not path.exists():
        raise InputError(
            f"policy must be a file or a folder that exists, got {path}: it is missing"
        )
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


def _task_and_sight(env: Any) -> tuple[Task, Sight]:
    from .learners.adapter import task_and_sight

    return task_and_sight(env)
