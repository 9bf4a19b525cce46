"""The search as an Optuna study, in a database that processes and machines share.

Sets of hyperparameters are drawn by a tree-structured Parzen estimator (Watanabe, "Tree-structured
Parzen estimator", 2023, arXiv:2304.11127), and trials are stopped by asynchronous successive
halving (Li et al., "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020): a trial
continues past a rung only if it is in the better half of the trials that have reached the rung.
A trial tells the database that it is alive; one that has not for a minute counts as failed, and is
queued again.
"""

import math
import warnings
from collections.abc import Mapping
from typing import Any

import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.pruners import SuccessiveHalvingPruner
from optuna.samplers import TPESampler
from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback, fail_stale_trials
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

from ...core import InputError
from ...core.words import first_line
from ..algorithms import ALGORITHMS
from ..runs.hyperparameters import read_file, read_hyperparameters, read_network
from ..spaces import Choice, Powers, Space, Span, hyperparameters_of
from .config import TuneConfig

#: Rungs: points of a trial (see ``trial``) at which the worse half of the trials is stopped.
RUNGS = (50, 100, 200, 400)
#: Number of trials that are drawn at random before the estimator begins.
RANDOM_TRIALS = 10
#: Number of the best trials that the finals run again.
FINALISTS = 3
#: Seeds of training in the finals; those of the board are below 1000.
FINAL_SEEDS = (1001, 1002, 1003)
#: Seconds between two signs of life of a trial, and after the last one until it counts as failed.
ALIVE, LOST = 10, 60
OVER = (TrialState.COMPLETE, TrialState.PRUNED)


def open_study(config: TuneConfig, worker: int = 0) -> Study:
    """Open the study of a search, or create it.

    Args:
        config: the options of the search.
        worker: number of the worker, so that workers draw different sets.

    Raises:
        InputError: if the storage cannot be opened, or belongs to another search.
    """
    url = config.storage or f"sqlite:///{config.place / 'search.db'}"
    waiting = {"connect_args": {"timeout": LOST}} if url.startswith("sqlite") else {}
    try:
        with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
            storage = RDBStorage(
                url,
                engine_kwargs=waiting,
                heartbeat_interval=ALIVE,
                grace_period=LOST,
                heartbeat_stale_trial_callback=RetryHeartbeatStaleTrialCallback(),
            )
        optuna.logging.set_verbosity(optuna.logging.WARNING)  # of studies; trials are told
        study = optuna.create_study(
            storage=storage, study_name=config.place.name, load_if_exists=True, direction="maximize"
        )
        optuna.logging.set_verbosity(optuna.logging.INFO)
    except Exception as error:  # of SQLAlchemy, of the driver of the database, or of Optuna
        reason = first_line(error)
        raise InputError(f"storage must be a database of a search, got {url}: {reason}") from None
    seed = config.seed + 1000 * (worker + len(study.get_trials(deepcopy=False)))
    study.sampler = TPESampler(seed=seed, n_startup_trials=RANDOM_TRIALS, constant_liar=True)
    study.pruner = SuccessiveHalvingPruner(min_resource=RUNGS[0], reduction_factor=2)
    _check_identity(study, config)
    return study


def queue_lost(study: Study) -> None:
    """Count trials that no longer say that they are alive as failed, and queue them again."""
    with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
        fail_stale_trials(study)


def _check_identity(study: Study, config: TuneConfig) -> None:
    """Note the options of a new search; refuse a study of other options."""
    wanted, found = config.identity(), study.user_attrs.get("identity")
    if found is None:
        study.set_user_attr("identity", wanted)
    elif found != wanted:
        words = [
            f"{key} {_words(found.get(key))} instead of {_words(wanted[key])}"
            for key in wanted
            if found.get(key) != wanted[key] and key != "space"
        ]
        raise InputError(
            f"folder must be of the same search, but {config.place} has "
            f"{', '.join(words) or 'another search space'}: choose another --folder"
        )


def _words(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def space_of(config: TuneConfig) -> Space:
    """Return the search space of the algorithm on the track."""
    return ALGORITHMS[config.algorithm].space(config.rules.moves)


def choose(trial: Trial, space: Space) -> None:
    """Draw the value of each name of a space; powers of 2 by exponent."""
    for name, entry in space.items():
        if isinstance(entry, Powers):
            trial.suggest_int(name, *entry.exponents)
        elif isinstance(entry, Choice):
            trial.suggest_categorical(name, entry.options)
        elif isinstance(entry, Span) and entry.whole:
            trial.suggest_int(name, int(entry.low), int(entry.high), log=entry.log)
        elif isinstance(entry, Span):
            trial.suggest_float(name, entry.low, entry.high, log=entry.log)


def hyperparameters(config: TuneConfig, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hyperparameters of a trial, given the values that it chose."""
    values = {
        name: 2 ** params[name] if isinstance(entry, Powers) else params.get(name, entry)
        for name, entry in space_of(config).items()
    }
    return hyperparameters_of(values, config.rules.moves)


def over(study: Study) -> list[FrozenTrial]:
    """List the trials that were completed or stopped."""
    return study.get_trials(deepcopy=False, states=OVER)


def finalists(study: Study) -> list[FrozenTrial]:
    """Return a sixth of all trials, three at most: the best trained on all games, best first."""
    done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    number = min(FINALISTS, -(-len(over(study)) // 6))
    return sorted(done, key=lambda trial: (-(trial.value or 0.0), trial.number))[:number]


def final(number: int, seed: int) -> str:
    """Return the name under which a study keeps the scores of a final of a trial."""
    return f"final of {number}, seed {seed}"


def begin_with(study: Study, config: TuneConfig) -> None:
    """Queue the hyperparameters of a file as the next trial of a search, once.

    The file is translated back to the names of the search space, the inverse of
    ``spaces.hyperparameters_of``. A value outside the range of the search is moved to the nearest
    value of the range. A value that the search cannot choose, such as layers of different widths,
    is drawn; a hyperparameter that is not in its space, such as weight decay, is left out.

    Raises:
        InputError: if the file holds no hyperparameters of the algorithm.
    """
    file = config.begin_with
    if file is None or study.user_attrs.get("begun_with") == str(file):
        return
    entry = read_file(config.chosen_games[0], file, "begin_with")
    try:
        known = read_hyperparameters(
            config.algorithm, {"n_envs": None, "n_timesteps": None, "env_kwargs": {}, **entry}
        )
    except InputError as error:
        raise InputError(
            f"begin_with must have hyperparameters of {config.algorithm}, got {file}: {error}"
        ) from None
    found = within(space_of(config), choices_of(vars(known)))
    study.enqueue_trial(found, skip_if_exists=True)  # another process may have begun the search
    study.set_user_attr("begun_with", str(file))


def choices_of(hyperparameters: Mapping[str, Any]) -> dict[str, Any]:
    """Translate checked hyperparameters to values by the names of the search spaces."""
    given = dict(hyperparameters)
    moves, lanes = given["n_timesteps"], given["n_envs"]
    found = {**given, "encoding": given["env_kwargs"].get("encoding", "integer")}
    if "learning_rate" in given:
        found["learning_rate"] = float(str(given["learning_rate"]).removeprefix("lin_"))
    if "n_steps" in given:
        found["rollout"] = lanes * given["n_steps"]
    if "gradient_steps" in given:
        rollout = lanes * given["train_freq"]
        steps = rollout if given["gradient_steps"] == -1 else given["gradient_steps"]
        found["updates"] = moves * steps / rollout
        found["copies"] = moves / given["target_update_interval"]
        found["warmup"] = given["learning_starts"] / moves
    network = read_network(given.get("policy_kwargs"))
    widths = network.get("net_arch")
    if isinstance(widths, list) and len(set(widths)) == 1 and len(widths) == 2:
        found["width"] = widths[0]
    names = {"activation": "activation_fn", "quantiles": "n_quantiles"}
    return found | {name: network[own] for name, own in names.items() if own in network}


def within(space: Space, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a trial that are nearest to values, for the names that have one."""
    found: dict[str, Any] = {}
    for name, entry in space.items():
        value = values.get(name)
        if isinstance(entry, Choice):
            if value in entry.options:
                found[name] = value
        elif isinstance(entry, Powers) and isinstance(value, int | float):
            low, high = entry.exponents
            found[name] = min(max(round(math.log2(value)), low), high)
        elif isinstance(entry, Span) and isinstance(value, int | float):
            inside = min(max(value, entry.low), entry.high)
            found[name] = round(inside) if entry.whole else inside
    return found
