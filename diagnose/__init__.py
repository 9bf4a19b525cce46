"""Ground truth for authors of learning algorithms: audits of recorded numbers by exact ones.

The public names, which are in the stub of this module, are imported at their first use.
"""

from typing import Any

import lazy_loader

from ..core import errors  # the package before its module, as threads lock both

#: Names that need further libraries, with the library to install.
LIBRARIES = {"DiagnoseCallback": "sb3-contrib", "gradient": "torch"}

_load, _names, _ = lazy_loader.attach_stub(__name__, __file__)
__all__ = [name for name in _names() if name not in LIBRARIES]


def __getattr__(name: str) -> Any:
    with errors.needing(name, LIBRARIES.get(name, "exactdice")):
        return _load(name)


def __dir__() -> list[str]:
    """List the names that need no further library."""
    return __all__
