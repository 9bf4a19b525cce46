"""Pig: a game with cycles, of your own in one file.

Two players take turns. In a turn a player rolls a die, at least once and then as often as it
likes, and adds up the faces; then it holds, and the sum is banked. A one ends the turn and loses
its sum. The first player to bank ``target`` points wins. A sum that is enough for this wins at
once, without holding.

The game has cycles: two ones in a row leave the banked points as they were, so that the game comes
back to the same position. Every cycle passes the beginning of a turn, and banked points never fall.

Source: Neller and Presser, *Optimal Play of the Dice Game Pig* (UMAP Journal 25, 2004).

    exactdice solve examples/pig.py:Pig
    exactdice score hold:20 examples/pig.py:Pig
    exactdice train examples/pig.py:Pig --env target 30
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


class Pig(Game):
    """The rules. A state is (mover's banked points, other's banked points, sum of the turn)."""

    name = "Pig"
    has_cycles = True
    num_players, num_actions = 2, 2
    observation_names = ("own points", "other's points", "sum of the turn")
    payoff_range, zero_sum = (0.0, 1.0), True

    def __init__(self, target: int = 100, sides: int = 6) -> None:
        self.target, self.sides = at_least("target", target, 1), at_least("sides", sides, 2)
        self.observation_sizes = (target, target, target)
        self.num_states = target**3
        self.laws = self.exact_laws().astype(float)  # (law, outcome)

    def exact_laws(self) -> Array:
        """Row ``HOLD``: nothing happens, which is outcome 0. Row ``ROLL``: each face."""
        die = [Fraction(1, self.sides)] * self.sides
        return np.array([[Fraction(1), *[Fraction(0)] * (self.sides - 1)], die])

    def law(self, states: IntArray, actions: IntArray) -> IntArray:
        """Give the row of ``laws`` for each move: the row of its action."""
        return actions

    def initial_law(self) -> tuple[IntArray, Array]:
        """Begin with nothing banked."""
        return np.array([0]), np.array([Fraction(1)])

    def mask(self, states: IntArray) -> BoolArray:
        """Allow holding after the first roll of a turn, and rolling always."""
        return np.stack([states % self.target > 0, np.ones(len(states), dtype=bool)], axis=1)

    def advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        """Add the face, or bank the sum, or lose it; the last two pass the turn."""
        own, other, total = self.observe(states, 0).T
        rolled = actions == ROLL
        total = np.where(rolled, np.where(outcomes > 0, total + outcomes + 1, 0), total)
        over = own + total >= self.target
        payoffs = np.where(over[:, None], np.eye(2)[seats], 0.0)
        passes = ~rolled | (outcomes == 0)
        ahead, behind = np.where(passes, (other, own + total), (own, other))
        following = self.encode(np.stack([ahead, behind, np.where(passes, 0, total)], axis=1))
        return Move(
            np.where(passes, 1 - seats, seats), following, payoffs, np.stack([over, over], axis=1)
        )

    def stages(self) -> Sequence[tuple[int, IntArray]]:
        """List states by the sum of the turn, which grows until the turn ends."""
        own, _, total = self.observe(np.arange(self.num_states), 0).T
        possible = (own + total < self.target) & (total != 1)
        sums = [np.flatnonzero(possible & (total == k)) for k in range(self.target)]
        return [(seat, states) for states in sums if len(states) for seat in (0, 1)]

    def block(self, seat: int, states: IntArray) -> tuple[IntArray, BoolArray]:
        """Give the points banked by both, which never fall; the cut is the beginnings of turns."""
        own, other, total = self.observe(states, seat).T
        return own + other, total == 0

    def observe(self, states: IntArray, seat: int) -> IntArray:
        """Give (own points, other's points, sum of the turn) of each state."""
        return np.stack(np.unravel_index(states, self.observation_sizes), axis=-1)

    def encode(self, observations: IntArray) -> IntArray:
        """Give the state of each observation, -1 if there is none."""
        own, other, total = np.moveaxis(np.asarray(observations), -1, 0)
        states = (own * self.target + other) * self.target + total
        return np.where((own + total < self.target) & (total != 1), states, -1)


@presents(Pig)
class PigPresentation(Presentation[Pig]):
    """The words of the game."""

    verbs = (("holds", "hold"), ("rolls", "roll"))

    def describe(self, observation: IntArray) -> str:
        """Put an observation into words."""
        return "banked {} to {}, {} in this turn".format(*observation)

    def describe_action(self, action: int) -> str:
        """Put an action into words that may follow the name of a player."""
        return ("holds", "rolls")[action]

    def tell(self, observation: IntArray, action: int, outcome: int) -> str:
        """Say the face, too, as no position shows a one."""
        return f"rolls: {outcome + 1}" if action == ROLL else "holds"


def hold_at(game: Pig, points: str) -> IntArray:
    """Roll until the sum of the turn is ``points``; gives one action for each state."""
    if not points.isdecimal():
        raise InputError(f"points must be a whole number, got {points!r}")
    total = np.arange(game.num_states) % game.target
    return np.where((total > 0) & (total >= int(points)), HOLD, ROLL)


exactdice.register(Pig, policies={"hold:<points>": hold_at})
