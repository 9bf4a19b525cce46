"""One trial: a set of hyperparameters, trained on every game of a track and scored exactly.

A run of a trial lasts seconds. It writes no run folder, and its process keeps everything that is
the same for all hyperparameters: libraries, the tables of the games and their optimum.

The objective is the mean of *nines* over games, -log10(1 - normalised score), as normalised scores
crowd near 1. The games are played from the smallest to the largest, since an exact score evaluates
every state: trials that are stopped early cost little. A *point* of a trial is the number of its
moves so far, in per cent of the moves of one game: 150 is the middle of the second game.

On a self-play track a trial trains against its present self, and its score is made of its
exploitability. Rollouts there differ in their number of moves, so the trial notices a mark only
after passing it: it is scored at the next update, and at its end like a run.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch as th
import yaml
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from ...baselines import Task, make_task, score, score_self_play
from ...baselines.scoring.figure import nines
from ...core import write_file
from ..learners.adapter import ModelPolicy
from ..learners.self_play import SelfPlay
from ..runs.config import TrainConfig
from ..runs.models import forget_models, make_callbacks, make_env, make_model
from ..runs.train import RUNAWAY
from ..tracks import PERCENTS, Track

#: Called with (point, mean nines so far) at every score; it raises an exception to end the trial.
Report = Callable[[int, float], None]
#: States that the scores of a run may evaluate for each of its moves. The exact score of a state
#: takes about 1 microsecond, a move of training 50 to 400.
STATES_PER_MOVE = 20
#: Nines of a diverged network, and the lower bound of the nines of any trial.
WORST = -1.0


class Diverged(Exception):  # noqa: N818  no error of the program
    """The weights have left all bounds."""


def by_size(games: Sequence[str]) -> list[str]:
    """Return games in increasing order of their number of states."""
    return sorted(games, key=lambda game: make_task(game).game.num_states)


def run_trial(
    algorithm: str,
    track: Track,
    games: Sequence[str],
    hyperparameters: Mapping[str, Any],
    seed: int,
    report: Report,
) -> dict[str, float]:
    """Train on each game with the same hyperparameters, and score the last policies.

    Returns:
        The normalised score of each game, by its name.

    Raises:
        Diverged: if the weights of a network have left all bounds, after the worst report.
    """
    th.set_num_threads(1)  # as ``train`` does
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="exactdice-") as folder:
        conf = Path(folder, "trial.yml")
        write_file(conf, yaml.safe_dump({"default": dict(hyperparameters)}).encode())
        for number, game in enumerate(by_size(games)):
            config = TrainConfig(
                game=game,
                env=dict(track.keywords.get(game, {})),
                algorithm=algorithm,
                track=track.name,
                seed=seed,
                conf=conf,
                self_play=track.self_play,
            )
            before = [bounded_nines(value) for value in found.values()]

            def at_mark(percent: int, normalized: float) -> None:
                so_far = [*before, bounded_nines(normalized)]  # noqa: B023  called in this round
                report(100 * number + percent, sum(so_far) / len(so_far))  # noqa: B023  as well

            try:
                found[game] = _run_game(config, track, at_mark)
            except Diverged:
                report(100 * number + 100, (sum(before) + WORST) / (number + 1))
                raise
    return found


def bounded_nines(normalized: float) -> float:
    """Return the nines of a normalised score, at least ``WORST``."""
    return max(WORST, nines(normalized))


def _run_game(config: TrainConfig, track: Track, at_mark: Callable[[int, float], None]) -> float:
    """Train one game in memory, and return the normalised score of the last policy."""
    forget_models()  # those of the games before
    env = make_env(config)
    model = make_model(config, env)
    task = env.task  # in self-play the environment changes its task
    rollout = 0 if config.counts_others else config.hyperparameters.rollout
    marks = _AtMarks(track, task, rollout, at_mark)
    playing = [SelfPlay(task.game)] if config.counts_others else []
    try:
        model.learn(config.total_steps, callback=[marks, *make_callbacks(config), *playing])
        last = _score(model, task, track.self_play)
    except ValueError:  # raised for NaN, also by scores
        if all(weight.abs().max() < RUNAWAY for weight in model.policy.parameters()):
            raise
        raise Diverged from None
    at_mark(PERCENTS[-1], last)
    return last


def _score(model: BaseAlgorithm, task: Task, self_play: bool) -> float:
    policy = ModelPolicy(model, task.game)
    found = score_self_play(policy, task) if self_play else score(policy, task)
    return found.normalized


class _AtMarks(BaseCallback):
    """Scores the policy at marks of the track but the last, as many as the game's size allows.

    A rollout that passes the end of the track ends the trial before anything is learned from it.

    Args:
        track: the track.
        task: the task that is scored.
        rollout: number of moves in a rollout; 0 if unknown, so that a score comes after its mark.
        at_mark: called with (mark in per cent, normalised score) at each score.
    """

    def __init__(
        self, track: Track, task: Task, rollout: int, at_mark: Callable[[int, float], None]
    ) -> None:
        super().__init__()
        self._task, self._track, self._rollout, self._at_mark = task, track, rollout, at_mark
        number = max(1, STATES_PER_MOVE * track.moves // task.game.num_states)
        self._marks = list(zip(PERCENTS, track.marks, strict=True))[-number:][:-1]

    def _on_rollout_start(self) -> None:
        moves = self.num_timesteps + max(0, self._rollout - 1)
        due = [percent for percent, mark in self._marks if mark <= moves]
        if due:
            self._marks = self._marks[len(due) :]
            normalized = _score(self.model, self._task, self._track.self_play)
            for percent in due:
                self._at_mark(percent, normalized)

    def _on_step(self) -> bool:
        return self.num_timesteps <= self._track.moves
