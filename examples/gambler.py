"""The gambler's problem (Sutton and Barto 2018, example 4.3): stake on heads until 0 or the goal.

A coin comes up heads with the probability ``heads``. The gambler wins the stake on heads and loses
it on tails. The value is the probability of reaching the goal, in fractions if asked for: without
an end in sight, as stakes may go back and forth for ever.

    exactdice solve examples/gambler.py:Gambler --exact
"""

from collections.abc import Iterable
from fractions import Fraction

import exactdice


class Gambler(exactdice.SimpleGame):
    """The rules: a state is the gambler's capital, an action a stake."""

    def __init__(self, goal: int = 100, heads: float = 0.4) -> None:
        self.goal, self.heads = goal, heads
        super().__init__()

    def start(self) -> list[tuple[int, int]]:
        """Begin with half of the goal."""
        return [(1, self.goal // 2)]

    def actions(self, state: int) -> range:
        """Stake what is there, at most what the goal needs."""
        return range(1, min(state, self.goal - state) + 1)

    def outcomes(
        self, state: int, action: int
    ) -> Iterable[tuple[float | Fraction, int, int | None]]:
        """Win the stake, or lose it."""
        up, down = state + action, state - action
        yield self.heads, int(up == self.goal), up if up < self.goal else None
        yield 1 - self.heads, 0, down or None


exactdice.register(Gambler)
