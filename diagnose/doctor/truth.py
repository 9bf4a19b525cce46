"""Numbers that a program has computed, against the formula that explains most of them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ...core import BoolArray, FloatArray
from ..audits.formula import CLOSE, check_formula
from ..report import Finding, Mistake, Report
from .program import WRONG, Declared

#: A mistake of rollouts and of replay buffers.
AUTORESET = Mistake(
    "autoreset: the environment was reset in these rows and ignored the action: leave them out, or "
    "use AutoresetMode.SAME_STEP"
)
CUT = "a game that is cut counts as ended: its last observation has a value (truncation-as-end)"
UNKNOWN = "they are of a form that is not known here"
#: Most different rewards, at ends and elsewhere, of which a program may make its own.
KINDS = 8
#: Numbers below which those without a name may be of any form.
LEAST = 8
#: Names that explain the least, and are given last.
LAST = [
    f"{check}-{how}" for check in ("returns", "targets") for how in ("scaled", "in-another-order")
]


def rounded(formula: Any) -> float:
    """Return the size of the numbers by whose rounding results of a formula may be wrong.

    A return of 0 is the sum of an advantage and a value, and has the error of these two.
    """
    values = formula.values
    return max(float(np.abs(values).max(initial=0, where=np.isfinite(values))), 1e-6)


def agreeing(formula: Any, given: FloatArray, known: BoolArray) -> BoolArray:
    """Return which numbers agree with a formula, in single precision."""
    found = formula()
    finite = known & np.isfinite(found)
    size = max(float(np.abs(found).max(initial=0, where=finite)), rounded(formula))
    agree: BoolArray = np.zeros(found.shape, dtype=bool)
    agree[finite] = np.abs(found[finite] - given[finite]) <= CLOSE * size
    return agree


def most_agreeing(formulas: Iterable[Any], given: FloatArray, known: BoolArray) -> Any:
    """Return the formula with which most numbers agree."""
    best, most = None, -1
    for formula in formulas:
        agree = int(agreeing(formula, given, known).sum())
        if agree > most:
            best, most = formula, agree
        if agree == known.sum():
            break
    return best


def explaining(
    formulas: Iterable[Any], given: FloatArray, known: BoolArray, ended: BoolArray
) -> Any:
    """Return the formula with which most numbers agree.

    One in which cut games count as ended gives numbers far before a cut, whatever a program takes
    at the cut: it explains all or none.
    """
    tried = [*formulas]
    best = most_agreeing(tried, given, known)
    if (best.terminated != ended).any():
        agree = agreeing(best, given, known)
        if not agree[known].all() and 2 * agree.sum() > known.sum():
            return most_agreeing([e for e in tried if e.terminated is ended], given, known)
    return best


def judge(
    report: Report,
    check: str,
    formula: Any,  # that with which most numbers agree
    given: FloatArray,
    known: BoolArray,
    declared: Declared,
    others: Callable[[], Iterable[Any]],  # with the constants that the program declares
    told: BoolArray,  # where others are compared, if they give any numbers
) -> Any:
    """Check numbers against their formula; return the one that explains most, None if none does.

    Numbers of which most are others need a name: a program may have an estimator that is not known
    here, and rewards of its own. A mistake may hide the discount, so that ``others`` are searched,
    too.
    """
    own = Report()
    check_formula(own, check, formula, given, known, size=rounded(formula))
    if not known.any():
        report.unchecked[check] = "no values after the last row, or of cut games, are known"
        return None
    if not own.findings:
        report.held.update(own.held)
        return formula
    # The program's own constants may speak against the name of another constant.
    unlikely = {name for key, name in WRONG.items() if not declared.numbers(key)}
    tried, named = [*others()], list[tuple[Finding, Any]]()
    for other in tried:
        finite = told & np.isfinite(other())
        if 2 * finite.sum() >= told.sum():
            further = Report()
            check_formula(further, check, other, given, finite, size=rounded(other))
            known_as = [each for each in further.findings if each.mistake not in {None, *unlikely}]
            named += [(each, other) for each in known_as]
    named += [(each, formula) for each in own.findings]
    found, best = min(named, key=lambda each: _says_less(each[0]))
    if found.mistake in {None, *LAST}:
        usual = (replace(formula, gamma=gamma) for gamma in declared.options("gamma"))
        shaped = _shaped(report, chain(tried, [formula], usual), given, known)
        if shaped is not None:
            report.held[check] = int(known.sum())
            return shaped
    agree = agreeing(formula, given, known)
    going = known & ~formula.terminated  # an end may leave nothing to be computed
    few = any(2 * agree[of].sum() < of.sum() for of in (known, going))
    if found.mistake is None and known.sum() < LEAST:
        return None
    if few and found.mistake is None:
        report.unchecked[check] = UNKNOWN
        return None
    report.findings.append(found)
    return best


def _says_less(found: Finding) -> tuple[bool, bool, int]:
    """Order findings by what their names say; any numbers may be others times a factor."""
    name = found.mistake or ""
    return not name, name in LAST, name.count("+")


def _shaped(report: Report, formulas: Iterable[Any], given: FloatArray, known: BoolArray) -> Any:
    """Return the formula with the rewards that the program makes of the environment's, if any.

    Programs scale rewards, or pay -1 at ends. Their rewards are one number for each reward and end
    of the environment; formulas are linear in them. Rewards that are negated, left out, or left out
    at ends, are mistakes.
    """
    for formula in formulas:
        rewards, none = formula.rewards, np.zeros(formula.rewards.shape)
        kinds, kind = np.unique(
            np.stack([rewards.ravel(), formula.terminated.ravel()], axis=1),
            axis=0,
            return_inverse=True,
        )
        if len(kinds) > KINDS:
            return None
        base = replace(formula, rewards=none)()
        clear, kind = known & np.isfinite(base), kind.reshape(rewards.shape)
        ones = [(kind == number).astype(np.float64) for number in range(len(kinds))]
        columns = [(replace(formula, rewards=each)() - base)[clear] for each in ones]
        own = np.linalg.lstsq(np.stack(columns, axis=1), (given - base)[clear], rcond=None)[0]
        found, ended = replace(formula, rewards=own[kind]), kinds[:, 1] > 0
        wrong = [0 * own, kinds[:, 0], -kinds[:, 0], np.where(ended, 0.0, kinds[:, 0])]
        if any(map(partial(np.allclose, own, atol=2e-5), wrong)) or 2 * clear.sum() < known.sum():
            continue
        if clear.sum() < LEAST + len(kinds):
            continue
        if agreeing(found, given, clear).sum() == clear.sum():
            told = zip(kinds.tolist(), own.round(6).tolist(), strict=True)
            words = [
                f"{old:g}{' at an end' * bool(end)} becomes {new:.3g}"
                for (old, end), new in told
                if old != new
            ]
            report.notes.append(
                f"the program has rewards of its own (rewards-shaped): {'; '.join(words)}"
            )
            return found
    return None


def check_moves(report: Report, known: BoolArray, used: BoolArray) -> None:
    """Check that rows are moves, not resets of the environment."""

    def example(*at: int) -> str:
        return f"row {at[0]} of a batch is no move: the environment was reset there"

    report.add("moves", known & ~used, example, [AUTORESET], int(known.sum()))
