"""Files that are written whole or not at all, and the folders that they are written to."""

import os
import platform
import tempfile
from contextlib import suppress
from pathlib import Path

from ...core import InputError
from .config import RunError

HOST = platform.node()


class WriteError(RunError):
    """A file could not be written, as on a full disk; its old version is whole."""


def make_folder(folder: Path) -> None:
    """Make a folder if there is none, and check that it can be written to.

    Raises:
        InputError: if it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"folder must be a place to write to, got {folder}: {reason}") from None


def write(path: Path, content: bytes) -> None:
    """Write a file atomically: under a temporary name, which is then renamed.

    Raises:
        WriteError: if there is no room or no permission.
    """
    beside = path.with_name(f".{path.name}.{HOST}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
