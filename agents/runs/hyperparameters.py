"""Hyperparameters: YAML files in the shape that rl_zoo3 reads (its option ``-conf``).

A file maps ids of environments to the arguments of a model, among them

    n_envs, n_timesteps    games played at once, moves to train for
    env_kwargs             keyword arguments of the environment
    callback               a list of callbacks by name

and numbers such as lin_0.003 that fall linearly to zero. Nothing in a file is run as code.
"""

import ast
import reprlib
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from ...core import InputError
from ...envs import RewardMode


def read_file(game: str, file: Path | Traversable) -> dict[str, Any]:
    """Read the entry of a file for a game's environment, or else its entry ``default``.

    Raises:
        ValueError: if the file cannot be read, says nothing of the game, or is of another shape.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"conf must be a YAML file, got {file}: {error}") from None
    content = _yaml(text, f"conf must be a YAML file, got {file}")
    env_id = f"exactdice/{game}-v0"
    entry = (content.get(env_id) or content.get("default")) if isinstance(content, dict) else None
    if not isinstance(entry, dict):
        raise InputError(f"conf must hold a mapping for {env_id}, got none in {file}")
    return entry


def read_changes(texts: Mapping[str, str]) -> dict[str, Any]:
    """Read hyperparameters that were given one by one, as on a command line.

    Raises:
        ValueError: if one is not YAML.
    """
    return {
        name: _yaml(text, f"{name} must be a value in YAML, got {shown(text)}")
        for name, text in texts.items()
    }


def _yaml(text: str, complaint: str) -> Any:
    import yaml  # comes with training, not with the command line alone

    try:
        return yaml.safe_load(text)
    except Exception as error:  # also RecursionError, and ValueError and others for odd dates
        reason = " ".join(str(error).split())
        raise InputError(f"{complaint}: {reason}") from None


def read_call(text: str) -> dict[str, Any] | None:
    """Read the keywords of a text such as "dict(a=1)" without running it; None for other texts."""
    try:
        call = ast.parse(text, mode="eval").body
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "dict" and not call.args:
            entries = {str(entry.arg): _literal(entry.value) for entry in call.keywords}
            return entries if len(entries) == len(call.keywords) else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        pass  # the parser's own, and those of literal_eval, for any text
    return None


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "nn":
        return ast.unparse(node)
    return ast.literal_eval(node)


def tuned(algorithm: str, reward: RewardMode) -> Traversable:
    """Find the tuned file of an algorithm: the one for a reward if there is one."""
    folder = files("exactdice.agents") / "hyperparams"
    own = folder / f"{algorithm}-{reward}.yml"
    return own if own.is_file() else folder / f"{algorithm}.yml"


def keywords(hyperparameters: Mapping[str, Any]) -> dict[str, Any]:
    """Give the keyword arguments of the environment among hyperparameters.

    Raises:
        ValueError: if they are not by name.
    """
    given = hyperparameters.get("env_kwargs", {})
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given):
        raise InputError(f"env_kwargs must be a mapping from names, got {shown(given)}")
    return given


def once(name: str, places: dict[str, Any]) -> Any:
    """Return the value of an option that several places may give, None if none of them does.

    Raises:
        ValueError: if two of them differ, naming both.
    """
    given = {place: value for place, value in places.items() if value is not None}
    (first, value), *others = given.items() or [("", None)]
    for place, other in others:
        if other != value:
            raise InputError(
                f"{name} must be given once, got {shown(value)} by {first} and {shown(other)} "
                f"by {place}"
            )
    return value


def shown(value: Any) -> str:
    """Write a user's value into a message: in one line, and cut where it is long or deep."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = 80
    return short.repr(value)


def first_line(error: Exception) -> str:
    """Return the first line of a library's error, or the name of its class if it has no text."""
    return (str(error).splitlines() or [type(error).__name__])[0]
