"""Numbers that a program has computed, against the formula that explains most of them."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core import BoolArray, FloatArray
from ..audits.formula import CLOSE, check_formula
from ..report import Mistake, Report
from .program import WRONG, Declared

#: A mistake of rollouts and of replay buffers.
AUTORESET = Mistake(
    "autoreset: the environment was reset in these rows and ignored the action: leave them out, or "
    "use AutoresetMode.SAME_STEP"
)
CUT = "a game that is cut counts as ended: its last observation has a value (truncation-as-end)"
UNKNOWN = "they are of a form that is not known here"
#: Names that explain the least, and are given last.
LAST = [
    f"{check}-{how}" for check in ("returns", "targets") for how in ("scaled", "in-another-order")
]


def agreeing(found: FloatArray, given: FloatArray, known: BoolArray) -> BoolArray:
    """Return which numbers agree, in single precision."""
    finite = known & np.isfinite(found)
    size = max(float(np.abs(found).max(initial=0, where=finite)), 1e-6)
    agree: BoolArray = np.zeros(found.shape, dtype=bool)
    agree[finite] = np.abs(found[finite] - given[finite]) <= CLOSE * size
    return agree


def most_agreeing(formulas: Iterable[Any], given: FloatArray, known: BoolArray) -> Any:
    """Return the formula with which most numbers agree."""
    best, most = None, -1
    for formula in formulas:
        agree = int(agreeing(formula(), given, known).sum())
        if agree > most:
            best, most = formula, agree
        if agree == known.sum():
            break
    return best


def judge(
    report: Report,
    check: str,
    formula: Any,  # that with which most numbers agree
    given: FloatArray,
    known: BoolArray,
    declared: Declared,
    others: Iterable[Any],  # with the constants that the program declares
    told: BoolArray,  # where others are compared, if they give any numbers
) -> bool:
    """Check numbers against their formula; return whether it or a known mistake explains most.

    Numbers of which most are others need a name: a program may have an estimator that is not known
    here. A mistake may hide the discount, so that ``others`` are searched before ``formula``.
    """
    own = Report()
    check_formula(own, check, formula, given, known)
    few = 2 * int(agreeing(formula(), given, known).sum()) < int(known.sum())
    if own.findings:
        # The program's own constants may speak against the name of another constant.
        unlikely = {name for key, name in WRONG.items() if not declared.numbers(key)}
        further = Report()
        for other in others:
            finite = told & np.isfinite(other())
            if 2 * finite.sum() >= told.sum():
                check_formula(further, check, other, given, finite)
        named = [each for each in further.findings if each.mistake not in {None, *unlikely}]
        if named:  # any numbers may be others times a factor, which says the least
            report.findings.append(min(named, key=lambda each: str(each.mistake) in LAST))
            return True
    if few and own.findings and own.findings[0].mistake is None:
        report.unchecked[check] = UNKNOWN
        return False
    report.findings += own.findings
    report.held.update(own.held)
    return True


def check_moves(report: Report, known: BoolArray, used: BoolArray) -> None:
    """Check that rows are moves, not resets of the environment."""

    def example(*at: int) -> str:
        return f"row {at[0]} of a batch is no move: the environment was reset there"

    report.add("moves", known & ~used, example, [AUTORESET], int(known.sum()))
