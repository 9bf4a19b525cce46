"""The legal moves of a position, and what each of them is worth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..baselines import Task, score, solve
from ..baselines.cache import cached
from ..core import FloatArray, Game, IntArray
from ..core.presentation import present
from ..core.words import to_you


@dataclass(frozen=True)
class Choice:
    """A legal move.

    Attributes:
        action: its number.
        words: the move in words.
        parts: numbers of the pieces on the table that the move takes.
    """

    action: int
    words: str
    parts: tuple[int, ...]


@dataclass(frozen=True)
class Advice:
    """The value of a legal move.

    Attributes:
        choice: the move.
        value: expected payoff if play is optimal afterwards.
        cost: the value of the best move minus this value; 0 if the move is optimal.
        share: the cost as a share of a win, or of the spread of the payoffs (``spread_of``).
    """

    choice: Choice
    value: float
    cost: float
    share: float


def seen_at(game: Game, seat: int, state: int) -> IntArray:
    """Return the observation of a seat in a state, shape (component,)."""
    seen: IntArray = game.observe(np.array([state]), seat)[0]
    return seen


def choices_at(game: Game, seat: int, state: int) -> list[Choice]:
    """Return the legal moves of a seat in a state."""
    seen, shown = seen_at(game, seat, state), present(game)
    return [
        Choice(action, to_you(shown.describe_move(seen, action)), shown.parts(seen, action))
        for action in np.flatnonzero(game.mask(np.array([state]))[0]).tolist()
    ]


def values_at(task: Task, state: int) -> FloatArray:
    """Return the value of each action in a state, shape (action,); -inf if illegal."""
    values: FloatArray = solve(task).action_values(seen_at(task.game, task.seat, state))
    return values


def advice_at(task: Task, state: int, values: FloatArray | None = None) -> list[Advice]:
    """Return the value of every legal move in a state, in the order of ``choices_at``.

    Args:
        task: the player's decision process.
        state: the state.
        values: as ``values_at`` returns them, if they are known.
    """
    known = values_at(task, state) if values is None else values
    choices = choices_at(task.game, task.seat, state)
    worth = [float(known[choice.action]) for choice in choices]
    return advice_of(choices, worth, spread_of(task))


def advice_of(choices: Sequence[Choice], worth: Sequence[float], spread: float) -> list[Advice]:
    """Compare the values of moves with the best one."""
    best = max(worth)
    return [
        Advice(choice, value, best - value, (best - value) / spread)
        for choice, value in zip(choices, worth, strict=True)
    ]


@cached
def spread_of(task: Task) -> float:
    """Return what a loss is measured by: 1 in games for a win, else twice the deviation."""
    if task.game.payoff_range == (0.0, 1.0):
        return 1.0
    known = present(task.game).deviation
    return 2 * (known or score("optimal", task).deviation) or 1.0
