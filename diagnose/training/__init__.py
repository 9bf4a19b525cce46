"""A callback of stable-baselines3 that writes exact figures of training into its logger."""

import contextlib
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from ...core import InputError, at_least, make_folder
from ...core.words import plural
from ..figures import unvisited
from .model import COLUMNS, NAME, Columns, Diagnosed, Diary, states_of_games, told_missing

#: First guesses of the seconds of each part of a diagnosis: for any game, each of its states, each
#: of the agent's. "moves" lists the moves of the game, once; then their columns are among the
#: figures.
GUESSES = {"moves": (0.2, 3e-5, 2e-4), "figures": (0.1, 1e-6, 5e-5)}


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
            except Exception as error:
                self._stop(error)
        return True

    return method


class DiagnoseCallback(BaseCallback):
    """Computes exact figures of a model while it trains.

    It is for PPO, MaskablePPO, A2C, TRPO, DQN, QRDQN and their subclasses:
    ``model.learn(100_000, callback=DiagnoseCallback())``. The figures (``COLUMNS``) go into the
    logger as ``diagnose/...``, hence to TensorBoard, CSV and the standard output. It draws no
    random number: training is the same with it and without it. It never ends a training: of a model
    or an environment that cannot be diagnosed it says why, in a warning and in ``stopped``.

    Args:
        env: an environment of this project as the model trains in it; by default the training
            environment, which must be in this process.
        every: number of updates between two rows of figures.
        budget: largest share of the training time that the diagnosis may take; 1 is no limit. A
            part of the diagnosis that would exceed it waits. Before its first turn the time of a
            part is a guess.
        folder: folder for ``diagnosis.npz`` and ``diagnosis.csv``; None writes no file.
        clock: returns the time in seconds.

    Attributes:
        diary: the rows of figures so far, and why others are missing.
        stopped: why the diagnosis has ended before the training; None if it has not.

    Raises:
        InputError: if an argument is out of range.
    """

    def __init__(
        self,
        env: Any = None,
        every: int = 10,
        budget: float = 0.1,
        folder: Path | str | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__()
        self._env = env
        self.every = at_least("every", every, 1)
        if not (isinstance(budget, int | float) and 0 < budget <= 1):
            raise InputError(f"budget must be above 0 and at most 1, got {budget}")
        self.budget = budget
        self.folder = None if folder is None else Path(folder)
        self.diary = Diary()
        self.stopped: str | None = None
        self._clock = clock
        self._parts: dict[str, Timed] = {}
        self._updates = 0
        self._noted = 0.0  # seconds for the states that training visits

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
        turns = {"moves": self._list_moves, "figures": self._figures}
        self._parts = {
            name: Timed(turns[name], always + whole * game.num_states + own * agent)
            for name, (always, whole, own) in GUESSES.items()
            if name != "moves" or self._diagnosed.needs_moves
        }
        if self.diary.visited is None:
            self.diary.visited = np.zeros(game.num_states, dtype=bool)
        self._note_visits()

    @_going_on
    def _on_step(self) -> bool:
        begun = self._clock()
        self._note_visits()
        self._noted += self._clock() - begun
        return True

    def _note_visits(self) -> None:
        """Mark the states in which the agent is to move."""
        states = states_of_games(self.training_env, self._diagnosed.task.game)
        if states is None:
            self.diary.visited = None
        elif self.diary.visited is not None:
            self.diary.visited[states] = True

    @_going_on
    def _on_rollout_end(self) -> None:
        first = self._updates % self.every == 0
        self._updates += 1
        for name, part in self._parts.items():
            part.due |= first
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
