"""One cell of a benchmark: a training run with one owner at a time, here or on another machine.

The owner of a cell is the process that holds a lock on a file beside the cell's folder. The
operating system releases the lock when the process ends, however it ends, so that no lock is left
after a kill. The file is removed when the cell is finished. The owner also holds the lock of the
run folder whenever it trains there or removes it (``folders.alone``), since ``train.py`` may train
there, too.

A finished cell has a score.json; a cell that can be resumed has a checkpoint.pt. These two files
are the *signs* of a folder. A run writes them after the files that they depend on; therefore a copy
of a running cell reads the signs first and writes them last.
"""

import io
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout
from rich.console import Console

from ...core import write_file
from ..runs import folders
from ..runs.config import RunError, TrainConfig
from ..runs.models import forget_models
from ..runs.train import train

SIGNS = ("score.json", "checkpoint.pt")
#: The files that a run writes before its first checkpoint.
BEGINNING = {"config.json", "hyperparameters.yml"}
#: Seconds between two checks of a run folder for files to send.
INTERVAL = 1.0


def folder_of(cell: TrainConfig) -> Path:
    """Return the folder of a cell."""
    assert cell.run_folder is not None
    return cell.run_folder


def is_finished(cell: TrainConfig) -> bool:
    """Return whether a cell has its score."""
    return (folder_of(cell) / "score.json").exists()


@contextmanager
def owned(cell: TrainConfig) -> Iterator[bool]:
    """Become the owner of a cell; yields False if another process owns it."""
    folder = folder_of(cell)
    lock = FileLock(folder.with_name(f".{folder.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
        if is_finished(cell):  # the owner of a new lock file will find the cell finished
            with suppress(OSError):  # Windows refuses if another process has the file open
                Path(lock.lock_file).unlink(missing_ok=True)


def is_owned(cell: TrainConfig) -> bool:
    """Return whether another process owns a cell."""
    with owned(cell) as mine:
        return not mine


def run_cell(cell: TrainConfig) -> str | None:
    """Run or resume one cell to its end; do nothing if another process owns it.

    Returns:
        None, or the error message.

    Raises:
        KeyboardInterrupt: if Ctrl-C stopped the run, which is saved.
    """
    try:
        with owned(cell) as mine:
            if mine and not is_finished(cell):
                _train(cell)
    except Exception as error:  # the other cells run in any case
        return f"{folder_of(cell).name}: {type(error).__name__}: {error}"
    return None


def _train(cell: TrainConfig) -> None:
    forget_models()  # those of the cells before
    make_way(cell)
    folder = folder_of(cell)
    if folder.exists():
        cell = TrainConfig(resume=folder)
    if train(cell, Console(file=io.StringIO())) is None:
        raise KeyboardInterrupt


def make_way(cell: TrainConfig) -> None:
    """Remove the folder of a run that was killed before it saved anything, and no other folder.

    Raises:
        RunError: if another process trains in the folder, or if the folder has no checkpoint to
            resume from but holds other files, which may be of value.
    """
    folder = folder_of(cell)
    if not folder.exists() or _is_saved(folder):
        return
    with folders.alone(folder):
        if _is_saved(folder):  # by a process that has just ended
            return
        names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
        if names - BEGINNING:
            raise RunError(
                f"{folder} must hold a score.json, or a checkpoint.pt to go on from, got only "
                f"{', '.join(sorted(names))}: put back what is missing, or move the folder away to "
                "train the cell anew"
            )
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != ".lock":
                path.unlink()
    folder.rmdir()  # fails if another process has locked the folder since


def _is_saved(folder: Path) -> bool:
    return any((folder / sign).exists() for sign in SIGNS)


def run_elsewhere(
    cell: TrainConfig, files: dict[str, bytes]
) -> Iterator[tuple[dict[str, bytes], bool, str | None]]:
    """Run a cell in a temporary folder of this machine, and send its files as they are written.

    Args:
        cell: the cell.
        files: contents of the files of the run folder so far, by name; empty for a new run.

    Yields:
        Contents of the files that are new or changed, by name; whether the run has ended; and its
        error message, None if there is none.
    """
    with tempfile.TemporaryDirectory(prefix="exactdice-") as place, ThreadPoolExecutor(1) as thread:
        folder = Path(place, folder_of(cell).name)
        seen: dict[str, int] = {}
        if files:
            receive(folder, files)
            changed_files(folder, seen)
        running = thread.submit(run_cell, replace(cell, run_folder=folder))
        done = False
        while not done:
            done = bool(wait([running], INTERVAL).done)  # the check after the end is the last
            changed = changed_files(folder, seen)
            if changed or done:
                yield changed, done, running.result() if done else None


def changed_files(folder: Path, seen: dict[str, int]) -> dict[str, bytes]:
    """Read the files of a run folder that are new or have changed.

    The signs are read first, so that the files that they depend on are as new as they are, or
    newer. Before the first checkpoint no file is read, as there is no run to resume.

    Args:
        folder: the run folder.
        seen: time of the last change of each file that was read, by name; it is updated.

    Returns:
        The contents of the files, by name.
    """
    found: dict[str, bytes] = {}
    _read_new(folder, SIGNS, seen, found)
    if "checkpoint.pt" in seen:
        names = (path.name for path in folder.iterdir() if not path.name.startswith("."))
        _read_new(folder, [name for name in names if name not in SIGNS], seen, found)
    return found


def _read_new(
    folder: Path, names: Iterable[str], seen: dict[str, int], found: dict[str, bytes]
) -> None:
    for name in names:
        with suppress(FileNotFoundError):
            written = (folder / name).stat().st_mtime_ns
            if seen.get(name) != written:
                found[name] = (folder / name).read_bytes()
                seen[name] = written


def receive(folder: Path, files: dict[str, bytes]) -> None:
    """Write files that were sent; after a kill the folder is as before, or it can be resumed."""
    place = folder
    if not folder.exists():
        place = folder.with_name(f".{folder.name}.new")
        place.mkdir(parents=True, exist_ok=True)
    signs = [name for name in reversed(SIGNS) if name in files]
    for name in [*(files.keys() - SIGNS), *signs]:
        write_file(place / name, files[name])
    if place != folder:
        place.replace(folder)
