"""The three turn games by plain recursion, from the texts of their sources alone.

Shares no code with the package: every ordered roll of the dice is listed, every history is kept
as long as the game lasts, everything is a fraction. A policy is a function from what the player
sees to {action: probability}; None plays best for itself, the first of equally good actions.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations, product
from operator import mul


def mean(vectors):
    """Average vectors of payoffs that are equally likely."""
    vectors = list(vectors)
    return tuple(Fraction(sum(column), len(vectors)) for column in zip(*vectors, strict=True))


def choose(options, policy, seen, seat):
    """Take the mean over a policy's actions, or the first of the best for a player."""
    if policy is None:
        return max(options.values(), key=lambda payoffs: payoffs[seat])
    law = policy(seen, list(options))
    columns = zip(*(options[action] for action in law), strict=True)
    return tuple(sum(map(mul, law.values(), column)) for column in columns)


def uniform(_seen, actions):
    return {action: Fraction(1, len(actions)) for action in actions}


class LowestScoreByHand:
    """Everybody's totals are kept to the end of the round, and only then compared."""

    def __init__(self, dice, faces, zero_face, players, objective, policies):
        self.dice, self.faces, self.zero_face = dice, faces, zero_face
        self.players, self.objective, self.policies = players, objective, policies
        self.turn, self.node = cache(self._turn), cache(self._node)

    def worth(self, face):
        return 0 if face == self.zero_face else face

    def payoffs(self, totals):
        if self.objective == "score":
            return tuple(-Fraction(total) for total in totals)
        winners = totals.count(min(totals))
        prize = Fraction(1, winners) if self.objective == "share" else Fraction(1)
        return tuple(prize * (total == min(totals)) for total in totals)

    def _turn(self, totals, kept=0, dice=None):
        """Expected payoffs of all before the next player, or its next roll of some dice."""
        if len(totals) == self.players:
            return self.payoffs(totals)
        dice = self.dice if dice is None else dice
        if dice == 0:
            return self.turn((*totals, kept))
        rolls = product(range(1, self.faces + 1), repeat=dice)
        return mean(self.node(totals, kept, tuple(sorted(roll, key=self.worth))) for roll in rolls)

    def _node(self, totals, kept, roll):
        seat = len(totals)
        options = self.options(totals, kept, roll)
        return choose(options, self.policies[seat], (totals, kept, roll), seat)

    def options(self, totals, kept, roll):
        def after(n):
            return self.turn(totals, kept + sum(map(self.worth, roll[:n])), len(roll) - n)

        return {n: after(n) for n in range(1, len(roll) + 1)}


class LowestScoreMatchByHand:
    """Rounds of ``LowestScoreByHand``, one for every tally and player who begins."""

    def __init__(self, dice, faces, zero_face, players, wins, starter, tie, policies):
        self.sizes, self.players, self.wins = (dice, faces, zero_face, players), players, wins
        self.starter, self.tie, self.policies = starter, tie, policies
        self.round = cache(self._round)

    def _round(self, won, begins):
        """A round in which players are numbered as they play, and paid what the match is worth."""
        seats = [(begins + place) % self.players for place in range(self.players)]
        policies = [self.policy(seat, won, begins) for seat in seats]
        game = LowestScoreByHand(*self.sizes, None, policies)

        def payoffs(totals):
            least = min(totals)
            lowest = [seat for seat, total in zip(seats, totals, strict=True) if total == least]
            winner = lowest[0 if self.tie == "first" else -1]
            after = tuple(number + (seat == winner) for seat, number in enumerate(won))
            if max(after) == self.wins:
                return tuple(Fraction(seat == winner) for seat in seats)
            then = {"winner": winner, "next": (begins + 1) % self.players, "same": begins}
            values = self.value(after, then[self.starter])
            return tuple(values[seat] for seat in seats)

        game.payoffs = payoffs
        return game

    def policy(self, seat, won, begins):
        """What a seat plays in a round; here, the same in all."""
        return self.policies[seat]

    def value(self, won, begins):
        """What every seat wins of the match from a round on."""
        in_order = self.round(won, begins).turn(())
        return tuple(in_order[(seat - begins) % self.players] for seat in range(self.players))


class ShutTheBoxByHand:
    """Payoffs are (first player's, second player's), or one alone."""

    def __init__(self, tiles, dice, sides, one_die, shut_wins, objective, policies):
        self.everything = tuple(range(1, tiles + 1))
        self.dice, self.sides, self.one_die = dice, sides, one_die
        self.shut_wins, self.objective, self.policies = shut_wins, objective, policies
        self.turn, self.node = cache(self._turn), cache(self._node)

    def _turn(self, tiles, target):
        if not tiles:
            return self.score(0, target)
        dice = 1 if sum(tiles) <= self.one_die else self.dice
        rolls = product(range(1, self.sides + 1), repeat=dice)
        return mean(self.node(tiles, sum(roll), target) for roll in rolls)

    def score(self, left, target):
        if self.objective == "sum":
            return (Fraction(-left),)
        if self.objective == "shut":
            return (Fraction(left == 0),)
        if target is None:
            if left == 0 and self.shut_wins:
                return Fraction(1), Fraction(0)
            return self.turn(self.everything, left)
        second = Fraction(1, 2) if left == target else Fraction(left < target)
        return 1 - second, second

    def _node(self, tiles, roll, target):
        options = self.options(tiles, roll, target)
        seat = 0 if target is None else 1
        return choose(options, self.policies[seat], (tiles, roll, target), seat)

    def options(self, tiles, roll, target):
        sizes, found = range(1, len(tiles) + 1), {}
        for closed in (part for size in sizes for part in combinations(tiles, size)):
            if sum(closed) == roll:
                found[closed] = self.turn(tuple(t for t in tiles if t not in closed), target)
        return found or {(): self.score(sum(tiles), target)}


class FourTwoOneByHand:
    """Payoffs (player,) of a round, or (first, second) of a set.

    ``utility(result, casts)`` for a round; for a set ``higher(one, other)`` compares results and
    ``tie`` is what the second player gets for equal ones.
    """

    def __init__(self, dice, faces, casts, policies, utility=None, duration=None, higher=None,
                 tie=None):  # fmt: skip
        self.dice, self.faces, self.casts = dice, faces, casts
        self.policies, self.utility, self.duration = policies, utility, duration
        self.higher, self.tie = higher, tie
        self.turn, self.node = cache(self._turn), cache(self._node)

    def start(self):
        return self.turn((), 0, self.duration, None)

    def _turn(self, held, made, duration, target):
        if len(held) == self.dice:
            return self.result(held, made, target)
        rolls = product(range(1, self.faces + 1), repeat=self.dice - len(held))
        known = made + 1, duration, target
        return mean(self.node(held, tuple(sorted(roll)), *known) for roll in rolls)

    def result(self, result, made, target):
        if self.utility is not None:
            return (Fraction(self.utility(result, made)),)
        if target is None:
            return self.turn((), 0, made, result)
        if result == target:
            return 1 - self.tie, self.tie
        second = Fraction(self.higher(result, target))
        return 1 - second, second

    def _node(self, held, cast, made, duration, target):
        options = self.options(held, cast, made, duration, target)
        seat = 0 if target is None else 1
        return choose(options, self.policies[seat], (held, cast, made, duration, target), seat)

    def options(self, held, cast, made, duration, target):
        last = made == (self.casts if duration is None else duration)
        options, sizes = {}, range(len(cast) + 1)
        for taken in (part for size in sizes for part in combinations(cast, size)):
            total = tuple(sorted(held + taken))
            done = len(total) == self.dice
            if (last or duration is None) if done else not last:
                options[taken] = self.turn(total, made, duration, target)
        return options
