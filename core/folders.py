"""The folders of a user in which programs keep files, by the customs of the system."""

import os
import sys
from pathlib import Path
from typing import Literal

#: What follows the home folder: on Windows, on macOS and elsewhere, with the variable that names
#: another folder.
PLACES = {
    "cache": (("AppData/Local", "LOCALAPPDATA"), "Library/Caches", (".cache", "XDG_CACHE_HOME")),
    "data": (
        ("AppData/Local", "LOCALAPPDATA"),
        "Library/Application Support",
        (".local/share", "XDG_DATA_HOME"),
    ),
}


def user_folder(kind: Literal["cache", "data"], variable: str) -> Path | None:
    """Return the folder for files of a kind; None if no file is to be stored.

    Args:
        kind: a cache, which can be computed again, or data, which cannot.
        variable: the environment variable that names another folder; with the word "none" no file
            is stored.
    """
    if named := os.environ.get(variable, ""):
        return None if named == "none" else Path(named)
    try:
        home = Path.home()
    except RuntimeError:  # no home is known
        return None
    windows, mac, other = PLACES[kind]
    if sys.platform == "darwin":
        return home / mac / "exactdice"
    usual, moved = windows if sys.platform == "win32" else other
    return Path(os.environ.get(moved) or home / usual, "exactdice")
