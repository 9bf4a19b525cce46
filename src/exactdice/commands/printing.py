"""How commands print for programs: one option, and one form of JSON (``docs/json.md``)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class InJson:
    """The option of the commands whose results programs read, too."""

    json: bool = False
    """Print JSON, with all digits."""


def print_json(content: Any) -> None:
    """Print numbers, texts, lists and mappings; numbers of numpy become those of Python.

    JSON has no infinity and no NaN: they become null.
    """
    print(json.dumps(_plain(content), indent=1, allow_nan=False))


def _plain(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {key: _plain(each) for key, each in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(each) for each in content]
    if isinstance(content, np.generic):
        content = content.item()
    return None if isinstance(content, float) and not isfinite(content) else content
