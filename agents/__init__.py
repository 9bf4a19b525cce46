"""Learning agents, scored exactly while they train.

Users import classes from here: ``from exactdice.agents import ExactEvalCallback``. A class, see the
stub of this module, is imported when it is first asked for, as the modules need stable-baselines3
and PyTorch, which the rest of the package does not.
"""

from importlib.util import find_spec
from typing import Any

import lazy_loader

from ..core import errors

_load, _names, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    with errors.needing(f"exactdice.agents.{name}", "'exactdice[agents]'"):
        return _load(name)


def __dir__() -> list[str]:
    """List the classes, where the libraries are that they need."""
    return _names() if find_spec("stable_baselines3") else []
