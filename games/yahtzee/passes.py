"""One turn backward or forward in many contexts side by side, with a ``decide`` for each state.

A turn has 756 states in each context and 223 actions in each state. So a sweep takes a few hundred
contexts at a time, and calls ``decide`` with pieces of their states.
"""

from collections.abc import Iterator

import numpy as np

from ...core import FLOATS, Arithmetic, Array, BoolArray, Decide, IntArray, Stage, Values
from ...core.positions import pieces
from ...core.types import Fold
from .card import BOXES, has_box
from .dice import DICE, FACES, FIRSTS, KEEPS, ROLLS, dice
from .game import MORE, Yahtzee
from .turn import SCALE, Later, Turns, mean_of_rolls

#: Largest number of entries in an array (state, action) that ``decide`` gets at once.
ASKED = 2**20


def swept_back(
    game: Yahtzee, columns: IntArray, later: Later, decide: Decide | Fold, arithmetic: Arithmetic
) -> tuple[Values, Array]:
    """Compute the values of a turn in some contexts, from the last decision to the first roll.

    A fold decides alike in all states (see ``types.Decide``). Values are of shape (rolls left,
    dice, context), and before the first roll (context,), floats or fractions.
    """
    if isinstance(decide, str):
        turns = Turns(game.contexts, columns, later)
        if decide == "best" and later.centres is not None:  # mean squares follow optimal actions
            best = Turns(game.contexts, columns, Later(later.centres))
            sums, start = turns.followed(best.best_choices(FLOATS.tie(game)))
            return Values(sums), start
        folded, _ = turns.folded(decide)
        return Values(folded), mean_of_rolls(folded[-1])[0]
    legal, worth = Turns(game.contexts, columns[:, None], later).boxes(np.arange(ROLLS))
    numbers, scale = arithmetic.whole(worth[legal])
    taking = arithmetic.zeros(*worth.shape)
    taking[legal] = numbers
    values = arithmetic.values(MORE + 1, ROLLS, len(columns))
    means = arithmetic.zeros(KEEPS, len(columns))
    for left in range(MORE + 1):
        found = arithmetic.zeros(ROLLS, len(columns))
        for piece, stage in _pieces(game, columns, left, legal, scale, arithmetic):
            expected = arithmetic.zeros(*taking[piece].shape[:2], game.num_actions)
            expected[..., KEEPS:] = taking[piece]
            if left:
                expected[..., :KEEPS] = means[:, piece].T[:, None]
            decided = decide(stage, expected.reshape(len(stage.states), -1))
            found[:, piece] = decided.reshape(expected.shape[:2]).T
        found, unit = arithmetic.whole(found)  # decisions may leave fractions
        values.put(left, found, scale * unit)
        means, unit = mean_of_rolls(found), unit if arithmetic.rounds else unit * SCALE
        taking, scale = taking * unit, scale * unit
    return values, arithmetic.unscaled(means[0], scale)


def _pieces(
    game: Yahtzee,
    columns: IntArray,
    left: int,
    boxes: BoolArray,
    scale: int,
    arithmetic: Arithmetic,
) -> Iterator[tuple[slice, Stage]]:
    """Yield pieces of some contexts: their slice, and as a stage their states with rolls left.

    ``boxes`` says whether a box may be taken, shape (context, dice, box); ``scale`` is that of all
    values.
    """
    step = max(1, ASKED // (ROLLS * game.num_actions))
    for piece in pieces(len(columns), step):
        own = boxes[piece]
        mask = np.zeros((*own.shape[:2], game.num_actions), dtype=bool)
        mask[..., KEEPS:] = own
        if left:
            mask[..., :KEEPS] = dice().parts
        states = game.states_in(columns[piece], left)
        factor = np.full(len(states), scale, arithmetic.dtype)
        yield piece, Stage(0, states, factor, mask.reshape(len(states), -1))


def swept_forward(
    game: Yahtzee,
    columns: IntArray,
    entering: Array,
    begun: Array,
    decide: Decide,
    arithmetic: Arithmetic,
) -> tuple[Array, Array]:
    """Follow probability mass through a turn, from the first roll to the boxes.

    It is ``entering`` before the first roll, (context,), and ``begun`` inside the turn, (rolls
    left, dice, context). The result is the mass of each state, of the latter shape, and the mass
    that takes each box, (context, dice, box).
    """
    met = begun.copy()
    met[MORE] += arithmetic.laws(game)[DICE][:, None] * entering
    allowed = game.contexts.allowed(columns[:, None], np.arange(ROLLS))
    boxes = has_box(allowed[..., None], np.arange(len(BOXES)))
    taken = arithmetic.zeros(*boxes.shape)
    for left in range(MORE, -1, -1):
        kept = arithmetic.zeros(KEEPS, len(columns))
        for piece, stage in _pieces(game, columns, left, boxes, 1, arithmetic):
            weights = decide(stage, met[left][:, piece].T.ravel())
            weights = weights.reshape(-1, ROLLS, game.num_actions)  # (context, dice, action)
            taken[piece] += weights[..., KEEPS:]
            kept[:, piece] = weights[..., :KEEPS].sum(axis=1).T
        if left:
            met[left - 1] += rolled(kept, arithmetic)
    return met, taken


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
