"""A search for another size of the game, or another number as keyword, that a record fits."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...baselines import Task
from ...core import Game, InputError
from ...core.sizes import cost_of
from ..records import Rollout, Transitions
from .catalogue import follows
from .seen import Seen
from .shifts import Undone
from .steps import Steps

#: Small numbers are all tried, larger ones in steps of ten.
ALL, STEP = 12, 10
#: Largest number of states in a game that is tried.
STATES = 2**15


def other_size(record: Transitions | Rollout, task: Task) -> Undone | None:
    """Try other numbers for one keyword of the game, and name the first that the record fits.

    Args:
        record: whose observations are integers.
        task: the task of the environment, which the record does not fit.
    """
    for other in _tasks(task):
        try:
            steps = Steps.of(record, other, Seen(other, None))
        except InputError:  # other components, or fewer actions
            continue
        if (steps.states >= 0).all() and follows(steps):
            return Undone("wrong-task", f"the steps fit {other.words}", steps)
    return None


def _tasks(task: Task) -> Iterator[Task]:
    """List tasks that differ in one number, small games first, with the same opponents by name.

    Games that estimate their size are tried alone: others may take any time to be built.
    """
    game = task.game
    if game.cost is None or not all(isinstance(opponent, str) for opponent in task.opponents):
        return
    for name, number in sorted(_numbers(game), key=lambda change: _states(game, *change)):
        if _states(game, name, number) > STATES:
            return
        try:
            yield Task(type(game)(**{**game.keywords, name: number}), task.seat, task.opponents)
        except (InputError, TypeError, ValueError):  # the number, the seat or an opponent
            continue


def _numbers(game: Game) -> Iterator[tuple[str, int]]:
    """List other numbers for each keyword that is one."""
    for name, value in game.keywords.items():
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            largest = max(2 * int(value), 100)
            for number in (*range(1, ALL + 1), *range(ALL - ALL % STEP + STEP, largest + 1, STEP)):
                if number != value:
                    yield name, number


def _states(game: Game, name: str, number: int) -> float:
    """Estimate the number of states of a game with another keyword."""
    changed: dict[str, Any] = {name: number}
    return cost_of(game, False, **changed).states
