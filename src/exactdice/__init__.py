"""Reinforcement-learning environments whose optimum is known exactly.

Importing this package registers the environments ``exactdice/<game>-v0`` with Gymnasium;
``register`` adds your own games. The public names, which are in the stub of this module, are
imported at their first use.
"""

import lazy_loader

from .ids import register_ids as _register_ids
from .registry import GAMES as _GAMES

__version__ = "0.2.0"

#: Modules for users whose library is in an extra. ``dir`` leaves them out if it is not installed,
#: because whoever inspects a module reads every name of ``dir``.
LIBRARIES = ("jax", "pettingzoo")
#: Modules for users.
MODULES = ("agents", "baselines", "core", "diagnose", "envs", "games", "testing", *LIBRARIES)

__getattr__, _names, _ = lazy_loader.attach_stub(__name__, __file__)
__all__ = [name for name in _names() if name not in MODULES]

for _game in _GAMES:
    _register_ids(_game)


def __dir__() -> list[str]:
    """List the names for users that can be imported."""
    from importlib.util import find_spec

    missing = {name for name in LIBRARIES if find_spec(name) is None}
    return sorted({*_names()} - missing)
