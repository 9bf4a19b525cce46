"""The report of an audit, for programs and for people, and how mistakes are named in it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

#: Statistical checks, in which no single entry is wrong.
CHANCE = ("outcomes", "beginnings", "policy", "visits")


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


class Mistake(NamedTuple):
    """A known mistake.

    Attributes:
        name: as ``docs/mutants.md`` lists it.
        cure: advice for the user.
        changes: the fields of a formula that the mistake changes, or the recorded arrays as a right
            program would have recorded them.
    """

    name: str
    cure: str
    changes: Mapping[str, Any] = MappingProxyType({})


def reproducing(
    formula: Any, mistakes: Iterable[Mistake], reproduces: Callable[[Any], bool]
) -> Iterator[Mistake]:
    """Yield the mistakes of a formula, a dataclass, whose changes reproduce what was recorded."""
    for mistake in mistakes:
        if reproduces(replace(formula, **mistake.changes)):
            yield mistake


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
        check: str,
        wrong: int,
        of: int,
        example: Callable[[], str],
        mistakes: Iterable[Mistake] = (),
    ) -> bool:
        """Add a check: passed, or failed with the first of the mistakes that explain it.

        Args:
            check: the name of the check.
            wrong: number of wrong entries.
            of: number of checked entries.
            example: describes a wrong entry.
            mistakes: known mistakes that explain all wrong entries; asked for if there are any.

        Returns:
            Whether the check passed.
        """
        if not wrong:
            self.held[check] = of
            return True
        found = next(iter(mistakes), None)
        words = f"{example()}."
        if found and found.cure:
            words += f" {found.cure[:1].upper()}{found.cure[1:]}."
        self.findings.append(Finding(check, found.name if found else None, wrong, of, words))
        return False

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
