"""The search as an Optuna study, in a journal file that processes and machines share.

Every process appends its actions to the journal as lines of text. The journal needs no database and
works on network file systems, where the locks of SQLite fail; a killed process leaves whole lines.
(Optuna, ``optuna.storages.journal``.)

Sets of hyperparameters are drawn by a tree-structured Parzen estimator (Watanabe, "Tree-structured
Parzen estimator", 2023, arXiv:2304.11127), and trials are stopped by asynchronous successive
halving (Li et al., "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020): a trial
continues past a rung only if it is in the better half of the trials that have reached the rung.
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

#: Rungs: points of a trial (see ``trial``) at which the worse half of the trials is stopped.
RUNGS = (50, 100, 200, 400)
#: Number of trials that reach a rung before any trial is stopped there.
GRACE = 4
#: Number of trials that are drawn at random before the estimator begins.
RANDOM_TRIALS = 10
#: Number of the best trials that the finals run again.
FINALISTS = 3
STARTED = (TrialState.RUNNING, TrialState.COMPLETE, TrialState.PRUNED)


class Halving(BasePruner):
    """Stops a trial at a rung unless it is in the better half of the trials that reached it."""

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Return whether to stop a trial at its latest point."""
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
    """Draws the hyperparameters of each trial with a generator seeded by the trial's number.

    So a search that continues after a stop draws the same sets as without the stop, and processes
    that search together draw different sets.

    Args:
        seed: seed of the search.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def _seed_of(self, study: Study, trial: FrozenTrial) -> int:
        """Return a seed made of the number of earlier trials that have not failed."""
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
        """Return the names whose values are drawn jointly, with their ranges."""
        return self._sampler(study, trial).infer_relative_search_space(study, trial)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Draw the values of several names jointly."""
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
    """Open a study of a journal, or create it.

    Args:
        backend: the journal.
        config: the options of the search.
        name: "trials", or "finals" for the runs of the best trials with other seeds.

    Raises:
        InputError: if the journal is damaged, or belongs to another search.
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
    except (AssertionError, KeyError, TypeError, ValueError) as error:
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
    """Return the ranges of the values that a study chooses, by name; powers of 2 by exponent."""
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
    """Return the hyperparameters of a trial, given the values that it chose."""
    return hyperparameters_of(values_of(space_of(config), params), config.rules.moves)


def over(study: Study) -> list[FrozenTrial]:
    """List the trials that were completed or stopped."""
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED))


def finalists(study: Study) -> list[FrozenTrial]:
    """Return a sixth of all trials, three at most: the best trained on all games, best first."""
    return best(study, min(FINALISTS, -(-len(over(study)) // 6)))


def best(study: Study, number: int) -> list[FrozenTrial]:
    """Return the best trials that were trained on all games, the best first."""
    done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return sorted(done, key=lambda trial: (-_value(trial), trial.number))[:number]


def _value(trial: FrozenTrial) -> float:
    assert trial.value is not None
    return trial.value


def finals_of(study: Study) -> dict[int, dict[int, dict[str, float]]]:
    """Return the normalised scores of the finals, keyed by candidate, then seed, then game."""
    found: dict[int, dict[int, dict[str, float]]] = {}
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        candidate, seed = trial.user_attrs["pair"]
        found.setdefault(candidate, {})[seed] = trial.user_attrs["normalized"]
    return found
