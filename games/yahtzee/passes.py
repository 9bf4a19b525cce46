"""One turn backward or forward in many contexts side by side, asked about state by state.

A turn has 756 states in each context and 223 actions in each state, so that contexts are swept a
few hundred at a time, and states are asked about in pieces.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...core.arithmetic import FLOATS, Arithmetic
from ...core.types import Array, BoolArray, Decide, FloatArray, Fold, IntArray, Stage
from .card import BOXES
from .choices import best_choices, followed_turn
from .contexts import has_box
from .dice import DICE, FACES, FIRSTS, KEEPS, ROLLS, dice
from .game import MORE, Yahtzee
from .turn import Later, boxes_of, folded_turn, mean_of_rolls

#: Largest number of entries of arrays (state, action) that decisions are asked about.
ASKED = 2**20


class Swept(NamedTuple):
    """A turn backward in some contexts.

    Attributes:
        values: by the number of rolls left, each of shape (dice, context).
        scales: what the values are multiplied by, 1 in floats.
        start: before the first roll, shape (context,), floats or fractions.
    """

    values: list[Array]
    scales: list[int]
    start: Array

    def at(self, left: IntArray, rolls: IntArray, places: IntArray, arithmetic: Arithmetic) -> Any:
        """Give the values of some states, floats or fractions, shape (state,)."""
        numbers = arithmetic.zeros(len(left))
        for each, (values, scale) in enumerate(zip(self.values, self.scales, strict=True)):
            own = left == each
            numbers[own] = arithmetic.unscaled(values[rolls[own], places[own]], scale)
        return numbers

    def means(self, left: int, arithmetic: Arithmetic) -> Array:
        """Give the mean over the rolls after which some rolls are left, shape (kept, context)."""
        if arithmetic.rounds:
            return mean_of_rolls(self.values[left])
        means = mean_of_rolls(self.values[left], whole=True)
        fractions: Array = arithmetic.unscaled(means, self.scales[left] * FACES**DICE)
        return fractions


def swept_back(
    game: Yahtzee,
    columns: IntArray,
    later: Later,
    decide: Decide | Fold,
    arithmetic: Arithmetic,
) -> Swept:
    """Sweep a turn backward.

    Args:
        game: the rules.
        columns: the contexts, shape (context,).
        later: what follows the turn.
        decide: of the states (see ``types.Decide``), or the same fold of all actions.
        arithmetic: of the values.
    """
    if isinstance(decide, str):
        values, start = _by_fold(game, columns, later, decide)
        return Swept(list(values), [1] * len(values), start)
    rolls = np.arange(ROLLS)
    legal, worth, scale = boxes_of(game.contexts, columns[:, None], rolls, later, arithmetic)
    whole, means = not arithmetic.rounds, None
    found: list[Array] = []
    scales: list[int] = []
    for left in range(MORE + 1):
        if left:
            means = mean_of_rolls(found[-1], whole)
            unit = scales[-1] // scale * FACES**DICE if whole else 1
            worth, scale = (worth * unit, scale * unit) if whole else (worth, scale)
        asked = _Asked(game, columns, left, legal, scale, arithmetic)
        values, unit = arithmetic.whole(asked.backward(decide, worth, means))
        found.append(values)
        scales.append(scale * unit)
    start = mean_of_rolls(found[-1], whole)[0]
    every = scales[-1] * FACES**DICE if whole else 1
    return Swept(found, scales, arithmetic.unscaled(start, every))


def _by_fold(
    game: Yahtzee, columns: IntArray, later: Later, fold: Fold
) -> tuple[FloatArray, FloatArray]:
    """Sweep a turn by a fold; squares about the values of the best play follow its choices."""
    if fold == "mean" or later.centres is None:
        return folded_turn(game.contexts, columns, later, fold)
    best = Later(later.centres)
    chosen = best_choices(game.contexts, columns, best, FLOATS.tie(game))
    return followed_turn(game.contexts, columns, later, chosen)


class _Asked(NamedTuple):
    """The states of some contexts with some rolls left.

    Attributes:
        boxes: which boxes may be taken, shape (context, dice, box).
        scale: of all numbers, 1 in floats.
    """

    game: Yahtzee
    columns: IntArray
    left: int
    boxes: BoolArray
    scale: int
    arithmetic: Arithmetic

    def _pieces(self) -> Iterator[tuple[slice, Stage]]:
        """Cut the contexts into pieces."""
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

    def backward(self, decide: Decide, worth: Array, means: Array | None) -> Array:
        """Decide backward: values of shape (dice, context).

        Args:
            decide: of the states.
            worth: values of boxes, shape (context, dice, box).
            means: values of what may be kept, shape (kept, context); None if no roll is left.
        """
        values = self.arithmetic.zeros(ROLLS, len(self.columns))
        for piece, stage in self._pieces():
            own = worth[piece]
            expected = self.arithmetic.zeros(*own.shape[:2], self.game.num_actions)
            expected[..., KEEPS:] = own
            if means is not None:
                expected[..., :KEEPS] = means[:, piece].T[:, None]
            decided = decide(stage, expected.reshape(len(stage.states), -1))
            values[:, piece] = decided.reshape(own.shape[:2]).T
        return values

    def forward(self, decide: Decide, met: Array) -> Iterator[tuple[slice, Array]]:
        """Decide forward: give the weights of actions, shape (context, dice, action), in pieces.

        Args:
            decide: of the states.
            met: mass of the states, shape (dice, context).
        """
        for piece, stage in self._pieces():
            weights = decide(stage, met[:, piece].T.ravel())
            yield piece, weights.reshape(-1, ROLLS, self.game.num_actions)


class Flow(NamedTuple):
    """A turn forward in some contexts.

    Attributes:
        met: mass by the number of rolls left, shape (left, dice, context).
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
    """Sweep a turn forward.

    Args:
        game: the rules.
        columns: the contexts, shape (context,).
        entering: mass before the first roll, shape (context,).
        begun: mass of states that no move has brought there, shape (left, dice, context).
        decide: of the states (see ``types.Decide``).
        arithmetic: of the mass.
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
    """Roll the other dice: from mass of shape (kept, context) to (dice, context)."""
    mass = arithmetic.zeros(KEEPS + ROLLS, kept.shape[1])
    mass[:KEEPS] = kept
    for size in range(DICE):
        own = slice(FIRSTS[size], FIRSTS[size + 1])
        share = arithmetic.divided(mass[own], FACES)
        for face in range(FACES):
            mass[dice().more[own, face]] += share
    return mass[KEEPS:]
