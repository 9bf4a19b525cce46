"""Turns of the best play that are kept for a while, where games are played.

A game makes up to three moves in a context, and all games begin alike, so that most contexts which
are asked about were asked about a moment ago. Of each context the values of all dice and of all
that may be kept are held, 9 kB.
"""

import numpy as np

from ...core.sizes import check_memory
from ...core.types import IntArray
from .block import TOGETHER
from .dice import KEEPS, ROLLS
from .game import MORE, Yahtzee
from .turn import Later, folded_decisions

#: Contexts in a half of the memory for each game that is played.
EACH = 2
#: Place of a context that is not held.
NOWHERE = -1


class RecentTurns:
    """The turns in some contexts, in two halves of the same arrays.

    Once a half is full, the contexts of the other half are forgotten, and their room is filled.

    Args:
        game: the rules.
        later: what follows turns.
        lanes: number of games that are played at once.

    Attributes:
        values: by the number of rolls left, shape (left, dice, place).
        means: of what may be kept, by the number of rolls left afterwards, (left, kept, place).
        most: number of contexts that may be asked for at once.
    """

    def __init__(self, game: Yahtzee, later: Later, lanes: int) -> None:
        numbers = (MORE + 1) * ROLLS + MORE * KEEPS
        check_memory("num_envs", lanes, 8.0 * numbers * 2 * EACH)
        self.most = max(EACH * lanes, TOGETHER)
        self.values = np.empty((MORE + 1, ROLLS, 2 * self.most))
        self.means = np.empty((MORE, KEEPS, 2 * self.most))
        self._known, self._later = game.contexts, later
        self._places = np.full(len(game.contexts) + 1, NOWHERE)  # the last is of no context
        self._held = np.full((2, self.most), len(game.contexts))  # contexts, by half
        self._half = self._used = 0

    def find(self, contexts: IntArray) -> IntArray:
        """Give the places of some contexts; the turns that are not held are swept."""
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
        """List the contexts that are not held, in growing order."""
        missing: IntArray = np.unique(contexts[self._places[contexts] == NOWHERE])
        return missing

    def _add(self, columns: IntArray) -> None:
        """Sweep turns into the half that is being filled."""
        end = self._used + len(columns)
        self._held[self._half, self._used : end] = columns
        places = self._half * self.most + np.arange(self._used, end)
        own = slice(places[0], places[-1] + 1)
        swept = folded_decisions(self._known, columns, self._later, "best")
        self.values[..., own], self.means[..., own] = swept
        self._places[columns], self._used = places, end
