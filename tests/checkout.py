"""The files of the product in the checkout."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ["agents", "baselines", "board", "core", "diagnose", "envs", "games", "look", "play", "src"]
FILES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
