"""Grades of moves by what they give away.

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

from .advice import Advice

BEST, GOOD = "best", "good"
#: The smallest loss of each grade, as a share.
THRESHOLDS = {"inaccuracy": 0.01, "mistake": 0.05, "blunder": 0.15}
TIE = 1e-9  # smaller differences of values are taken as rounding errors


def grade(one: Advice) -> str:
    """Return the grade of a move by what it gives away."""
    if one.cost < TIE:
        return BEST
    reached = [name for name, least in THRESHOLDS.items() if one.share >= least]
    return reached[-1] if reached else GOOD


def is_decision(advice: Sequence[Advice]) -> bool:
    """Say whether the choice matters: there are moves that give something away."""
    return any(one.cost >= TIE for one in advice)
