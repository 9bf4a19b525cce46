"""``exactdice tune``: run a search for hyperparameters, and write its results.

The folder of a search holds

    journal.log      every trial; a stopped search continues from it (see ``study``)
    trials.csv, .md  a line for each trial: its hyperparameters and scores
    <algorithm>.yml  the best hyperparameters, in the shape of rl_zoo3
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from optuna.study import Study
from rich.console import Console

from ...core import make_folder
from ..board.tables import attempted
from . import tables
from .beginning import begin_with
from .config import TuneConfig
from .study import open_study
from .work import settle
from .workers import journal, run_workers


def tune(
    config: TuneConfig,
    console: Console | None = None,
    draw: Callable[[Study, Path], list[Path]] | None = None,
) -> list[Path]:
    """Run all remaining trials, then the finals, and write the results.

    Args:
        config: the options.
        console: prints a line for each trial.
        draw: draws pictures of the trials into the folder, and returns their files.

    Returns:
        The files with the results.

    Raises:
        InputError: if the folder cannot be written to or holds another search, or if the file to
            begin with holds no hyperparameters of the algorithm.
    """
    console = console or Console()
    make_folder(config.place)
    backend = journal(config)
    trials, finals = open_study(backend, config), open_study(backend, config, "finals")
    begin_with(trials, config)
    told = tables.Teller(config, trials, finals, console)

    def watch(mine: list[str]) -> None:
        for study in (trials, finals):
            settle(study, config.place, mine)
        told.tell()

    console.print(told.beginning(), highlight=False, soft_wrap=True)
    watch([])  # trials of workers that were killed are tried again first
    try:
        run_workers(config, watch)
    except KeyboardInterrupt:
        console.print("stopped; the same command goes on", highlight=False)
        raise
    told.tell()
    written = tables.write(config, trials, finals)
    drawn, left_out = attempted({"pictures": partial(draw, trials, config.place)} if draw else {})
    written += drawn.get("pictures", [])
    for path in written:
        console.print(f"written: {path}", highlight=False, soft_wrap=True)
    if left_out:
        console.print(left_out.strip(), highlight=False, soft_wrap=True)
    return written
