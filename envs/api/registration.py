"""Registration of games by name: games of this package, and games that users write.

A user passes the class of a game to ``register``, or gives the *place* of the class on the command
line: ``path/to/file.py:Pig`` or ``package.module:Pig``. Loading a place runs the code there.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy.typing as npt

from ...baselines import NamedPolicy, register_policies
from ...baselines.law.explicit import same_again
from ...core import GAMES, Game, GameError, InputError
from ...core.words import meant
from ...ids import register_ids
from .env import GameEnv
from .explored import explored_law
from .given import hint, known_law
from .spiel import spiel_law
from .vector import GameVectorEnv

#: Places of games that are made, by the word before the colon: each gives class, defaults and the
#: function from arguments to those of the class.
DOORS: dict[str, Callable[[str], tuple[type[Game], dict[str, Any], Callable[..., Any]]]]
DOORS = {"gym": known_law, "explore": explored_law, "spiel": spiel_law}
#: Modules that a module of the same name beside a loaded file never replaces.
KEPT = {*sys.stdlib_module_names, __name__.partition(".")[0]}


def register(
    game: type[Game],
    policies: Mapping[str, Callable[..., npt.ArrayLike] | NamedPolicy] | None = None,
) -> None:
    """Register a game by its name, and its environment as ``exactdice/<game.name>-v0``.

    ``exactdice/<game.name>-OneHot-v0`` is the same environment with the encoding "one_hot_float",
    for programs that make environments by an id alone and need floats.

    A class that is registered again, for example because its module is reloaded, replaces the
    first class. Environments have no reward threshold: Gymnasium has one threshold for an id, but
    the optimum depends on the keywords.

    Args:
        game: the class; its arguments have defaults, which make the default environment.
        policies: functions from the game to actions, integers of shape (state,), or to
            probabilities, shape (state, action), by name. If a name ends in a colon and a word,
            such as "hold:<points>", users write a text after the colon, which the function gets
            as its second argument. ``exactdice.baselines.NamedPolicy`` holds such a function and
            says under which names the leaderboard scores it.

    Raises:
        InputError: if ``game`` is not a game, or if its name, or the name of a policy, is taken or
            malformed.
        GameError: if the class is incomplete.
    """
    _check_class(game)
    known = GAMES.get(game.name, game)
    if _place(known) != _place(game):
        raise InputError(f"name must be free, got {game.name}, which {_place(known)} has")
    if policies is not None:
        register_policies(game.name, policies)
    GAMES[game.name] = game
    register_ids(game.name)


def _check_class(game: Any) -> None:
    """Check the name and the arguments of a game's class; its rules are checked in play."""
    if not (isinstance(game, type) and issubclass(game, Game)):
        shown = getattr(game, "__name__", game)
        raise InputError(f"game must be a subclass of exactdice.games.Game, got {shown}")
    if inspect.isabstract(game):
        missing = ", ".join(sorted(game.__abstractmethods__))
        raise GameError(f"{game.__name__} must have the methods {missing}")
    name = getattr(game, "name", None)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name):
        raise GameError(f"{game.__name__} must have a name that is one word, got {name!r}")
    makers: tuple[Callable[..., Any], ...] = (GameEnv, GameVectorEnv, gym.make, gym.make_vec)
    known = (each for maker in makers for each in inspect.signature(maker).parameters.values())
    taken = {each.name for each in known if each.kind is not each.VAR_KEYWORD}
    taken.add(game.opponent_keyword)
    for argument in inspect.signature(game).parameters.values():
        if argument.name in taken:
            raise GameError(
                f"{name} must have arguments other than {', '.join(sorted(taken))}, which "
                f"environments take themselves, got {argument.name}"
            )
        if argument.kind not in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY):
            raise GameError(f"{name} must take its arguments by name, got {argument}")
        if argument.default is argument.empty:
            raise GameError(f"{name} must have a default for each argument, got {argument}")


def _place(game: type[Game]) -> str:
    """Return file and name of a class; both are the same after a reload of its module."""
    where = getattr(sys.modules.get(game.__module__), "__file__", None) or game.__module__
    return f"{where}:{game.__qualname__}"


def find_game(game: Any) -> type[Game]:
    """Return the game with a name, or load the game at a place and register it.

    Args:
        game: the name, in upper or lower case; a place, FILE.py:CLASS or MODULE:CLASS; or
            ``gym:ID`` of an environment that has its law as ``P``, ``explore:ID`` of one that can
            be copied, or ``spiel:NAME`` of a game of OpenSpiel.
    """
    if isinstance(game, str) and game in GAMES:
        return GAMES[game]
    if not isinstance(game, str) or ":" not in game:
        plain = game.lower().replace(" ", "") if isinstance(game, str) else ""  # Shut the Box
        alike = [name for name in GAMES if name.lower() == plain]
        if len(alike) == 1:  # games of users may differ in case alone
            return GAMES[alike[0]]
        near = (isinstance(game, str) and hint(game, "gym:")) or meant(game, GAMES)
        raise InputError(
            f"game must be one of {', '.join(GAMES)}, or one of your own as FILE.py:CLASS or "
            f"MODULE:CLASS, got {game!r}{near}"
        )
    parts = game.partition(":")
    where, _, name = parts if parts[0] in DOORS else game.rpartition(":")
    found: type[Game] | None
    found = _game_at(*parts[::2]) if where in DOORS else getattr(_load(where), name, None)
    if found is None:
        raise InputError(f"game must be a class in {where}, which has no {name!r}{hint(name)}")
    register(found)
    return found


@cache
def _game_at(door: str, name: str) -> type[Game]:
    """Make the class of a game at a door, for the command line and for training."""
    base, defaults, law = DOORS[door](name)

    class Found(base):  # type: ignore[valid-type, misc]
        def __init__(self, **keywords: Any) -> None:
            given = {**defaults, **keywords}
            for argument, value in given.items():
                setattr(self, argument, value)
            super().__init__(*law(**given))
            self.horizon = vars(self)["horizon"] or 0  # stands for no limit

        def __reduce__(self) -> tuple[Any, ...]:
            return same_again, ((_made_at, (door, name, self.keywords)), self._digest)

    shown = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    for argument, value in defaults.items():
        shown.append(inspect.Parameter(argument, inspect.Parameter.KEYWORD_ONLY, default=value))
    Found.__init__.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    Found.__qualname__ = f"{door}:{name}"
    Found.name = re.sub(r"\W", "_", name if door == "gym" else f"{door} {name}")
    return Found


def _made_at(door: str, name: str, keywords: Mapping[str, Any]) -> Game:
    return _game_at(door, name)(**keywords)


def full_place(game: str) -> str:
    """Return the name of a game as it is spelt, or its place with the absolute path of the file."""
    where, _, name = game.rpartition(":")
    if not where:
        return find_game(game).name
    return f"{Path(where).resolve()}:{name}" if where.endswith(".py") else game


def _load(where: str) -> ModuleType:
    """Import a file or a module once; any exception in its code becomes an ``InputError``."""
    try:
        if where.endswith(".py"):
            return _load_file(Path(where))
        if str(Path.cwd()) not in sys.path:
            sys.path.append(str(Path.cwd()))  # last, so that no file there hides a library
        return importlib.import_module(where)
    except InputError:
        raise
    except (Exception, SystemExit) as error:  # the code there may do anything
        said = " ".join(str(error).split())
        reason = f"{type(error).__name__}: {said}" if said else type(error).__name__
        raise InputError(
            f"game must be in a module that can be imported, got {where}: {reason}"
        ) from error


def _load_file(path: Path) -> ModuleType:
    path = path.resolve()
    for module in tuple(sys.modules.values()):  # the file may be imported already
        file = getattr(module, "__file__", None)
        if file and file.endswith(path.name) and Path(file).resolve() == path:
            return module
    if not path.is_file():
        raise InputError(f"game must be in a file that exists, got {path}")
    name = re.sub(r"\W", "_", str(path))  # the whole path, so that it hides no other module
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # before it runs, as pickling and dataclasses search there
    try:
        with _neighbours(path.parent):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def _neighbours(folder: Path) -> Iterator[None]:
    """Let a file import the modules beside it while it is loaded, like ``python FILE.py``.

    Modules of other folders with the same names are removed from ``sys.modules`` and put back at
    the end, so that the file of one game never imports the modules of another game.
    """
    files = [*folder.glob("*.py"), *(found.parent for found in folder.glob("*/__init__.py"))]
    beside = {file.stem for file in files} - KEPT
    away = {
        name: module
        for name, module in tuple(sys.modules.items())
        if name.partition(".")[0] in beside
        and folder not in Path(getattr(module, "__file__", None) or "/").resolve().parents
    }
    for name in away:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
        known = {name.partition(".")[0] for name in away}
        for name in tuple(sys.modules):
            if name.partition(".")[0] in known:
                del sys.modules[name]
        sys.modules.update(away)
