"""Learning agents, scored exactly while they train.

Users import classes from here: ``from exactdice.agents import ExactEvalCallback`` (see
``PUBLIC``). A class is imported when it is first asked for, as the modules need stable-baselines3
and PyTorch, which the rest of the package does not.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..baselines import PolicyLike, Reading, register_converter, register_environment
from ..baselines.policies.tables import as_numbers
from ..baselines.scoring.certificate import is_certificate, read_policy
from ..core import Game, InputError
from ..core.errors import needing

#: The classes that users import from ``exactdice.agents``, and the modules that define them.
PUBLIC = {
    "ExactEvalCallback": ".runs.callback",
    "FallingEntropy": ".runs.models",
    "GameVecEnv": ".learners.vec_env",
    "MaskedDQN": ".learners.dqn",
    "MaskedDQNPolicy": ".learners.dqn",
    "MaskedQRDQN": ".learners.dqn",
    "MaskedQRDQNPolicy": ".learners.dqn",
    "QLearning": ".learners.q_learning",
    "QTable": ".learners.q_learning",
}


def __getattr__(name: str) -> Any:
    """Import a public class."""
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def register() -> None:
    """Register converters of models, networks, files and vectors of environments to policies."""
    register_converter("stable_baselines3", _late("learners.adapter", "ModelPolicy"))
    register_converter("torch", _from_torch)
    register_converter("pathlib", _from_file)
    register_environment("stable_baselines3", _late("learners.adapter", "task_and_sight"))


def _from_torch(module: Any, _game: Game, reading: Reading) -> PolicyLike:
    if hasattr(module, "detach"):  # a tensor, which is a table
        return as_numbers(module, "policy")
    from .learners.networks import ModulePolicy

    return ModulePolicy(module, reading)


def _from_file(path: Path, game: Game, reading: Reading) -> PolicyLike:
    if not path.exists() and not is_certificate(path):
        raise InputError(
            f"policy must be a file or a folder that exists, got {path}: it is missing"
        )
    if path.suffix in (".npy", ".npz") and reading.observations is not None:
        raise InputError(f"observations must be left out, as {path} holds a table")
    if path.suffix == ".npy":
        return _table(path)
    if path.suffix == ".npz":
        return read_policy(path, game)
    return _late("runs.saved", "from_file")(path, game, reading)


def _table(path: Path) -> PolicyLike:
    """Read an array that ``numpy.save`` has written."""
    try:
        found = np.load(path, allow_pickle=False, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        found = None
    if not isinstance(found, np.ndarray):  # an archive of several has another form
        raise InputError(f"{path} must be an array of numbers that numpy.save wrote")
    return found


def _late(module: str, name: str) -> Callable[..., Any]:
    """Return a function of a module that is imported at the first call: it needs more libraries."""

    def call(given: Any, *options: Any) -> Any:
        what = str(given) if isinstance(given, Path) else type(given).__name__
        with needing(what, "'exactdice[agents]'", InputError):
            found = import_module(f".{module}", __name__)
        return getattr(found, name)(given, *options)

    return call
