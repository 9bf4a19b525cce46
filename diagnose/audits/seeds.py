"""Lanes whose environments draw the same numbers, though their actions differ.

A draw of the law inverts its distribution function: the result with the number k comes if a uniform
number u is between F(k - 1) and F(k). So a result tells a set of numbers u, an interval or several.
Lanes of one seed have the same u in their draws of the same number: moves, and first positions, in
the order in which an environment draws them. For the sets U of one lane and V of another, given U,

    |U and V| / (|U| |V|)

has the expectation 1 if v is drawn independently of u. It is the factor of a bet on equal numbers,
of which a part is kept back in case that they are not. What all draws together win, on average over
the pairs of lanes, is the M of ``chance``.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from ...baselines import LawGame
from ...core import BoolArray, FloatArray, IntArray
from .steps import FEW, Steps

#: Part of the stake that is bet on equal numbers.
STAKE = 0.9
#: Most results of a move whose sets are listed.
RESULTS = 16


def same_draws(steps: Steps) -> Iterator[tuple[str, float]]:
    """Yield words and the logarithm of what bets on equal draws of lanes have won."""
    rows, lanes = steps.states.shape
    if not steps.follow or not 1 < lanes <= FEW or rows < 2:
        return
    begins = np.zeros_like(steps.used)
    over = (steps.terminated | steps.truncated) & steps.used
    begins[1:] = (over[:-1] | ~steps.used[:-1]) & steps.used[1:] & (steps.states[1:] >= 0)
    moves, firsts = _of_moves(steps), _of_firsts(steps, begins)
    every = np.zeros((rows, 2, *moves.shape[1:]))
    every[:, 0, :, :1], every[:, 1] = firsts, moves
    every = every.reshape(2 * rows, *moves.shape[1:])
    happens = np.stack([begins, steps.used], axis=1).reshape(2 * rows, lanes)
    for words, sets, some in (
        ("first positions of games repeat those of other lanes", firsts, begins),
        ("first positions and results have the same ranks as in other lanes", every, happens),
    ):
        order = np.argsort(~some, axis=0, kind="stable")  # the draws of each lane, without gaps
        shown = np.take_along_axis(sets, order[..., None, None], axis=0)
        count = int(some.sum(axis=0).max())
        if count:
            yield words, _won(shown[:count])


def _won(sets: FloatArray) -> float:
    """Return the logarithm of what all pairs of lanes win, of sets (draw, lane, interval, 2)."""
    won = []
    for one, other in combinations(range(sets.shape[1]), 2):
        u, v = sets[:, one, :, None], sets[:, other, None]
        both = np.minimum(u[..., 1], v[..., 1]) - np.maximum(u[..., 0], v[..., 0])
        alike = np.maximum(both, 0.0).sum(axis=(1, 2))
        sizes = [np.ptp(sets[:, lane], axis=-1).sum(axis=-1) for lane in (one, other)]
        factors = alike / np.maximum(sizes[0] * sizes[1], 1e-300)
        won.append(float(np.log1p(STAKE * (factors - 1)).sum()))
    return float(np.logaddexp.reduce(won) - np.log(len(won)))


def _of_firsts(steps: Steps, begins: BoolArray) -> FloatArray:
    """Return the sets of first positions, shape (time, lane, 1, 2); all numbers elsewhere."""
    initial = steps.problem.initial
    below = np.append(0.0, np.cumsum(initial))
    at = np.where(begins, steps.states, 0)
    known = begins & (initial[at] > 0)
    low, high = np.where(known, below[at], 0.0), np.where(known, below[at + 1], 1.0)
    return np.stack([low, high], axis=-1)[:, :, None]


def _of_moves(steps: Steps) -> FloatArray:
    """Return the sets of results of moves, shape (time, lane, interval, 2).

    They are known of games that are given by their laws, of which the order of results is known;
    those of other moves are all numbers.
    """
    game, shape = steps.task.game, steps.states.shape
    whole = np.zeros((*shape, 1, 2)) + np.array([0.0, 1.0])
    if not isinstance(game, LawGame) or game.gamma < 1 or game.counts.max() > RESULTS:
        return whole
    known = steps.verdicts["transitions"].checked & (steps.terminated | steps.knows_after)
    known &= (steps.states >= 0) & (steps.states < game.rows * max((game.horizon or 1) - 1, 1))
    cells = (steps.states % game.rows)[known] * game.num_actions + steps.actions[known]
    counts = game.counts.ravel()[cells]
    places: IntArray = (np.cumsum(game.counts) - game.counts.ravel())[cells, None] + np.arange(
        int(game.counts.max())
    )
    inside = np.arange(places.shape[1]) < counts[:, None]
    places = np.where(inside, places, 0)
    chances = np.where(inside, game.chances[places], 0.0)
    above = np.cumsum(chances, axis=1) / chances.sum(axis=1, keepdims=True)
    below = np.column_stack([np.zeros(len(above)), above[:, :-1]])
    after = np.where(steps.terminated, -1, steps.after % game.rows)[known]
    told = inside & (game.successors[places] == after[:, None])
    sets = np.zeros((*shape, places.shape[1], 2))
    sets[..., 0, 1] = 1.0
    sets[known] = np.where(told[..., None], np.stack([below, above], axis=-1), 0.0)
    return sets
