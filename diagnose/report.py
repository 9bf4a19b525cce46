"""The report of an audit, for programs and for people, and the mistakes that it names."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core import BoolArray

#: Statistical checks, in which no single entry is wrong.
CHANCE = ("outcomes", "beginnings", "policy", "visits", "coincidences")


@dataclass(frozen=True)
class Finding:
    """A failed check.

    Attributes:
        check: the name of the check.
        mistake: the name of the known mistake that reproduces the recorded numbers; None if no
            known mistake does. ``docs/mutants.md`` has the names.
        count: number of wrong entries.
        of: number of checked entries.
        words: a description of the error with one example, and the cure if the mistake is known.
    """

    check: str
    mistake: str | None
    count: int
    of: int
    words: str


@dataclass(frozen=True)
class Mistake:
    """A known mistake, as an edit of a declared formula or of a record.

    ``changes`` are the fields of a formula that the mistake changes, or the recorded arrays as a
    right program would have recorded them.
    """

    text: str  # "name: cure", or a name that says it all; docs/mutants.md has the names
    changes: Mapping[str, Any] = field(default_factory=dict)
    others: tuple[str, ...] = ()  # names of further mistakes that give the same numbers

    @property
    def name(self) -> str:
        """The public name."""
        return self.text.partition(": ")[0]

    @property
    def cure(self) -> str:
        """Advice for the user."""
        cure = self.text.partition(": ")[2]
        cure = cure or f"the numbers are reproduced with {self.name.replace('-', ' ')}"
        same = f" (or {', '.join(self.others)}: the numbers are the same here)"
        return cure + same * bool(self.others)


def reproducing(
    formula: Any, mistakes: Iterable[Mistake], reproduces: Callable[[Any], bool]
) -> Iterator[Mistake]:
    """Yield the mistakes whose changes make a formula, a dataclass, reproduce what was recorded."""
    return (mistake for mistake in mistakes if reproduces(replace(formula, **mistake.changes)))


@dataclass
class Report:
    """The result of an audit.

    Attributes:
        findings: the failed checks.
        held: the passed checks: the name of each, and its number of entries.
        notes: remarks that are no mistakes, such as a constant factor of the rewards.
        unchecked: the checks that could not be made, and the reason for each.
    """

    findings: list[Finding] = field(default_factory=list)
    held: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unchecked: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether all checks passed."""
        return not self.findings

    def add(
        self,
        check: str,  # its name
        wrong: BoolArray,  # which entries are wrong
        example: str | Callable[..., str],  # tells what is wrong, at the place of the first one
        mistakes: Iterable[Mistake] = (),  # that explain all wrong entries; read if there are any
        of: int | None = None,  # number of checked entries; all by default
        groups: Mapping[str, BoolArray] | None = None,  # entries by what they have in common
    ) -> bool:
        """Add a check: passed, or failed with the first of the mistakes that explain it.

        If no mistake explains the wrong entries, the smallest group that has all is named. Whether
        the check passed is returned.
        """
        of = wrong.size if of is None else of
        if not wrong.any():
            self.held[check] = of
            return True
        found = next(iter(mistakes), None)
        told = example if isinstance(example, str) else example(*np.argwhere(wrong)[0].tolist())
        said = found.cure if found else _in_common(wrong, groups or {})
        words = f"{told}. {said[:1].upper()}{said[1:]}." if said else f"{told}."
        name, count = found.name if found else None, int(wrong.sum())
        self.findings.append(Finding(check, name, count, of, words))
        return False

    def add_finite(self, name: str, array: Any, read: Any = True, axes: int = 1) -> BoolArray:
        """Add a finding if an array is not finite where it is read; return the rows, (row, ...)."""
        wrong = ~np.isfinite(array) & read
        rows: BoolArray = wrong.reshape(*wrong.shape[:axes], -1).any(axis=-1)

        def example(*at: int) -> str:
            number = array[at].ravel()[~np.isfinite(array[at]).ravel()][0]
            return f"{name} has {number} in row {', '.join(map(str, at))}"

        if rows.any():
            self.add("finite", rows, example)
        return rows

    def __str__(self) -> str:
        rows = [f"  holds      {check}: {count:,} checked" for check, count in self.held.items()]
        for found in self.findings:
            name = f" [{found.mistake}]" if found.mistake else ""
            count = f"{found.count:,} of {found.of:,}"
            if found.check in CHANCE:
                count = f"{found.of:,} together"
            rows.append(f"  WRONG      {found.check}: {count}{name}")
            rows.append(f"             {found.words}")
        rows += [f"  note       {note}" for note in self.notes]
        rows += [f"  unchecked  {check}: {why}" for check, why in self.unchecked.items()]
        held = "all that was checked holds" if self.unchecked else "all holds"
        return "\n".join([f"audit: {held if self.ok else 'not all holds'}", *rows])


def _in_common(wrong: BoolArray, groups: Mapping[str, BoolArray]) -> str:
    """Say which group has all of two or more wrong entries, if it is no more than half of all."""
    holding = {
        words: int(group.sum())
        for words, group in groups.items()
        if not (wrong & ~group).any() and 2 * group.sum() <= group.size
    }
    if not holding or wrong.sum() < 2:
        return ""
    return f"what they have in common: {min(holding, key=lambda words: holding[words])}"
