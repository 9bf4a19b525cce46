"""The search as a study of Optuna in a journal file that processes and machines share.

The journal is a file of lines, to which every process appends what it does. It needs no database
and works on network file systems, where the locks of SQLite do not; a process that is killed
leaves whole lines. (Optuna, ``optuna.storages.journal``.)

Sets of hyperparameters are drawn by a tree-structured Parzen estimator (Watanabe, "Tree-structured
Parzen estimator", 2023, arXiv:2304.11127), and trials are stopped by asynchronous successive
halving (Li et al., "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020): at each
rung only trials go on that are in the better half of those that have come so far.
"""

import zlib
from collections.abc import Mapping
from typing import Any

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.pruners import BasePruner
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from ...core import InputError
from ..algorithms import ALGORITHMS
from ..spaces import Choice, Powers, Space, Span, hyperparameters_of
from .config import TuneConfig

optuna.logging.set_verbosity(optuna.logging.ERROR)

#: Points of a trial (see ``trial``) at which the worse half of the trials is stopped.
RUNGS = (50, 100, 200, 400)
#: Trials that come to a rung before any is stopped there.
GRACE = 4
#: Trials that are drawn at random before the estimator begins.
RANDOM_TRIALS = 10
STARTED = (TrialState.RUNNING, TrialState.COMPLETE, TrialState.PRUNED)


class Halving(BasePruner):
    """Stops trials at a rung unless they are in the better half of those that have come there."""

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Return whether a trial ends at its last point."""
        point = trial.last_step
        if point not in RUNGS:
            return False
        others = [
            other.intermediate_values[point]
            for other in study.get_trials(deepcopy=False)
            if other.number != trial.number
            and other.state in STARTED
            and point in other.intermediate_values
        ]
        better = sum(value > trial.intermediate_values[point] for value in others)
        return len(others) >= GRACE and 2 * better > len(others)


class Repeatable(BaseSampler):
    """Draws each trial with a generator of its own, seeded by the number of the trial.

    A search that goes on after a stop draws what it would have drawn without the stop, and
    processes that search together do not draw the same sets.

    Args:
        seed: seed of the search.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def _seed_of(self, study: Study, trial: FrozenTrial) -> int:
        """Return a seed of the number of trials before this one, failed ones left out."""
        before = sum(
            other.number < trial.number and other.state != TrialState.FAIL
            for other in study.get_trials(deepcopy=False)
        )
        return (self._seed * 1_000_003 + before) % 2**32

    def _sampler(self, study: Study, trial: FrozenTrial) -> TPESampler:
        return TPESampler(seed=self._seed_of(study, trial), n_startup_trials=RANDOM_TRIALS)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return the names that are drawn together."""
        return self._sampler(study, trial).infer_relative_search_space(study, trial)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Draw values for names together."""
        return self._sampler(study, trial).sample_relative(study, trial, search_space)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Draw a value for one name, as in the first trials."""
        seed = self._seed_of(study, trial) ^ zlib.crc32(param_name.encode())
        sampler = RandomSampler(seed=seed)
        return sampler.sample_independent(study, trial, param_name, param_distribution)


def open_study(backend: BaseJournalBackend, config: TuneConfig, name: str = "trials") -> Study:
    """Open a study of a journal, or begin it.

    Args:
        backend: the journal.
        config: the options of the search.
        name: "trials", or "finals" for the runs of the best trials with other seeds.

    Raises:
        InputError: if the journal is damaged, or is that of another search.
    """
    try:
        study = optuna.create_study(
            storage=JournalStorage(backend),
            study_name=name,
            load_if_exists=True,
            direction="maximize",
            sampler=Repeatable(config.seed),
            pruner=Halving(),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"folder must hold the journal of a search, got {config.place}, whose journal.log is "
            f"damaged: {error}"
        ) from None
    wanted, found = config.identity(), study.user_attrs.get("identity")
    if found is None:
        study.set_user_attr("identity", wanted)
    elif found != wanted:
        differing = [key for key in wanted if found.get(key) != wanted[key]]
        words = [
            f"{key} {_words(found.get(key))} instead of {_words(wanted[key])}"
            for key in differing
            if key != "space"
        ]
        raise InputError(
            f"folder must be of the same search, but {config.place} has "
            f"{', '.join(words) or 'another search space'}: choose another --folder"
        )
    return study


def _words(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def space_of(config: TuneConfig) -> Space:
    """Return the search space of the algorithm on the track."""
    return ALGORITHMS[config.algorithm].space(config.rules.moves)


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """Return the names that a study chooses, with their ranges; powers of 2 by their exponents."""
    found: dict[str, BaseDistribution] = {}
    for name, entry in space.items():
        if isinstance(entry, Powers):
            found[name] = IntDistribution(*entry.exponents)
        elif isinstance(entry, Choice):
            found[name] = CategoricalDistribution(entry.options)
        elif isinstance(entry, Span) and entry.whole:
            found[name] = IntDistribution(int(entry.low), int(entry.high), log=entry.log)
        elif isinstance(entry, Span):
            found[name] = FloatDistribution(entry.low, entry.high, log=entry.log)
    return found


def values_of(space: Space, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of each name of a space: chosen by a trial, or fixed."""
    return {
        name: 2 ** params[name]
        if isinstance(entry, Powers)
        else params[name]
        if isinstance(entry, Span | Choice)
        else entry
        for name, entry in space.items()
    }


def hyperparameters(config: TuneConfig, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hyperparameters that the choices of a trial stand for."""
    return hyperparameters_of(values_of(space_of(config), params), config.rules.moves)


def best(study: Study, number: int) -> list[FrozenTrial]:
    """Return the best trials that were trained on all games, the best first."""
    done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return sorted(done, key=lambda trial: (-_value(trial), trial.number))[:number]


def _value(trial: FrozenTrial) -> float:
    assert trial.value is not None
    return trial.value


def finals_of(study: Study) -> dict[int, dict[int, dict[str, float]]]:
    """Return the normalised scores of the finals: candidate -> seed -> game -> score."""
    found: dict[int, dict[int, dict[str, float]]] = {}
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        candidate, seed = trial.user_attrs["pair"]
        found.setdefault(candidate, {})[seed] = trial.user_attrs["normalized"]
    return found
