"""Sections 4 and 5 of *A Guide to Optimal Play in Greed*: the last turns.

The rating of n dice (equation 1) depends only on the room M - p and the gap o - p. Therefore one
table holds the last turns of all games up to a limit.
"""

from fractions import Fraction
from functools import cache

import numpy as np
from exactdice.core import EXACT, Array, BoolArray, IntArray, Stage
from exactdice.core.sweeps import sweeps_of
from exactdice.games import Greed


class LastTurns:
    """Exact ratings of last turns by equation (1), for dice of one number of sides.

    Attributes:
        room: M - p, shape (state,).
        gap: o - p, shape (state,); -1 for all p > o, as equation (1) does not depend on by how
            much.
        ratings: ``one`` times the rating, Python integers, shape (state, dice).
        one: the integer for a sure win, 2 s^n for the largest number of dice n.
    """

    def __init__(self, limit: int, sides: int) -> None:
        self.limit, self.sides = limit, sides
        most = limit + 2  # dice, of which the last two are bust for certain
        counts = np.zeros((most + 1, limit + 1), dtype=object)  # ways to show a sum of at most M
        counts[0, 0] = 1
        for dice in range(1, most + 1):
            for face in range(1, min(sides, limit) + 1):
                counts[dice, face:] += counts[dice - 1, :-face]
        scale = np.array([sides ** (most - n) for n in range(most + 1)], dtype=object)
        at_most = np.zeros((limit + 3, most + 1), dtype=object)  # row t + 2: the sum is at most t
        at_most[2:] = np.cumsum(counts * scale[:, None], axis=1).T
        self.one = 2 * sides**most
        room, gap = np.indices((limit + 1, limit + 2))
        possible = gap - 1 <= room
        self.room, self.gap = room[possible], gap[possible] - 1
        self.ratings = 2 * at_most[self.room + 2] - at_most[self.gap + 2] - at_most[self.gap + 1]
        self.dice = np.arange(most + 1)

    @property
    def middle(self) -> IntArray:
        """M + o - 2p, twice the distance from p to the middle of o and M; shape (state,)."""
        return self.room + self.gap

    def row(self, room: int, gap: int) -> int:
        """Return the index of a state."""
        return int(np.flatnonzero((self.room == room) & (self.gap == max(gap, -1)))[0])

    def rating(self, row: int, dice: int) -> Fraction:
        """Return the rating of a number of dice in a state."""
        return Fraction(int(self.ratings[row, dice]), self.one)

    def is_optimal(self, dice: IntArray) -> BoolArray:
        """Return in which states a number of dice, shape (state,), is optimal."""
        chosen = np.take_along_axis(self.ratings, dice[:, None], axis=1)[:, 0]
        return chosen == self.ratings.max(axis=1)

    # ---------------------------------------------- claims of the paper about ratings

    def forfeit_wins(self) -> bool:
        """Return whether no dice win for certain in every state with p > o."""
        return bool(np.all(self.ratings[self.gap < 0, 0] == self.one))

    def certain(self) -> BoolArray:
        """Return which numbers of dice always beat o and never exceed M, shape (state, dice)."""
        beats = self.dice > self.gap[:, None]
        return beats & (self.dice * self.sides <= self.room[:, None])

    def certain_victory_wins(self) -> bool:
        """Return whether every number of dice in ``certain`` has the rating 1."""
        return bool(np.all(self.ratings[self.certain()] == self.one))

    def rises_above_the_middle(self, strictly: bool = True) -> BoolArray:
        """Return where the mean of n dice is above the middle and n + 1 dice rate more than n.

        Args:
            strictly: if False, equal ratings count, too, unless they are 0.

        Returns:
            Shape (state, dice n). The state that stands for all p > o counts as the one with the
            lowest middle, where every mean is above the middle.
        """
        above = self.dice[:-1] * (self.sides + 1) > np.where(self.gap < 0, -1, self.middle)[:, None]
        fewer, more = self.ratings[:, :-1], self.ratings[:, 1:]
        return above & ((more > fewer) if strictly else (more >= fewer) & (more > 0))

    def conjecture_1_holds(self) -> bool:
        """Return whether no rating rises above the middle."""
        return not self.rises_above_the_middle().any()

    def is_unimodal(self) -> bool:
        """Return whether no rating rises after it has fallen, as the number of dice grows."""
        rises = self.ratings[:, 1:] > self.ratings[:, :-1]
        fell = np.logical_or.accumulate(self.ratings[:, 1:] < self.ratings[:, :-1], axis=1)
        return not np.any(rises[:, 1:] & fell[:, :-1])

    def start(self) -> IntArray:
        """Return where the algorithm starts: the smallest n > (M + o - 2p) / (s + 1)."""
        return np.maximum(self.middle // (self.sides + 1) + 1, 0)

    def found_downwards(self) -> IntArray:
        """Run the algorithm of section 5 towards fewer dice; equal ratings do not end the search.

        Returns:
            The number of dice that the search finds, shape (state,).
        """
        found = self.start()
        searching = found > 0
        while searching.any():
            rows = np.flatnonzero(searching)
            better = self.ratings[rows, found[rows] - 1] >= self.ratings[rows, found[rows]]
            found[rows[better]] -= 1
            searching[rows] = better & (found[rows] > 0)
        return found

    def found_upwards(self) -> IntArray:
        """Run the algorithm of section 5 towards more dice; equal ratings end the search."""
        found = self.start()
        rows = np.arange(len(found))
        while np.any(better := self.ratings[rows, found + 1] > self.ratings[rows, found]):
            found = found + better
        return found

    def figure_3(self) -> IntArray:
        """Return the labels of figure 3, shape (state,).

        They are 0 dice where p > o; o - p + 1 dice where that wins for certain; elsewhere the
        fewest of the best n <= (M + o - 2p) / (s + 1), a range that ends one below the start of the
        algorithm.
        """
        allowed = self.dice < np.maximum(self.start(), 1)[:, None]
        labels: IntArray = np.where(allowed, self.ratings, -1).argmax(axis=1)
        sure = self.certain()[np.arange(len(labels)), self.gap + 1]
        return np.where(sure, self.gap + 1, labels)

    def compare(self, game: Greed) -> bool:
        """Return whether the recursion over single dice agrees in every last turn of a game."""
        rows = {(r, d): row for row, (r, d) in enumerate(zip(self.room, self.gap, strict=True))}
        agree = []

        def compare_stage(stage: Stage, expected: Array) -> Array:
            own, other, last = game.observe(stage.states, 0).T
            if last.all() and stage.seat == 0:
                rows_of = own.tolist(), other.tolist(), expected, stage.scale.tolist()
                for p, o, rated, one in zip(*rows_of, strict=True):
                    row = rows[game.max_score - p, max(o - p, -1)]
                    ours = self.ratings[row, : game.num_actions]
                    agree.append(np.all(rated * self.one == ours * one))
            return expected[:, 0]

        sweeps_of(game).blocks(0, EXACT)[0].backward(compare_stage, None, EXACT.zeros(0))
        return all(agree)


@cache
def last_turns(limit: int, sides: int) -> LastTurns:
    """Return the table of a limit and a number of sides, which is computed once."""
    return LastTurns(limit, sides)
