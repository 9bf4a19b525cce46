"""Pierre Albarede, *Fate stochastic management and policy benchmark in 421* (2024): its numbers.

Tables 1 to 4 print truncated decimals. What the paper says in words and equations is in
``four_two_one_theory``, ``four_two_one_goals`` and ``four_two_one_laws``, its charts are in
``four_two_one_charts``.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from ...games import FourTwoOne
from ...games.ranking import Combination, hierarchy, tokens
from ..solver import evaluate, solve
from ..task import Task
from .claims import Claim, Verdict, agreement, number
from .four_two_one_charts import chart_claims
from .four_two_one_goals import goal_claims
from .four_two_one_laws import law_claims
from .four_two_one_theory import theory_claims

TITLE = "421: Pierre Albarede, Fate stochastic management and policy benchmark in 421 (2024)"

#: The utility of each table, u_0r, and u_0 / u_0r by policy for first and next players. Cells that
#: the transcription lost are "(lost)"; serendipity is for first players only.
TABLES = {
    "Table 1": (
        "goal:123", "0.22811",
        {"goal:0,0": "1 0.57858", "goal:0,1": "1", "goal:1,0": "1 0.57858", "goal:1,1": "1",
         "optimal": "1 0.57858"},
    ),
    "Table 2": (
        "goals:123,224,345", "0.32805",
        {"goal:0,0": "0.73037 0.43734", "goal:0,1": "0.73037", "goal:1,0": "0.97777 0.47746",
         "goal:1,1": "0.98657", "optimal": "1 0.49152"},
    ),
    "Table 3": (
        "transfer", "3.7467",
        {"goal:0,0": "0.90834 0.68812", "goal:0,1": "0.90834", "goal:1,0": "0.87962 0.68991",
         "goal:1,1": "0.99634", "optimal": "1 0.77663"},
    ),
    "Table 4": (
        "sum", "14",
        {"goal:0,0": "(lost) 0.92599", "goal:0,1": "(lost)", "goal:1,0": "0.75 0.85875",
         "goal:1,1": "0.99900", "optimal": "1 0.97321"},
    ),
}  # fmt: skip
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
        *_tables(), *_interpretation(), *_ranking(), *theory_claims(), *goal_claims(),
        *law_claims(), *chart_claims(),
    ]  # fmt: skip


def ratio(utility: str, policy: str, first: bool) -> Fraction:
    """Give u_0 / u_0r: a policy's value over the first player's optimum."""
    task = Task(FourTwoOne(utility=utility, duration=None if first else 3))
    best = solve(Task(FourTwoOne(utility=utility)), exact=True).value
    return Fraction(evaluate(policy, task, exact=True).value) / Fraction(best)


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


def _interpretation() -> Iterator[Claim]:
    """Check what section 5.4 reads out of the tables."""
    value = {
        (table, policy): ratio(utility, policy, first=True)
        for table, (utility, _, rows) in TABLES.items()
        for policy in rows
    }
    gains = {
        table: (
            value[table, "goal:0,1"] - value[table, "goal:0,0"],
            value[table, "goal:1,1"] - value[table, "goal:1,0"],
            value[table, "goal:1,0"] - value[table, "goal:0,0"],
            value[table, "goal:1,1"] - value[table, "goal:0,1"],
        )
        for table in TABLES
    }
    yield Claim(
        "section 5.4", "serendipity never hurts, and helps more with the greater horizon",
        "with h = 0 it adds " + ", ".join(f"{float(gain[0]):.5f}" for gain in gains.values())
        + ", with h = 1 " + ", ".join(f"{float(gain[1]):.5f}" for gain in gains.values()),
        agreement(all(0 <= short <= long for short, long, _, _ in gains.values())), "agrees",
        "Tables 1 to 4",
    )  # fmt: skip
    yield Claim(
        "section 5.4", "horizon and revision help with serendipity",
        "they add " + ", ".join(f"{float(gain[3]):.5f}" for gain in gains.values()),
        agreement(all(gain[3] >= 0 for gain in gains.values())), "agrees", "Tables 1 to 4",
    )  # fmt: skip
    signs = [(gain[2] > 0) - (gain[2] < 0) for gain in gains.values()]
    yield Claim(
        "section 5.4", "without serendipity they help peaked utilities and hurt fuzzy ones",
        "they add " + ", ".join(f"{float(gain[2]):.5f}" for gain in gains.values()),
        agreement(signs == [0, 1, -1, -1]), "agrees",
        "first players; nothing in Table 1, where all is optimal",
    )  # fmt: skip
    following = [
        ratio(utility, "goal:1,0", first=False) - ratio(utility, "goal:0,0", first=False)
        for utility, _, _ in TABLES.values()
    ]
    yield Claim(
        "section 5.4", "the same, which defines fuzziness, for next players",
        "they add " + ", ".join(map(str, following)) + ": the transfer function is fuzzy for "
        "first players but not for next ones", agreement(
            [(gain > 0) - (gain < 0) for gain in following] == signs
        ), "wrong", "0.68812 and 0.68991 in Table 3 say so too",
    )  # fmt: skip
    handicaps = [ratio(utility, "optimal", first=False) for utility, _, _ in TABLES.values()]
    yield Claim(
        "section 5.4", "next players are handicapped, but less with a fuzzier utility",
        "handicapped, but with three goals more than with one: "
        + ", ".join(f"{float(handicap):.5f}" for handicap in handicaps),
        agreement(all(one < other for one, other in pairwise(handicaps))), "wrong",
        "optimal next players in Tables 1 to 4, which section 5.4 calls increasingly fuzzy",
    )  # fmt: skip


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
