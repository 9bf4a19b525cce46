"""Generic code imports no particular game (import-linter sees modules, not names in them)."""

import ast

from checkout import ROOT, parsed
from exactdice.games import GAMES

CLASSES = {game.__name__ for game in GAMES.values()}
PACKAGES = {game.__module__.split(".")[2] for game in GAMES.values()}


def is_particular(name):
    """Say whether a name is a game's class, the folder of its rules, or one that begins so."""
    return name in CLASSES or any(f"{name}_".startswith(f"{package}_") for package in PACKAGES)


def files(*folders):
    """List the modules in some folders, but for the charts and the list of particular games."""
    paths = {path for folder in folders for path in (ROOT / folder).rglob("*.py")}
    return paths - {*(ROOT / "look/games").rglob("*.py"), ROOT / "src/exactdice/registry.py"}


#: The folders in which no text may be the name of a game either.
NAMELESS = files("core", "baselines", "diagnose", "envs", "look", "play", "src")
FILES = NAMELESS | files("agents", "board")


def particular_names(code):
    """List the texts in some code that are the name of a game."""
    for node in ast.walk(code):
        if isinstance(node, ast.Constant) and node.value in GAMES:
            yield node.value


def particular_imports(code):
    """List the parts of imports in some code that name a game's class or folder."""
    for node in ast.walk(code):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            parts = ".".join([module, *(entry.name for entry in node.names)]).split(".")
            yield from filter(is_particular, parts)


def test_generic_code_imports_and_names_no_particular_game():
    assert len(NAMELESS) > 100
    for code in ("from ..games import Game, Greed", "from . import four_two_one", "import a.greed"):
        assert len(list(particular_imports(ast.parse(code)))) == 1
    assert list(particular_names(ast.parse("def f(game='Greed'): 'Of Greed.'"))) == ["Greed"]
    for path in FILES:
        code = parsed(path)
        assert list(particular_imports(code)) == [], path
        assert path not in NAMELESS or list(particular_names(code)) == [], path
