"""The probability charts 6 to 10 of *Fate stochastic management and policy benchmark in 421*.

A cell is the probability to obtain a result after k = 1, 2, ... casts with a goal in mind. Results
other than the goal come with the last cast only, so that the k-th number of a chart belongs to a
round of k casts; for the goal itself any longer round gives the same (49). Rounds with fewer than
three dice have at most two casts left.

What the transcription lost is marked: ``?`` before what it has instead, or alone. It has torn the
long fractions of chart 8 apart: 15625/3359232 is 156 over 335 in one line and 625 over 9232 in the
next, and the 272 above a result 122 is the 275 of 275/15552. Column heads that it repeats between
the charts are left out.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from ..claim import Claim, Verdict, number
from .policies import result_law

#: Goal and result, then fraction = decimal after 1, 2, ... casts.
NON_DIAGONAL = {
    "chart 7": {
        "1 2": "?1/5=0.1667 5/36=0.1389",
        "11 22": "1/36=0.02778 25/1296=0.01929",
        "11 23": "1/18=0.05556 25/648=0.03858",
        "11 12": "1/18=0.05556 55/648=0.08488",
        "12 33": "1/36=0.02778 1/81=0.01235",
        "12 34": "1/18=0.05556 2/81=0.02469",
        "12 11": "1/36=0.02778 35/648=0.05401",
        "12 13": "1/18=0.05556 43/648=0.06636",
    },
    "chart 8": {
        "111 222": "1/216=0.00463 125/46656=0.002679 15625/10077696=0.00155",
        "111 223": "1/72=0.01389 ?5/52=0.008038 ?625/9232=0.004651",
        "111 234": "1/36=0.02778 ?/7776=?5/16 15625/1679616=0.009303",
        "111 122": "1/72=0.01389 ?5/52=0.01768 ?875/9232=0.01693",
        "111 123": "1/36=0.02778 275/7776=? 56875/1679616=0.03386",
        "111 112": "1/72=0.01389 ?5/52=0.0389 ?025/9232=0.06163",
    },
    "chart 9": {
        "112 333": "1/216=0.00463 1/729=0.001372 8/19683=0.0004064",
        # a line below the second decimal stands a 0.008178, where nothing else belongs
        "112 222": "1/216=0.00463 ?215/215=0.009216 20605/2519424=?0.003210",
        "112 111": "1/216=0.00463 205/11664=0.01758 16105/629856=0.02557",
        "112 334": "1/72=0.01389 1/243=0.004115 8/6561=0.001219",
        "112 233": "1/72=0.01389 31/2592=0.01196 839/93312=0.008991",
        "112 133": "1/72=0.01389 5/486=0.01029 38/6561=0.005792",
        "112 223": "1/72=0.01389 77/3888=0.0198 7039/419904=0.01676",
        "112 113": "1/72=0.01389 103/3888=0.02649 6499/209952=0.03095",
        "112 122": "1/72=0.01389 91/1944=0.04681 28219/419904=0.0672",
        "112 345": "1/36=0.02778 2/243=0.00823 16/6561=0.002439",
        "112 234": "1/36=0.02778 31/1296=0.02392 839/46656=0.01798",
        "112 134": "1/36=0.02778 5/243=0.02058 76/6561=0.01158",
        "112 123": "1/36=0.02778 37/648=0.0571 10217/139968=0.073",
    },
    "chart 10": {
        "123 444": "1/216=0.00463 1/1728=0.0005787 1/13824=0.00007234",
        "123 111": "1/216=0.00463 83/15552=0.005337 3115/1119744=0.002782",
        "123 445": "1/72=0.01389 1/576=0.001736 1/4608=0.000217",
        "123 112": "1/72=0.01389 179/5184=0.03453 15067/373248=0.04037",
        "123 144": "1/72=0.01389 101/15552=0.006494 3277/1119744=0.002927",
        "123 114": "1/72=0.01389 175/15552=0.01125 6311/1119744=0.005636",
        "123 456": "1/36=0.02778 1/288=0.003472 1/2304=0.000434",
        "123 145": "1/36=0.02778 ?101/36=0.01299 3277/559872=0.005853",
        "123 124": "1/36=0.02778 319/7776=0.04102 ?7776/559872=?0.04102",
    },
}  # fmt: skip

#: Chart 6: player and goal, then as above. Of three dice the next player's decimals are left.
DIAGONAL = {
    "p1 1": "1/6=0.1667 5/36=0.1389",
    "p2 1": "1/6=0.1667 ?5/36=0.1667",
    "p1 11": "1/36=0.02778 85/1296=0.06559",
    "p2 11": "1/36=0.02778 91/1296=0.07022",
    "p1 12": "1/18=0.05556 35/324=0.108",
    "p2 12": "1/18=0.05556 ?=0.1173",
    "p1 111": "?=? ?=? ?=?",
    "p2 111": "?=0.00463 ?=0.02467 ?=0.051",
    "p1 112": "?=? ?=? ?=?",
    "p2 112": "?=0.01389 ?=0.05748 ?=0.0961",
    "p1 123": "?=? ?=? ?=?",
    "p2 123": "?=0.02778 ?=0.09221 ?=0.132",
}


@cache
def law(goal: str, casts: int, first: bool) -> dict[str, list[Fraction]]:
    """Give p_1 or p_2 (44) for six faces, computed once."""
    return result_law(6, casts, goal, first)


def chart_claims() -> Iterator[Claim]:
    """Check every cell."""
    for entry, cells in DIAGONAL.items():
        player, goal = entry.split()
        yield from _cells(f"chart 6, {player}, goal {goal}", cells, goal, goal, player == "p1")
    for chart, entries in NON_DIAGONAL.items():
        for entry, cells in entries.items():
            goal, result = entry.split()
            place = f"{chart}, goal {goal}, result {result}"
            yield from _cells(place, cells, goal, result, first=True)


def _cells(place: str, cells: str, goal: str, result: str, first: bool) -> Iterator[Claim]:
    for casts, cell in enumerate(cells.split(), start=1):
        exact = law(goal, casts, first)[result][-1]
        where = f"{place}, {casts} {'cast' if casts == 1 else 'casts'}"
        fraction, decimal = cell.split("=")
        yield number(where, fraction, exact, _expected(fraction, "agrees"))
        yield number(where, decimal, exact, _expected(decimal, "agrees by rounding"))


def _expected(printed: str, legible: Verdict) -> Verdict:
    """Expect what is legible to be right."""
    return "garbled" if printed.startswith("?") else legible
