"""Yahtzee by hand: plain recursion in fractions, which shares no code with the package."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod

NAMES = (
    *("ones", "twos", "threes", "fours", "fives", "sixes"),
    *("three_of_a_kind", "four_of_a_kind", "full_house", "small_straight", "large_straight"),
    *("yahtzee", "chance"),
)
FIXED = {"full_house": 25, "small_straight": 30, "large_straight": 40}


def points(name, dice, joker=False):
    """Score dice in a box, without any bonus."""
    counts = sorted(Counter(dice).values())
    if name in NAMES[:6]:
        face = 1 + NAMES.index(name)
        return face * dice.count(face)
    if name == "chance":
        return sum(dice)
    if name == "yahtzee":
        return 50 if counts == [5] else 0
    if name in ("three_of_a_kind", "four_of_a_kind"):
        return sum(dice) if counts[-1] >= (3 if name[0] == "t" else 4) else 0
    if joker:
        return FIXED[name]
    runs = {"small_straight": ("1234", "2345", "3456"), "large_straight": ("12345", "23456")}
    faces = {str(face) for face in dice}
    right = counts == [2, 3] if name == "full_house" else any(set(r) <= faces for r in runs[name])
    return FIXED[name] if right else 0


class ByHand:
    """A game: a position is (open boxes, upper points, 50 in the box?, rolls left, dice)."""

    def __init__(self, joker="forced", bonus=100, boxes=NAMES):
        self.joker, self.bonus, self.boxes = joker, bonus, frozenset(boxes)
        self.value = cache(self.value)
        self.mean = cache(self.mean)

    def is_joker(self, left, dice):
        return bool(self.bonus) and len(set(dice)) == 1 and "yahtzee" not in left

    def allowed(self, left, dice):
        if self.joker == "forced" and self.is_joker(left, dice):
            own = NAMES[dice[0] - 1]
            lower = left - set(NAMES[:6])
            return {own} if own in left else lower or left
        return left

    def take(self, left, upper, holds, dice, name):
        """Give the points of a box, and what is left, upper points, and whether 50 are held."""
        wild = self.is_joker(left, dice) and NAMES[dice[0] - 1] not in left
        paid = points(name, dice, wild)
        after = min(63, upper + paid) if name in NAMES[:6] else upper
        if upper < 63 <= after:
            paid += 35
        if holds and len(set(dice)) == 1:
            paid += self.bonus
        holds = holds or (name == "yahtzee" and len(set(dice)) == 1 and bool(self.bonus))
        return paid, (left - {name}, after, holds)

    def keeps(self, dice):
        """List what may be kept: proper parts of the dice."""
        found = {()}
        for die in dice:
            found |= {tuple(sorted((*kept, die))) for kept in found}
        return {kept for kept in found if len(kept) < 5}

    def mean(self, left, upper, holds, rolls, kept, uniform):
        """Roll the dice that are not kept; some rolls are left then."""
        count, total = 5 - len(kept), Fraction(0)
        for rolled in combinations_with_replacement(range(1, 7), count):
            ways = factorial(count) // prod(map(factorial, Counter(rolled).values()))
            dice = tuple(sorted((*kept, *rolled)))
            total += ways * self.value(left, upper, holds, rolls, dice, uniform)
        return total / 6**count

    def value(self, left, upper, holds, rolls, dice, uniform=False):
        """Give the points to come, of the best play or of uniform play."""
        worth = []
        for name in self.allowed(left, dice):
            paid, (after, *rest) = self.take(left, upper, holds, dice, name)
            worth.append(paid + (self.mean(after, *rest, 2, (), uniform) if after else 0))
        if rolls:
            context = left, upper, holds, rolls - 1
            worth += [self.mean(*context, kept, uniform) for kept in self.keeps(dice)]
        return Fraction(sum(worth), len(worth)) if uniform else max(worth)

    def start(self, uniform=False):
        return self.mean(self.boxes, 0, False, 2, (), uniform)
