"""A claim of a source, with the exact result and a verdict."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import Literal, get_args

from exactdice.core import Table

Verdict = Literal["agrees", "agrees by rounding", "agrees by truncation", "garbled", "wrong"]
#: The verdicts that a table begins with.
FIRST: dict[Verdict, int] = {"wrong": 0, "garbled": 1}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One number or statement of a source.

    Attributes:
        place: the place in the source.
        printed: number or statement of the source.
        exact: the exact number or statement.
        verdict: "agrees", if need be by rounding or truncation; "garbled" if the transcription has
            lost the number; "wrong" if the source is wrong.
        recorded: the verdict that this project has found before.
        note: a counterexample, or the range over which a statement was checked.
        formula: shown in place of a fraction that is too long to read.
    """

    place: str
    printed: str
    exact: Fraction | str
    verdict: Verdict
    recorded: Verdict
    note: str = ""
    formula: str = ""


@dataclass(frozen=True)
class At:
    """A place in a source: ``At("section 3").statement(printed=..., holds=...)`` is a claim."""

    place: str

    def statement(
        self,
        *,
        printed: str,
        holds: bool,
        exact: Fraction | str = "true",
        recorded: Verdict = "agrees",
        note: str = "",
    ) -> Claim:
        """Record whether a statement holds.

        Args:
            printed: number or statement of the source.
            holds: whether exact computation confirms the statement.
            exact: the exact number or statement.
            recorded: the expected verdict.
            note: a counterexample, or the range over which the statement was checked.
        """
        return Claim(
            place=self.place,
            printed=printed,
            exact=exact,
            verdict="agrees" if holds else "wrong",
            recorded=recorded,
            note=note,
        )

    def mistake(self, *, printed: str, holds: bool, exact: Fraction | str, note: str = "") -> Claim:
        """Record a statement that is known not to hold."""
        return self.statement(
            printed=printed, holds=holds, exact=exact, recorded="wrong", note=note
        )

    def number(
        self,
        *,
        printed: str | int,
        exact: Fraction | int,
        recorded: Verdict | None = None,
        note: str = "",
        formula: str = "",
    ) -> Claim:
        """Compare a printed number with the exact one.

        Args:
            printed: a decimal, a percentage or a fraction; a ? or a bracket marks lost characters,
                and a number that cannot be read is garbled.
            exact: the exact value; 1/8 for a percentage of 12.5%.
            recorded: the expected verdict; by default that of a correctly printed number: "agrees"
                if the printed digits suffice for the exact value, else "agrees by rounding".
            note: a remark.
            formula: shown in place of a fraction that is too long to read.
        """
        words, exact = str(printed), Fraction(exact)
        return Claim(
            place=self.place,
            printed=words,
            exact=exact,
            verdict=_compare(words, exact),
            recorded=recorded or _deserved(words, exact),
            note=note,
            formula=formula,
        )


def _unit(printed: str) -> Fraction:
    """Return the unit of the last digit of a decimal or percentage; 0 for other numbers."""
    _, point, places = printed.removesuffix("%").partition(".")
    percent = printed.endswith("%")
    return Fraction(bool(point or percent), 10 ** len(places) * (100 if percent else 1))


def _compare(printed: str, exact: Fraction) -> Verdict:
    try:
        value = Fraction(printed.removesuffix("%")) / (100 if printed.endswith("%") else 1)
    except ValueError:
        return "garbled"
    unit = _unit(printed)
    if value == exact:
        return "agrees"
    if abs(value - exact) <= unit / 2:
        return "agrees by rounding"
    if 0 <= (exact - value) * (-1 if exact < 0 else 1) < unit:
        return "agrees by truncation"
    return "wrong"


def _deserved(printed: str, exact: Fraction) -> Verdict:
    if set(printed) & set("?("):
        return "garbled"
    unit = _unit(printed)
    return "agrees by rounding" if unit and (exact / unit).denominator > 1 else "agrees"


def printed_table(source: str, name: str) -> list[dict[str, str]]:
    """Read a table as a source prints it: a dictionary for each line, with the names of the first.

    Args:
        source: the folder of the source.
        name: the name of the file, without ``.csv``.
    """
    text = files(__package__).joinpath(source, f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def surprises(claims: Sequence[Claim]) -> list[Claim]:
    """List the claims whose verdict differs from the recorded verdict."""
    return [claim for claim in claims if claim.verdict != claim.recorded]


def summary(claims: Sequence[Claim]) -> str:
    """Count the claims by verdict, and those whose verdict is not the recorded one."""
    counts = {
        verdict: sum(claim.verdict == verdict for claim in claims) for verdict in get_args(Verdict)
    }
    each = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    return f"{len(claims)} claims: {each}; {len(surprises(claims))} not as recorded"


def table(title: str, claims: Sequence[Claim]) -> str:
    """Write the claims of a source as a Markdown table, the wrong claims first."""
    rows = []
    for claim in sorted(claims, key=lambda claim: FIRST.get(claim.verdict, len(FIRST))):
        new = "" if claim.verdict == claim.recorded else f" (recorded: {claim.recorded}, NEW)"
        decimal = "" if isinstance(claim.exact, str) else f"{float(claim.exact):.12g}"
        shown = claim.formula or str(claim.exact)
        rows.append([claim.place, claim.printed, shown, decimal, claim.verdict + new, claim.note])
    header = ["where", "the source", "exact", "decimal", "verdict", "note"]
    return f"## {title}\n\n{summary(claims)}.\n\n{Table(header, rows).markdown()}"
