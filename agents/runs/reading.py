"""Values of users as pydantic checks them, and its errors in the words of this package.

Options of the command line, hyperparameters, cards and files in JSON are classes with typed fields.
pydantic compares values with the types; a message says what was expected and what came, by name.
"""

import dataclasses
import functools
import re
from collections.abc import Mapping
from typing import Any, TypeVar, dataclass_transform

import pydantic
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from ...core import InputError
from ...core.words import meant, shown

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
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
MISSING = ("missing", "missing_argument")
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def checked(kind: type[T]) -> type[T]:
    """Make a frozen dataclass of a class, whose fields pydantic compares with their types.

    Making an object raises a ValueError that names a value that is unknown or out of range.
    """
    made: Any = pydantic.dataclasses.dataclass(frozen=True, config=_STRICT)(kind)
    build = made.__init__
    names = [entry.name for entry in dataclasses.fields(made)]

    @functools.wraps(build)
    def __init__(self: Any, *given: Any, **values: Any) -> None:  # noqa: N807
        values = dict(zip(names, given, strict=False)) | values
        try:
            build(self, **values)
        except ValidationError as error:
            raise _in_words(error, values, "options", "", names) from None

    made.__init__ = __init__
    return made  # type: ignore[no-any-return]


def read(kind: type[M], values: Mapping[str, Any], owner: str, prefix: str = "") -> M:
    """Make an instance of a pydantic model from values by name.

    Args:
        kind: the pydantic model.
        values: the values of its fields, by name.
        owner: the subject of the message for an unknown name, such as "hyperparameters of ppo".
        prefix: text before the name of a field in other messages.

    Raises:
        ValueError: naming a value that is missing, unknown or out of range.
    """
    names = list(kind.model_fields)
    try:
        if odd := [name for name in values if not isinstance(name, str)]:
            raise _unknown(owner, names, odd[0])
        return kind(**values)
    except ValidationError as error:
        raise _in_words(error, values, owner, prefix, names) from None


def _unknown(owner: str, names: list[str], got: Any) -> InputError:
    known = ", ".join(names)
    return InputError(f"{owner} must be among {known}, got {shown(got)}{meant(got, names)}")


def _in_words(
    error: ValidationError, values: Mapping[str, Any], owner: str, prefix: str, names: list[str]
) -> Exception:
    """Give the error in the form of this package: name, requirement, value."""
    errors = error.errors()
    for wrong in errors:
        if wrong["type"] in UNKNOWN:
            return _unknown(owner, names, wrong["loc"][-1])
    # A value that may have several types has an error for each; the deepest fits best.
    wrong = max(errors, key=lambda each: len(each["loc"]))
    context = wrong.get("ctx", {})
    if isinstance(context.get("error"), Exception):  # raised by a validator of this package
        return context["error"]  # type: ignore[no-any-return]
    path = [part for part in wrong["loc"] if str(part).isidentifier()]  # drops types and indices
    name = prefix + " ".join(map(str, path))
    if wrong["type"] in MISSING:
        return InputError(f"{name} must be given, got none")
    value, inner = values.get(str(path[0]), wrong["input"]), wrong["input"]
    got = inner if isinstance(value, list | tuple | dict) else value  # as the user wrote it
    return InputError(
        f"{name} must be {_must(wrong, context)}, got {shown(got)}{_near(wrong, got)}"
    )


def _must(wrong: ErrorDetails, context: Mapping[str, Any]) -> str:
    if wrong["type"] in LIMITS:
        (limit,) = context.values()
        return f"{LIMITS[wrong['type']]} {int(limit)}"
    return KINDS.get(wrong["type"]) or str(context.get("expected", wrong["msg"])).replace("'", "")


def _near(wrong: ErrorDetails, got: Any) -> str:
    known = re.findall("'([^']+)'", str(wrong.get("ctx", {}).get("expected", "")))
    return meant(got, known) if wrong["type"] == "literal_error" else ""
