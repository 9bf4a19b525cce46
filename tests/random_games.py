"""Random small games whose chances and payoffs are no round numbers, with cycles and without."""

from fractions import Fraction

import numpy as np
from exactdice.games import Move
from small_games import Bare


def random_law(game, rng):
    """Make a stochastic policy whose probabilities are no round numbers."""
    law = rng.random((game.num_states, game.num_actions)) * game.mask(np.arange(game.num_states))
    return law / law.sum(axis=1, keepdims=True)


class RandomGame(Bare):
    """Positions in blocks of levels; a move leads on, or back to the first level of its block.

    Args:
        seed: of all tables.
        players: one, or more whose payoffs add up to 1; from player 1 on they get the same.
        has_cycles: whether moves lead back.
        seldom: a move of the first level that leads back does so with probability 1 - 1/seldom;
            0 for chances like all others.
        pays: whether moves pay before the end; with cycles those moves that leave a block.
    """

    name = "RandomGame"

    def __init__(self, seed=0, players=2, has_cycles=True, seldom=0, pays=False):
        self.pays = pays
        self.seed, self.players, self.has_cycles, self.seldom = seed, players, has_cycles, seldom
        self.num_players, self.zero_sum = players, players == 2
        rng = np.random.default_rng(seed)
        blocks, self.levels, self.width = rng.integers(1, 4, 3).tolist()
        self.num_actions, outcomes, laws = rng.integers(2, 5, 3).tolist()
        self.num_states = blocks * self.levels * self.width
        self.observation_sizes, self.observation_names = (self.num_states,), ("place",)
        counts = rng.integers(1, 10 ** int(rng.integers(1, 8)), (laws, outcomes))
        rows = [[Fraction(int(n), int(row.sum())) for n in row] for row in counts]
        if seldom:
            ends = Fraction(1, seldom)
            rows[0] = [ends, 1 - ends] + [Fraction(0)] * (outcomes - 2)
        self._exact = np.array(rows)
        self.laws = self._exact.astype(float)
        shape = players, self.num_states, self.num_actions, outcomes
        self._rows = rng.integers(laws, size=shape[1:3])
        self._legal = rng.random(shape[1:3]) < 0.7
        self._legal[:, 0] = True
        self._seats, self._to = rng.integers(players, size=shape), np.zeros(shape, dtype=int)
        self._over = rng.random(shape) < 0.1
        for index in np.ndindex(shape):
            ways = self.ways_on(index[1])
            if index[3] == 0 or not len(ways):  # so that every block is left
                self._over[index] = True
            else:
                self._to[index] = rng.choice(ways)
        low, high = (-1, 2) if seed % 3 == 0 else (0, 1)
        self.payoff_range = (float(low), float(high))
        self._paid = rng.integers(700 * low, 700 * high + 1, shape)  # to player 0, times 700
        if pays:
            self._pay_early(rng, blocks, low, high)

    def _pay_early(self, rng, blocks, low, high):
        size = self.levels * self.width
        stays = self._to // size == (np.arange(self.num_states) // size)[:, None, None]
        early = rng.integers(-700, 701, self._paid.shape) * (rng.random(self._paid.shape) < 0.7)
        early = np.where(stays & self.has_cycles, 0, early)
        self._paid = np.where(self._over, self._paid, early)
        most = blocks - 1 if self.has_cycles else blocks * self.levels - 1
        self.payoff_range = (float(low - most), float(high + most))

    def ways_on(self, state):
        """List where a move may lead: a later level, or the first level of its block."""
        later = np.arange(state + self.width - state % self.width, self.num_states)
        size = self.levels * self.width
        back = np.arange(self.width) + state // size * size
        return np.concatenate([later, back, back]) if self.has_cycles else later

    def mask(self, states):
        return self._legal[states]

    def initial_law(self):
        count = self.width * self.levels
        total = count * (count + 1) // 2
        return np.arange(count), np.array([Fraction(k + 1, total) for k in range(count)])

    def exact_laws(self):
        return self._exact

    def law(self, states, actions):
        return self._rows[states, actions]

    def exact_advance(self, seats, states, actions, outcomes):
        at = seats, states, actions, outcomes
        over = np.repeat(self._over[at][:, None], self.num_players, axis=1)
        first = np.array([Fraction(int(paid), 700) for paid in self._paid[at]], dtype=object)
        others = self.num_players - 1
        rest = (self._over[at] - first) / max(1, others)
        paid = np.stack([first, *[rest] * others], axis=1)
        paid = paid if self.pays else np.where(over, paid, Fraction(0))
        return Move(self._seats[at], self._to[at], paid, over)

    def stages(self):
        places = np.arange(self.num_states).reshape(-1, self.width)  # (block and level, place)
        return [(seat, states) for states in places for seat in range(self.num_players)]

    def block(self, seat, states):
        size = self.levels * self.width
        return states // size, states % size < self.width
