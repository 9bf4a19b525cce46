"""The benchmark: a grid of training runs, each in a folder of its own.

A cell is a game, an algorithm, a reward mode and a seed; its folder is a run folder. A cell is
finished once its folder holds a score. An unfinished cell is resumed from its checkpoint, so that a
benchmark that was killed continues when it is called again. A run writes these two files after the
files that they depend on.

Several benchmarks may run at once in one folder, here or on other machines: each cell has one
owner, and the other benchmarks run other cells. The owner is the process that holds a lock on a
file beside the cell's folder. The operating system releases the lock when the process ends, however
it ends, so that no lock is left after a kill. The file is removed when the cell is finished. The
owner also holds the lock of the run folder whenever it trains there or removes it
(``folders.alone``), since ``train.py`` may train there, too.
"""

import gc
import io
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from pebble import ProcessExpired
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from ..agents.runs import folders
from ..agents.runs.config import RunError, TrainConfig
from ..agents.runs.train import train
from ..core import InputError, make_folder
from ..core.folders import HOST
from ..core.words import first_line
from .grid import BenchmarkConfig
from .leaderboard import Board, read_board, write
from .results import Run, facts, read_results
from .workers import Workers, check_same, workers

#: Seconds between two checks of cells that other processes own.
INTERVAL = 1.0
SIGNS = ("score.json", "checkpoint.pt")
#: The files that a run writes before its first checkpoint.
BEGINNING = {"config.json", "hyperparameters.yml"}


def benchmark(config: BenchmarkConfig, page: Callable[[Board], str] | None = None) -> list[str]:
    """Run the cells that are not finished, write the leaderboard and print its first table.

    ``page`` makes a page of the leaderboard, in HTML. An error message is returned for each cell
    that failed, and for the leaderboard if it did.
    """
    console, cells = Console(), config.cells()
    make_folder(config.place)
    known = {run.name: run for run in read_results(config.place)}
    _check_track(config, known)
    for cell in cells:
        _check_options(cell, known)
    waiting = [cell for cell in cells if not (is_finished(cell) or folder_of(cell).name in known)]
    say = partial(console.print, highlight=False, soft_wrap=True)
    say(f"{len(cells)} cells, {len(waiting)} of them to do, in {config.place}")
    failures = _run(waiting, config, console) if waiting else []
    for cell in cells:
        _check_options(cell, known)  # another benchmark may have started in the folder meanwhile
    written = []
    try:
        if known or any(map(is_finished, cells)):
            written = write(config.place, page)
    except InputError:
        raise
    except Exception as error:  # the runs are kept, and so are tables that stand already
        failures.append(f"the leaderboard of {config.place}: {type(error).__name__}: {error}")
    for failure in failures:
        say(f"failed: {failure}")
    if written:
        say(f"written: {written[-1]}")
        read_board(config.place).brief.show(console)
    return failures


def _run(cells: list[TrainConfig], config: BenchmarkConfig, console: Console) -> list[str]:
    """Run cells, or wait for the processes that run them; return the error messages."""
    with workers(run_cell, config.backend, config.jobs, len(cells)) as pool:
        try:
            with _Bars(cells, console):
                return list(_failures(cells, pool, console))
        except KeyboardInterrupt:
            console.print("stopping: one moment to save (Ctrl-C again to lose what is not saved)")
            raise


def _failures(cells: list[TrainConfig], pool: Workers, console: Console) -> Iterator[str]:
    """Run cells, and yield the error messages of those that fail."""
    waiting, told = list(cells), False
    running: dict[Future[str | None], TrainConfig] = {}
    while waiting or running:
        waiting = [cell for cell in waiting if not is_finished(cell)]
        for cell in tuple(waiting):
            if len(running) == pool.number:
                break
            if not is_owned(cell):
                waiting.remove(cell)
                running[pool.start(cell)] = cell
        if waiting and not running:
            if not told:
                console.print(f"waiting for {len(waiting)} cells that another process runs")
            told = True
            time.sleep(INTERVAL)
        for future in wait(running, INTERVAL, FIRST_COMPLETED).done:
            cell = running.pop(future)
            failure = _failure(cell, future)
            if failure is not None:
                yield failure
            elif not is_finished(cell):  # another process has become its owner
                waiting.append(cell)


def _failure(cell: TrainConfig, future: "Future[str | None]") -> str | None:
    """Return the error message of a cell that has ended; None if there is none."""
    try:
        return future.result()
    except ProcessExpired as error:
        reason = f"its process ended with exit code {error.exitcode}"
    except Exception as error:  # of Ray, as that a node was lost too often
        reason = first_line(error)
    return f"{folder_of(cell).name}: {reason}"


def _check_track(config: BenchmarkConfig, known: Mapping[str, Run]) -> None:
    """Check that the runs in the folder are of the same track, or of none."""
    tracks = {config.place / name: run.track for name, run in known.items()}
    for path in sorted(config.place.glob("*/config.json")):
        with suppress(ValueError, AttributeError):  # damaged files are found when runs are read
            tracks[path.parent] = json.loads(path.read_text(encoding="utf-8")).get("track")
    for folder, found in tracks.items():
        if found != config.track:
            raise RunError(
                f"folder must be of one track, but {folder} is of {found or 'none'} instead "
                f"of {config.track or 'none'}: choose another --folder"
            )


def _check_options(cell: TrainConfig, known: Mapping[str, Run]) -> None:
    """Check that the run of a cell has its options: in its folder, or else among known results."""
    folder = folder_of(cell)
    if (folder / "checkpoint.pt").exists() or is_finished(cell):
        found = _options(facts(folders.read_config(folder)))
    elif folder.name in known:
        found = _options(vars(known[folder.name]))
    else:
        return
    wanted = _options(facts(cell))
    check_same(found, wanted, "benchmark", folder)


def _options(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a run that determine its result, and each hyperparameter."""
    names = ("keywords", "algorithm", "reward", "track", "seed")
    return {**{name: known[name] for name in names}, **json.loads(known["hyperparameters"])}


class _Bars(Progress):
    """A bar for all cells, and one for each running cell, read from the run folders each second."""

    def __init__(self, cells: Sequence[TrainConfig], console: Console) -> None:
        self._cells: dict[TaskID, TrainConfig] = {}
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        super().__init__(*columns, TimeElapsedColumn(), console=console, refresh_per_second=1)
        self._all = self.add_task("cells", total=len(cells))
        hidden: Any = {"start": False, "visible": False}
        self._cells = {
            self.add_task(folder_of(cell).name, total=cell.total_steps, **hidden): cell
            for cell in cells
        }

    def get_renderables(self) -> Iterable[RenderableType]:
        """Read how far the cells are, and give the bars."""
        if self._cells:  # rich asks for the first time before there are bars
            self.update(self._all, completed=sum(map(is_finished, self._cells.values())))
        for bar, cell in self._cells.items():
            steps = None if is_finished(cell) else _steps(cell)
            self.update(bar, completed=steps, visible=steps is not None)
            if steps is not None:
                self.start_task(bar)
        return super().get_renderables()


def _steps(cell: TrainConfig) -> int | None:
    """Return the moves of a cell so far; None if it was not begun."""
    try:
        return int(folders.read_log(folder_of(cell))["timesteps"][-1])
    except Exception:  # not started, or damaged, which resuming reports
        return None


def folder_of(cell: TrainConfig) -> Path:
    """Return the folder of a cell."""
    assert cell.run_folder is not None
    return cell.run_folder


def is_finished(cell: TrainConfig) -> bool:
    """Return whether a cell has its score."""
    return (folder_of(cell) / "score.json").exists()


def owned(cell: TrainConfig) -> AbstractContextManager[bool]:
    """Become the owner of a cell; yields False if another process owns it."""
    folder = folder_of(cell)
    file = folder.with_name(f".{folder.name}.lock")
    return folders.locked(file, lambda: is_finished(cell))


def is_owned(cell: TrainConfig) -> bool:
    """Return whether another process owns a cell."""
    with owned(cell) as mine:
        return not mine


def run_cell(cell: TrainConfig) -> str | None:
    """Run or resume one cell, unless another process owns it; return the error message, if any."""
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
    folder = folder_of(cell)
    if folder.exists() and not _is_saved(folder):
        _remove(folder)
    if folder.exists():
        cell = TrainConfig(resume=folder)
    if train(cell, Console(file=io.StringIO())) is None:
        raise KeyboardInterrupt


def _remove(folder: Path) -> None:
    """Remove the folder of a run that was killed before it saved anything, and no other folder."""
    with folders.alone(folder):
        if _is_saved(folder):  # by a process that has just ended
            return
        paths = [path for path in folder.iterdir() if path.name != ".lock"]
        names = {path.name for path in paths if not path.name.startswith(".")}
        if names - BEGINNING:
            raise RunError(
                f"{folder} must hold a score.json, or a checkpoint.pt to go on from, got only "
                f"{', '.join(sorted(names))}: put back what is missing, or move the folder away to "
                "train the cell anew"
            )
        for path in paths:
            path.unlink()
    folder.rmdir()  # fails if another process has locked the folder since


def _is_saved(folder: Path) -> bool:
    return any((folder / sign).exists() for sign in SIGNS)
