"""Options that several commands share: a game with its keywords, an algorithm, a track."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tyro
from pydantic import AfterValidator, Field

from ...baselines import Task, make_task
from ...core import GAMES, InputError
from ...envs import GameEnv, find_game
from ..algorithms import ALGORITHMS
from ..tracks import TRACKS

_GAMES = tyro.conf.arg(metavar="{" + ",".join([*GAMES, "FILE.py:CLASS", "MODULE:CLASS"]) + "}")
#: A name in ``GAMES``, which the command line lists, or the place of a game's class.
GameName = Annotated[str, _GAMES]
#: The same as a word of the command line that may be left out.
GameWord = tyro.conf.Positional[Annotated[str | None, _GAMES]]
#: A name in ``ALGORITHMS``, which the command line lists.
AlgorithmName = Annotated[str, tyro.conf.arg(metavar="{" + ",".join(ALGORITHMS) + "}")]
#: A name in ``TRACKS``, which the command line lists.
TrackName = Annotated[str, tyro.conf.arg(metavar="{" + ",".join(TRACKS) + "}")]
_IN_WORDS = ", ".join(
    f"{name} ({known.title}, {'with' if known.masked else 'without'} masks)"
    for name, known in ALGORITHMS.items()
)
#: The same where one is given: the help has the algorithms in words.
OneAlgorithm = Annotated[AlgorithmName, tyro.conf.arg(help=f"Learning algorithm: {_IN_WORDS}.")]


def _jobs(number: int) -> int:
    if number < 1 and number != -1:
        raise InputError(f"jobs must be at least 1, got {number}")
    return number


#: Types of further options: a number of things, a path, a number of jobs or -1.
Positive = Annotated[int, Field(ge=1)]
Place = Annotated[Path, Field(strict=False)]
Jobs = Annotated[int, AfterValidator(_jobs)]

#: Words of the command line that stand for values of other types than text and integer.
LITERALS = {"true": True, "false": False, "none": None}


def whole_or_text(word: str) -> int | str:
    """Read a word of the command line as an integer, if it is one."""
    try:
        return int(word)
    except ValueError:
        return word


def _pairs(option: str, value: Callable[[str], Any], words: list[str]) -> dict[str, Any]:
    """Make a mapping from words that alternate between names and values."""
    names = words[::2]
    if len(words) % 2:
        raise InputError(f"{option} must be pairs of a name and a value, got {' '.join(words)}")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"{option} must give each name once, got {', '.join(twice)} again")
    return dict(zip(names, map(value, words[1::2]), strict=True))


def _pairs_of(option: str, value: Callable[[str], Any]) -> Any:
    """Return the specification by which tyro reads an option with ``_pairs``."""
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs="*",
        metavar="[NAME VALUE ...]",
        instance_from_str=partial(_pairs, option, value),
        is_instance=lambda given: isinstance(given, dict),
        str_from_instance=lambda given: [str(word) for pair in given.items() for word in pair],
    )


#: Options that are pairs of words: keyword arguments of an environment, hyperparameters in YAML.
Keywords = Annotated[dict[str, Any], _pairs_of("env", whole_or_text)]
Changes = Annotated[dict[str, str], _pairs_of("hyperparams", str)]


def task_from_options(game: str, env: Mapping[str, Any]) -> Task:
    """Build a task from a game's name or place, and keywords with values of the command line.

    Raises:
        ValueError: if the game or a keyword is unknown, or a value out of range.
    """
    return make_task(find_game(game).name, **_read_values(env))


def environment_from_options(game: str, env: Mapping[str, Any]) -> GameEnv:
    """Build an environment, with its encoding and its reward among the keywords.

    Raises:
        ValueError: as ``task_from_options`` does, or if the encoding or the reward is unknown.
    """
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
