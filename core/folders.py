"""Files that are written whole or not at all, and the folders in which programs keep them."""

import errno
import io
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import Any, Literal

from .errors import InputError, WriteError
from .words import printable

HOST = platform.node()


def user_folder(kind: Literal["cache", "data"], variable: str) -> Path | None:
    """Return the folder for files of a kind; None if no file is to be stored.

    The environment variable names another folder; with the word "none" no file is stored.
    """
    if named := os.environ.get(variable, ""):
        return None if named == "none" else Path(named)
    if os.path.expanduser("~") == "~":  # no home is known  # noqa: PTH111  Path would raise
        return None
    from platformdirs import PlatformDirs

    places = PlatformDirs("exactdice", appauthor=False, opinion=False)
    return places.user_cache_path if kind == "cache" else places.user_data_path


def make_folder(folder: Path) -> None:
    """Make a folder if there is none; raise an ``InputError`` if it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"folder must be a place to write to, got {folder}: {reason}") from None


def write_file(path: Path, content: bytes | Iterator[bytes] | Callable[[io.BytesIO], Any]) -> None:
    """Write bytes, or what a function writes into a buffer, atomically: beside, and then moved.

    The package writes no file in another way, but for ``append``. A link stays one: the file that
    it leads to is written.
    """
    if callable(content):
        content(buffer := io.BytesIO())
        content = buffer.getvalue()
    place = Path(os.path.realpath(path))
    beside = place.with_name(f".{place.name[:40]}.{HOST}.{get_ident()}.{os.getpid()}")
    with _errors_in_words(path):
        try:
            if place.exists() and not (place.is_file() and os.access(place, os.W_OK)):
                raise OSError("it is a folder, a device or write-protected")
            with beside.open("wb") as file:
                file.writelines([content] if isinstance(content, bytes) else content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(place)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


def append(path: Path, line: bytes) -> None:
    """Append a line to a file by a single write, so that two programs do not mix their lines."""
    with _errors_in_words(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b", buffering=0) as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read() == b"\n" else b"\n" + line  # after an incomplete one
            if file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())


@contextmanager
def _errors_in_words(path: Path) -> Iterator[None]:
    """Turn an error of the system while a file is written into a sentence."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"{printable(str(path), 200)} cannot be written: {reason}") from None
