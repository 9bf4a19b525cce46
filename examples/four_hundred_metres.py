"""400 metres: a solitaire game whose points add up, in one file.

An event of Reiner Knizia's *Decathlon*. Eight dice are rolled in four sets of two. A roll is frozen
for its sum, in which a six counts -6, or rolled again; in all, sets are rolled again five times at
most. Frozen points are paid at once, so that no state holds the total: a state is the set, the
repeats that are left and the points of the dice, 4 x 6 x 15 = 360 states.

Optimal play gets 25.6680 points, with a standard deviation of 5.4600. To freeze all sets of five
points or more gets 25.0752, the most of such rules, with a standard deviation of 6.2269.

    exactdice solve examples/four_hundred_metres.py:FourHundredMetres
    exactdice score freeze:5 examples/four_hundred_metres.py:FourHundredMetres
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

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

FREEZE, REPEAT = 0, 1
FACES = (1, 2, 3, 4, 5, -6)
ROLLS = [a + b for a, b in product(FACES, FACES)]  # 36 rolls of two dice
POINTS = np.unique(ROLLS)  # -12 to 10, 15 sums


class FourHundredMetres(Game):
    """The rules. A state is (number of sets frozen, repeats left, number of the sum in POINTS)."""

    name = "FourHundredMetres"
    num_players, num_actions = 1, 2
    observation_names = ("sets frozen", "repeats left", "points of the dice")
    zero_sum = False

    def __init__(self, sets: int = 4, repeats: int = 5) -> None:
        self.sets, self.repeats = at_least("sets", sets, 1), at_least("repeats", repeats, 0)
        self.observation_sizes = (self.sets, self.repeats + 1, len(POINTS))
        self.num_states = int(np.prod(self.observation_sizes))
        self.payoff_range = (-12.0 * sets, 10.0 * sets)  # of the points still to come
        self.laws = self.exact_laws().astype(float)  # (law, outcome)

    def exact_laws(self) -> Array:
        """Give one law, that of the points of two dice."""
        return np.array([[Fraction(ROLLS.count(points), 36) for points in POINTS.tolist()]])

    def law(self, states: IntArray, actions: IntArray) -> IntArray:
        """Roll two dice after every move: the next set, or the same again."""
        return np.zeros(len(states), dtype=np.int64)

    def initial_law(self) -> tuple[IntArray, Array]:
        """Roll the first set, with all repeats left."""
        rolled = np.arange(len(POINTS))
        return self.repeats * len(POINTS) + rolled, self.exact_laws()[0]

    def mask(self, states: IntArray) -> BoolArray:
        """Allow freezing always, and repeating while repeats are left."""
        _, repeats, _ = self.observe(states, 0).T
        return np.stack([np.ones(len(states), dtype=bool), repeats > 0], axis=1)

    def advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        """Pay the points of a frozen set; the game is over after the last set."""
        frozen, repeats, rolled = self.observe(states, 0).T
        freezes = actions == FREEZE
        payoffs = np.where(freezes, POINTS[rolled], 0)
        over = freezes & (frozen == self.sets - 1)
        after = np.stack([frozen + freezes, repeats - ~freezes, outcomes], axis=1)
        following = np.where(over, 0, self.encode(after))
        return Move(seats, following, payoffs[:, None], over[:, None])

    def stages(self) -> Sequence[tuple[int, IntArray]]:
        """List states by the sets frozen, and then by repeats, of which each takes one."""
        states = np.arange(self.num_states).reshape(self.observation_sizes)
        return [(0, same) for one_set in states for same in one_set[::-1]]

    def observe(self, states: IntArray, seat: int) -> IntArray:
        """Give (sets frozen, repeats left, number of the sum) of each state."""
        return np.stack(np.unravel_index(states, self.observation_sizes), axis=-1)

    def encode(self, observations: IntArray) -> IntArray:
        """Give the state of each observation."""
        frozen, repeats, rolled = np.moveaxis(np.asarray(observations), -1, 0)
        return (frozen * (self.repeats + 1) + repeats) * len(POINTS) + rolled


@presents(FourHundredMetres)
class Words(Presentation[FourHundredMetres]):
    """The words of the game."""

    verbs = (("freezes", "freeze"), ("rolls", "roll"))

    def describe(self, observation: IntArray) -> str:
        """Put an observation into words."""
        frozen, repeats, rolled = observation
        return f"set {frozen + 1} is worth {POINTS[rolled]}, {repeats} repeats left"

    def describe_action(self, action: int) -> str:
        """Put an action into words that may follow the name of a player."""
        return ("freezes the set", "rolls the set again")[action]


def freeze_from(game: FourHundredMetres, least: str) -> IntArray:
    """Freeze sets of ``least`` points or more; gives one action for each state."""
    if not least.removeprefix("-").isdecimal():
        raise InputError(f"least must be a whole number, got {least!r}")
    states = np.arange(game.num_states)
    _, repeats, rolled = game.observe(states, 0).T
    return np.where((POINTS[rolled] >= int(least)) | (repeats == 0), FREEZE, REPEAT)


exactdice.register(FourHundredMetres, policies={"freeze:<least>": freeze_from})
