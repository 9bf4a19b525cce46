"""Bounds of the values of decision processes (see ``mdp``), proved of the numbers that were found.

Let T be the Bellman operator of the best play, or of a policy. Let w be whole multiples of small
units, with w >= T w, and w >= 0 where play can go on without payments: then w is no less than the
values that T has as its fixed point, by the argument of ``mdp``. Such a w is found from the
computed values by adding a little and raising each number to an upper bound of T w while there is
one below. The mean of some numbers is bounded by the smallest one plus the mean of what the others
have above it, rounded up, and by the largest one. So a move that only leads to states of one
number, and pays nothing, raises nothing, and circles do not climb.

The unit of a state is a power of 2, relative to the largest payoff or value that can be reached
from the state, over the common denominator of all payoffs, if that is small: what happens elsewhere
leaves it as small as it is, and payoffs that cancel in a circle cancel in units. The same with
signs reversed bounds values from below, under the policy that was found.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, inf, lcm, nextafter
from typing import Any

import numpy as np

from ...core import Array, BoolArray, FloatArray, IntArray
from ...core.arithmetic import largest
from ...core.positions import pieces
from ..law.explicit import ExplicitGame
from ..law.graphs import search
from ..law.listing import Listing, exact_law
from ..law.numbers import ROUNDED, rational
from .rounding import LARGEST_ERROR, UNIT, not_precise

#: Bits of the unit of error bounds, below the largest value.
BITS = 50
#: Largest common denominator of payoffs by which units are divided.
DENOMINATOR = 2**40
#: Smallest float that is rounded by ``UNIT`` at most, and whole numbers of which floats hold
#: each sum of two.
TINY, LARGEST = float(np.finfo(np.float64).tiny), 2.0**52
#: Rounds in which error bounds are raised, at most; and rounds after which means are exact, if they
#: are of at most ``FEW`` states.
MOST_RAISES, PATIENCE, FEW = 20_000, 64, 100
#: Sweeps in which sizes spread, before a search finds what is far away.
SWEEPS = 64
#: Of up to so many ways, probabilities are taken from fractions. More different payments among the
#: first so many than the second number are not counted in common units.
SOME, MOST_PAYMENTS = 2**16, 1000


def bounds_of(game: ExplicitGame, sizes: FloatArray, missed: FloatArray) -> FloatArray:
    """Bound the error of the value and of all action values of each state, shape (state,).

    The values miss the true ones by ``missed`` at most; the ``sizes`` are theirs (``sizes_of``).
    An ``InputError`` says that floats are not precise enough: the bound of a state that games meet
    is a large part of what it is worth.
    """
    listing = game.listing
    later = _largest(listing, np.append(missed, 0.0))
    rounding = (4 * listing.counts.max() + 24) * 2 * UNIT * sizes
    bounds: FloatArray = (np.maximum(missed, later) + rounding) * (1 + 4 * UNIT)
    poor = ~(bounds <= LARGEST_ERROR * sizes)
    if poor.any():
        start, on = game.initial_law()[0], listing.targets >= 0
        poor &= search(start, listing.sources[on], listing.targets[on], game.rows) >= 0
    if poor.any():
        raise not_precise(game, float(bounds[poor].max()))
    return bounds


def sizes_of(game: ExplicitGame, values: FloatArray, weights: Array | None = None) -> FloatArray:
    """Bound the largest payoff or value that can be reached from each state by a power of 2.

    Values, and these powers, have the shape (state,); a power is 0 where all payoffs and values are
    0. The weights of a policy's actions are of shape (state, action); None for the best play.
    """
    listing = game.listing
    own = np.maximum(np.abs(values), game.largest_payments)
    if weights is not None and (illegal := (weights != 0) & ~listing.legal).any():
        some = illegal.any(axis=1)
        own[some] = np.maximum(own[some], abs(game.payoff_range[0]))
    sizes = np.where(own > 0, np.ldexp(1.0, np.frexp(own)[1]), 0.0)
    for _ in range(SWEEPS):
        ahead = np.append(sizes, 0.0)
        sizes = np.maximum(sizes, _largest(listing, ahead))
        if (sizes == ahead[:-1]).all():
            return sizes
    on = listing.targets >= 0
    sizes, edges = np.zeros(game.rows), (listing.targets[on], listing.sources[on])
    while (own > sizes).any():
        size = 2.0 ** np.frexp(own[sizes == 0].max())[1]
        reached = search(np.flatnonzero(2 * own >= size), *edges, game.rows) >= 0
        sizes[reached & (sizes == 0)] = size
    return sizes


def _largest(listing: Listing, ahead: FloatArray) -> FloatArray:
    """Give the largest number ahead of each state, (state,); the last one is that of the end."""
    return listing.most(lambda ways: ahead[listing.targets[ways]])


class _Units:
    """The units of error bounds.

    Attributes:
        steps: units in 1 over the common denominator of payments, shape (state,); 0 where all
            numbers are 0.
        scale: units in 1, shape (state,).
        least: payoff of an illegal action, rounded up to units of its state, shape (state,).
    """

    def __init__(self, game: ExplicitGame, sizes: FloatArray, sign: int) -> None:
        self._listing, self._chances = game.listing, game.way_chances
        self._roundings = 2 * int(game.listing.counts.max()) + 20  # of probabilities (``explicit``)
        if len(self._chances) <= SOME:
            self._chances, self._roundings = game.exact_chances.astype(np.float64), 1
        whole, self._payments = _payments_above(game, sign)
        sizes = sizes * 2.0 ** (whole - 1).bit_length()
        self.steps = np.where(sizes > 0, 2.0**BITS / np.where(sizes > 0, sizes, 1.0), 0.0)
        self.scale = self.steps * whole
        self.least = np.ceil(_above(sign * game.exact_range[0] * whole) * self.steps)

    def ahead(self, now: FloatArray) -> FloatArray:
        """Give discounted values in units as numbers, and 0 for the end, shape (state + 1,)."""
        gamma, known = float(self._listing.gamma), self.steps > 0
        if gamma < 1:
            now = now * np.where(now > 0, gamma * (1 + 4 * UNIT), gamma * (1 - 4 * UNIT))
        return np.append(np.where(known, now / np.where(known, self.steps, 1.0), 0.0), 0.0)

    def worth(self, ways: slice | IntArray, ahead: FloatArray) -> FloatArray:
        """Give what ways are paid and lead to, each rounded up to units of their states, (way,)."""
        steps = self.steps[self._listing.sources[ways]]
        paid = np.ceil(self._payments(ways) * steps)
        worth: FloatArray = paid + np.ceil(ahead[self._listing.targets[ways]] * steps)
        return worth

    def means(self, ahead: FloatArray, expected: FloatArray, chosen: IntArray | None) -> None:
        """Fill in upper bounds of what actions, or ``chosen`` ones, are worth, (state, action)."""
        for cells, ways, begins in self._listing.pieces(chosen):
            worth, chances = self.worth(ways, ahead), self._chances[ways]
            expected.ravel()[cells] = _mean_above(worth, chances, begins, self._roundings)


def _payments_above(game: ExplicitGame, sign: int) -> tuple[int, Callable[[Any], FloatArray]]:
    """Give a common denominator of payments, 1 if it is large, and upper bounds of its multiples.

    The bounds are asked for by ways in a row. A payment that is given as a float may stand for a
    number that a few roundings part from it.
    """
    given = game.way_payments
    if len(np.unique(given[:SOME])) > MOST_PAYMENTS:
        return 1, lambda ways: np.nextafter(
            sign * given[ways] + np.abs(given[ways]) * 2 * ROUNDED, inf
        )
    (kinds, numbers), whole = game.payment_kinds, 1
    for denominator in {payoff.denominator for payoff in kinds}:
        whole = lcm(whole, denominator) if whole <= DENOMINATOR else whole
    whole = whole if whole <= DENOMINATOR else 1
    above = np.array([_above(sign * payoff * whole) for payoff in kinds])
    return whole, lambda ways: above[numbers[ways]]


def _above(number: Fraction) -> float:
    """Give the smallest float that is not below a number."""
    near = float(number)
    return nextafter(near, inf) if near < number else near


def raised(
    game: ExplicitGame,
    values: FloatArray,  # about the true ones, shape (state,)
    stays: FloatArray,  # about the moves that the policy with the values makes, (state,)
    # of a policy's actions, legal or not, (state, action); None for the best play
    weights: Array | None,
    sizes: FloatArray,  # see ``sizes_of``
    circling: BoolArray,  # where the policy may circle and be paid for ever, (state,)
    sign: int,  # -1 if values, and what moves pay, are negative
) -> tuple[FloatArray, BoolArray]:
    """Raise values until they bound the true ones from above.

    The result says by how much each was raised, (state,), infinite if they cannot be; and which
    actions may be worth all of it, shape (state, action).
    """
    listing, units = game.listing, _Units(game, sizes, sign)
    expected, most = np.full(listing.legal.shape, -inf), int(listing.counts.max())
    used = listing.legal if weights is None else (weights != 0) & listing.legal
    chosen = None if (used == listing.legal).all() else np.flatnonzero(used)
    if weights is not None:
        expected[:] = units.least[:, None]
    scaled = values * units.scale
    slack = (12 + most) * stays
    now = np.ceil(scaled + np.where(units.scale > 0, slack, 0.0))
    if weights is None:
        now = np.where(game.idles, np.maximum(now, 0.0), now)
    for turn in range(MOST_RAISES):
        if not (np.abs(now) < LARGEST).all():  # or no number: the system had no solution
            break
        ahead = units.ahead(now)
        units.means(ahead, expected, chosen)
        best = largest(expected) if weights is None else _policy_means(expected, weights)
        # A circle may be paid 0 on average.
        if weights is None and turn >= PATIENCE and (best > now).sum() <= FEW:
            for cell in np.flatnonzero((expected > now[:, None]).ravel()).tolist():
                ways = slice(*listing.firsts[cell : cell + 2])
                worth = list(map(int, units.worth(ways, ahead)))
                expected.ravel()[cell] = ceil(_mean(game, ways, worth))
            best = largest(expected)
        best[circling] = -inf
        if not (best > now).any():
            raised = (now - scaled + 1) / np.where(units.scale > 0, units.scale, inf)
            tight = expected >= now[:, None]
            if weights is None and game.unbounded:
                _drop_rounded(game, tight, now, units)
            return raised * (1 + 4 * UNIT), tight
        now = np.maximum(now, best)
    return np.full(game.rows, inf), np.zeros(listing.legal.shape, dtype=bool)


def _policy_means(expected: FloatArray, weights: Array) -> FloatArray:
    """Bound what a policy's moves are worth from above, (state,), given its actions' values."""
    means = np.empty(len(expected))
    for piece in pieces(len(means)):
        own = weights[piece].ravel()
        chosen = np.flatnonzero(own != 0)
        firsts = np.flatnonzero(np.diff(chosen // weights.shape[1], prepend=-1))
        shares = own[chosen].astype(np.float64)
        means[piece] = _mean_above(expected[piece].ravel()[chosen], shares, firsts)
    return means


def _drop_rounded(game: ExplicitGame, tight: BoolArray, now: FloatArray, units: _Units) -> None:
    """Leave out of ``tight``, (state, action), circling actions that seem so by rounding alone."""
    listing = game.listing
    ahead, cells = units.ahead(now), tight.ravel()
    for cell in np.flatnonzero(listing.circles(tight) & ~game.idle).tolist():
        ways, state = slice(*listing.firsts[cell : cell + 2]), cell // game.num_actions
        scale, step = (Fraction(float(each[state])) for each in (units.scale, units.steps))
        after = ahead[listing.targets[ways]].tolist()
        worth = [
            rational(paid) * scale + Fraction(number) * step
            for paid, number in zip(listing.paid[ways].tolist(), after, strict=True)
        ]
        cells[cell] = _mean(game, ways, worth) >= Fraction(float(now[state]))


def _mean(game: ExplicitGame, ways: slice, numbers: Sequence[Fraction | int]) -> Fraction:
    """Give the exact mean of numbers of a cell's ways, shape (way,)."""
    law = exact_law(game.listing.chances[ways].tolist())
    return sum((part * each for part, each in zip(law, numbers, strict=True)), Fraction(0))


def _mean_above(
    numbers: FloatArray, chances: FloatArray, begins: IntArray, roundings: int = 1
) -> FloatArray:
    """Bound the means of groups of whole numbers from above, by whole numbers of shape (group,).

    Numbers, and their probabilities in their groups, are of shape (number,); the first number of
    each group, ``begins``, of shape (group,). ``roundings`` part probabilities from the true ones.
    """
    if len(begins) == len(numbers):
        return numbers
    sizes = np.diff(begins, append=len(numbers))
    least, most = (best.reduceat(numbers, begins) for best in (np.minimum, np.maximum))
    chances = np.maximum(chances, TINY)  # smaller ones are rounded by more
    above = np.add.reduceat(chances * (numbers - np.repeat(least, sizes)), begins)
    rounded = 1 + (int(sizes.max()) + 3 + roundings) * 2 * UNIT
    return np.minimum(least + np.ceil(above * rounded), most)
