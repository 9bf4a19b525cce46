"""Bounds of the rounding errors of values, with their proof.

Each operation of floats gives the exact result times 1 + d with |d| <= u = 2^-53 (Higham 2002,
*Accuracy and Stability of Numerical Algorithms*, section 2.2), so that t of them in a row give it
times 1 + theta with |theta| <= gamma(t) = t u / (1 - t u) (his Lemma 3.1).

*Backward.* Each computed value V(s) is a mean of other computed values or payoffs x_i, or the
largest of several means, and is moved into the range of payoffs if rounding has taken it out. Let t
count the roundings of a mean, sum of p_i x_i: those of a probability, of the product, of each
addition, and of a payoff. With B the size of the largest payoff, all |x_i| <= B, so that V(s)
misses its own equation by no more than eta = gamma(t) B.

Let N(s) be the expected number of means from s to the end if all players conspire to prolong the
game, so that N(s) >= 1 + sum of p_i N(s_i) for every action. Let V* be the exact values, and D the
largest V(s) - V*(s) - eta N(s). As means and maxima are monotone,

    V(s) <= eta + max of sum of p_i (V*(s_i) + eta N(s_i) + D [the game goes on in s_i])
         <= V*(s) + eta N(s) + D P(the game goes on)                        if D > 0,

and the same after any number of moves. As every game ends, D is not positive. Likewise from below:

    |V(s) - V*(s)| <= eta N(s).

If moves pay while the game goes on, V(s) is a mean of r_i + x_i with payoffs r_i. As B bounds all
values, also those from the move on, r_i + x_i is at most B in size and r_i at most the span of the
payoffs. The roundings of r_i and of x_i are not those of their sum, so that B plus the span takes
the place of B in eta.

Where t differs, t N is the largest expected sum of t; ``Block.roundings`` bounds it. In
games with cycles ``cycles`` adds what its fixed points miss. A value that is computed as the total
of two payoffs minus the other player's value has four roundings more.

*Forward.* Masses are sums of products of probabilities, none of them negative. So roundings change
each by a factor of 1 + theta, |theta| <= gamma(K), K those on the longest way to it
(``Block.forward_roundings``). It matters for the law of the first states of an agent whose
opponents move first, over which a mean is taken.
"""

import numpy as np

from ...core import Game, InputError, present

UNIT = 2.0**-53
#: Values whose bound is a larger part of the largest payoff are refused.
LARGEST_ERROR = 1e-6
#: More than what floats lose where products get too small for them, for each rounding.
_UNDERFLOW = 2.0**-1070
#: Bounds are computed in floats too: a few operations, which this rounds up.
_UPWARDS = 1 + 2.0**-45


def gamma(roundings: float) -> float:
    """Bound the relative error after a number of roundings."""
    lost = roundings * UNIT
    return upwards(lost / (1 - lost)) if lost < 0.5 else float("inf")


def upwards(bound: float) -> float:
    """Round up a bound that a few operations in floats have computed."""
    return bound * _UPWARDS


def values_error(roundings: float, size: float) -> float:
    """Bound the error of values, eta N of the module docstring; t N are roundings, B is size."""
    return upwards(gamma(roundings + 4) * size + roundings * _UNDERFLOW)


def largest_payoff(payoffs: tuple[float, float], pays_early: bool = False) -> float:
    """Give the size of the largest payoff or, if moves pay early, of one and of what follows."""
    low, high = payoffs
    return float(max(abs(low), abs(high))) + (float(high - low) if pays_early else 0.0)


def require_precision(game: Game, bound: float) -> None:
    """Refuse values whose error bound is too large a part of the largest payoff."""
    largest = max(map(abs, game.payoff_range))
    if not bound <= max(LARGEST_ERROR * largest, np.finfo(np.float64).tiny):
        raise not_precise(game, bound)


def not_precise(game: Game, bound: float) -> InputError:
    """Give the error that floats are not precise enough."""
    return InputError(
        f"values of {present(game).title} must be right within {LARGEST_ERROR} of what they are "
        f"worth, but in floats they may be off by {bound:.1e}, as the game may come back to a "
        "position too often: compute with exact=True"
    )
