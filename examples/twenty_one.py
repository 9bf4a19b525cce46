"""Twenty-one with a die, a game of your own in one file.

Two players, one after the other, roll a die as often as they like and add up the faces. A player
above the limit is bust and has lost. The second player knows the first player's total. The higher
total wins; equal totals share the win. With the limit 21 this is blackjack with a die.

    exactdice solve examples/twenty_one.py:TwentyOne
    exactdice score hold:17 examples/twenty_one.py:TwentyOne
    exactdice train examples/twenty_one.py:TwentyOne --env limit 12
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from exactdice.games import (
    Array,
    BoolArray,
    Game,
    InputError,
    IntArray,
    Move,
    Presentation,
    at_least,
    presents,
)

import exactdice

HOLD, ROLL = 0, 1


class TwentyOne(Game):
    """The rules. A state is the mover's own total and the total to beat, ``limit + 1`` for none."""

    name = "TwentyOne"
    num_players, num_actions = 2, 2
    observation_names = ("own total", "total to beat, the last value for none yet")
    payoff_range, zero_sum = (0.0, 1.0), True

    def __init__(self, limit: int = 21, sides: int = 6) -> None:
        self.limit, self.sides = at_least("limit", limit, 1), at_least("sides", sides, 1)
        self.observation_sizes = (limit + 1, limit + 2)
        self.num_states = (limit + 1) * (limit + 2)
        self.laws = self.exact_laws().astype(float)  # (law, outcome)

    def exact_laws(self) -> Array:
        """Row ``HOLD``: nothing happens, which is outcome 0. Row ``ROLL``: each face."""
        die = [Fraction(1, self.sides)] * self.sides
        return np.array([[Fraction(1), *[Fraction(0)] * (self.sides - 1)], die])

    def law(self, states: IntArray, actions: IntArray) -> IntArray:
        """Give the row of ``laws`` for each move: the row of its action."""
        return actions

    def initial_law(self) -> tuple[IntArray, Array]:
        """Begin with nothing rolled and nothing to beat."""
        return np.array([self.limit + 1]), np.array([Fraction(1)])

    def mask(self, states: IntArray) -> BoolArray:
        """Allow both actions everywhere."""
        return np.ones((len(states), 2), dtype=bool)

    def advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        """Add the face; after a hold the second player begins, or totals are compared."""
        total, to_beat = np.divmod(states, self.limit + 2)
        first = seats == 0
        total = total + np.where(actions == ROLL, outcomes + 1, 0)
        bust, hold = total > self.limit, actions == HOLD
        over = bust | (hold & ~first)
        second_wins = np.where(bust, first, (1 + np.sign(total - to_beat)) / 2)
        payoffs = np.where(over[:, None], np.stack([1 - second_wins, second_wins], axis=1), 0.0)
        following = np.where(hold, total, total * (self.limit + 2) + to_beat)
        return Move(np.where(hold, 1, seats), following, payoffs, np.stack([over, over], axis=1))

    def stages(self) -> Sequence[tuple[int, IntArray]]:
        """List the first player's totals, then the second's: rolling leads to a higher one."""
        totals, targets = np.arange(self.limit + 1) * (self.limit + 2), np.arange(self.limit + 1)
        first = [(0, total + np.array([self.limit + 1])) for total in totals]
        return [*first, *((1, total + targets) for total in totals)]

    def observe(self, states: IntArray, seat: int) -> IntArray:
        """Give (own total, total to beat) of each state."""
        return np.stack(np.divmod(states, self.limit + 2), axis=1)

    def encode(self, observations: IntArray) -> IntArray:
        """Give the state of each observation."""
        return np.asarray(observations)[..., 0] * (self.limit + 2) + observations[..., 1]


@presents(TwentyOne)
class TwentyOnePresentation(Presentation[TwentyOne]):
    """The words of the game."""

    verbs = (("holds", "hold"), ("rolls", "roll"))

    def describe(self, observation: IntArray) -> str:
        """Put an observation into words."""
        own, to_beat = observation
        return f"{own} so far, {to_beat if to_beat <= self.game.limit else 'nothing'} to beat"

    def describe_action(self, action: int) -> str:
        """Put an action into words that may follow the name of a player."""
        return ("holds", "rolls")[action]

    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        """Say the face, too, as no position shows it after a bust."""
        return f"rolls: {outcome + 1}" if action == ROLL else "holds"


def hold_at(game: TwentyOne, points: str) -> IntArray:
    """Roll while the own total is below ``points``; gives one action for each state."""
    if not points.isdecimal():
        raise InputError(f"points must be a whole number, got {points!r}")
    own, _ = np.divmod(np.arange(game.num_states), game.limit + 2)
    return np.where(own < int(points), ROLL, HOLD)


exactdice.register(TwentyOne, policies={"hold:<points>": hold_at})
