"""A claim of a source, the exact truth, and the verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

Verdict = Literal["agrees", "agrees by rounding", "agrees by truncation", "garbled", "wrong"]


@dataclass(frozen=True)
class Claim:
    """One number or statement of a source.

    Attributes:
        place: where it stands.
        printed: what the source says.
        exact: what exact computation says: a number, or a statement.
        verdict: "agrees", where need be after rounding or truncation; "garbled" where the
            transcription lost what the source has; "wrong" where the source is.
        recorded: the verdict that this project has established before.
        note: a counterexample, or over which range a statement was checked.
        formula: what to show in place of a fraction too long to read.
    """

    place: str
    printed: str
    exact: Fraction | str
    verdict: Verdict
    recorded: Verdict
    note: str = ""
    formula: str = ""


def agreement(holds: bool) -> Verdict:
    """Turn the outcome of a check into a verdict."""
    return "agrees" if holds else "wrong"


def statement(
    *,
    place: str,
    printed: str,
    holds: bool,
    exact: Fraction | str = "true",
    recorded: Verdict = "agrees",
    note: str = "",
) -> Claim:
    """Record whether a statement holds.

    Args:
        place: where it stands.
        printed: what the source says.
        holds: whether exact computation says so too.
        exact: what it says: a number, or a statement.
        recorded: the verdict to expect.
        note: a counterexample, or over which range the statement was checked.
    """
    return Claim(place, printed, exact, agreement(holds), recorded, note)


def number(
    place: str,
    printed: str,
    exact: Fraction,
    recorded: Verdict = "agrees by rounding",
    note: str = "",
    formula: str = "",
) -> Claim:
    """Compare a printed number with the exact one.

    Args:
        place: where it stands.
        printed: a decimal, a percentage or a fraction; what cannot be read is garbled.
        exact: its exact value; of a percentage 12.5%, 1/8.
        recorded: the verdict to expect.
        note: anything worth saying.
        formula: shown in place of the fraction.
    """
    return Claim(place, printed, exact, _compare(printed, exact), recorded, note, formula)


def _compare(printed: str, exact: Fraction) -> Verdict:
    digits = printed.removesuffix("%")
    places = len(digits.partition(".")[2])
    if printed.endswith("%"):
        exact = exact * 100
    try:
        value = Fraction(digits)
    except ValueError:
        return "garbled"
    if value == exact:
        return "agrees"
    if "." in digits or printed.endswith("%"):
        unit = Fraction(1, 10**places)
        if abs(value - exact) <= unit / 2:
            return "agrees by rounding"
        if 0 <= (exact - value) * (-1 if exact < 0 else 1) < unit:
            return "agrees by truncation"
    return "wrong"


def surprises(claims: Sequence[Claim]) -> list[Claim]:
    """List the claims whose verdict is not as recorded."""
    return [claim for claim in claims if claim.verdict != claim.recorded]


def table(title: str, claims: Sequence[Claim]) -> Iterator[str]:
    """Put the claims of a source into a Markdown table, line by line."""
    yield f"## {title}"
    yield ""
    counts = {
        verdict: sum(claim.verdict == verdict for claim in claims) for verdict in get_args(Verdict)
    }
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    yield f"{len(claims)} claims: {summary}; {len(surprises(claims))} not as recorded."
    yield ""
    yield "| where | the source | exact | decimal | verdict | note |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for claim in claims:
        new = "" if claim.verdict == claim.recorded else f" (recorded: {claim.recorded}, NEW)"
        decimal = "" if isinstance(claim.exact, str) else f"{float(claim.exact):.12g}"
        shown = claim.formula or str(claim.exact)
        cells = [claim.place, claim.printed, shown, decimal, claim.verdict + new, claim.note]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
