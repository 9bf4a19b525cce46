"""One turn backward or forward in many contexts side by side, with a ``decide`` for each state.

A turn has 756 states in each context and 223 actions in each state. So a sweep takes a few hundred
contexts at a time, and calls ``decide`` with pieces of their states.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...core.arithmetic import FLOATS, Arithmetic
from ...core.types import Array, BoolArray, Decide, FloatArray, Fold, IntArray, Stage
from .card import BOXES, has_box
from .dice import DICE, FACES, FIRSTS, KEEPS, ROLLS, dice
from .game import MORE, Yahtzee
from .turn import Later, Turns, mean_of_rolls

#: Largest number of entries in an array (state, action) that ``decide`` gets at once.
ASKED = 2**20


def swept_back(
    game: Yahtzee,
    columns: IntArray,
    later: Later,
    decide: Decide | Fold,
    arithmetic: Arithmetic,
) -> tuple[Array, Array]:
    """Compute the values of a turn in some contexts, from the last decision to the first roll.

    Args:
        game: the rules.
        columns: the contexts, shape (context,).
        later: the values of the contexts after the turn.
        decide: turns action values into values of states (see ``types.Decide``), or a fold that
            does so alike in all states.
        arithmetic: the arithmetic of the values.

    Returns:
        Values by the number of rolls left, shape (left, dice, context), and before the first roll,
        shape (context,), floats or fractions.
    """
    if isinstance(decide, str):
        return _by_fold(game, columns, later, decide)
    legal, worth = Turns(game.contexts, columns[:, None], later).boxes(np.arange(ROLLS))
    values = arithmetic.zeros(MORE + 1, ROLLS, len(columns))
    means = arithmetic.zeros(KEEPS, len(columns))
    for left in range(MORE + 1):
        numbers, scale = arithmetic.whole(np.concatenate([worth.ravel(), means.ravel()]))
        whole = numbers[: worth.size].reshape(worth.shape), numbers[worth.size :]
        asked = _Asked(game, columns, left, legal, scale, arithmetic)
        found = asked.backward(decide, whole[0], whole[1].reshape(means.shape))
        values[left] = arithmetic.unscaled(found, scale)
        means = mean_of_rolls(values[left])
    return values, means[0]


def _by_fold(
    game: Yahtzee, columns: IntArray, later: Later, fold: Fold
) -> tuple[FloatArray, FloatArray]:
    """Sweep a turn by a fold; mean squares about optimal values follow the optimal actions."""
    if fold == "mean" or later.centres is None:
        values, _ = Turns(game.contexts, columns, later).folded(fold)
        return values, mean_of_rolls(values[-1])[0]
    best = Turns(game.contexts, columns, Later(later.centres))
    chosen = best.best_choices(FLOATS.tie(game))
    return Turns(game.contexts, columns, later).followed(chosen)


class _Asked(NamedTuple):
    """The states of some contexts with one number of rolls left, for calls of ``decide``.

    Attributes:
        game: the rules.
        columns: the contexts, shape (context,).
        left: the number of rolls left.
        boxes: whether a box may be taken, bool, shape (context, dice, box).
        scale: the factor by which all values are multiplied; 1 in floats.
        arithmetic: the arithmetic of values or probability mass.
    """

    game: Yahtzee
    columns: IntArray
    left: int
    boxes: BoolArray
    scale: int
    arithmetic: Arithmetic

    def _pieces(self) -> Iterator[tuple[slice, Stage]]:
        """Yield pieces of the contexts: their slice, and their states as a stage."""
        step = max(1, ASKED // (ROLLS * self.game.num_actions))
        for first in range(0, len(self.columns), step):
            piece = slice(first, first + step)
            boxes = self.boxes[piece]
            mask = np.zeros((*boxes.shape[:2], self.game.num_actions), dtype=bool)
            mask[..., KEEPS:] = boxes
            if self.left:
                mask[..., :KEEPS] = dice().parts
            states = self.game.states_in(self.columns[piece], self.left)
            scale = np.full(len(states), self.scale, self.arithmetic.dtype)
            yield piece, Stage(0, states, scale, mask.reshape(len(states), -1))

    def backward(self, decide: Decide, worth: Array, means: Array) -> Array:
        """Return the values of the states, shape (dice, context).

        Args:
            decide: turns action values into values of states.
            worth: values of taking boxes, shape (context, dice, box).
            means: values of keeping multisets, shape (kept, context); not used if no roll is left.
        """
        values = self.arithmetic.zeros(ROLLS, len(self.columns))
        for piece, stage in self._pieces():
            own = worth[piece]
            expected = self.arithmetic.zeros(*own.shape[:2], self.game.num_actions)
            expected[..., KEEPS:] = own
            if self.left:
                expected[..., :KEEPS] = means[:, piece].T[:, None]
            decided = decide(stage, expected.reshape(len(stage.states), -1))
            values[:, piece] = decided.reshape(own.shape[:2]).T
        return values

    def forward(self, decide: Decide, met: Array) -> Iterator[tuple[slice, Array]]:
        """Yield the mass of the actions, piece by piece, shape (context, dice, action).

        Args:
            decide: distributes the mass of states over their actions.
            met: probability mass of the states, shape (dice, context).
        """
        for piece, stage in self._pieces():
            weights = decide(stage, met[:, piece].T.ravel())
            yield piece, weights.reshape(-1, ROLLS, self.game.num_actions)


class Flow(NamedTuple):
    """The probability mass of a turn in some contexts, from a forward sweep.

    Attributes:
        met: mass of each state, shape (rolls left, dice, context).
        taken: mass that takes each box, shape (context, dice, box).
    """

    met: Array
    taken: Array


def swept_forward(
    game: Yahtzee,
    columns: IntArray,
    entering: Array,
    begun: Array,
    decide: Decide,
    arithmetic: Arithmetic,
) -> Flow:
    """Follow probability mass through a turn, from the first roll to the boxes.

    Args:
        game: the rules.
        columns: the contexts, shape (context,).
        entering: mass before the first roll, shape (context,).
        begun: mass that starts in a state inside the turn, shape (rolls left, dice, context).
        decide: distributes the mass of states over their actions (see ``types.Decide``).
        arithmetic: the arithmetic of the mass.
    """
    met = begun.copy()
    met[MORE] += arithmetic.laws(game)[DICE][:, None] * entering
    allowed = game.contexts.allowed(columns[:, None], np.arange(ROLLS))
    boxes = has_box(allowed[..., None], np.arange(len(BOXES)))
    taken = arithmetic.zeros(*boxes.shape)
    for left in range(MORE, -1, -1):
        kept = arithmetic.zeros(KEEPS, len(columns))
        asked = _Asked(game, columns, left, boxes, 1, arithmetic)
        for piece, weights in asked.forward(decide, met[left]):
            taken[piece] += weights[..., KEEPS:]
            kept[:, piece] = weights[..., :KEEPS].sum(axis=1).T
        if left:
            met[left - 1] += rolled(kept, arithmetic)
    return Flow(met, taken)


def rolled(kept: Array, arithmetic: Arithmetic) -> Array:
    """Return the mass of each roll, (dice, context), from that of each kept multiset, same axes."""
    mass = arithmetic.zeros(KEEPS + ROLLS, kept.shape[1])
    mass[:KEEPS] = kept
    for size in range(DICE):
        own = slice(FIRSTS[size], FIRSTS[size + 1])
        share = arithmetic.divided(mass[own], FACES)
        for face in range(FACES):
            mass[dice().more[own, face]] += share
    return mass[KEEPS:]
