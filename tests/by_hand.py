"""Greed by plain enumeration over dictionaries, from the paper's text alone.

Shares no code with the package: every roll of dice is summed over its law, built by counting,
every position is visited by recursion, everything is a fraction.
"""

from collections import Counter
from fractions import Fraction
from functools import cache

HALF = Fraction(1, 2)


@cache
def totals(dice, sides):
    """Law of the sum of some dice, {sum: probability}."""
    counts = Counter({0: 1})
    for _ in range(dice):
        longer = Counter()
        for total, count in counts.items():
            for face in range(1, sides + 1):
                longer[total + face] += count
        counts = longer
    return {total: Fraction(count, sides**dice) for total, count in counts.items()}


class ByHand:
    """One game between two policies.

    ``policies[i]((own, other, last))`` gives {dice: probability} for player i; None plays what is
    best for itself, and the fewest of equally good numbers of dice, which for both players None is
    the equilibrium. ``tie`` says what equal scores pay to who takes the last turn and to the other.
    """

    def __init__(self, limit, sides, dice_allowed, policies=(None, None), tie=(HALF, HALF)):
        self.limit, self.sides, self.dice_allowed = limit, sides, dice_allowed
        self.policies, self.tie = policies, tie
        self.ratings = cache(self._ratings)  # of the mover and of the other
        self.both = cache(self._both)

    def rating(self, player, own, other, last):
        return self.ratings(player, own, other, last)[0]

    def action(self, player, own, other, last, dice):
        return self.both(player, own, other, last, dice)[0]

    def _ratings(self, player, own, other, last):
        options = {n: self.both(player, own, other, last, n) for n in self.options(own)}
        policy = self.policies[player]
        if policy is None:
            return max(options.values(), key=lambda pair: pair[0])
        law = policy((own, other, last))
        return tuple(sum(p * options[n][who] for n, p in law.items()) for who in (0, 1))

    def options(self, own):
        return range(self.dice_allowed(own) + 1)

    def _both(self, player, own, other, last, dice):
        mine = others = Fraction(0)
        for total, chance in totals(dice, self.sides).items():
            pair = self._after(player, own + total, other, last, dice)
            mine, others = mine + chance * pair[0], others + chance * pair[1]
        return mine, others

    def _after(self, player, own, other, last, dice):
        if own > self.limit:
            return Fraction(0), Fraction(1)
        if last:
            return self.tie if own == other else (Fraction(own > other), Fraction(own < other))
        return self.ratings(1 - player, other, own, int(dice == 0))[::-1]


def section_7(limit, sides):
    """Most dice by section 7, read so that the first number above the mean is allowed."""
    return lambda own: 2 * (limit - own) // (sides + 1) + 1
