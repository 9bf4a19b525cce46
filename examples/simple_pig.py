"""Pig in the simple form, beside ``pig.py``: the same game, state by state, in half of the lines.

A game of two players whose moves lead back. Every state is listed, which takes longer than the
arrays of ``pig.py``: some seconds for 30 points, minutes for 100.

    exactdice solve examples/simple_pig.py:SimplePig --env target 30
    exactdice score random examples/simple_pig.py:SimplePig --env target 30
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import exactdice


class Turn(NamedTuple):
    """The player to move, the points that both have banked, and the sum of the turn."""

    mover: int
    own: int
    other: int
    total: int


class SimplePig(exactdice.SimpleGame):
    """The rules; a win pays 1, a loss -1."""

    def __init__(self, target: int = 20, sides: int = 6) -> None:
        self.target, self.sides = target, sides
        super().__init__()

    def start(self) -> list[tuple[int, Turn]]:
        """Begin with nothing banked."""
        return [(1, Turn(0, 0, 0, 0))]

    def player(self, state: Turn) -> int:
        """Say who is to move."""
        return state.mover

    def actions(self, state: Turn) -> list[str]:
        """Hold after the first roll of a turn, and roll always."""
        return ["roll", "hold"] if state.total else ["roll"]

    def outcomes(self, state: Turn, action: str) -> Iterator[tuple[Fraction, int, Turn | None]]:
        """Add the face, or bank the sum, or lose it; the last two pass the turn."""
        mover, own, other, total = state
        if action == "hold":
            yield Fraction(1), 0, Turn(1 - mover, other, own + total, 0)
            return
        yield Fraction(1, self.sides), 0, Turn(1 - mover, other, own, 0)
        for face in range(2, self.sides + 1):
            wins = own + total + face >= self.target
            yield (
                Fraction(1, self.sides),
                int(wins),
                None if wins else Turn(mover, own, other, total + face),
            )


exactdice.register(SimplePig)
