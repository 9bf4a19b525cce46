"""``exactdice tune``: run a search for hyperparameters, and write its results.

The folder of a search holds

    search.db        every trial; a stopped search continues from it (see ``study``)
    trials.csv, .md  a line for each trial: its hyperparameters and scores
    <algorithm>.yml  the best hyperparameters, in the shape of rl_zoo3
"""

import time
from collections.abc import Callable
from concurrent.futures import Future, as_completed
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import optuna
from optuna.exceptions import StorageInternalError
from optuna.study import MaxTrialsCallback, Study
from optuna.trial import Trial, TrialState
from pebble import ProcessExpired
from rich.console import Console

from ...core import WriteError, make_folder
from ...core.words import first_line
from ..algorithms import ALGORITHMS
from ..board.pool import workers
from ..board.tables import attempted
from ..runs.config import RunError
from . import tables
from .config import TuneConfig
from .study import (
    FINAL_SEEDS,
    OVER,
    begin_with,
    choose,
    final,
    finalists,
    hyperparameters,
    open_study,
    over,
    queue_lost,
    space_of,
)
from .trial import Diverged, bounded_nines, run_trial

#: Seed of training in the trials; those of the board are smaller.
SEED = 1000
#: Seconds between two readings of the trials of other commands.
INTERVAL = 1.0
STARTED = (TrialState.RUNNING, *OVER)


def tune(
    config: TuneConfig,
    console: Console | None = None,
    draw: Callable[[Study, Path], list[Path]] | None = None,
) -> list[Path]:
    """Run all remaining trials, then the finals, and write the results.

    Args:
        config: the options.
        console: prints what is done; Optuna prints a line for each trial.
        draw: draws pictures of the trials into the folder, and returns their files.

    Returns:
        The files with the results.

    Raises:
        InputError: if the folder cannot be written to or belongs to another search, or the backend
            ``ray`` is not installed.
        RunError: if a worker was lost, or no finalist has trained with all seeds.
        WriteError: if there is no room; the trials before are kept.
        KeyboardInterrupt: after Ctrl-C.
    """
    console = console or Console()
    say = partial(console.print, highlight=False, soft_wrap=True)
    make_folder(config.place)
    study = open_study(config)
    begin_with(study, config)
    say(
        f"{ALGORITHMS[config.algorithm].title} on {config.rules.title}: {config.trials} trials "
        f"on {', '.join(config.chosen_games)}, {len(over(study))} of them done, in {config.place}"
    )
    try:
        _search(config, study)
        _finals(config, study, say)
    except KeyboardInterrupt:
        say("stopped; the same command goes on")
        raise
    except StorageInternalError as error:  # a full disk, or a server that has gone
        cause = error.__cause__
        reason = first_line(cause if isinstance(cause, Exception) else error)
        raise WriteError(
            f"the trials cannot be kept: {reason}; the same command goes on from the last one"
        ) from None
    written = tables.write(config, study)
    drawn, left_out = attempted({"pictures": partial(draw, study, config.place)} if draw else {})
    written += drawn.get("pictures", [])
    for path in written:
        say(f"written: {path}")
    if left_out:
        say(left_out.strip())
    return written


def _search(config: TuneConfig, study: Study) -> None:
    """Run trials until all are over; other commands may run some of them."""
    while len(over(study)) < config.trials:
        missing = config.trials - len(study.get_trials(deepcopy=False, states=STARTED))
        if missing < 1:
            time.sleep(INTERVAL)
            queue_lost(study)
            continue
        with workers(work, config.backend, config.jobs, missing) as pool:
            for job in [pool.start(config, n) for n in range(min(pool.number, missing))]:
                _result(job)


def _result(job: "Future[Any]") -> Any:
    try:
        return job.result()
    except ProcessExpired as error:
        raise RunError(
            f"workers must go on to the end, but one ended with exit code {error.exitcode}: call "
            "the command again to go on"
        ) from None


def work(config: TuneConfig, worker: int) -> None:
    """Run trials until so many have begun as there are to be; the job of a worker."""
    study = open_study(config, worker)
    enough = MaxTrialsCallback(config.trials, states=STARTED)
    study.optimize(partial(_objective, config), callbacks=[enough])


def _objective(config: TuneConfig, trial: Trial) -> float:
    """Train on all games, and return the mean nines."""
    choose(trial, space_of(config))
    end = 100 * len(config.chosen_games)

    def report(point: int, value: float) -> None:
        trial.report(value, point)
        if point < end and trial.should_prune():  # at the end nothing is left to be stopped
            raise optuna.TrialPruned

    started = time.monotonic()
    chosen = hyperparameters(config, trial.params)
    try:
        found = run_trial(config.algorithm, config.rules, config.chosen_games, chosen, SEED, report)
    except Diverged:
        raise optuna.TrialPruned from None
    finally:
        trial.set_user_attr("seconds", round(time.monotonic() - started, 1))
    trial.set_user_attr("normalized", found)
    return fmean(map(bounded_nines, found.values()))


def _finals(config: TuneConfig, study: Study, say: Callable[[str], None]) -> None:
    """Run the best trials with other seeds, and keep their scores in the study."""
    jobs = {
        final(trial.number, seed): (config, hyperparameters(config, trial.params), seed)
        for trial in finalists(study)
        for seed in FINAL_SEEDS
        if final(trial.number, seed) not in study.user_attrs
    }
    if not jobs:
        return
    with workers(train_again, config.backend, config.jobs, len(jobs)) as pool:
        running = {pool.start(*given): name for name, given in jobs.items()}
        for job in as_completed(running):
            scores = _result(job)
            study.set_user_attr(running[job], scores)
            mean = f"{fmean(map(bounded_nines, scores.values())):.3f} nines" if scores else ""
            say(f"{running[job]}: {mean or 'its weights diverged'}")


def train_again(config: TuneConfig, chosen: dict[str, Any], seed: int) -> dict[str, float]:
    """Return the normalised scores of hyperparameters with a seed; empty if they diverged."""
    try:
        return run_trial(
            config.algorithm, config.rules, config.chosen_games, chosen, seed, lambda *_: None
        )
    except Diverged:
        return {}
