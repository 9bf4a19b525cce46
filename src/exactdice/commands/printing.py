"""How commands print for programs: one option, and one form of JSON (``docs/json.md``)."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class InJson:
    """The option of the commands whose results programs read, too."""

    json: bool = False
    """Print JSON, with all digits."""


def print_json(content: Any) -> None:
    """Print numbers, texts, lists and mappings; numbers of numpy become those of Python."""
    print(json.dumps(content, indent=1, allow_nan=False, default=lambda number: number.item()))
