"""Optimal play: how often it begins a turn in each context, and its chance of the upper bonus.

Both follow the choices of optimal play from turn to turn: the probability of each context forward,
the chance of the bonus backward. Rolls with the same score in a box lead to the same next context,
jokers included, so the code moves one group of rolls per box and score.
"""

from functools import cache

import numpy as np

from ...core.arithmetic import FLOATS
from ...core.progress import tell
from ...core.types import Array, FloatArray, IntArray, frozen
from .block import batches
from .card import BOXES, ENOUGH, points
from .choices import Choices, best_choices
from .dice import DICE, FACES, KEEPS
from .game import MORE, Yahtzee
from .passes import rolled
from .turn import Later, mean_of_rolls


@cache
def _scores() -> list[tuple[IntArray, IntArray]]:
    """Return, for each box, an example roll of each different score, and each roll's score index.

    Returns:
        For each box a pair: example rolls, shape (score,), and the index of a roll's score among
        the different scores, shape (dice,).
    """
    each = [np.unique(plain, return_index=True, return_inverse=True) for plain in points().plain.T]
    return [(frozen(examples), frozen(scores)) for _, examples, scores in each]


def met_by_best_play(game: Yahtzee, values: Array) -> FloatArray:
    """Compute the probability that optimal play begins a turn in each context.

    Args:
        game: the rules.
        values: optimal value of each context before the first roll, in points, shape
            (context + 1,); the last entry, the end of the game, is 0.

    Returns:
        Probabilities, float64, shape (context + 1,); the last entry, the end of the game, is 1.
    """
    met = np.zeros(len(values))
    met[0] = 1.0
    for columns in batches(game):
        own = columns[met[columns] > 0]
        if len(own):
            chosen = best_choices(game.contexts, own, Later(values), FLOATS.tie(game))
            for box, mass in enumerate(_taken(game, met[own], chosen)):
                _move(game, met, own, box, mass)
            tell(int(own[-1]) + 1, len(game.contexts), "beginnings of turns, forward")
    return met


def _taken(game: Yahtzee, entering: FloatArray, chosen: Choices) -> FloatArray:
    """Return the probability mass that takes each box in a turn, shape (box, dice, context)."""
    columns, law = np.arange(len(entering)), FLOATS.laws(game)[DICE]
    met, taken = law[:, None] * entering, np.zeros((len(BOXES), len(law), len(entering)))
    for left in range(MORE, -1, -1):
        kept = chosen[left] < KEEPS
        rolls, places = np.nonzero(~kept)
        taken[chosen[left][~kept] - KEEPS, rolls, places] += met[~kept]
        if left:
            numbers = chosen[left].astype(np.int64) * len(columns) + columns
            mass = np.bincount(numbers[kept], met[kept], KEEPS * len(columns))
            met = rolled(mass.reshape(KEEPS, -1), FLOATS)
    return taken


def _move(game: Yahtzee, met: FloatArray, columns: IntArray, box: int, mass: FloatArray) -> None:
    """Add the mass that takes a box, shape (dice, context), to the next contexts in ``met``."""
    if mass.any():
        examples, scores = _scores()[box]
        grouped = np.zeros((len(examples), len(columns)))
        np.add.at(grouped, scores, mass)
        after = game.contexts.take(columns, examples[:, None], np.array(box)).contexts
        np.add.at(met, after[grouped > 0], grouped[grouped > 0])


def bonus_of_best_play(game: Yahtzee, values: Array, met: FloatArray) -> FloatArray:
    """Compute, for each context, the probability that optimal play ends with 63 upper points.

    Args:
        game: the rules.
        values: the argument ``values`` of ``met_by_best_play``.
        met: the result of ``met_by_best_play``.

    Returns:
        Probabilities, float64, shape (context,); NaN for contexts that optimal play never reaches.
    """
    chances = np.full(len(values), np.nan)
    for columns in reversed(batches(game)):
        own = columns[met[columns] > 0]
        if len(own):
            chosen = best_choices(game.contexts, own, Later(values), FLOATS.tie(game))
            chances[own] = _bonus_before(game, own, chosen, chances)
            done = len(game.contexts) - int(own[0])
            tell(done, len(game.contexts), "beginnings of turns, backward")
    return chances[:-1]


def _bonus_before(
    game: Yahtzee, columns: IntArray, chosen: Choices, chances: FloatArray
) -> FloatArray:
    """Return the chance of the bonus before the first roll of a turn, shape (context,)."""
    known, found = game.contexts, np.zeros(chosen.shape)
    for box in game.chosen:
        examples, scores = _scores()[box]
        after = known.take(columns, examples[:, None], np.array(box)).contexts
        counted = points().plain[examples, box][:, None] if box < FACES else 0
        enough = known.upper[columns] + counted >= ENOUGH
        worth = np.where(after < len(known), chances[after], enough)
        np.copyto(found, worth[scores], where=chosen == KEEPS + box)
    for left in range(1, len(found)):
        kept, means = chosen[left] < KEEPS, mean_of_rolls(found[left - 1])
        actions = np.where(kept, chosen[left], 0).astype(np.int64)
        np.copyto(found[left], np.take_along_axis(means, actions, 0), where=kept)
    before: FloatArray = mean_of_rolls(found[-1])[0]
    return before


def losses_of_boxes(game: Yahtzee, values: Array, columns: IntArray) -> FloatArray:
    """Compute the expected points that a player loses with a box and the turn that fills it.

    Args:
        game: the rules.
        values: the argument ``values`` of ``met_by_best_play``.
        columns: contexts, shape (context,).

    Returns:
        Points, float64, shape (context, box): the value of the context minus the value of the same
        card with the box filled for 0 points; NaN where the box is not open.
    """
    known, lost = game.contexts, np.full((len(columns), len(BOXES)), np.nan)
    for box in game.chosen:
        own = np.flatnonzero(known.still_open[columns] >> box & 1)
        at = columns[own]
        without = known.still_open[at] & ~(1 << box)
        after = known.find(without, known.holds_fifty[at], known.upper[at])
        lost[own, box] = values[at] - values[np.where(without > 0, after, len(known))]
    return lost
