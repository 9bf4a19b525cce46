"""Footnotes and appendix C of *Fate stochastic management and policy benchmark in 421*."""

from collections.abc import Iterator
from fractions import Fraction

from exactdice.baselines.problem.task import Task
from exactdice.baselines.solving.solver import outcome_distribution, solve
from exactdice.core.dice import combinations
from exactdice.games import FourTwoOne
from exactdice.games.four_two_one.game import tokens

from ..claim import At, Claim
from .laws import probability


def note_claims() -> Iterator[Claim]:
    """List the claims."""
    for part in (_footnotes, _sets, _sizes):
        yield from part()


def _footnotes() -> Iterator[Claim]:
    likely = probability(6, (1, 2, 4))
    alike = Fraction(1, len(combinations(3, 6)))
    yield At("footnote 2").statement(
        printed="that dice are discernible is not an innocuous hypothesis",
        exact=f"421 has the probability {likely}; if all combinations were alike, {alike}",
        holds=likely != alike,
    )
    different = [faces for faces in combinations(3, 6) if len(set(faces)) == 3]
    sequences = [faces for faces in different if faces[2] - faces[0] == 2]
    assert all(tokens(faces) == 2 for faces in sequences)
    yield At("footnote 3").statement(
        printed="not all combinations in the class of sequences are sequences",
        exact=f"{len(sequences)} of {len(different)} are",
        holds=len(sequences) < len(different),
        note="the class of 123 holds all combinations of three different faces",
    )


def _sets() -> Iterator[Claim]:
    half, lost = (FourTwoOne(utility="set", tie=tie) for tie in ("half", "lost"))
    first = Fraction(solve(Task(half), exact=True).value)
    yield At("footnote 5").statement(
        printed="the order of players in the set matters",
        exact=f"the first of two players wins {float(first):.6f} of the sets",
        holds=first != Fraction(1, 2),
        note="both play optimally; a tie pays 1/2",
    )
    ties = outcome_distribution("optimal", Task(half)).get(0.5, 0.0)
    outcomes = outcome_distribution("optimal", Task(lost))
    yield At("footnote 6").statement(
        printed="'the last player with the lowest combination' breaks ties automatically",
        exact=f"true: without it {ties:.6f} of the sets are tied, with it none, and the first of "
        f"two players wins {outcomes[1.0]:.6f}",
        holds=ties > 0 and set(outcomes) == {0.0, 1.0},
        note="both play optimally",
    )


def _sizes() -> Iterator[Claim]:
    turns = {casts: FourTwoOne(casts=casts).legs[0].turn for casts in range(1, 9)}
    sizes = {casts: turn.num_states for casts, turn in turns.items()}
    yield At("appendix C").statement(
        printed="merged, the tree's size grows only linearly with the depth J",
        exact="308 J - 252 states after a cast: " + ", ".join(map(str, sizes.values())),
        holds=all(size == 308 * casts - 252 for casts, size in sizes.items()),
        note="(3, 6, J), J <= 8, first player",
    )
