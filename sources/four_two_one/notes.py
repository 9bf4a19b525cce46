"""Footnotes and appendix C of *Fate stochastic management and policy benchmark in 421*."""

from collections.abc import Iterator
from fractions import Fraction

from ...baselines.solver import outcome_distribution, solve
from ...baselines.task import Task
from ...games import FourTwoOne
from ...games.dice import combinations
from ...games.ranking import tokens
from ..claim import Claim, agreement
from .laws import probability


def note_claims() -> Iterator[Claim]:
    """Check everything."""
    for part in (_footnotes, _sets, _sizes):
        yield from part()


def _footnotes() -> Iterator[Claim]:
    likely = probability(6, (1, 2, 4))
    alike = Fraction(1, len(combinations(3, 6)))
    yield Claim(
        "footnote 2", "that dice are discernible is not an innocuous hypothesis",
        f"421 has the probability {likely}; if all combinations were alike, {alike}",
        agreement(likely != alike), "agrees",
    )  # fmt: skip
    different = [faces for faces in combinations(3, 6) if len(set(faces)) == 3]
    sequences = [faces for faces in different if faces[2] - faces[0] == 2]
    assert all(tokens(faces) == 2 for faces in sequences)
    yield Claim(
        "footnote 3", "not all combinations in the class of sequences are sequences",
        f"{len(sequences)} of {len(different)} are", agreement(len(sequences) < len(different)),
        "agrees", "the class of 123 holds all combinations of three different faces",
    )  # fmt: skip


def _sets() -> Iterator[Claim]:
    half, lost = (FourTwoOne(utility="set", tie=tie) for tie in ("half", "lost"))
    first = Fraction(solve(Task(half), exact=True).value)
    yield Claim(
        "footnote 5", "the order of players in the set matters",
        f"the first of two players wins {float(first):.6f} of the sets",
        agreement(first != Fraction(1, 2)), "agrees", "both play optimally; a tie pays 1/2",
    )  # fmt: skip
    ties = outcome_distribution("optimal", Task(half)).get(0.5, 0.0)
    outcomes = outcome_distribution("optimal", Task(lost))
    yield Claim(
        "footnote 6", "'the last player with the lowest combination' breaks ties automatically",
        f"true: without it {ties:.6f} of the sets are tied, with it none, and the first of two "
        f"players wins {outcomes[1.0]:.6f}", agreement(ties > 0 and set(outcomes) == {0.0, 1.0}),
        "agrees", "both play optimally",
    )  # fmt: skip


def _sizes() -> Iterator[Claim]:
    turns = {casts: FourTwoOne(casts=casts).legs[0].turn for casts in range(1, 9)}
    sizes = {casts: turn.num_states for casts, turn in turns.items()}
    yield Claim(
        "appendix C", "merged, the tree's size grows only linearly with the depth J",
        "308 J - 252 states after a cast: " + ", ".join(map(str, sizes.values())),
        agreement(all(size == 308 * casts - 252 for casts, size in sizes.items())), "agrees",
        "(3, 6, J), J <= 8, first player",
    )  # fmt: skip
