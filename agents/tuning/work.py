"""The loop of a worker, which takes trials of the search until none are left.

A worker locks a file of the folder while it is alive. If the journal has a running trial and no
process holds the lock of its worker, the worker was killed: the trial counts as failed, and a new
trial gets its hyperparameters. Workers on other machines of a Ray cluster cannot lock files of the
folder; the process that started them holds their locks.
"""

import time
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import optuna
from filelock import FileLock, Timeout
from optuna.storages.journal import BaseJournalBackend
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

from .config import TuneConfig
from .study import STARTED, distributions, finalists, hyperparameters, open_study, space_of
from .trial import Diverged, Report, bounded_nines, run_trial

#: Seeds of training: of the trials, and of the finals. The seeds of the board are below 1000.
SEED = 1000
FINAL_SEEDS = (1001, 1002, 1003)
#: Seconds that a worker may take to write its name into a trial after beginning it.
YOUNG = 60
#: Seconds between two readings of the trials of other workers.
INTERVAL = 0.5


def new_owner() -> str:
    """Return a name for a worker."""
    return uuid.uuid4().hex


@contextmanager
def alive(folder: Path, owner: str) -> Iterator[None]:
    """Hold the lock of a worker during the block."""
    path = folder / f".{owner}.lock"
    with FileLock(path):
        yield
    with suppress(OSError):
        path.unlink(missing_ok=True)


def settle(study: Study, folder: Path, mine: Collection[str]) -> None:
    """Mark the running trials of killed workers as failed, and queue their hyperparameters again.

    Args:
        study: the trials.
        folder: the folder of the search.
        mine: the workers whose locks this process holds.
    """
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        owner = trial.user_attrs.get("owner")
        if owner in mine or (owner is None and _is_young(trial)):
            continue
        path = folder / f".{owner}.lock"
        lock = FileLock(path, timeout=0)
        try:
            with lock:
                now = study.get_trials(deepcopy=False)[trial.number]
                if now.state == TrialState.RUNNING:
                    study.tell(trial.number, state=TrialState.FAIL)
                    if trial.params:
                        study.enqueue_trial(trial.params)
        except Timeout:
            continue
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _is_young(trial: FrozenTrial) -> bool:
    """Return whether a trial is so new that its worker may not have written its name yet."""
    begun = trial.datetime_start
    return begun is not None and (datetime.now() - begun).total_seconds() < YOUNG


def work(
    config: TuneConfig,
    backend: BaseJournalBackend,
    owner: str,
    between: Callable[[], None] = lambda: None,
) -> None:
    """Run trials until all are done, then the finals.

    Args:
        config: the options of the search.
        backend: the journal.
        owner: name of this worker.
        between: called after each trial.
    """
    trials = open_study(backend, config)
    finals = open_study(backend, config, "finals")
    for step in (_trial_step, _final_step):
        while step(config, trials, finals, owner):
            between()


def _trial_step(config: TuneConfig, trials: Study, _finals: Study, owner: str) -> bool:
    """Run a trial, or wait for other workers; return whether trials may be left."""
    if _started(trials) < config.trials:
        trial = trials.ask(distributions(space_of(config)))
        trial.set_user_attr("owner", owner)
        if _started(trials, trial.number) >= config.trials:  # others have begun the last ones
            trials.tell(trial, state=TrialState.FAIL)
        else:
            _run(config, trials, trial)
        return True
    return _wait(trials)


def _started(study: Study, before: int | None = None) -> int:
    """Count the trials that have begun and not failed, with numbers below ``before`` if given."""
    known = study.get_trials(deepcopy=False, states=STARTED)
    return sum(before is None or trial.number < before for trial in known)


def _wait(study: Study) -> bool:
    """Wait ``INTERVAL`` seconds if a trial is running; return whether a trial is running."""
    running = bool(study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)))
    if running:
        time.sleep(INTERVAL)
    return running


def _run(config: TuneConfig, study: Study, trial: Trial) -> None:
    """Run a trial with the hyperparameters that were drawn for it."""
    end = 100 * len(config.chosen_games)

    def report(point: int, value: float) -> None:
        trial.report(value, point)
        if point < end and trial.should_prune():  # at the end nothing is left to be stopped
            raise optuna.TrialPruned

    chosen = hyperparameters(config, trial.params)
    _run_with(config, study, trial, chosen, SEED, report)


def _run_with(
    config: TuneConfig,
    study: Study,
    trial: Trial,
    chosen: dict[str, Any],
    seed: int,
    report: Report,
) -> None:
    """Train on all games and tell the study the mean nines, or that the trial was stopped."""
    started = time.monotonic()
    try:
        found = run_trial(config.algorithm, config.rules, config.chosen_games, chosen, seed, report)
    except (Diverged, optuna.TrialPruned):
        found = None
    trial.set_user_attr("seconds", round(time.monotonic() - started, 1))
    if found is None:
        study.tell(trial, state=TrialState.PRUNED)
        return
    trial.set_user_attr("normalized", found)
    study.tell(trial, fmean(map(bounded_nines, found.values())))


def _final_step(config: TuneConfig, trials: Study, finals: Study, owner: str) -> bool:
    """Run one of the best trials with another seed; return whether finals may be left."""
    taken = [pair for _, pair in _pairs(finals)]
    for candidate in finalists(trials):
        for seed in FINAL_SEEDS:
            pair = [candidate.number, seed]
            if pair not in taken:
                trial = finals.ask()
                trial.set_user_attr("owner", owner)
                trial.set_user_attr("pair", pair)
                if not _is_first(finals, trial.number, pair):
                    finals.tell(trial, state=TrialState.FAIL)
                    return True
                chosen = hyperparameters(config, candidate.params)
                _run_with(config, finals, trial, chosen, seed, lambda _point, _value: None)
                return True
    return _wait(finals)


def _pairs(finals: Study) -> list[tuple[int, Any]]:
    """List the finals that have begun: number, and [candidate, seed] or None if still unknown."""
    known = finals.get_trials(deepcopy=False, states=STARTED)
    return [(trial.number, trial.user_attrs.get("pair")) for trial in known]


def _is_first(finals: Study, number: int, pair: list[int]) -> bool:
    """Return whether no final with a smaller number has the same candidate and seed."""
    earlier: list[Any] = [None]
    for _ in range(10):  # until the earlier ones have said what they are, or their worker is dead
        earlier = [other for before, other in _pairs(finals) if before < number]
        if None not in earlier:
            break
        time.sleep(INTERVAL / 10)
    return pair not in earlier
