"""Models, networks, files and vectors of environments, as policies and tasks."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..baselines import PolicyLike, Reading, Sight, Task
from ..baselines.law.numbers import as_numbers
from ..baselines.scoring.certificate import is_certificate, read_policy
from ..core import Game, InputError
from ..core.errors import needing

AGENTS = "'exactdice[agents]'"


def from_model(model: Any, game: Game, reading: Reading) -> PolicyLike:
    """Convert a model of stable-baselines3."""
    with needing(type(model).__name__, AGENTS, InputError):
        from .learners.adapter import ModelPolicy
    return ModelPolicy(model, game, reading)


def inspect_vector(env: Any) -> tuple[Task, Sight | None]:
    """Give the task of a vector of environments of stable-baselines3, and its observations."""
    with needing(type(env).__name__, AGENTS, InputError):
        from .learners.adapter import task_and_sight
    return task_and_sight(env)


def from_torch(module: Any, _game: Game, reading: Reading) -> PolicyLike:
    """Convert a tensor or a network of PyTorch."""
    if hasattr(module, "detach"):  # a tensor, which is a table
        if reading.observations is not None:
            raise InputError("observations must be left out, as a tensor is a table")
        return as_numbers(module, "policy")
    from .learners.networks import ModulePolicy

    return ModulePolicy(module, reading)


def from_file(path: Path, game: Game, reading: Reading) -> PolicyLike:
    """Read a table, a certificate, a run folder or a saved model."""
    if not path.exists() and not is_certificate(path):
        raise InputError(
            f"policy must be a file or a folder that exists, got {path}: it is missing"
        )
    if path.suffix in (".npy", ".npz") and reading.observations is not None:
        raise InputError(f"observations must be left out, as {path} holds a table")
    if path.suffix == ".npy":
        with suppress(OSError, ValueError, EOFError):
            found = np.load(path, allow_pickle=False, mmap_mode="r")
            if isinstance(found, np.ndarray):  # an archive of several has another form
                return found
        raise InputError(f"{path} must be an array of numbers that numpy.save wrote")
    if path.suffix == ".npz":
        return read_policy(path, game)
    with needing(str(path), AGENTS, InputError):
        from .runs import saved
    return saved.from_file(path, game, reading)
