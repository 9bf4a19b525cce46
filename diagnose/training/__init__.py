"""A callback of stable-baselines3 that writes exact figures of training into its logger."""

import contextlib
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch as th
from stable_baselines3.common.buffers import ReplayBuffer, RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import obs_as_tensor
from stable_baselines3.common.vec_env import VecNormalize

from ...core import InputError, at_least, make_folder
from ...core.words import plural
from ..audits import audit, view_of
from ..figures import unvisited
from ..records import Rollout, Transitions, each_array
from ..report import Report
from .model import COLUMNS, NAME, Columns, Diagnosed, Diary, states_of_games, told_missing

#: First guesses of the seconds of each part of a diagnosis: for any game, each of its states, each
#: of the agent's. "moves" lists the moves of the game, once; then their columns are among the
#: figures.
GUESSES = {"audit": (0.25, 3e-6, 4e-5), "moves": (0.2, 3e-5, 2e-4), "figures": (0.1, 1e-6, 5e-5)}
#: Approximate number of steps in one audit, which takes whole lanes or rows of a buffer.
AUDITED = 2048
#: Smallest number of steps in an audit: fewer steps fit too many known mistakes.
LEAST = 64
#: A game that a limit has cut: row and lane in the rollout, and the last observation.
Cut: TypeAlias = tuple[int, int, Any]


class FindingWarning(UserWarning):
    """An audit of a buffer has found a mistake."""


class StoppedWarning(UserWarning):
    """A diagnosis has ended before its training."""


@dataclass
class Timed:
    """One part of a diagnosis, and its time in seconds."""

    compute: Callable[[], Columns]
    cost: float  # of its latest turn; a guess before the first one
    spent: float = 0.0  # in all its turns together
    due: bool = False  # whether it waits for its turn


Hook: TypeAlias = Callable[["DiagnoseCallback"], Any]


def _going_on(hook: Hook) -> Hook:
    """Return a method that ends the diagnosis where an error would end the training."""

    @wraps(hook)
    def method(self: "DiagnoseCallback") -> bool:
        if self.stopped is None:
            try:
                hook(self)
            except FindingWarning:  # which the user has made an error
                raise
            except Exception as error:
                self._stop(error)
        return True

    return method


class DiagnoseCallback(BaseCallback):
    """Computes exact figures of a model while it trains, and audits its buffer.

    It is for PPO, MaskablePPO, A2C, TRPO, DQN, QRDQN and their subclasses:
    ``model.learn(100_000, callback=DiagnoseCallback())``. The figures (``COLUMNS``) go into the
    logger as ``diagnose/...``, hence to TensorBoard, CSV and the standard output. It draws no
    random number: training is the same with it and without it. It never ends a training: of a model
    or an environment that cannot be diagnosed it says why, in a warning and in ``stopped``.

    Args:
        env: an environment of this project as the model trains in it; by default the training
            environment, which must be in this process.
        every: number of updates between two rows of figures, and between two audits.
        audits: number of audits at the beginning that do not wait for ``every`` updates.
        budget: largest share of the training time that the diagnosis may take; 1 is no limit. A
            part of the diagnosis that would exceed it waits. Before its first turn the time of a
            part is a guess.
        folder: folder for ``diagnosis.npz`` and ``diagnosis.csv``; None writes no file.
        clock: returns the time in seconds.

    Attributes:
        diary: the rows of figures so far, why others are missing, and the findings of audits.
        stopped: why the diagnosis has ended before the training; None if it has not.

    Raises:
        InputError: if an argument is out of range.
    """

    def __init__(
        self,
        env: Any = None,
        every: int = 10,
        audits: int = 3,
        budget: float = 0.1,
        folder: Path | str | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__()
        self._env = env
        self.every, self.audits = at_least("every", every, 1), at_least("audits", audits, 0)
        if not (isinstance(budget, int | float) and 0 < budget <= 1):
            raise InputError(f"budget must be above 0 and at most 1, got {budget}")
        self.budget = budget
        self.folder = None if folder is None else Path(folder)
        self.diary = Diary()
        self.stopped: str | None = None
        self._clock = clock
        self._parts: dict[str, Timed] = {}
        self._updates, self._audited = 0, 0
        self._noted = 0.0  # seconds for the states that training visits
        self._cuts: list[Cut] = []  # of the present rollout

    def _on_training_start(self) -> None:
        self.stopped = None
        self._begin()

    def _stop(self, error: Exception) -> None:
        """End the diagnosis, and say why."""
        said = " ".join(str(error).split())
        self.stopped = said if isinstance(error, InputError) else f"{type(error).__name__}: {said}"
        for name in COLUMNS:
            if name not in self.diary.known:
                self.diary.missing[name] = self.stopped
        words = f"the diagnosis ends and the training goes on: {self.stopped}"
        warnings.warn(words, StoppedWarning, stacklevel=3)

    @_going_on
    def _begin(self) -> None:
        begun = self._clock()
        self._diagnosed = Diagnosed(self.model, self._env)
        game, agent = self._diagnosed.task.game, len(self._diagnosed.states)
        if self.folder is not None:
            make_folder(self.folder)
            if self.num_timesteps and (self.folder / NAME).is_file():  # a run that is resumed
                self.diary, done = Diary.read(self.folder), self.num_timesteps
                self.diary.rows = [row for row in self.diary.rows if row["timesteps"] <= done]
        self._started = begun
        turns = {"audit": self._audit, "moves": self._list_moves, "figures": self._figures}
        self._parts = {
            name: Timed(turns[name], always + whole * game.num_states + own * agent)
            for name, (always, whole, own) in GUESSES.items()
            if name != "moves" or self._diagnosed.needs_moves
        }
        if self.diary.visited is None:
            self.diary.visited = np.zeros(game.num_states, dtype=bool)
        self._note_visits()

    def _on_rollout_start(self) -> None:
        self._cuts = []

    def _on_step(self) -> bool:
        self._note()
        return True

    @_going_on
    def _note(self) -> None:
        begun = self._clock()
        self._note_visits()
        if self._diagnosed.is_actor:
            self._note_cuts()
        self._noted += self._clock() - begun

    def _note_visits(self) -> None:
        """Mark the states in which the agent is to move."""
        states = states_of_games(self.training_env, self._diagnosed.task.game)
        if states is None:
            self.diary.visited = None
        elif self.diary.visited is not None:
            self.diary.visited[states] = True

    def _note_cuts(self) -> None:
        """Keep the last observations of games that a limit cuts: the buffer has none of them."""
        for lane in np.flatnonzero(self.locals["dones"]).tolist():
            told = self.locals["infos"][lane]
            if told.get("TimeLimit.truncated"):
                row = self.model.rollout_buffer.pos  # type: ignore[attr-defined]
                self._cuts.append((row, lane, told["terminal_observation"]))

    @_going_on
    def _on_rollout_end(self) -> None:
        first = self._updates % self.every == 0
        self._updates += 1
        for name, part in self._parts.items():
            part.due |= first or (name == "audit" and self._audited < self.audits)
            part.due &= not (name == "moves" and part.spent)
        columns, done = Columns(), False
        for part in self._parts.values():
            if part.due and self._fits(part):
                begun, done = self._clock(), True
                found = part.compute()
                columns.numbers |= found.numbers
                columns.missing |= found.missing
                part.cost, part.due = self._clock() - begun, False
                part.spent += part.cost
        if done:
            self._keep(columns)

    def _fits(self, part: Timed) -> bool:
        """Return whether shares stay within limits if a part takes as long as the last time.

        After its first turn a part leaves room to the others, and to the moves until their turn.
        """
        most = self.budget * (self._clock() - self._started + part.cost)
        alone = most / (3 if not self._listed else 2)
        within = self._spent + part.cost <= most
        return self.budget == 1 or (within and (not part.spent or part.spent + part.cost <= alone))

    @property
    def _listed(self) -> bool:
        """Whether the moves of the game have been listed, or are not needed."""
        return "moves" not in self._parts or self._parts["moves"].spent > 0

    @property
    def _spent(self) -> float:
        return self._noted + sum(part.spent for part in self._parts.values())

    @property
    def share(self) -> float:
        """Share of the time of training that the diagnosis has taken so far."""
        return self._spent / (self._clock() - self._started) if self._spent else 0.0

    def _list_moves(self) -> Columns:
        with contextlib.suppress(InputError):  # which the columns of the moves will say
            self._diagnosed.moves()
        self._parts["figures"].due = True
        return Columns()

    def _figures(self) -> Columns:
        columns = self._diagnosed.figures(self._listed, in_training=True)
        visited = self.diary.visited
        if visited is None:
            columns.leave_out(("unvisited",), "the states of environments elsewhere are not known")
        else:
            columns.take(("unvisited",), lambda: (unvisited(self._diagnosed.env, visited),))
        return columns

    def _audit(self) -> Columns:
        """Audit the buffer; warn of each finding once."""
        columns = Columns()
        try:
            report = audit_buffer(self._diagnosed, self.locals, self._cuts)
        except InputError as error:
            columns.leave_out(("audit_findings",), str(error))
            return columns
        self._audited += 1
        columns.numbers["audit_findings"] = float(len(report.findings))
        known = {(found["check"], found["mistake"]) for found in self.diary.findings}
        for found in report.findings:
            if (found.check, found.mistake) in known:
                continue
            self.diary.findings.append({"timesteps": self.num_timesteps, **asdict(found)})
            name = f" [{found.mistake}]" if found.mistake else ""
            warnings.warn(
                f"audit after {self.num_timesteps:,} steps: {found.check}{name}: {found.count:,} "
                f"of {found.of:,} are wrong: {found.words}",
                FindingWarning,
                stacklevel=2,
            )
        return columns

    def _keep(self, columns: Columns) -> None:
        """Put the columns into the logger and the files."""
        begun = self._clock()
        row = {"timesteps": float(self.num_timesteps), **columns.numbers, "share": self.share}
        self.diary.add(row, columns.missing)
        for name in COLUMNS:
            if name in row and name != "timesteps":
                self.logger.record(f"diagnose/{name}", row[name])
        if self.folder is not None:
            self.diary.write(self.folder)
        self._parts["figures"].spent += self._clock() - begun

    @_going_on
    def _on_training_end(self) -> None:
        longest = max(part.cost for part in self._parts.values())
        reason = f"it would take more than the budget, up to {longest:.1f} s"
        for name in COLUMNS:
            if name not in self.diary.known:
                self.diary.missing.setdefault(name, reason)
        if self.folder is not None:
            self.diary.write(self.folder)

    def __str__(self) -> str:
        """Return the time of the diagnosis, and its missing columns with the reasons."""
        rows = len(self.diary.rows)
        if self.stopped is not None and not rows:
            return f"no diagnosis: {self.stopped}"
        took = f"{rows} {plural(rows, 'diagnosis', 'diagnoses')} took {self.share:.1%} of the time"
        return "\n".join([took, *told_missing({"": self.diary.missing})])


def audit_buffer(diagnosed: Diagnosed, seen: Mapping[str, Any], cuts: Sequence[Cut] = ()) -> Report:
    """Audit the latest steps in a model's buffer, before its update.

    ``seen`` has the local variables of the loop: ``new_obs`` and ``dones`` of the last step.
    """
    model = diagnosed.model
    buffer = getattr(model, "rollout_buffer", None) or getattr(model, "replay_buffer", None)
    if not isinstance(buffer, RolloutBuffer | ReplayBuffer) or (
        getattr(buffer, "optimize_memory_usage", False)
    ):
        raise InputError("the model has no rollout or replay buffer that keeps next observations")
    if (steps := buffer.size() * buffer.n_envs) < LEAST:
        raise InputError(f"an audit needs a buffer of {LEAST} steps, got {steps}")
    if isinstance(buffer, ReplayBuffer):
        return audit(diagnosed.env, _transitions(buffer))
    if isinstance(model.get_vec_normalize_env(), VecNormalize):
        raise InputError("the rollout buffer holds numbers that VecNormalize has changed")
    return _audit_rollout(diagnosed, buffer, seen, cuts)


def _audit_rollout(
    diagnosed: Diagnosed, buffer: Any, seen: Mapping[str, Any], cuts: Sequence[Cut]
) -> Report:
    model, names = diagnosed.model, ("values", "log_probs", "advantages", "returns")
    rows, lanes = buffer.rewards.shape
    part = np.s_[:, : min(lanes, max(1, AUDITED // rows))]

    def critic(observations: Any) -> Any:
        with th.no_grad():
            return model.policy.predict_values(obs_as_tensor(observations, model.device)).ravel()

    ends = np.concatenate([buffer.episode_starts[1:], np.asarray(seen["dones"])[None]])
    of_cuts: dict[str, Any] = {}
    if cuts:
        cut, final, values = np.zeros_like(ends), buffer.observations.copy(), np.zeros_like(ends)
        *places, last = zip(*cuts, strict=True)
        at = tuple(map(np.array, places))
        cut[at], final[at] = 1, np.reshape(last, final[at].shape)
        values[at], ends[at] = critic(final[at]).cpu(), 0
        of_cuts = {"truncated": cut, "final_observations": final, "final_values": values}
    rollout = Rollout(
        each_array(buffer.observations, lambda array: array[part]),
        buffer.actions[part],
        buffer.rewards[part],
        ends[part],
        last_values=critic(seen["new_obs"])[part[1]],
        gamma=model.gamma,
        gae_lambda=model.gae_lambda,
        **{name: getattr(buffer, name)[part] for name in names},
        **{name: array[part] for name, array in of_cuts.items()},
    )
    # A masked model as it is, so that a softmax over all actions can be named.
    view = view_of(diagnosed.env, rollout)
    policy = model if diagnosed.masked else diagnosed.player(env=view.problem)
    return audit(diagnosed.env, rollout, policy, critic)


def _transitions(buffer: ReplayBuffer) -> Transitions:
    """Return the newest rows of a replay buffer, each transition once."""
    filled = buffer.buffer_size if buffer.full else buffer.pos
    lanes = buffer.rewards.shape[1]
    rows = min(filled, max(1, AUDITED // lanes))
    newest = (buffer.pos - 1 - np.arange(rows)[::-1]) % buffer.buffer_size
    names = "observations", "actions", "rewards", "next_observations"
    arrays = {name: getattr(buffer, name) for name in names}
    arrays["terminated"] = buffer.dones * (1 - buffer.timeouts)

    def flat(array: Any) -> Any:
        return array[newest].reshape(rows * lanes, *array.shape[2:])

    return Transitions(**{name: each_array(array, flat) for name, array in arrays.items()})
