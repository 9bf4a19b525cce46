"""One cell of a benchmark: a training run with one owner at a time, here or on another machine.

The owner of a cell is the process that holds a lock on a file beside the cell's folder. The
operating system releases the lock when the process ends, however it ends, so that no lock is left
after a kill. The file is removed when the cell is finished. The owner also holds the lock of the
run folder whenever it trains there or removes it (``folders.alone``), since ``train.py`` may train
there, too.

A finished cell has a score.json; a cell that can be resumed has a checkpoint.pt. A run writes these
two files after the files that they depend on.
"""

import gc
import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from ...core.folders import HOST
from ..runs import folders
from ..runs.config import RunError, TrainConfig
from ..runs.train import train

SIGNS = ("score.json", "checkpoint.pt")
#: The files that a run writes before its first checkpoint.
BEGINNING = {"config.json", "hyperparameters.yml"}


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
    file = folder.with_name(f".{folder.name}.lock")
    with folders.locked(file, lambda: is_finished(cell)) as mine:
        yield mine


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
        if not folder_of(cell).parent.is_dir():  # on a node of a cluster
            raise RunError(
                f"folder must be on a disk that all machines share, got {folder_of(cell).parent}, "
                f"which is not there on {HOST}"
            )
        with owned(cell) as mine:
            if mine and not is_finished(cell):
                _train(cell)
    except Exception as error:  # the other cells run in any case
        return f"{folder_of(cell).name}: {type(error).__name__}: {error}"
    return None


def _train(cell: TrainConfig) -> None:
    gc.collect()  # the models of the cells before, which are cycles of references
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
