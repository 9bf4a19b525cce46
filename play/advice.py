"""The legal moves of a position, what each of them is worth, and its grade.

A loss is a share of a win, or of twice the standard deviation of the payoff in games that pay
points: a fair game for a win has the standard deviation 1/2. The names are those of chess and
backgammon programs. ``THRESHOLDS`` were chosen from the exact distribution of losses of all moves
that are not best, at the decisions that optimal play meets, as often as it meets them:

    game            good   inaccuracy   mistake   blunder
    Greed           0.10         0.30      0.13      0.48
    LowestScore     0.05         0.15      0.28      0.52
    ShutTheBox      0.04         0.07      0.14      0.76
    421 in a set    0.02         0.08      0.31      0.60
    421             0.02         0.06      0.24      0.69

So at least half of what one can do wrong is a blunder; the finer grades are for moves between which
a good player hesitates.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..baselines import Task, score, solve
from ..baselines.cache import cached
from ..core import Game, IntArray
from ..core.presentation import present
from ..core.words import to_you

BEST, GOOD = "best", "good"
#: The smallest loss of each grade, as a share.
THRESHOLDS = {"inaccuracy": 0.01, "mistake": 0.05, "blunder": 0.15}
TIE = 1e-9  # smaller differences of values are taken as rounding errors


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

    @property
    def grade(self) -> str:
        """The grade of the move by what it gives away."""
        if self.cost < TIE:
            return BEST
        reached = [name for name, least in THRESHOLDS.items() if self.share >= least]
        return reached[-1] if reached else GOOD


def is_decision(advice: Sequence[Advice]) -> bool:
    """Say whether the choice matters: there are moves that give something away."""
    return any(one.cost >= TIE for one in advice)


def made_of(advice: Sequence[Advice], action: int) -> Advice:
    """Return the advice on a move."""
    return next(one for one in advice if one.choice.action == action)


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


def advice_at(task: Task, state: int) -> list[Advice]:
    """Return the value of every legal move in a state, in the order of ``choices_at``."""
    values = solve(task).action_values(seen_at(task.game, task.seat, state))
    costs = values.max() - values
    shares = costs / spread_of(task)
    return [
        Advice(choice, *(float(figure[choice.action]) for figure in (values, costs, shares)))
        for choice in choices_at(task.game, task.seat, state)
    ]


@cached
def spread_of(task: Task) -> float:
    """Return what a loss is measured by: 1 in games for a win, else twice the deviation."""
    if task.game.payoff_range == (0.0, 1.0):
        return 1.0
    known = present(task.game).deviation
    return 2 * (known or score("optimal", task).deviation) or 1.0
