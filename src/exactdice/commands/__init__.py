"""The commands: each is a dataclass of options and a function.

The function takes the options and returns the exit code, or None for success. It imports the
libraries of an extra when it is called, so that the help and most commands do not need them.
"""

import dataclasses
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Annotated, Any, Union, cast, get_type_hints

import tyro
from docstring_parser import parse_from_object

from ..core import InputError, one_of
from ..registry import Places

#: All commands by name, in the order of the help; the function of a command is imported when it is
#: asked for.
COMMANDS = Places[Callable[[Any], int | None]](
    {
        name: f"exactdice.{module}:run_{name}"
        for name, module in {
            "train": "commands.training",
            "score": "commands.scores",
            "compare": "commands.scores",
            "verify": "commands.scores",
            "audit": "commands.training",
            "doctor": "commands.doctor",
            "solve": "commands.tasks",
            "export": "commands.tasks",
            "prove": "commands.tasks",
            "ask": "commands.tasks",
            "describe": "commands.tasks",
            "diagnose": "commands.training",
            "benchmark": "board.commands",
            "tune": "board.commands",
            "submit": "board.commands",
            "board": "board.commands",
            "plot": "commands.plot",
            "report": "commands.scores",
            "play": "commands.play",
        }.items()
    }
)
DESCRIPTION = "Dice games whose optimum is known exactly. --version prints the version."
#: Word that lists environments without P, of any command.
EXPLORE = "--explore"
#: Defaults that the help leaves out: its sentence on the option says what happens then.
UNSAID = ("", "None", "False")


def parse(words: Sequence[str]) -> Callable[[], int | None]:
    """Read the words of the command line; the command gives an exit code when it is called."""
    if words and not words[0].startswith("-"):
        one_of("command", words[0], tuple(COMMANDS))
    words, of_script = _split(words)
    words = _explored(words)
    names = [word.partition("=")[0].replace("_", "-") for word in words if word.startswith("--")]
    names = [name.replace("--no-", "--", 1) for name in names]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1 and name != "--"]
    if twice:  # tyro would silently take the last one
        raise InputError(f"{twice[0]} must be given once, got it {names.count(twice[0])} times")
    # One command alone is imported, as some need a second; the help describes all.
    asked = words[:1] if words and words[0] in COMMANDS else [*COMMANDS]
    kinds = {name: get_type_hints(COMMANDS[name])["options"] for name in asked}
    options: Any = Union[  # noqa: UP007  of as many as there are
        tuple(Annotated[kind, tyro.conf.subcommand(name)] for name, kind in kinds.items())
    ]
    if len(kinds) == 1:
        (options,) = kinds.values()
    registry = tyro.constructors.ConstructorRegistry()
    registry.struct_rule(partial(_fields, [*kinds.values()]))
    chosen = tyro.cli(
        options,
        prog=" ".join(["exactdice", *words[: len(kinds) == 1]]),
        description=DESCRIPTION if len(kinds) > 1 else None,
        args=list(words[len(kinds) == 1 :]),
        config=(tyro.conf.DisallowNone,),
        registry=registry,
    )
    if of_script:
        chosen = dataclasses.replace(chosen, arguments=of_script)
    return partial(COMMANDS[words[0]], chosen)


def _split(words: Sequence[str]) -> tuple[Sequence[str], tuple[str, ...]]:
    """Split off the words that follow the script of ``doctor``: they are the script's own.

    The script comes first in the others, as an option may take any number of words.
    """
    ends = [place for place, word in enumerate(words) if word.endswith(".py")]
    if not words or words[0] != "doctor" or not ends:
        return words, ()
    script = ends[0]
    return (words[0], words[script], *words[1:script]), tuple(words[script + 1 :])


def _explored(words: Sequence[str]) -> Sequence[str]:
    """Return the words with ``explore:ID`` for each ``gym:ID`` if --explore is among them."""
    if EXPLORE not in words:
        return words
    if not any(word.startswith("gym:") for word in words):
        raise InputError(f"{EXPLORE} must go with gym:ID, an environment of Gymnasium")
    return [re.sub(r"^gym:", "explore:", word) for word in words if word != EXPLORE]


def _fields(
    kinds: list[Any],  # the options of the commands
    info: tyro.constructors.StructTypeInfo,
) -> tyro.constructors.StructConstructorSpec | None:
    """List the options of a command for tyro, whose own help breaks sentences at ends of lines."""
    if info.type not in kinds:
        return None
    hints = get_type_hints(info.type, include_extras=True)
    texts = _texts(cast(Any, info.type))  # mypy knows no class as hashable
    hidden = tyro.conf.arg(
        help_behavior_hint=lambda label: "" if label in UNSAID else f"(default: {label})"
    )
    fields = tuple(
        tyro.constructors.StructFieldSpec(
            name=field.name,
            type=cast(Any, Annotated[hints[field.name], hidden]),
            default=_default_of(field),
            helptext=texts.get(field.name),
        )
        for field in dataclasses.fields(info.type)
    )
    return tyro.constructors.StructConstructorSpec(instantiate=info.type, fields=fields)


def _default_of(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return tyro.MISSING if field.default is dataclasses.MISSING else field.default


@cache
def _texts(options: type[Any]) -> dict[str, str]:
    """Give the sentences on each option, its paragraphs on one line each."""
    texts: dict[str, str] = {}
    for base in reversed(options.__mro__[:-1]):
        for entry in parse_from_object(base).params:
            paragraphs = (entry.description or "").split("\n\n")
            texts[entry.arg_name] = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    return texts
