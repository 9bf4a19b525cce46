"""What the paper on Greed claims of last turns (sections 4 and 5), as checks of one game."""

from fractions import Fraction

import numpy as np

from ...games import Greed
from ...games.dice import sum_counts
from ..greed import terminal_search


class LastTurns:
    """Exact ratings in the last turns of a game, any number of dice up to M allowed.

    Attributes:
        ratings: 2 s^M times the rating, Python integers, shape (own, other, dice).
    """

    def __init__(self, limit: int, sides: int) -> None:
        self.limit, self.sides = limit, sides
        self.game = Greed(limit, sides, max_dice=limit)
        size = self.game.num_scores
        self.own, self.other = np.indices((size, size))
        ratings = np.zeros((size, size, limit + 1), dtype=object)
        zeros = np.zeros((2, self.game.num_states), dtype=object)
        for mover, states, expected in self.game.backward(zeros, seat=0):
            own, other, last = self.game.observe(states, 0).T
            if not last.all():
                break
            if mover == 0:  # scaled by 2 s^(2M-p-o), of which s^(M-p) would do
                powers = [sides ** int(p + o) for p, o in zip(own, other, strict=True)]
                ratings[own, other] = expected * np.array(powers, dtype=object)[:, None]
        self.one = 2 * sides ** (2 * limit)
        self.ratings = ratings

    def equation_1_holds(self) -> bool:
        """Compare the recursion with the sum over the pmf."""
        for dice in range(min(self.limit, 4) + 1):
            counts = sum_counts(dice, self.sides)
            for own in range(self.limit + 1):
                for other in range(self.limit + 1):
                    halves = sum(
                        count * (2 * (own + total > other) + (own + total == other))
                        for total, count in enumerate(counts)
                        if own + total <= self.limit
                    )
                    exact = Fraction(int(self.ratings[own, other, dice]), self.one)
                    if exact != Fraction(halves, 2 * self.sides**dice):
                        return False
        return True

    def forfeit_wins(self) -> bool:
        """Look at every state with p > o."""
        return bool(np.all(self.ratings[..., 0][self.own > self.other] == self.one))

    def certain_victory_wins(self) -> bool:
        """Look at every state and n whose smallest sum beats o and whose largest is at most M."""
        dice = np.arange(self.limit + 1)
        beats = self.own[..., None] + dice > self.other[..., None]
        safe = self.own[..., None] + dice * self.sides <= self.limit
        return bool(np.all(self.ratings[beats & safe] == self.one))

    def conjecture_1_holds(self) -> bool:
        """Look for a rise from n to n + 1 with the mean of n above the middle."""
        dice = np.arange(self.limit)
        mean = 2 * self.own[..., None] + dice * (self.sides + 1)
        above = mean > (self.other + self.limit)[..., None]
        return not np.any(above & (self.ratings[..., 1:] > self.ratings[..., :-1]))

    def is_unimodal(self) -> bool:
        """Look for a rise after a fall."""
        rises = self.ratings[..., 1:] > self.ratings[..., :-1]
        fell = np.logical_or.accumulate(self.ratings[..., 1:] < self.ratings[..., :-1], axis=-1)
        return not np.any(rises[..., 1:] & fell[..., :-1])

    def algorithm_is_optimal(self) -> bool:
        """Compare the choices of the algorithm of section 5 with the best of all n."""
        dice, _ = terminal_search(self.game)
        chosen = np.take_along_axis(self.ratings, dice[..., None], axis=-1)[..., 0]
        return bool(np.all(chosen == self.ratings.max(axis=-1)))
