"""The keywords of a game as fields of a form, with a line of help or a list to choose from."""

import inspect
import re
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..core import Game
from ..core.presentation import Presentation

SWITCH = {True: "yes", False: "no"}


def fields(
    kind: type[Game], shown: Presentation[Any], given: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Describe the keywords of a game.

    Args:
        kind: the game.
        shown: the presentation of its default, which has words for values.
        given: values that are not the defaults, by keyword.

    Returns:
        For each keyword its "name", "default", "given" value or None, "about", which is the first
        sentence of the docstring on it, "options", pairs (value, words) or an empty list, and
        "open": whether it may have other values.
    """
    about, hints = _described(kind), get_type_hints(kind.__init__)
    return [
        {
            "name": one.name,
            "default": _plain(one.default),
            "given": given.get(one.name),
            "about": about.get(one.name, ""),
            "open": hints.get(one.name) is not bool
            and get_origin(hints.get(one.name)) is not Literal,
            "options": _options(
                shown.options.get(one.name, {}), hints.get(one.name), given.get(one.name)
            ),
        }
        for one in inspect.signature(kind).parameters.values()
    ]


def _options(words: Mapping[Any, str], hint: Any, given: Any) -> list[tuple[Any, str]]:
    """List the values of a keyword with their words, the given value included."""
    values: Mapping[Any, str] = dict(words)
    if not values and hint is bool:
        values = SWITCH
    elif not values and get_origin(hint) is Literal:
        values = {value: str(value) for value in get_args(hint)}
    if values and given is not None and given not in values:
        values = {**values, given: str(given)}
    return list(values.items())


def _described(kind: type[Game]) -> dict[str, str]:
    """Read the first sentence on each argument in the docstring of a class."""
    found = re.search(r"^Args:\n(.*?)(?:\n\n|\Z)", inspect.getdoc(kind) or "", re.S | re.M)
    parts = re.findall(r"^ {4}(\w+): (.*?)(?=^ {4}\w|\Z)", found[1] if found else "", re.S | re.M)
    return {name: _first_sentence(words) for name, words in parts}


def _first_sentence(words: str) -> str:
    plain = " ".join(words.replace("`", "").split())
    return re.split(r"(?<=\.) ", plain)[0]


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str | None) else str(value)
