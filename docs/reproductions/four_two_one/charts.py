"""The probability charts 6 to 10 of *Fate stochastic management and policy benchmark in 421*.

A cell is the probability to obtain a result after k = 1, 2, ... casts when playing for a goal.
Results other than the goal come with the last cast only, so that the k-th number of a chart belongs
to a round of k casts; for the goal itself any longer round gives the same number (49). Rounds with
fewer than three dice have at most two casts left.

A ``?`` marks numbers that the transcription has lost, and stands before the characters that it has
instead. The transcription has torn the long fractions of chart 8 apart: 15625/3359232 is 156 over
335 in one line and 625 over 9232 in the next, and the 272 above a result 122 is the 275 of
275/15552. Repeated column heads are left out here, and so is a stray 0.008178 one line below the
second decimal of 112 and 222. For three dice in chart 6 only the next player's decimals are left.

``charts.csv`` has a line for each goal and result, with fraction = decimal after 1, 2, ... casts.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from exactdice.games.four_two_one.policies import result_law

from ..claim import At, Claim, printed_table


@cache
def law(goal: str, casts: int, first: bool) -> dict[str, list[Fraction]]:
    """Return p_1 or p_2 (44) for six faces; results are cached."""
    return result_law(6, casts, goal, first)


def chart_claims() -> Iterator[Claim]:
    """Check every cell."""
    for row in printed_table("four_two_one", "charts"):
        goal, result, first = row["goal"], row["result"], row["player"] == "1"
        place = f"chart {row['chart']}, goal {goal}, result {result}"
        if goal == result:
            place = f"chart {row['chart']}, p{row['player']}, goal {goal}"
        for casts in (1, 2, 3):
            where = f"{place}, {casts} {'cast' if casts == 1 else 'casts'}"
            for printed in filter(None, row[str(casts)].split("=")):
                exact = law(goal, casts, first)[result][-1]
                yield At(where).number(printed=printed, exact=exact)
