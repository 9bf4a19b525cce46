"""Values of very large games, kept on disk, so that they are computed once.

A sweep by a fold that takes more than ``LONG`` seconds leaves its numbers in the user's folder for
caches; the next process reads them. ``EXACTDICE_CACHE`` names another folder; none keeps nothing.

A file begins with a line for people, which names the game, its arguments, the fold and the format,
and a line with the SHA-256 of all the rest; the rest are the numbers as 64-bit floats, lowest byte
first. A file that is not as it should be is passed over, and the numbers are computed: the line is
another one, the file is too short or too long, its checksum is wrong, or a part of the numbers that
the game computes again differs (``FoldedSweeps.refolded``). A folder that cannot be read or written
changes nothing but the time.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter

import numpy as np

from ...core import FLOATS, Arithmetic, FloatArray, Game, Values
from ...core.folded_sweeps import FoldedSweeps
from ...core.sweeps import sweeps_of
from ...core.types import Fold

VARIABLE = "EXACTDICE_CACHE"
#: Seconds; the numbers of shorter sweeps are not kept.
LONG = 2.0
#: Bytes; larger files are none of ours.
LARGEST = 2**30
#: The version of the format and of what the numbers mean.
FORMAT = 1
_NUMBERS = np.dtype("<f8")


def folded(game: Game, fold: Fold, arithmetic: Arithmetic) -> Values | None:
    """Give the values of ``FoldedSweeps.folded``, from the disk if they are there.

    Args:
        game: the rules.
        fold: of the values of the legal actions.
        arithmetic: of the values; only floats are kept.

    Returns:
        The values; None if the game has no such sweep.
    """
    sweeps = sweeps_of(game)
    if not isinstance(sweeps, FoldedSweeps):
        return None
    if not arithmetic.rounds:
        return sweeps.folded(fold, arithmetic)
    return _found(
        _title(game, fold),
        lambda numbers: sweeps.refolded(fold, numbers),
        lambda: sweeps.folded(fold, FLOATS),
    )


def folded_squares(game: Game, fold: Fold, values: Values) -> Values | None:
    """Give the mean squares of ``folded_squares``, from the disk if they are there, or None."""
    sweeps = sweeps_of(game)
    if not isinstance(sweeps, FoldedSweeps):
        return None
    return _found(
        _title(game, f"{fold}, squares"),
        lambda numbers: sweeps.refolded(fold, numbers, values),
        lambda: sweeps.folded_squares(fold, values),
    )


def _found(
    title: str | None,
    restore: Callable[[FloatArray], Values | None],
    compute: Callable[[], Values | None],
) -> Values | None:
    """Give values that are kept, or compute them and keep them if that took long.

    Args:
        title: what is computed; None if it is not to be kept.
        restore: makes values of numbers, or None if the numbers are wrong.
        compute: computes the values.
    """
    path = None if title is None else _path(title)
    if path is None or title is None:
        return compute()
    kept = _read(path, title)
    if kept is not None and (values := restore(kept)) is not None:
        return values
    begun = perf_counter()
    computed = compute()
    if computed is not None and perf_counter() - begun >= LONG:
        _write(path, title, computed.numbers)
    return computed


def _title(game: Game, what: str) -> str | None:
    """Name a computation in a line; None if an argument of the game is no plain word or number."""
    keywords = game.keywords
    if not all(type(value) in (str, int, float, bool, type(None)) for value in keywords.values()):
        return None
    kind = type(game)
    arguments = ", ".join(f"{name}={value!r}" for name, value in keywords.items())
    line = f"exactdice values {FORMAT}: {kind.__module__}.{kind.__qualname__}({arguments}), {what}"
    return ascii(line)[1:-1]


def _path(title: str) -> Path | None:
    """Give the file of a computation; None if nothing is to be kept."""
    folder = _folder()
    return folder and folder / f"values-{hashlib.sha256(title.encode()).hexdigest()[:32]}"


def _folder() -> Path | None:
    """Give the folder of the files: the one that is named, or the user's folder for caches."""
    named = os.environ.get(VARIABLE, "")
    if named:
        return None if named == "none" else Path(named)
    try:
        home = Path.home()
    except RuntimeError:  # no home is known
        return None
    usual = {
        "win32": os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local",
        "darwin": home / "Library" / "Caches",
    }
    other = os.environ.get("XDG_CACHE_HOME") or home / ".cache"
    return Path(usual.get(sys.platform, other), "exactdice")


def _read(path: Path, title: str) -> FloatArray | None:
    """Read the numbers of a file; None if there is none, or it is not as it was written."""
    begins = f"{title}\n".encode()
    digits = 2 * hashlib.sha256().digest_size
    with suppress(OSError, ValueError):  # a name with a null byte is a ValueError
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        content = path.read_bytes()
        digest, rest = content[len(begins) :][:digits], content[len(begins) + digits + 1 :]
        if content.startswith(begins) and digest == _digest(title, rest):
            numbers = np.frombuffer(rest, _NUMBERS).astype(np.float64)
            return numbers if np.isfinite(numbers).all() else None
    return None


def _write(path: Path, title: str, numbers: FloatArray) -> None:
    """Write a file at once: another process never sees a part of it."""
    rest = np.ascontiguousarray(numbers, _NUMBERS).tobytes()
    with suppress(OSError, ValueError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".values-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(b"%s\n%s\n%s" % (title.encode(), _digest(title, rest), rest))
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)


def _digest(title: str, rest: bytes) -> bytes:
    """Give the SHA-256 of a title and numbers, as digits."""
    return hashlib.sha256(title.encode() + b"\n" + rest).hexdigest().encode()
