"""Pierre Albarede, *Fate stochastic management and policy benchmark in 421* (2024): its numbers.

Tables 1 to 4 print truncated decimals. What the paper says of them is in ``tables``, its other
words and equations are in ``theory``, ``goals``, ``laws`` and ``notes``, its charts in ``charts``.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from ...baselines.solver import solve
from ...baselines.task import Task
from ...games import FourTwoOne
from ...games.ranking import Combination, hierarchy, tokens
from ..claim import Claim, Verdict, agreement, number
from .charts import chart_claims
from .goals import goal_claims
from .laws import law_claims
from .notes import note_claims
from .tables import TABLES, policy_claims, ratio
from .theory import theory_claims

TITLE = "421: Pierre Albarede, Fate stochastic management and policy benchmark in 421 (2024)"

#: Numbers that show that the tables do not round.
TRUNCATED = {
    "0.57858", "0.73037", "0.47746", "0.98657", "3.7467", "0.87962", "0.68991", "0.77663",
    "0.85875", "0.99900",
}  # fmt: skip
#: Table 5.
TOKENS = {
    "421": 10, "111": 7, "211": 2, "222": 2, "311": 3, "333": 3, "411": 4, "444": 4, "511": 5,
    "555": 5, "611": 6, "666": 6, "321": 2, "432": 2, "543": 2, "654": 2, "221": 1, "665": 1,
}  # fmt: skip
#: Equation (54), down to where it says "...".
HIERARCHY = [
    "421", "111", "611", "666", "511", "555", "411", "444", "311", "333", "211", "222", "654",
    "543", "432", "321", "665", "221",
]  # fmt: skip


def claims() -> list[Claim]:
    """Check everything."""
    return [
        *_tables(), *policy_claims(), *_ranking(), *theory_claims(), *goal_claims(),
        *law_claims(), *note_claims(), *chart_claims(),
    ]  # fmt: skip


def _tables() -> Iterator[Claim]:
    for table, (utility, best, rows) in TABLES.items():
        exact = Fraction(solve(Task(FourTwoOne(utility=utility)), exact=True).value)
        yield number(f"{table}, u_0r", best, exact, _expected(best))
        for policy, cells in rows.items():
            for cell, player in zip(cells.split(), ("first", "next"), strict=False):
                value = ratio(utility, policy, player == "first")
                yield number(f"{table}, {policy}, {player} player", cell, value, _expected(cell))


def _expected(cell: str) -> Verdict:
    if cell == "(lost)":
        return "garbled"
    if cell in ("1", "14", "0.75"):
        return "agrees"
    return "agrees by truncation" if cell in TRUNCATED else "agrees by rounding"


def _read(digits: str) -> Combination:
    return tuple(sorted(int(digit) for digit in digits))


def _ranking() -> Iterator[Claim]:
    for digits, transferred in TOKENS.items():
        exact = Fraction(tokens(_read(digits)))
        yield number(f"Table 5, {digits}", str(transferred), exact, "agrees")
    yield number(
        "appendix A, tokens if 411 is the highest", "4", Fraction(tokens(_read("411"))), "agrees"
    )
    shared = Counter(_read("421")) & Counter(_read("221"))
    yield Claim(
        "appendix A", "421 and 221 differ only by one die", f"they share {shared.total()} of 3",
        agreement(shared.total() == 2), "agrees",
    )  # fmt: skip
    game = FourTwoOne()
    ranks = dict(zip(game.combinations, hierarchy(6).tolist(), strict=True))
    heights = [ranks[_read(digits)] for digits in HIERARCHY]
    in_order = all(higher > lower for higher, lower in pairwise(heights))
    unbroken = heights[:17] == list(range(55, 38, -1)) and heights[-1] == 0
    yield Claim(
        "equation (54)", " > ".join(HIERARCHY[:-1]) + " > ... 221", "this order, of 56 in all",
        agreement(in_order and unbroken), "agrees",
    )  # fmt: skip
    yield Claim(
        "appendix A", "655 > 654, as the numbers formed by their faces",
        f"654 has rank {ranks[4, 5, 6]}, 655 has {ranks[5, 5, 6]} (0 is the lowest)",
        agreement(ranks[5, 5, 6] > ranks[4, 5, 6]), "wrong",
        "by (54) a sequence ranks above all that it does not name",
    )  # fmt: skip
