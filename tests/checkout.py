"""The files of the product in the checkout."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ["agents", "baselines", "board", "core", "diagnose", "envs", "games", "look", "play", "src"]
FILES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


@cache
def parsed(path):
    """Give the syntax tree of a file, which tests only read."""
    return ast.parse(path.read_bytes())
