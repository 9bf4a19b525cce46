"""Options of the command line that are pairs of a name and a value."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import tyro

from ...core import InputError


def number_or_text(word: str) -> float | str:
    """Read a word of the command line as an integer or a decimal number, if it is one."""
    try:
        return int(word)
    except ValueError:
        return float(word) if re.fullmatch(r"-?\d*\.\d+(e-?\d+)?", word) else word


def _pairs(option: str, value: Callable[[str], Any], what: str, words: list[str]) -> dict[str, Any]:
    """Make a mapping from words that alternate between names and ``what``."""
    names = words[::2]
    if len(words) % 2:
        raise InputError(
            f"{option} must be pairs of a name and {what}, as in --{option} NAME "
            f"{what.split()[-1].upper()}, got {' '.join(words)}"
        )
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"{option} must give each name once, got {', '.join(twice)} again")
    return dict(zip(names, map(value, words[1::2]), strict=True))


def pairs_of(option: str, value: Callable[[str], Any], what: str = "a value") -> Any:
    """Return the specification by which tyro reads an option with ``_pairs``."""
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs="*",
        metavar=f"[NAME {what.split()[-1].upper()} ...]",
        instance_from_str=partial(_pairs, option, value, what),
        is_instance=lambda given: isinstance(given, dict),
        str_from_instance=lambda given: [str(word) for pair in given.items() for word in pair],
    )
