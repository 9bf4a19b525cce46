"""Registration: the games by name, the package's own and anybody's.

A game of one's own is a class, registered by ``register``, or the *place* of one, as the command
line gives it: ``path/to/file.py:Pig`` or ``package.module:Pig``. To load a place is to run what is
there.
"""

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy.typing as npt

from ...baselines import register_environment, register_policies
from ...core import Game, GameError, InputError
from ...games import GAMES
from .wrappers import inspect_env

#: Modules that a file's neighbours never replace.
KEPT = {*sys.stdlib_module_names, __name__.partition(".")[0]}


def register_package() -> None:
    """Register the games of this package, and environments with exact computation."""
    register_environment("gymnasium", inspect_env)
    for game in GAMES.values():
        register(game)


def register(
    game: type[Game], policies: Mapping[str, Callable[..., npt.ArrayLike]] | None = None
) -> None:
    """Register a game: ``exactdice/<game.name>-v0`` is its environment, the name serves elsewhere.

    ``exactdice/<game.name>-OneHot-v0`` is the same environment with the encoding "one_hot_float",
    for programs that make environments by an id alone and want floats.

    To register a class again, as when its module is reloaded, puts it in the place of the first.
    There is no reward threshold: the optimum depends on the keywords, and Gymnasium has one
    threshold for all of them.

    Args:
        game: the class; its arguments have defaults, which make the default environment.
        policies: functions from the game to actions, integers of shape (state,), or to
            probabilities, shape (state, action), by name. One whose name ends in a colon and a
            word, such as "hold:<points>", is given what a user puts there as a second argument, a
            text.

    Raises:
        InputError: if it is no game, or its name or that of a policy is taken or of another form.
        GameError: if the class lacks something.
    """
    _check_class(game)
    known = GAMES.get(game.name, game)
    if _place(known) != _place(game):
        raise InputError(f"name must be free, got {game.name}, which {_place(known)} has")
    if policies is not None:
        register_policies(game.name, policies)
    GAMES[game.name] = game
    forms: dict[str, dict[str, Any]] = {"": {}, "-OneHot": {"encoding": "one_hot_float"}}
    for form, keywords in forms.items():
        env_id = f"exactdice/{game.name}{form}-v0"
        if env_id not in gym.registry:
            gym.register(
                id=env_id,
                entry_point="exactdice.envs:GameEnv",
                vector_entry_point="exactdice.envs:GameVectorEnv",
                kwargs={"game": game.name, **keywords},
            )


def _check_class(game: Any) -> None:
    """See that a class can be played by its name alone; what its rules obey is checked later."""
    if not (isinstance(game, type) and issubclass(game, Game)):
        shown = getattr(game, "__name__", game)
        raise InputError(f"game must be a subclass of exactdice.games.Game, got {shown}")
    if inspect.isabstract(game):
        missing = ", ".join(sorted(game.__abstractmethods__))
        raise GameError(f"{game.__name__} must have the methods {missing}")
    name = getattr(game, "name", None)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name):
        raise GameError(f"{game.__name__} must have a name that is one word, got {name!r}")
    taken = _environment_keywords() | {game.opponent_keyword}
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


def _environment_keywords() -> set[str]:
    """List the keywords that never come to a game, as those who make environments take them."""
    from .env import GameEnv  # here, as they are needed for games only
    from .vector import GameVectorEnv

    makers: tuple[Callable[..., Any], ...] = (GameEnv, GameVectorEnv, gym.make, gym.make_vec)
    every = (each for maker in makers for each in inspect.signature(maker).parameters.values())
    return {each.name for each in every if each.kind is not each.VAR_KEYWORD}


def _place(game: type[Game]) -> str:
    """Say where a class is; the same if its module is reloaded, or imported by another name."""
    where = getattr(sys.modules.get(game.__module__), "__file__", None) or game.__module__
    return f"{where}:{game.__qualname__}"


def find_game(game: Any) -> type[Game]:
    """Give the game of a name, or load the game at a place and register it.

    Raises:
        InputError: if there is none of that name, or nothing to load at that place.
    """
    if isinstance(game, str) and game in GAMES:
        return GAMES[game]
    if not isinstance(game, str) or ":" not in game:
        raise InputError(
            f"game must be one of {', '.join(GAMES)}, or one of your own as FILE.py:CLASS or "
            f"MODULE:CLASS, got {game!r}"
        )
    where, _, name = game.rpartition(":")
    found = getattr(_load(where), name, None)
    if found is None:
        raise InputError(f"game must be a class in {where}, which has no {name!r}")
    register(found)
    loaded: type[Game] = found
    return loaded


def full_place(game: str) -> str:
    """Give the name or place of a game so that it holds in any working directory."""
    where, _, name = game.rpartition(":")
    return f"{Path(where).resolve()}:{name}" if where.endswith(".py") else game


def _load(where: str) -> ModuleType:
    """Import a file or a module, once in a process; whatever goes wrong is a user's mistake."""
    try:
        if where.endswith(".py"):
            return _load_file(Path(where))
        if str(Path.cwd()) not in sys.path:
            sys.path.append(str(Path.cwd()))  # last, so that it hides no library
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
    for module in tuple(sys.modules.values()):  # it may have been imported by its own name
        file = getattr(module, "__file__", None)
        if file and file.endswith(path.name) and Path(file).resolve() == path:
            return module
    if not path.is_file():
        raise InputError(f"game must be in a file that exists, got {path}")
    name = re.sub(r"\W", "_", str(path))  # of its own, so that no other module is hidden
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
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
    """Let a file import the modules beside it while it is loaded, as ``python FILE.py`` does.

    What another folder has loaded by the same names is put away meanwhile, so that the file of one
    game never gets the modules of another one, and put back afterwards.
    """
    files = [*folder.glob("*.py"), *(found.parent for found in folder.glob("*/__init__.py"))]
    beside = {file.stem for file in files} - KEPT
    away = {
        name: module
        for name, module in tuple(sys.modules.items())
        if name.partition(".")[0] in beside and not _lies_in(module, folder)
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


def _lies_in(module: ModuleType, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and folder in Path(file).resolve().parents
