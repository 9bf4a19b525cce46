"""One trial: a set of hyperparameters, trained on every game of a track and scored exactly.

A run of a trial lasts seconds. It writes no run folder, and its process keeps everything that is
the same for all hyperparameters: libraries, the tables of the games and their optimum.

The objective is that of the tracks, the mean over games of *nines*, -log10(1 - normalised score)
and 4 at most, as normalised scores crowd near 1. The games are played from the smallest to the
largest, since an exact score evaluates every state: trials that are stopped early cost little. A
*point* of a trial is the number of its moves so far, in per cent of the moves of one game: 150 is
the middle of the second game. A trial is scored at the end of each game, and halfway through the
first.

On a self-play track a trial trains against its present self, and its score is made of its
exploitability. Rollouts there differ in their number of moves: one that passes the end ends the
trial before anything is learned from it.
"""

import gc
import tempfile
from collections.abc import Callable, Iterable, Mapping
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch as th
import yaml
from stable_baselines3.common.callbacks import ConvertCallback

from ..agents.learners.adapter import ModelPolicy
from ..agents.runs.config import TrainConfig
from ..agents.runs.models import DivergedError, build, learn, learning
from ..baselines import score, score_self_play
from ..core import write_file
from ..envs import find_game
from .grid import TuneConfig
from .strata import nines_of_game

#: Called with (point, mean nines so far) at every score; it raises an exception to end the trial.
Report = Callable[[int, float], None]
#: Nines of a diverged network, and the lower bound of the nines of any trial.
WORST = -1.0


def by_size(config: TuneConfig) -> list[str]:
    """Return the games of a search in increasing order of their number of states."""
    place = config.rules.place
    return sorted(config.chosen_games, key=lambda game: find_game(place(game))().num_states)


def bounded_nines(*scores: float) -> float:
    """Return the nines of a game, from the scores of its seeds, at least ``WORST``."""
    return max(WORST, float(nines_of_game(np.array(scores))))


def mean_nines(runs: Iterable[Mapping[str, float]]) -> float:
    """Return the mean over games of the nines of runs, given by their scores by game."""
    games = [list(run.values()) for run in runs]
    return fmean(bounded_nines(*scores) for scores in zip(*games, strict=True))


def run_of(config: TuneConfig, game: str, conf: Path, seed: int) -> TrainConfig:
    """Return the options of a trial's run in one game, with the hyperparameters of a file."""
    return TrainConfig(
        game=config.rules.place(game),
        env=dict(config.rules.keywords.get(game, {})),
        algorithm=config.algorithm,
        track=config.track,
        seed=seed,
        conf=conf,
        self_play=config.rules.self_play,
    )


def run_trial(
    config: TuneConfig, hyperparameters: Mapping[str, Any], seed: int, report: Report
) -> dict[str, float]:
    """Train on each game with the same hyperparameters; return the scores of the last policies."""
    th.set_num_threads(1)  # as ``train`` does
    found: dict[str, float] = {}

    def scored(percent: int, normalized: float) -> None:
        so_far = [*found.values(), normalized]
        report(100 * len(found) + percent, fmean(map(bounded_nines, so_far)))

    with tempfile.TemporaryDirectory(prefix="exactdice-") as folder:
        conf = Path(folder, "trial.yml")
        write_file(conf, yaml.safe_dump({"default": dict(hyperparameters)}).encode())
        for game in by_size(config):
            try:
                last = _train(run_of(config, game, conf, seed), None if found else scored)
            except DivergedError:
                scored(100, -inf)
                raise
            scored(100, last)
            found[game] = last
    return found


def _train(run: TrainConfig, halfway: Callable[[int, float], None] | None) -> float:
    """Train in memory, and return the normalised score of the last policy.

    ``halfway`` is called with 50 and the score of the last update before half of the moves.
    """
    gc.collect()  # the models of the games before, which are cycles of references
    moves, (task, model, callbacks) = run.total_steps, build(run)

    def normalized() -> float:
        policy = ModelPolicy(model, task.game)
        scored = score_self_play(policy, task) if run.self_play else score(policy, task)
        return scored.normalized

    def goes_on(*_: Any) -> bool:
        nonlocal halfway
        if halfway is not None and model.num_timesteps > moves // 2:
            halfway(50, normalized())
            halfway = None
        return model.num_timesteps <= moves  # else the run has too many

    with learning(model):
        learn(model, moves, [ConvertCallback(goes_on), *callbacks])
        return normalized()
