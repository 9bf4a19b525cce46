"""Exact evaluation during training: learning curves without evaluation noise."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback, EventCallback

from ...baselines import LOGGED, NetworkPolicy, Reading, Score, Task, as_task, is_toured, score
from ...core import at_least
from ..learners.adapter import ModelPolicy
from ..tracks import TRACKS
from .config import TrainConfig
from .folders import LOG, MARGIN
from .run import Record, Run, new_log
from .sampling import SampleScore, sample_score

#: By default the exact scores of a run together evaluate this number of states, in about a minute.
STATES_SCORED = 2**25
#: Largest number of scores in a run by default.
SCORES = 40
#: Largest share of a run's time that checkpoints take after the first: a replay buffer is large.
SAVING = 0.05
#: A function of the number of steps and the score at that step.
OnScore: TypeAlias = Callable[[int, Score | SampleScore], None]


def interval_of(config: TrainConfig, task: Task) -> int:
    """Return the number of moves between scores, larger where exact scores take long."""
    most = SCORES if is_toured(task) else STATES_SCORED // task.game.num_states
    scores = min(SCORES, max(1, most))
    return config.eval_interval or max(1, config.total_steps // scores)


def due_of(config: TrainConfig) -> Callable[[int], bool] | None:
    """Return a function from moves so far to whether a score is due on the track.

    None for a run without a track.
    """
    if config.track is None:
        return None
    if config.counts_others:  # when the rollout passes a mark is seen while it is played
        return lambda _: False
    return partial(TRACKS[config.track].is_due, rollout=config.hyperparameters.rollout)


class ExactEvalCallback(EventCallback):
    """Scores the deterministic policy exactly, over every state, at regular intervals of training.

    In games with too many states for arrays an exact score takes minutes. There the policy is
    scored exactly at the end of training, and before by sample games (``SampleScore``).

    Args:
        task: the task on which the agent is scored, or an environment of that task.
        interval: agent moves between scores.
        folder: run folder for ``evaluations.npz``, ``best_model.zip`` and, if the model trains on
            an unwrapped ``GameVecEnv``, ``checkpoint.pt``, which is saved with the first score,
            and then with each score before which training went on for 1 / ``SAVING`` times as
            long as the last checkpoint took; None saves nothing.
        stop_at: normalised score at which training stops.
        on_score: called with (steps, score) after every score.
        callback_on_new_best: as in EvalCallback, such as StopTrainingOnRewardThreshold.
        record: saves the scores and the model, in place of a folder (see ``of``).
        masked: whether the scored policy must keep to the legal actions; pass False for an agent
            that trains and plays without masks.
        due: whether a score is due before the next rollout, given the number of moves so far;
            None for a score at every ``interval``.

    Attributes:
        log: lists by the names in ``LOG``; seconds are those of training and scoring so far.
        best_mean_reward: largest exact mean reward so far; other callbacks read it by this name.
        scored: number of scores that this process has computed.
        scoring: seconds that this process has spent on scores.
        begun: seconds that the run took before it was resumed.
        stop: set it to True to save and stop training before the next rollout.
        interrupted_at: number of steps at which ``stop`` ended training; None if it did not.
    """

    def __init__(
        self,
        task: Any,
        interval: int,
        folder: Path | None = None,
        stop_at: float | None = None,
        on_score: OnScore | None = None,
        callback_on_new_best: BaseCallback | None = None,
        record: Record | None = None,
        masked: bool = True,
        due: Callable[[int], bool] | None = None,
    ) -> None:
        super().__init__(callback_on_new_best)
        self._due = due
        self.task = as_task(task)
        self.masked = masked
        self._is_sampled = is_toured(self.task)
        self.interval = at_least("interval", interval, 1)
        self.folder = folder
        self.stop_at = stop_at
        self.on_score = on_score
        self.log = new_log() if record is None else record.log
        self.stop = False
        self.interrupted_at: int | None = None
        self._reached = False
        self._outcome = True
        self._record = record
        self._started = self._saved = time.monotonic()
        self._saving = 0.0
        self.scored, self.scoring, self.begun = 0, 0.0, 0.0

    @classmethod
    def of(cls, run: Run, on_score: OnScore) -> "ExactEvalCallback":
        """Make the callback of a run, which continues the run's log in its folder."""
        config = run.config
        interval = interval_of(config, run.task)
        due = due_of(config)
        return cls(run.task, interval, run.folder, config.stop_at, on_score, record=run, due=due)

    def _init_callback(self) -> None:
        super()._init_callback()
        if self._record is None and self.folder is not None:
            self._record = Record(self.folder, self.model, self.log)

    def _on_training_start(self) -> None:
        try:
            (reward,) = set(self.training_env.get_attr("reward_mode"))
        except (
            AttributeError
        ):  # an environment that wraps one of this project without this attribute
            reward = "outcome"
        self._outcome = reward == "outcome"
        if self._is_sampled:  # a model that cannot be scored at the end is refused now
            ModelPolicy(self.model, self.task.game).in_fixed_point(self.task.game)
        self.begun = self.log["seconds"][-1] if self.log["seconds"] else 0.0
        self._started = time.monotonic() - self.begun

    @property
    def best_mean_reward(self) -> float:
        """Largest exact mean reward so far; for rewards other than "outcome", minus the regret."""
        rewards = self.log["results"] if self._outcome else [-lost for lost in self.log["regret"]]
        return max(rewards, default=-np.inf)

    def _on_rollout_start(self) -> None:
        # Only here is the state of training consistent: the last update is complete, and no step
        # of the next rollout has been taken.
        due = self._is_due()
        if not self.log["timesteps"]:
            self._save()  # a run that has written a model can be resumed, whenever it is killed
        if due:
            self._log_sample() if self._is_sampled else self.evaluate()
        if self.stop:
            self._save()
        elif due:
            self._save_again()
        if self.stop:
            self.interrupted_at = self.num_timesteps

    def _is_due(self) -> bool:
        last = self.log["timesteps"][-1] if self.log["timesteps"] else -self.interval
        if self._due is not None:  # the log of a resumed run may have this score
            return self._due(self.num_timesteps) and last != self.num_timesteps
        return bool(self.num_timesteps // self.interval > last // self.interval)

    def _save(self) -> None:
        if self._record is not None:
            begun = time.monotonic()
            self._record.save()
            self._saved = time.monotonic()
            self._saving = self._saved - begun

    def _save_again(self) -> None:
        """Save a checkpoint, unless checkpoints take more than their share of the time."""
        if self._saving <= SAVING * (time.monotonic() - self._saved):
            self._save()

    def _on_step(self) -> bool:
        return self.interrupted_at is None and not self._reached

    def more(self) -> dict[str, float]:
        """Return further numbers to log with a score."""
        return {}

    def evaluate(self) -> Score:
        """Score the model now, log the score, and save the model if it is the best so far."""
        begun, name = time.monotonic(), type(self.model).__name__
        policy: NetworkPolicy = ModelPolicy(self.model, self.task.game, Reading(masked=self.masked))
        if self._is_sampled:  # scored as its certificate holds it, once
            policy, name = policy.in_fixed_point(self.task.game), f"{name} in fixed point"
        result = score(policy, self.task, masked=self.masked, name=name)
        _ = result.moves  # computed now, as its time is that of scoring
        self.scored += 1
        self.scoring += time.monotonic() - begun
        self._log(result)
        return result

    def _log_sample(self) -> None:
        """Log an estimate from sample games, where an exact score takes minutes."""
        begun = time.monotonic()
        policy = ModelPolicy(self.model, self.task.game, Reading(masked=self.masked))
        result = sample_score(policy, self.task, (self.model.seed or 0, self.num_timesteps))
        self.scoring += time.monotonic() - begun
        self.scored += 1
        self._log(result)

    def _log(self, result: Score | SampleScore) -> None:
        best = result.value > max(self.log["results"], default=-np.inf)
        moves = result.moves
        seconds = time.monotonic() - self._started
        row = (self.num_timesteps, result.value, moves, result.regret, result.normalized, seconds)
        more = self.more()
        if self._is_sampled:
            more[MARGIN] = getattr(result, "margin", 0.0)
        for name, number in {**dict(zip(LOG, row, strict=True)), **more}.items():
            self.log.setdefault(name, []).append(number)
        kind = "exact" if isinstance(result, Score) else "sample"
        for name in LOGGED:
            self.logger.record(f"{kind}/{name}", getattr(result, name))
        for name, number in more.items():
            self.logger.record(f"{kind}/{name}", number)
        self.logger.dump(self.num_timesteps)
        if self._record is not None:
            self._record.keep(best)
        if self.on_score is not None:
            self.on_score(self.num_timesteps, result)
        enough = self.stop_at is not None and result.normalized >= self.stop_at
        self._reached = enough or (best and not self._on_event())
