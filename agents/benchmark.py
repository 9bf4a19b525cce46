"""The benchmark: a grid of training runs, each in a folder of its own.

A cell is a game, an algorithm, a reward mode and a seed; its folder is a run folder. Cells run in
worker processes, each on one thread. A cell is finished once its folder holds a score, and
whatever else is found there is gone on with, so that a benchmark that was killed is called again.
"""

import io
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import joblib
import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from ..games import InputError
from . import leaderboard
from .config import BenchmarkConfig, RunError, TrainConfig
from .runs import read_config
from .train import train


def benchmark(config: BenchmarkConfig, console: Console | None = None) -> list[str]:
    """Run the cells that are not finished, and write the leaderboard.

    Returns:
        What went wrong: one message for each cell that failed.

    Raises:
        RunError: if a cell's folder holds a run with other options.
        ValueError: if ``ray`` is wanted and not installed.
    """
    console = console or Console()
    cells = config.cells()
    for cell in cells:
        _check_options(cell)
    waiting = [cell for cell in cells if not _finished(cell)]
    text = f"{len(cells)} cells, {len(waiting)} of them to do, in {config.folder}"
    console.print(text, highlight=False, soft_wrap=True)
    with _workers(config.backend, config.jobs), _progress(waiting, console):
        results = joblib.Parallel(n_jobs=config.jobs)(
            joblib.delayed(run_cell)(cell) for cell in waiting
        )
    failures = [result for result in results if result is not None]
    for failure in failures:
        console.print(f"failed: {failure}", highlight=False, soft_wrap=True)
    for path in leaderboard.write(config.folder):
        console.print(f"written: {path}", highlight=False, soft_wrap=True)
    return failures


def run_cell(config: TrainConfig) -> str | None:
    """Run one cell to its end, from where it is.

    Returns:
        None, or what went wrong.
    """
    assert config.run_folder is not None
    folder = config.run_folder
    try:
        if (folder / "checkpoint.pt").exists():
            config = TrainConfig(resume=folder)
        elif folder.exists():  # killed before anything was saved
            shutil.rmtree(folder)
        train(config, Console(file=io.StringIO()))
    except Exception as error:  # whatever it is, the other cells go on
        return f"{folder.name}: {type(error).__name__}: {error}"
    return None


def _finished(cell: TrainConfig) -> bool:
    assert cell.run_folder is not None
    return (cell.run_folder / "score.json").exists()


def _check_options(cell: TrainConfig) -> None:
    """Check that what is in a cell's folder was made with the same options."""
    assert cell.run_folder is not None
    if not (cell.run_folder / "checkpoint.pt").exists() and not _finished(cell):
        return
    there = read_config(cell.run_folder)
    if there.hyperparameters != cell.hyperparameters:
        raise RunError(
            f"folder must be of the same benchmark, but {cell.run_folder} has the hyperparameters "
            f"{there.hyperparameters}, not {cell.hyperparameters}: choose another --folder"
        )


@contextmanager
def _workers(backend: str, jobs: int) -> Iterator[None]:
    """Choose where the cells run."""
    if backend == "ray":
        try:
            from ray.util.joblib import register_ray
        except ModuleNotFoundError:
            raise InputError(
                "backend ray needs more libraries: pip install 'exactdice[ray]'"
            ) from None
        register_ray()
    with joblib.parallel_config(backend=backend, n_jobs=jobs):
        yield


@contextmanager
def _progress(cells: Sequence[TrainConfig], console: Console) -> Iterator[None]:
    """Show a bar for all cells, and one for each that runs, from what is on the disk."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    ended = threading.Event()
    with Progress(*columns, console=console) as progress:
        everything = progress.add_task("cells", total=len(cells))
        bars: dict[str, TaskID] = {}

        def watch() -> None:
            while not ended.wait(1.0):
                progress.update(everything, completed=sum(map(_finished, cells)))
                for cell in cells:
                    _show(progress, bars, cell)

        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        try:
            yield
        finally:
            ended.set()
            watching.join()
            progress.update(everything, completed=sum(map(_finished, cells)))


def _show(progress: Progress, bars: dict[str, TaskID], cell: TrainConfig) -> None:
    """Show how far a cell is while it runs."""
    assert cell.run_folder is not None
    name = cell.run_folder.name
    if _finished(cell):
        if name in bars:
            progress.remove_task(bars.pop(name))
        return
    try:
        with np.load(cell.run_folder / "evaluations.npz") as log:
            steps = int(log["timesteps"][-1])
    except (OSError, ValueError, KeyError, IndexError):
        return  # not begun
    if name not in bars:
        bars[name] = progress.add_task(name, total=cell.total_steps)
    progress.update(bars[name], completed=steps)
