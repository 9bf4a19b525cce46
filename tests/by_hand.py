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

    ``policies[i]((own, other, last))`` gives {dice: probability} for player i; None plays best,
    and for both players None that is the equilibrium.
    """

    def __init__(self, limit, sides, dice_allowed, policies=(None, None)):
        self.limit, self.sides, self.dice_allowed = limit, sides, dice_allowed
        self.policies = policies
        self.rating = cache(self._rating)  # of the mover
        self.action = cache(self._action)

    def _rating(self, player, own, other, last):
        options = {n: self.action(player, own, other, last, n) for n in self.options(own)}
        policy = self.policies[player]
        if policy is None:
            return max(options.values())
        return sum(p * options[n] for n, p in policy((own, other, last)).items())

    def options(self, own):
        return range(self.dice_allowed(own) + 1)

    def _action(self, player, own, other, last, dice):
        result = Fraction(0)
        for total, chance in totals(dice, self.sides).items():
            if own + total <= self.limit:
                result += chance * self._after(player, own + total, other, last, dice)
        return result

    def _after(self, player, own, other, last, dice):
        if last:
            return HALF if own == other else Fraction(own > other)
        return 1 - self.rating(1 - player, other, own, int(dice == 0))

    def met(self, player):
        """Probability that each (own, other, last) is met with a player to move, from 0 : 0."""
        met = [Counter(), Counter()]
        order = [(k, last) for last in (0, 1) for k in range(2 * self.limit + 1)]
        met[0][0, 0, 0] = Fraction(1)
        for k, last in order:
            for mover in (0, 1):
                for own in range(max(0, k - self.limit), min(k, self.limit) + 1):
                    self._spread(met, mover, own, k - own, last)
        return met[player]

    def _spread(self, met, mover, own, other, last):
        mass = met[mover][own, other, last]
        if not mass or last:
            return
        for dice, chance in self.policies[mover]((own, other, last)).items():
            for total, probability in totals(dice, self.sides).items():
                if own + total <= self.limit:
                    after = (other, own + total, int(dice == 0))
                    met[1 - mover][after] += mass * chance * probability


def section_7(limit, sides):
    """Most dice by section 7, read so that the first number above the mean is allowed."""
    return lambda own: 2 * (limit - own) // (sides + 1) + 1
