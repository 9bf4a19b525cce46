"""Reinforcement-learning environments whose optimum is known exactly.

Importing this package registers the environments ``exactdice/<game>-v0`` with Gymnasium;
``register`` adds your own games. The public names, which are in the stub of this module, are
imported at their first use.
"""

import contextlib
import os

import lazy_loader

from .ids import register_ids as _register_ids
from .registry import GAMES as _GAMES

__version__ = "0.2.0"

#: Modules for users whose library is in an extra. ``dir`` leaves them out if it is not installed,
#: because whoever inspects a module reads every name of ``dir``.
LIBRARIES = ("jax", "pettingzoo")
#: Modules for users.
MODULES = ("agents", "baselines", "core", "diagnose", "envs", "games", "testing", *LIBRARIES)

# With EAGER_IMPORT the loader imports every name at once, those of extras that are missing, too.
_eager = os.environ.pop("EAGER_IMPORT", "")
_lazily, _names, _ = lazy_loader.attach_stub(__name__, __file__)
__all__ = [name for name in _names() if name not in MODULES]


def __getattr__(name: str) -> object:
    """Import a name for users; without the library of its extra there is none."""
    try:
        return _lazily(name)
    except ImportError as error:
        if name not in LIBRARIES:
            raise
        raise AttributeError(str(error)) from error


if _eager:
    os.environ["EAGER_IMPORT"] = _eager
    for _name in _names():
        with contextlib.suppress(ImportError, AttributeError):
            __getattr__(_name)

for _game in _GAMES:
    _register_ids(_game)


def __dir__() -> list[str]:
    """List the names for users that can be imported."""
    from importlib.util import find_spec

    missing = {name for name in LIBRARIES if find_spec(name) is None}
    return sorted({*_names()} - missing)
