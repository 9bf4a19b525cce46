"""How far rounding may take a float from the number that it stands for: bounds, with their proof.

Each operation of floats gives the exact result times 1 + d with |d| <= u = 2^-53 (Higham 2002,
*Accuracy and Stability of Numerical Algorithms*, section 2.2). Let B be the size of the largest
payoff.

*One pass.* A pass backward computes means, sum over i of p_i x_i with probabilities p_i, and
maxima. Let K count the roundings on the longest way of a payoff back to a position: the payoff's
own, and at each mean those of a probability, of the product, and of each addition. Then

    |computed value - exact value| <= gamma(K) B,        gamma(K) = K u / (1 - K u).

By induction the error after k roundings is at most ((1 - u)^-k - 1) B. A mean of t roundings
multiplies each term by 1 + theta with |theta| <= (1 - u)^-t - 1, so its error is at most

    sum of p_i ((1 + |theta|) ((1 - u)^-k - 1) B + |theta| B) <= ((1 - u)^-(k + t) - 1) B.

A maximum, a minimum, and a value that is moved into the range of payoffs add nothing; a difference
from the total of two payoffs adds one rounding. Finally (1 - u)^-K <= 1 / (1 - K u).

*A fixed point.* In a game with cycles ``cycles`` adds what is missing to it.

*A mean over the first states.* ``flow_error`` bounds the error of their law, for an agent whose
opponents move first.
"""

from collections.abc import Iterable

from ..games import Game, InputError
from .policies import Policy

UNIT = 2.0**-53
#: Values whose bound is a larger part of the span of payoffs are refused.
LARGEST_ERROR = 1e-6
#: More than what floats lose where products get too small for them, for each rounding.
_UNDERFLOW = 2.0**-1070
#: Bounds are computed in floats too: a few operations, which this rounds up.
_UPWARDS = 1 + 2.0**-45


def gamma(roundings: float) -> float:
    """Bound the relative error after so many roundings."""
    lost = roundings * UNIT
    return upwards(lost / (1 - lost)) if lost < 0.5 else float("inf")


def upwards(bound: float) -> float:
    """Round a bound up that a few operations have computed."""
    return bound * _UPWARDS


def pass_error(roundings: int, size: float) -> float:
    """Bound the error of one pass backward.

    Args:
        roundings: K of the module docstring. Four more are for the values of the other player of
            a zero-sum game, which are what these leave of the total.
        size: B.
    """
    return upwards(gamma(roundings + 4) * size + roundings * _UNDERFLOW)


def flow_error(roundings: int, residual: float, moved: float) -> float:
    """Bound the sum of the errors of all masses that a pass forward brings to an end.

    Each mass is a sum of products of probabilities, none of them negative, so that roundings
    change it by a factor of 1 + gamma(K) at most. Where mass came back to a cut, what a linear
    system missed ends as well, and no more than once.

    Args:
        roundings: on the longest way of mass to a position.
        residual: sum of the sizes of what the linear systems missed.
        moved: expected number of positions on the way; 1 is enough without cycles.
    """
    return upwards(residual + 3 * gamma(roundings) * moved)


def largest_payoff(game: Game) -> float:
    """Give the size of the largest payoff."""
    return float(max(map(abs, game.payoff_range)))


def decision_roundings(policies: Iterable[Policy]) -> int:
    """Give the most roundings of a decision, if some policies are fixed and all others choose."""
    return max((policy.roundings for policy in policies), default=0)


def require_precision(game: Game, bound: float) -> None:
    """Refuse values whose error bound says that floats cannot tell them.

    Raises:
        InputError: if the bound is too large a part of the span of payoffs.
    """
    low, high = game.payoff_range
    if bound > LARGEST_ERROR * (high - low) > 0:
        raise InputError(
            f"values of {game.title} must be right within {LARGEST_ERROR} of the span of its "
            f"payoffs, but in floats they may be off by {bound:.1e}, as the game may come back to "
            "a position too often: compute with exact=True"
        )
