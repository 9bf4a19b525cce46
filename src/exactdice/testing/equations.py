"""Linear equations between positions, in fractions."""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

#: A player to move, and a state.
Position: TypeAlias = tuple[int, int]


@dataclass
class Equation:
    """A linear equation: an unknown is a constant plus multiples of other unknowns."""

    constant: Fraction
    terms: dict[Position, Fraction]


def solved(equations: dict[Position, Equation]) -> dict[Position, Fraction]:
    """Solve linear equations by substituting each unknown in all others."""
    users: dict[Position, set[Position]] = defaultdict(set)
    for position, equation in equations.items():
        for other in equation.terms:
            users[other].add(position)
    for position, equation in equations.items():
        rest = 1 - equation.terms.pop(position, Fraction(0))
        equation.constant /= rest
        equation.terms = defaultdict(
            Fraction, {other: factor / rest for other, factor in equation.terms.items()}
        )
        for user in users.pop(position, set()) - {position}:
            factor = equations[user].terms.pop(position)
            equations[user].constant += factor * equation.constant
            for other, further in equation.terms.items():
                equations[user].terms[other] += factor * further
                users[other].add(user)
    return {position: equation.constant for position, equation in equations.items()}
