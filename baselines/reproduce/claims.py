"""A claim of a source, the exact truth, and the verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Verdict = Literal["agrees", "differs", "garbled"]


@dataclass(frozen=True)
class Claim:
    """One number or statement of a source.

    Attributes:
        place: where it stands.
        printed: what the source says.
        exact: what exact computation says.
        verdict: "agrees"; "differs" where the source is wrong; "garbled" where the
            transcription lost the formula and the source is right.
        recorded: the verdict that this project has established before.
        note: a counterexample, or over which range a statement was checked.
    """

    place: str
    printed: str
    exact: str
    verdict: Verdict
    recorded: Verdict
    note: str = ""


def agreement(holds: bool) -> Verdict:
    """Turn the outcome of a check into a verdict."""
    return "agrees" if holds else "differs"


def rounds_to(value: Fraction, printed: str) -> bool:
    """Say whether a value rounds to a printed decimal."""
    digits = len(printed.partition(".")[2])
    return abs(value - Fraction(printed)) <= Fraction(1, 2 * 10**digits)


def report(title: str, claims: Sequence[Claim]) -> int:
    """Print claims; return 0 if every verdict is as recorded, else 1."""
    print(title)
    surprises = 0
    for claim in claims:
        surprising = claim.verdict != claim.recorded
        surprises += surprising
        print(f"\n{claim.place}\n  source : {claim.printed}\n  exact  : {claim.exact}")
        print(f"  verdict: {claim.verdict}", end="")
        print(f" (recorded: {claim.recorded}, THIS IS NEW)" if surprising else "")
        if claim.note:
            print(f"  note   : {claim.note}")
    counts = {
        verdict: sum(claim.verdict == verdict for claim in claims)
        for verdict in ("agrees", "differs", "garbled")
    }
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    print(f"\n{len(claims)} claims: {summary}; {surprises} not as recorded")
    return 1 if surprises else 0
