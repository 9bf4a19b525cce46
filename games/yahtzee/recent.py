"""A cache of the latest turns of optimal play, for environments and other places that play games.

A game makes up to three moves in one context, and all games begin with the same context. So most
requests are for a context that was requested a moment ago. For each context the cache holds the
values of all rolls and of all kept multisets, 9 kB.
"""

import numpy as np

from ...core.sizes import check_memory
from ...core.types import IntArray
from .block import TOGETHER
from .dice import KEEPS, ROLLS
from .game import MORE, Yahtzee
from .turn import Later, folded_decisions

#: Number of contexts in one half of the cache for each game that is played at once.
EACH = 2
#: Place of a context that is not in the cache.
NOWHERE = -1


class RecentTurns:
    """A cache of turns of optimal play, in two halves of the same arrays.

    Once a half is full, the cache drops the contexts of the other half and fills that half anew.

    Args:
        game: the rules.
        later: the optimal values of the contexts after a turn.
        lanes: number of games that are played at once.

    Attributes:
        values: values of states in points, float64, shape (rolls left, dice, place).
        means: values of keeping multisets in points, float64, shape (rolls left after the next
            roll, kept, place).
        most: largest number of contexts in one call of ``find``.
    """

    def __init__(self, game: Yahtzee, later: Later, lanes: int) -> None:
        numbers = (MORE + 1) * ROLLS + MORE * KEEPS
        check_memory("num_envs", lanes, 8.0 * numbers * 2 * EACH)
        self.most = max(EACH * lanes, TOGETHER)
        self.values = np.empty((MORE + 1, ROLLS, 2 * self.most))
        self.means = np.empty((MORE, KEEPS, 2 * self.most))
        self._known, self._later = game.contexts, later
        self._places = np.full(len(game.contexts) + 1, NOWHERE)  # the last: no context
        self._held = np.full((2, self.most), len(game.contexts))  # contexts, by half
        self._half = self._used = 0

    def find(self, contexts: IntArray) -> IntArray:
        """Return the place of each context in the cache; turns that are missing are computed."""
        missing = self._missing(contexts)
        if self._used + len(missing) > self.most:
            self._half, self._used = 1 - self._half, 0
            self._places[self._held[self._half]] = NOWHERE
            missing = self._missing(contexts)
        for first in range(0, len(missing), TOGETHER):
            self._add(missing[first : first + TOGETHER])
        places: IntArray = self._places[contexts]
        return places

    def _missing(self, contexts: IntArray) -> IntArray:
        """List the contexts that are not in the cache, in increasing order, each once."""
        missing: IntArray = np.unique(contexts[self._places[contexts] == NOWHERE])
        return missing

    def _add(self, columns: IntArray) -> None:
        """Compute turns and store them in the half that is being filled."""
        end = self._used + len(columns)
        self._held[self._half, self._used : end] = columns
        places = self._half * self.most + np.arange(self._used, end)
        own = slice(places[0], places[-1] + 1)
        swept = folded_decisions(self._known, columns, self._later, "best")
        self.values[..., own], self.means[..., own] = swept
        self._places[columns], self._used = places, end
