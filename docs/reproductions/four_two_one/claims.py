"""Pierre Albarede, *Fate stochastic management and policy benchmark in 421* (2024): its numbers.

Tables 1 to 4 print truncated decimals. Statements about them are in ``tables``, other statements
and equations in ``theory``, ``goals``, ``laws`` and ``notes``, the charts in ``charts``.
"""

from collections import Counter
from collections.abc import Iterator

from exactdice.games import FourTwoOne
from exactdice.games.four_two_one.game import Combination, hierarchy, tokens

from ..claim import At, Claim, printed_table
from .charts import chart_claims
from .goals import goal_claims
from .laws import law_claims
from .notes import note_claims
from .tables import UTILITIES, best_value, policy_claims, ratio
from .theory import theory_claims

TITLE = "421: Pierre Albarede, Fate stochastic management and policy benchmark in 421 (2024)"

#: Numbers that agree by truncation and not by rounding.
TRUNCATED = "0.57858 0.73037 0.47746 0.98657 3.7467 0.87962 0.68991 0.77663 0.85875 0.99900"
#: Equation (54).
HIERARCHY = (
    "421 > 111 > 611 > 666 > 511 > 555 > 411 > 444 > 311 > 333 > 211 > 222 > 654 > 543 > 432 > 321 "
    "> 665 > ... 221"
)


def claims() -> list[Claim]:
    """List the claims."""
    return [
        *_tables(),
        *policy_claims(),
        *_ranking(),
        *theory_claims(),
        *goal_claims(),
        *law_claims(),
        *note_claims(),
        *chart_claims(),
    ]


def _tables() -> Iterator[Claim]:
    rows = printed_table("four_two_one", "tables")
    for table, utility in UTILITIES.items():
        for row in rows:
            policy, player, printed = row["policy"], row["player"], row[table]
            yield At(
                f"{table}, {policy}, {player} player" if player else f"{table}, {policy}"
            ).number(
                printed=printed,
                exact=ratio(utility, policy, player == "first") if player else best_value(utility),
                recorded="agrees by truncation" if printed in TRUNCATED.split() else None,
            )


def _faces(digits: str) -> Combination:
    return tuple(sorted(int(digit) for digit in digits))


def _ranking() -> Iterator[Claim]:
    for row in printed_table("four_two_one", "tokens"):
        faces = row["combination"]
        exact = tokens(_faces(faces))
        yield At(f"Table 5, {faces}").number(printed=row["tokens"], exact=exact)
    yield At("appendix A, tokens if 411 is the highest").number(
        printed=4, exact=tokens(_faces("411"))
    )
    shared = Counter(_faces("421")) & Counter(_faces("221"))
    yield At("appendix A").statement(
        printed="421 and 221 differ only by one die",
        exact=f"they share {shared.total()} of 3",
        holds=shared.total() == 2,
    )
    ranks = dict(zip(FourTwoOne().combinations, hierarchy(6).tolist(), strict=True))
    heights = [ranks[_faces(digits)] for digits in HIERARCHY.replace("... ", "").split(" > ")]
    yield At("equation (54)").statement(
        printed=HIERARCHY,
        exact="this order, of 56 in all",
        holds=heights == [*range(55, 38, -1), 0],
    )
    yield At("appendix A").mistake(
        printed="655 > 654, as the numbers formed by their faces",
        exact=f"654 has rank {ranks[4, 5, 6]}, 655 has {ranks[5, 5, 6]} (0 is the lowest)",
        holds=ranks[5, 5, 6] > ranks[4, 5, 6],
        note="by (54) a sequence ranks above all that it does not name",
    )
