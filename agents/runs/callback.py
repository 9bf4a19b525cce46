"""Exact evaluation during training: learning curves without evaluation noise.

In games where an exact score takes minutes, scores before the end are estimated from sample games.
Each sample game yields the sum of the exact regrets of its moves. By the performance-difference
identity the mean of these sums estimates the agent's regret. Its standard deviation is much smaller
than that of the payoffs, since the sums leave out the luck of the dice.
"""

import time
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch as th
from stable_baselines3.common.callbacks import BaseCallback

from ... import baselines
from ...baselines import NetworkPolicy, Reading, Score, Task
from ...core import at_least, make_folder, write_file
from ...envs import Engine
from ..algorithms import ALGORITHMS
from ..learners.adapter import ModelPolicy
from .config import TrainConfig
from .folders import LOG, MARGIN, SELF_PLAY
from .run import Log, Run

#: By default the exact scores of a run together evaluate this number of states, in about a minute.
STATES_SCORED = 2**25
#: Largest number of scores in a run by default.
SCORES = 40
#: Largest share of a run's time that checkpoints take after the first: a replay buffer is large.
SAVING = 0.05
#: Number of sample games in an estimated score.
GAMES = 2048
#: A normal variable is at least this many standard deviations from its mean in 5 % of cases.
_WIDE = 1.96


class SampleScore(NamedTuple):
    """An estimate of the score of an agent, by the names of the figures in ``Score``."""

    value: float
    regret: float
    normalized: float
    margin: float  # half the width of the 95 % confidence interval of value and regret
    moves: float


#: A function of the number of steps and the score at that step.
OnScore: TypeAlias = Callable[[int, Score | SampleScore], None]


def sample_score(policy: ModelPolicy, task: Task, seed: tuple[int, ...]) -> SampleScore:
    """Estimate the score of a policy from ``GAMES`` games, with seeds of the random generator."""
    engine, rng = Engine(task, GAMES, "regret"), np.random.default_rng(seed)
    lanes = np.arange(GAMES)
    engine.lanes.start(lanes, rng)
    lost, moves = np.zeros(GAMES), 0
    while len(lanes):
        states = engine.lanes.states()[lanes]
        seen = task.game.observe(states, task.seat)
        played = engine.step(lanes, policy(seen, task.game.mask(states)), rng)
        lost[lanes] -= played.rewards
        moves += len(lanes)
        lanes = lanes[~played.over]
    optimum, random = float(baselines.solve(task).value), baselines.random_value(task)
    value, margin = optimum - float(lost.mean()), _WIDE * float(lost.std(ddof=1)) / sqrt(GAMES)
    normalized = (value - random) / (optimum - random) if optimum > random else 1.0
    return SampleScore(value, optimum - value, normalized, margin, moves / GAMES)


class ExactEvalCallback(BaseCallback):
    """Scores the deterministic policy exactly, over every state, at regular intervals of training.

    In games with too many states for arrays an exact score takes minutes. There the policy is
    scored exactly at the end of training, and before by sample games (``SampleScore``).

    Args:
        task: the task on which the agent is scored, or an environment of that task.
        interval: agent moves between scores.
        folder: folder for ``evaluations.npz`` and ``best_model.zip``; None writes no file.
        stop_at: normalised score at which training stops.
        on_score: called with (steps, score) after every score.
        masked: whether the scored policy must keep to the legal actions; pass False for an agent
            that trains and plays without masks.

    Attributes:
        log: lists by the names in ``LOG``; seconds are those of training and scoring so far.
    """

    def __init__(
        self,
        task: Any,
        interval: int,
        folder: Path | str | None = None,
        stop_at: float | None = None,
        on_score: OnScore | None = None,
        masked: bool = True,
    ) -> None:
        super().__init__()
        self.task = baselines.as_task(task)
        self.masked = masked
        self._is_sampled = baselines.is_toured(self.task)
        self.interval = at_least("interval", interval, 1)
        self.folder = None if folder is None else Path(folder)
        self.stop_at = stop_at
        self.on_score = on_score
        self.log: Log = {name: [] for name in LOG}
        self._started, self._reached = time.monotonic(), False

    def _on_training_start(self) -> None:
        if self.folder is not None:
            make_folder(self.folder)
        if self._is_sampled:  # a model that cannot be scored at the end is refused now
            ModelPolicy(self.model, self.task.game).in_fixed_point(self.task.game)
        self._started = time.monotonic() - sum(self.log["seconds"][-1:])

    def _on_rollout_start(self) -> None:
        # Only here is the state of training consistent: the last update is complete, and no step
        # of the next rollout has been taken.
        if self._is_due() and not self._is_sampled:
            self.evaluate()
        elif self._is_due():
            policy = ModelPolicy(self.model, self.task.game, Reading(masked=self.masked))
            self._log(sample_score(policy, self.task, (self.model.seed or 0, self.num_timesteps)))

    def _is_due(self) -> bool:
        last = self.log["timesteps"][-1] if self.log["timesteps"] else -self.interval
        return bool(self.num_timesteps // self.interval > last // self.interval)

    def _on_step(self) -> bool:
        return not self._reached

    def more(self) -> dict[str, float]:
        """Return further numbers to log with a score."""
        return {}

    def evaluate(self) -> Score:
        """Score the model now, log the score, and save the model if it is the best so far."""
        name = type(self.model).__name__
        policy: NetworkPolicy = ModelPolicy(self.model, self.task.game, Reading(masked=self.masked))
        if self._is_sampled:  # scored as its certificate holds it, once
            policy, name = policy.in_fixed_point(self.task.game), f"{name} in fixed point"
        result = baselines.score(policy, self.task, masked=self.masked, name=name)
        self._log(result)
        return result

    def _log(self, result: Score | SampleScore) -> None:
        best = result.value > max(self.log["results"], default=-np.inf)
        row = (self.num_timesteps, result.value, result.moves, result.regret, result.normalized)
        more = self.more()
        if self._is_sampled:
            more[MARGIN] = getattr(result, "margin", 0.0)
        seconds = time.monotonic() - self._started
        numbers = dict(zip(LOG, (*row, seconds), strict=True)) | more
        for name, number in numbers.items():
            self.log.setdefault(name, []).append(number)
        kind = "exact" if isinstance(result, Score) else "sample"
        logged = {name: getattr(result, name) for name in baselines.LOGGED}
        for name, number in (logged | more).items():
            self.logger.record(f"{kind}/{name}", number)
        self.logger.dump(self.num_timesteps)
        if self.folder is not None:
            self._write(self.folder, best)
        if self.on_score is not None:
            self.on_score(self.num_timesteps, result)
        self._reached = self.stop_at is not None and result.normalized >= self.stop_at

    def _write(self, folder: Path, best: bool) -> None:
        """Write the scores; write the model if it is the best so far."""
        if best:
            write_file(folder / "best_model.zip", self.model.save)
        columns: dict[str, Any] = {name: np.array(numbers) for name, numbers in self.log.items()}
        for name in ("results", "ep_lengths"):  # (evaluation, episode), as in EvalCallback
            columns[name] = columns[name][:, None]
        write_file(folder / "evaluations.npz", lambda file: np.savez(file, **columns))


def interval_of(config: TrainConfig, task: Task) -> int:
    """Return the number of moves between scores, larger where exact scores take long."""
    most = SCORES if baselines.is_toured(task) else STATES_SCORED // task.game.num_states
    scores = min(SCORES, max(1, most))
    return config.eval_interval or max(1, config.total_steps // scores)


class RunCallback(ExactEvalCallback):
    """Scores a training run: at regular intervals, or at the marks of its track; saves the run.

    A run of self-play logs the exploitability of the deterministic policy, too, as ``SELF_PLAY``.
    A checkpoint is saved with the first score, and then with each score before which training went
    on for 1 / ``SAVING`` times as long as the last checkpoint took.

    Where rollouts differ in the number of moves, one is seen to have passed a mark of a track only
    at its end. The policy is still that of the last update, so it is scored then, with the moves
    before the rollout. A rollout that passes the end of the track ends the run: nothing is learned
    from it, and its moves are not counted.
    """

    def __init__(self, run: Run, on_score: OnScore) -> None:
        interval = interval_of(run.config, run.task)
        super().__init__(run.task, interval, run.folder, run.config.stop_at, on_score)
        self.log, self._run, self._track = run.log, run, run.config.rules
        self.stop = False  # set it to True to save and stop training before the next rollout
        self.interrupted_at: int | None = None  # the number of steps at which ``stop`` did so
        self._saved, self._saving = time.monotonic(), 0.0
        self._late_marks = self._track.marks if self._track and run.config.rollouts_vary else ()
        self._before, self._unsaved = 0, False  # moves before the rollout
        self._draws_first = ALGORITHMS[run.config.algorithm].learns_from == "games"
        self._random = th.get_rng_state()  # of PyTorch, before it drew the policies of the rollout

    def _on_training_start(self) -> None:
        super()._on_training_start()
        self._random = th.get_rng_state()

    def _on_rollout_start(self) -> None:
        self._before = self.num_timesteps
        due = self._is_due() or self._unsaved
        if not self.log["timesteps"]:
            self._save()  # a run that has written a model can be resumed, whenever it is killed
        super()._on_rollout_start()
        spent = time.monotonic() - self._saved
        if self.stop or (due and self._saving <= SAVING * spent):
            self._save()
        self._unsaved = False
        if self.stop:
            self.interrupted_at = self.num_timesteps

    def _is_due(self) -> bool:
        if self._track is None:
            return super()._is_due()
        if self._late_marks or self.log["timesteps"][-1:] == [self.num_timesteps]:
            return False  # the log of a resumed run may have this score
        return self._track.is_due(self.num_timesteps, self._run.config.hyperparameters.rollout)

    def _save(self) -> None:
        begun = time.monotonic()
        self._run.save(self._random if self._draws_first else None)
        self._saved = time.monotonic()
        self._saving = self._saved - begun

    def _on_step(self) -> bool:
        if self._late_marks and self.num_timesteps > self._late_marks[-1]:
            self.model.num_timesteps = self.num_timesteps = self._before
            return False
        return super()._on_step() and self.interrupted_at is None

    def _on_rollout_end(self) -> None:
        if any(self._before <= mark < self.num_timesteps for mark in self._late_marks):
            moves, self.num_timesteps = self.num_timesteps, self._before
            self.evaluate()
            self.num_timesteps, self._unsaved = moves, True
        self._random = th.get_rng_state()

    def more(self) -> dict[str, float]:
        """Compute the exploitability of the present policy in a run of self-play."""
        if not self._run.config.self_play:
            return {}
        found = baselines.score_self_play(ModelPolicy(self.model, self.task.game), self.task)
        numbers = found.exploitability, found.normalized, *found.guaranteed
        return dict(zip(SELF_PLAY, numbers, strict=True))

    def _write(self, folder: Path, best: bool) -> None:
        """Write the scores, and the best model so far: on a track only the last model counts."""
        super()._write(folder, best and self._track is None)
