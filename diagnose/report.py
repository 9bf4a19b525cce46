"""The report of an audit, for programs and for people."""

from dataclasses import dataclass, field

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


def told(example: str, cure: str = "") -> str:
    """Join an example of an error and its cure, if it is known, into sentences."""
    return f"{example}. {cure[:1].upper()}{cure[1:]}." if cure else f"{example}."


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
