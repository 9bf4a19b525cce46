"""Numbers that a program has computed, against the formula that explains most of them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from ...core import BoolArray, FloatArray
from ..audits.formula import CLOSE, check_formula, named
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
    tried, blamed = [*others()], list[tuple[Finding, Any]]()
    for other in tried:
        finite = told & np.isfinite(other())
        if 2 * finite.sum() >= told.sum():
            further = Report()
            check_formula(further, check, other, given, finite, size=rounded(other))
            known_as = [each for each in further.findings if each.mistake not in {None, *unlikely}]
            blamed += [(each, other) for each in known_as]
    blamed += [(each, formula) for each in own.findings]
    found, best = min(blamed, key=lambda each: _says_less(each[0]))
    if found.mistake in {None, *LAST}:
        bases = [formula]
        if hasattr(formula, "gae_lambda"):  # targets over a move have none
            bases.append(replace(formula, gae_lambda=0.0))
        gammas = declared.options("gamma")
        usual = [replace(base, gamma=gamma) for base in bases for gamma in gammas]
        shaped = _own_rewards(report, check, tried, [formula, *usual], given, known)
        if shaped is not None or any(each.check == check for each in report.findings):
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


def _own_rewards(
    report: Report,
    check: str,
    tried: list[Any],  # formulas, of which edits are tried, too
    further: list[Any],  # of which the first one has the rewards of the environment
    given: FloatArray,
    known: BoolArray,
) -> Any | None:
    """Check numbers with rewards that the program makes; return the formula that gives them."""

    def fits(formula: Any) -> Any | None:
        return with_own_rewards(formula, further[0], given, known)

    for found in filter(None, map(fits, [*tried, *further])):
        report.notes.append(_told(further[0], found))
        report.held[check] = int(known.sum())
        return found
    edit = one_edit(tried, given, fits)
    if edit is not None:
        report.add(check, known, "they are wrong, whatever rewards the program has", [edit])
    return None


def one_edit(
    formulas: Iterable[Any], given: FloatArray, fits: Callable[[Any], Any]
) -> Mistake | None:
    """Return the first known edit of a formula that fits; None if there is none."""

    def fit(edited: Any) -> bool:
        return fits(edited) is not None

    found = (named(each, given, fit, axes=given.ndim, single=True) for each in formulas)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        return next(chain.from_iterable(found), None)


def with_own_rewards(formula: Any, truth: Any, given: FloatArray, known: BoolArray) -> Any | None:
    """Return a formula that gives all numbers with rewards that the program makes, if any does.

    Programs scale rewards, or pay -1 at ends. Their rewards are one number for each reward and end
    of the environment; formulas are linear in them. Rewards that are negated, left out, or left out
    at ends, are mistakes.

    Args:
        formula: the formula, which may have mistakes.
        truth: one with the rewards and ends of the environment.
        given: what the program has computed.
        known: which numbers are compared.
    """
    none, pairs = np.zeros(given.shape), [truth.rewards.ravel(), truth.terminated.ravel()]
    kinds, kind = np.unique(np.stack(pairs, axis=1), axis=0, return_inverse=True)
    base = replace(formula, rewards=none)()
    clear, kind = known & np.isfinite(base), kind.reshape(given.shape)
    rows = max(LEAST + len(kinds), known.sum() / 2)
    if len(kinds) > KINDS or clear.sum() < rows:
        return None
    ones = [(kind == number).astype(np.float64) for number in range(len(kinds))]
    columns = [(replace(formula, rewards=each)() - base)[clear] for each in ones]
    own = np.linalg.lstsq(np.stack(columns, axis=1), (given - base)[clear], rcond=None)[0]
    old, ended = kinds[:, 0], kinds[:, 1] > 0
    wrong = [0 * own, old, -old, np.where(ended, 0.0, old)]
    found = replace(formula, rewards=own[kind])
    fits = agreeing(found, given, clear)[clear].all()
    return found if fits and not any(np.allclose(own, e, atol=2e-5) for e in wrong) else None


def _told(formula: Any, own: Any) -> str:
    """Tell the rewards of a program beside those of the environment."""
    columns = formula.rewards.ravel(), formula.terminated.ravel(), own.rewards.ravel().round(6)
    words = [
        f"{old:g}{' at an end' * bool(end)} becomes {new:.3g}"
        for old, end, new in np.unique(np.stack(columns, axis=1), axis=0).tolist()
        if old != new
    ]
    return f"the program has rewards of its own (rewards-shaped): {'; '.join(words)}"


def check_moves(report: Report, known: BoolArray, used: BoolArray) -> None:
    """Check that rows are moves, not resets of the environment."""

    def example(*at: int) -> str:
        return f"row {at[0]} of a batch is no move: the environment was reset there"

    report.add("moves", known & ~used, example, [AUTORESET], int(known.sum()))
