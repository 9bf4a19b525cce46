"""Options of commands and values of files: their types, and errors in the words of this package.

Options of the command line, hyperparameters, cards and files in JSON are classes with typed fields.
pydantic compares values with the types; a message says what was expected and what came, by name.
"""

import dataclasses
import functools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, TypeVar, dataclass_transform

import pydantic
import tyro
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ... import registry
from ...baselines import Task, make_task
from ...core import GAMES, InputError, at_least, one_of
from ...core.words import meant, shown
from ...envs import GameEnv, find_game, full_place
from ..algorithms import ALGORITHMS
from .pairs import number_or_text, pairs_of

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True, validate_default=True)
#: The configuration of pydantic's models.
STRICT = ConfigDict(frozen=True, **_STRICT)
#: The requirement in words, by pydantic's name for the error.
KINDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping from names",
    "is_instance_of": "a path",
    "path_type": "a path",
}
LIMITS = {
    "greater_than": "above",
    "greater_than_equal": "at least",
    "less_than": "below",
    "less_than_equal": "at most",
}
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument", "invalid_key")
MISSING = ("missing", "missing_argument")
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def checked(kind: type[T]) -> type[T]:
    """Make a frozen dataclass of a class, whose fields pydantic compares with their types."""
    made: Any = pydantic.dataclasses.dataclass(frozen=True, config=_STRICT)(kind)
    build = made.__init__
    names = [entry.name for entry in dataclasses.fields(made)]

    @functools.wraps(build)
    def __init__(self: Any, *given: Any, **values: Any) -> None:  # noqa: N807
        values = dict(zip(names, given, strict=False)) | values
        with _in_words(values, "options", "", names):
            build(self, **values)

    made.__init__ = __init__
    return made


def read(kind: type[M], values: Mapping[str, Any], owner: str, prefix: str = "") -> M:
    """Make an instance of a pydantic model from values by name.

    ``owner`` is the subject of the message for an unknown name, such as "hyperparameters of ppo",
    and ``prefix`` stands before the name of a field in other messages.
    """
    with _in_words(values, owner, prefix, list(kind.model_fields)):
        return kind.model_validate(dict(values))


@contextmanager
def _in_words(
    values: Mapping[str, Any], owner: str, prefix: str, names: list[str]
) -> Iterator[None]:
    """Turn the error of pydantic into one with name, requirement and value."""
    try:
        yield
    except ValidationError as error:
        errors = error.errors()
    else:
        return
    for wrong in errors:
        if wrong["type"] in UNKNOWN:
            got = wrong["loc"][0]
            raise InputError(
                f"{owner} must be among {', '.join(names)}, got {shown(got)}{meant(got, names)}"
            )
    # A value that may have several types has an error for each; the deepest fits best.
    wrong = max(errors, key=lambda each: len(each["loc"]))
    context = wrong.get("ctx", {})
    if isinstance(context.get("error"), Exception):  # raised by a validator of this package
        raise context["error"]
    path = [part for part in wrong["loc"] if str(part).isidentifier()]  # drops types and indices
    name = prefix + " ".join(map(str, path))
    if wrong["type"] in MISSING:
        raise InputError(f"{name} must be given, got none")
    value, inner = values.get(str(path[0]), wrong["input"]), wrong["input"]
    got = inner if isinstance(value, list | tuple | dict) else value  # as the user wrote it
    expected = str(context.get("expected", wrong["msg"]))
    must = KINDS.get(wrong["type"]) or expected.replace("'", "")
    if wrong["type"] in LIMITS:
        (limit,) = context.values()
        must = f"{LIMITS[wrong['type']]} {int(limit)}"
    near = meant(got, re.findall("'([^']+)'", expected)) if wrong["type"] == "literal_error" else ""
    raise InputError(f"{name} must be {must}, got {shown(got)}{near}")


def as_number(value: Any) -> Any:
    """Read 1e6, which YAML reads as a text since it has no dot, as a number, and 3.0 as 3."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _game(game: str) -> str:
    find_game(game)
    return full_place(game)


def _known(name: str, known: Mapping[str, Any]) -> AfterValidator:
    return AfterValidator(lambda value: one_of(name, value, tuple(known)))


def _choices(*words: str) -> Any:
    return tyro.conf.arg(metavar="{" + ",".join(words) + "}")


_GAMES = _choices(*GAMES, "FILE.py:CLASS", "MODULE:CLASS", "gym:ID [--explore]")
#: A name in ``GAMES``, which the command line lists, or the place of a game's class.
GameName = Annotated[str, _GAMES, AfterValidator(_game)]
#: The same as a word of the command line that may be left out.
GameWord = tyro.conf.Positional[Annotated[str | None, _GAMES]]
#: A name in ``ALGORITHMS``, which the command line lists.
AlgorithmName = Annotated[str, _choices(*ALGORITHMS), _known("algorithm", ALGORITHMS)]
#: The tracks of the benchmark by name, which ``board`` defines.
TRACKS: Mapping[str, Any] = resolve_name(registry.TRACKS)
#: A name in ``TRACKS``, which the command line lists.
TrackName = Annotated[str, _choices(*TRACKS), _known("track", TRACKS)]
_IN_WORDS = ", ".join(
    f"{name} ({known.title}, {'with' if known.masked else 'without'} masks)"
    for name, known in ALGORITHMS.items()
)
#: The same where one is given: the help has the algorithms in words.
OneAlgorithm = Annotated[AlgorithmName, tyro.conf.arg(help=f"Learning algorithm: {_IN_WORDS}.")]
#: Types of further options: a number of things, a path, a number of jobs or -1.
_NUMBER = tyro.constructors.PrimitiveConstructorSpec(  # of 1e5, too; pydantic refuses the others
    1, "INT", lambda words: as_number(words[0]), lambda n: isinstance(n, int), lambda n: [str(n)]
)
Positive = Annotated[int, Field(ge=1), _NUMBER]
Place = Annotated[Path, Field(strict=False)]
Jobs = Annotated[
    int, AfterValidator(lambda jobs: jobs if jobs == -1 else at_least("jobs", jobs, 1))
]

#: Words of the command line that stand for values of other types than text and integer.
LITERALS = {"true": True, "false": False, "none": None}


#: Options that are pairs of words: keyword arguments of an environment, hyperparameters in YAML.
Keywords = Annotated[dict[str, Any], pairs_of("env", number_or_text)]
Changes = Annotated[dict[str, Any], pairs_of("hyperparams", str)]


def task_from_options(game: str, env: Mapping[str, Any]) -> Task:
    """Build a task from a game's name or place, and keywords with values of the command line."""
    return make_task(find_game(game).name, **_read_values(env))


def environment_from_options(game: str, env: Mapping[str, Any]) -> GameEnv:
    """Build an environment, with its encoding and its reward among the keywords."""
    name, keywords = find_game(game).name, _read_values(env)
    shown = {key: keywords.pop(key) for key in ("encoding", "reward") if key in keywords}
    make_task(name, **keywords)  # which refuses what is no keyword of the game
    return GameEnv(name, **shown, **keywords)


def _read_values(env: Mapping[str, Any]) -> dict[str, Any]:
    """Give words of the command line the types that they stand for."""
    return {
        name: LITERALS.get(value.lower(), value) if isinstance(value, str) else value
        for name, value in env.items()
    }
