"""Hyperparameters: YAML files in the shape that rl_zoo3 reads (its option ``-conf``).

A file that ``exactdice tune`` has written says the number of its trials (``trials``). A file maps
ids of environments to the arguments of a model, among them

    n_envs, n_timesteps    games played at once, moves to train for
    env_kwargs             keyword arguments of the environment
    callback               a list of callbacks by name

and numbers such as lin_0.003, which fall linearly to zero. No text of a file is run as code.
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


def read_file(game: str, file: Path | Traversable, option: str = "conf") -> dict[str, Any]:
    """Read the entry of a file for a game's environment, or else its entry ``default``.

    Args:
        game: name of the game.
        file: the file.
        option: the option that gives the file, for messages.

    Raises:
        ValueError: if the file cannot be read, or holds no mapping for the game.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{option} must be a YAML file, got {file}: {reason}") from None
    content = _yaml(text, f"{option} must be a YAML file, got {file}")
    env_id = f"exactdice/{game}-v0"
    entry = (content.get(env_id) or content.get("default")) if isinstance(content, dict) else None
    if not isinstance(entry, dict):
        raise InputError(f"{option} must hold a mapping for {env_id}, got none in {file}")
    return entry


def read_changes(texts: Mapping[str, str]) -> dict[str, Any]:
    """Read the values of hyperparameters from the command line, each a text in YAML.

    Raises:
        ValueError: naming a hyperparameter whose text is not YAML.
    """
    return {
        name: _yaml(text, f"{name} must be a value in YAML, got {shown(text)}")
        for name, text in texts.items()
    }


def _yaml(text: str, complaint: str) -> Any:
    import yaml  # installed with the extra "agents", not with the command line alone

    try:
        return yaml.safe_load(text)
    except Exception as error:  # YAMLError, but also RecursionError, or ValueError for a date
        raise InputError(f"{complaint}: {one_line(error)}") from None


def read_call(text: str) -> dict[str, Any] | None:
    """Parse the keywords of a text such as "dict(a=1)" without running it; None for other texts."""
    try:
        return _keywords_of(ast.parse(text, mode="eval").body)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None  # errors of the parser and of literal_eval


def _keywords_of(call: ast.expr) -> dict[str, Any]:
    """Return the keywords of a call of ``dict``, by name.

    Raises:
        ValueError: if the expression is no such call, or names a keyword twice.
    """
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "dict" or call.args:
        raise ValueError("not a call of dict by keywords")
    entries = {str(entry.arg): _literal(entry.value) for entry in call.keywords}
    if len(entries) < len(call.keywords):
        raise ValueError("a keyword is given twice")
    return entries


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("nn", "th.optim"):
        return ast.unparse(node)
    return _keywords_of(node) if isinstance(node, ast.Call) else ast.literal_eval(node)


def tuned(algorithm: str, reward: RewardMode, track: str | None = None) -> Traversable:
    """Return the tuned file of an algorithm: for the track or this reward, or else for all."""
    folder = files("exactdice.agents") / "hyperparams"
    if track is not None and (folder / track / f"{algorithm}.yml").is_file():
        return folder / track / f"{algorithm}.yml"
    own = folder / f"{algorithm}-{reward}.yml"
    return own if own.is_file() else folder / f"{algorithm}.yml"


def trials(file: Traversable) -> int:
    """Return the number of trials of the search that has found a file; 0 if it was set by hand."""
    content = _yaml(file.read_text(encoding="utf-8"), f"conf must be a YAML file, got {file}")
    return int(content.get("trials", 0))


def keywords(hyperparameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of the environment among hyperparameters.

    Raises:
        ValueError: if they are not a mapping from names.
    """
    given = hyperparameters.get("env_kwargs", {})
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given):
        raise InputError(f"env_kwargs must be a mapping from names, got {shown(given)}")
    return given


def once(name: str, places: dict[str, Any]) -> Any:
    """Return the value of an option from the places that may give it; None if no place does.

    Raises:
        ValueError: if two places give different values, naming both.
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
    """Write a user's value for a message: in one line, and shortened where it is long or deep."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = 80
    return short.repr(value)


def first_line(error: Exception) -> str:
    """Return the first line of a library's error, or the name of its class if it has no text."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def one_line(error: Exception) -> str:
    """Return all lines of a library's error as one line, or the name of its class."""
    return " ".join(str(error).split()) or type(error).__name__
