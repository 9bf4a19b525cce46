"""Numbers that a program has computed, against the formula that explains most of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from ...core import BoolArray, FloatArray
from ..audits.formula import CLOSE, check_formula, named
from ..report import Finding, Mistake, Report
from .program import WRONG, Declared

#: Mistakes of rollouts and of replay buffers, and a note.
AUTORESET = Mistake(
    "autoreset: the environment was reset in these rows and ignored the action: leave them out, or "
    "use AutoresetMode.SAME_STEP"
)
STALE = "Keep the observation that the action was drawn for, not the one after the move"
CUT = "a game that is cut counts as ended: its last observation has a value (truncation-as-end)"
#: Why numbers are not checked.
UNKNOWN = "they are of a form that is not known here"
NO_VALUES = "no values after the last row, or of cut games, are known"
#: Most different rewards, at ends and elsewhere, of which a program may make its own.
KINDS = 8
#: Numbers below which those without a name may be of any form.
LEAST = 8
#: Names that explain the least, and are given last.
LAST = [
    f"{check}-{how}" for check in ("returns", "targets") for how in ("scaled", "in-another-order")
]


def show(report: Report, check: str, words: Sequence[str], wrong: Any = True) -> None:
    """Add a check of one truth value: the words of a finding, and the text of its mistake."""
    report.add(check, np.array([bool(wrong)]), words[0], map(Mistake, words[1:]))


def first_of(texts: Iterable[str]) -> list[Mistake]:
    """Return the first of some mistakes, which names the others; none of none."""
    found = [*map(Mistake, texts)]
    others = dict.fromkeys(each.name for each in found if each.name != found[0].name)
    return [replace(each, others=tuple(others)) for each in found[:1]]


def one_edit(
    formulas: Iterable[Any], given: FloatArray, fits: Callable[[Any], Any]
) -> list[Mistake]:
    """Return the first known edit of a formula that fits; none if there is none."""
    found = (named(each, given, fits, axes=given.ndim, single=True) for each in formulas)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        return [*islice(chain.from_iterable(found), 1)]


def check_moves(report: Report, known: BoolArray, used: BoolArray) -> None:
    """Check that rows are moves, not resets of the environment."""
    example = "row {} of a batch is no move: the environment was reset there".format
    report.add("moves", known & ~used, example, [AUTORESET], int(known.sum()))


@dataclass(frozen=True)
class Computed:
    """Numbers that a program has computed, such as returns."""

    report: Report  # gets the check
    check: str
    given: FloatArray
    told: BoolArray  # which numbers are compared, if a formula gives them
    declared: Declared

    def agreeing(self, formula: Any) -> BoolArray:
        """Return which numbers agree with a formula, in single precision."""
        found = formula()
        finite = self.told & np.isfinite(found)
        size = max(float(np.abs(found).max(initial=0, where=finite)), _rounded(formula))
        agree: BoolArray = np.zeros(found.shape, dtype=bool)
        agree[finite] = np.abs(found[finite] - self.given[finite]) <= CLOSE * size
        return agree

    def explaining(self, formulas: Iterable[Any]) -> Any:
        """Return the formula with which most numbers agree, of which the first has the right ends.

        One in which cut games count as ended gives numbers far before a cut, whatever a program
        takes at the cut: it explains all or none.
        """
        tried, of = [*formulas], int(self.told.sum())
        ended = tried[0].terminated
        best, agree = self._most_agreeing(tried)
        if best.terminated is not ended and of < 2 * agree < 2 * of:
            best, _ = self._most_agreeing(each for each in tried if each.terminated is ended)
        self.report.notes += [CUT] * (best.terminated is not ended)
        return best

    def _most_agreeing(self, formulas: Iterable[Any]) -> tuple[Any, int]:
        """Return the formula with which most numbers agree, and how many do."""
        best, most = None, -1
        for formula in formulas:
            agree = int(self.agreeing(formula).sum())
            if agree > most:
                best, most = formula, agree
            if agree == self.told.sum():
                break
        return best, most

    def judge(self, formula: Any, others: Iterable[Any]) -> Any:
        """Check numbers against their formula; return the one that explains most, or None.

        Numbers of which most are others need a name: a program may have an estimator that is not
        known here, and rewards of its own. A mistake may hide the discount, so that ``others`` are
        searched, too: formulas with the constants that the program declares.
        """
        report, check = self.report, self.check
        known = self.told & np.isfinite(formula())
        if not known.any():
            report.unchecked[check] = NO_VALUES
            return None
        own = self._compared(formula, known)
        if own.ok:
            report.held |= own.held
            return formula
        tried = [*others]
        blamed = [*self._blamed(tried), (own.findings[0], formula)]
        finding, best = min(blamed, key=_says_less)
        if finding.mistake in {None, *LAST}:
            bases = [formula]
            if hasattr(formula, "gae_lambda"):  # targets over a move have none
                bases.append(replace(formula, gae_lambda=0.0))
            gammas = self.declared.options("gamma")
            usual = [replace(base, gamma=gamma) for base in bases for gamma in gammas]
            fits = partial(self._with_own_rewards, truth=formula, known=known)
            shaped = next(filter(None, map(fits, [*tried, formula, *usual])), None)
            if shaped is not None:
                report.notes.append(shaped[1])
                report.held[check] = int(known.sum())
                return shaped[0]
            if mistakes := one_edit(tried, self.given, fits):
                words = "they are wrong, whatever rewards the program has"
                report.add(check, known, words, mistakes)
                return None
        if self._may_be_right(finding, formula, known):
            return None
        report.findings.append(finding)
        return best

    def _may_be_right(self, finding: Finding, formula: Any, known: BoolArray) -> bool:
        """Whether numbers may be of another form, or are too few to tell."""
        if finding.mistake is not None:  # as few may be those of other rewards
            return finding.mistake in LAST and known.sum() < LEAST + KINDS
        if known.sum() < LEAST:
            return True
        agree = self.agreeing(formula)
        going = known & ~formula.terminated  # an end may leave nothing to be computed
        if any(2 * agree[of].sum() < of.sum() for of in (known, going)):
            self.report.unchecked[self.check] = UNKNOWN
            return True
        return False

    def _compared(self, formula: Any, known: BoolArray) -> Report:
        report = Report()
        check_formula(report, self.check, formula, self.given, known, size=_rounded(formula))
        return report

    def _blamed(self, formulas: list[Any]) -> Iterator[tuple[Finding, Any]]:
        """Yield the findings with a name beside formulas that give most numbers."""
        # The program's own constants may speak against the name of another constant.
        unlikely = {name for key, name in WRONG.items() if not self.declared.numbers(key)}
        for formula in formulas:
            finite = self.told & np.isfinite(formula())
            if 2 * finite.sum() >= self.told.sum():
                found = self._compared(formula, finite).findings
                yield from ((e, formula) for e in found if e.mistake not in {None, *unlikely})

    def _with_own_rewards(
        self, formula: Any, truth: Any, known: BoolArray
    ) -> tuple[Any, str] | None:
        """Return a formula that gives all numbers with rewards of the program's own, and a note.

        Programs scale rewards, or pay -1 at ends. Their rewards are one number for each reward and
        end of the environment, those of ``truth``; formulas are linear in them. Rewards that are
        negated, left out, or left out at ends, are mistakes.
        """
        pairs = np.stack([truth.rewards.ravel(), truth.terminated.ravel()], axis=1)
        kinds, kind = np.unique(pairs, axis=0, return_inverse=True)
        kind = kind.reshape(self.given.shape)
        base = replace(formula, rewards=np.zeros(kind.shape))()
        clear = known & np.isfinite(base)
        if len(kinds) > KINDS or clear.sum() < max(LEAST + len(kinds), known.sum() / 2):
            return None
        ones = [(kind == number).astype(np.float64) for number in range(len(kinds))]
        columns = [(replace(formula, rewards=each)() - base)[clear] for each in ones]
        rest = (self.given - base)[clear]
        own = np.linalg.lstsq(np.stack(columns, axis=1), rest, rcond=None)[0]
        found = replace(formula, rewards=own[kind])
        old, ended = kinds[:, 0], kinds[:, 1] > 0
        wrong = [0 * own, old, -old, np.where(ended, 0.0, old)]
        right = not any(np.allclose(own, each, atol=2e-5) for each in wrong)
        if not right or not self.agreeing(found)[clear].all():
            return None
        words = [
            f"{before:g}{' at an end' * bool(end)} becomes {new:.3g}"
            for before, end, new in zip(old, ended, own.round(6), strict=True)
            if before != new
        ]
        return found, f"the program has rewards of its own (rewards-shaped): {'; '.join(words)}"


def _rounded(formula: Any) -> float:
    """Return the size of the numbers by whose rounding results of a formula may be wrong.

    A return of 0 is the sum of an advantage and a value, and has the error of these two.
    """
    values = formula.values
    return max(float(np.abs(values).max(initial=0, where=np.isfinite(values))), 1e-6)


def _says_less(blamed: tuple[Finding, Any]) -> tuple[bool, bool, int]:
    """Order findings by what their names say; any numbers may be others times a factor."""
    name = blamed[0].mistake or ""
    return not name, name in LAST, name.count("+")
