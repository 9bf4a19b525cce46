"""A cache on disk for the values of very large games and for other slow results.

A sweep by a fold that takes more than ``LONG`` seconds writes its numbers to the user's cache
folder; the next process reads them. ``EXACTDICE_CACHE`` names another folder; the word "none" turns
the cache off.

A file begins with a line for people, which names the game, its arguments, its code (the SHA-256 of
the sources of the game and of the core), the fold and the format, and a line with the SHA-256 of
all the rest; the rest are the numbers as 64-bit floats, lowest byte first. A file is ignored, and
the numbers are computed anew, if the line is a different one, the file is too short or too long,
its checksum is wrong, or a part of the numbers that is computed again differs. If the folder cannot
be read or written, results take longer and are otherwise the same.
"""

import hashlib
import inspect
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import perf_counter

import numpy as np

from .folders import user_folder, write_file
from .game import Game
from .types import FloatArray

VARIABLE = "EXACTDICE_CACHE"
#: Seconds; the results of shorter computations are not stored.
LONG = 2.0
#: Largest size of a file in bytes; larger files are ignored.
LARGEST = 2**30
#: Version of the file format and of the meaning of the numbers.
FORMAT = 1
_NUMBERS = np.dtype("<f8")


def kept(
    game: Game,
    what: str,
    compute: Callable[[], FloatArray],
    fits: Callable[[FloatArray], bool],
    files: Iterable[Path] = (),
) -> FloatArray:
    """Return numbers that take long to compute, from the cache if it has them.

    Args:
        game: the rules.
        what: a line that names the computation.
        compute: computes the numbers, float64, shape (number,). They are stored if that takes more
            than ``LONG`` seconds.
        fits: says whether stored numbers are right, as far as a part of them tells.
        files: source files of the computation, besides those of the game and the core.
    """
    title = _title(game, f"{what}, code {_digest_of(files)}" if files else what)
    folder = user_folder("cache", VARIABLE)
    if folder is None or title is None:
        return compute()
    path = folder / f"values-{hashlib.sha256(title.encode()).hexdigest()[:32]}"
    stored = _read(path, title)
    if stored is not None and fits(stored):
        return stored
    begun = perf_counter()
    computed = compute()
    if perf_counter() - begun >= LONG:
        rest = np.ascontiguousarray(computed, _NUMBERS).tobytes()
        with suppress(OSError, ValueError):  # another time they are computed again
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, b"%s\n%s\n%s" % (title.encode(), _digest(title, rest), rest))
    return computed


def _title(game: Game, what: str) -> str | None:
    """Name a computation in one line; None if the game's arguments or code cannot be written."""
    keywords = game.keywords
    if not all(type(value) in (str, int, float, bool, type(None)) for value in keywords.values()):
        return None
    kind = type(game)
    if (code := _code(kind)) is None:
        return None
    arguments = ", ".join(f"{name}={value!r}" for name, value in keywords.items())
    name = f"{kind.__module__}.{kind.__qualname__}({arguments})"
    return ascii(f"exactdice values {FORMAT}: {name}, code {code}, {what}")[1:-1]


@cache
def _code(kind: type[Game]) -> str | None:
    """Return a shortened SHA-256 of the sources of a game, of its base classes and of the core.

    None if a class has no source file, such as a game written in a notebook.
    """
    try:
        classes = [each for each in kind.__mro__ if issubclass(each, Game)]  # the last is Game
        return _digest_of([file for each in classes for file in _sources(each)])
    except (OSError, TypeError):
        return None


def _sources(kind: type[Game]) -> list[Path]:
    """List the source files of a class: its package, or its own file if it is in no package."""
    own = Path(inspect.getfile(kind))
    return sorted({own, *own.parent.glob("*.py")} if "." in kind.__module__ else {own})


def _digest_of(files: Iterable[Path]) -> str:
    """Return a shortened SHA-256 of the contents of files."""
    contents = [hashlib.sha256(file.read_bytes()).digest() for file in files]
    return hashlib.sha256(b"".join(contents)).hexdigest()[:16]


def _read(path: Path, title: str) -> FloatArray | None:
    """Return the numbers of a file; None if the file is missing or damaged."""
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


def _digest(title: str, rest: bytes) -> bytes:
    """Return the SHA-256 of a title and of numbers, as hexadecimal digits."""
    return hashlib.sha256(title.encode() + b"\n" + rest).hexdigest().encode()
