"""Values and mass of all positions: stored between turns, computed inside a turn on request.

The latest turns of optimal play are cached, for environments and other places that play games. A
game makes up to three moves in one context, and all games begin with the same context. So most
requests are for a context that was requested a moment ago. For each context the cache holds the
values of all rolls and of all kept multisets, 9 kB.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from typing_extensions import override

from ...core import FLOATS, Arithmetic, Array, Decide, IntArray, SizeError, Stage, Values, frozen
from ...core.arithmetic import BetweenTurns
from ...core.positions import places_in
from ...core.progress import tell
from ...core.sizes import check_memory, show
from ...core.types import Fold, Start
from .card import TOGETHER
from .dice import KEEPS, ROLLS
from .game import MORE, Yahtzee
from .passes import swept_back, swept_forward
from .turn import SCALE, Later, Turns, mean_of_rolls

#: Number of contexts in one half of the cache for each game that is played at once.
EACH = 2
#: Place of a context that is not in the cache.
NOWHERE = -1
#: Largest number of positions in an array of all positions: half a gigabyte of floats.
MOST_POSITIONS = 2**26


class YahtzeeNumbers(BetweenTurns):
    """A number for each position; the last of those between turns is the end of the game."""

    _game: Yahtzee

    @cached_property
    @override
    def array(self) -> Array:
        """All numbers, shape (1, state)."""
        count = self._game.num_states
        if count > MOST_POSITIONS:
            raise SizeError(
                f"boxes must be fewer for numbers of all positions, which must be at most "
                f"{show(MOST_POSITIONS)}, got {show(count)}: ask for those of some positions"
            )
        return frozen(self.at(0, np.arange(count))[None])

    @override
    def at(self, seats: int | IntArray, states: IntArray) -> Array:
        contexts, left, rolls = self._game.locate(states)
        asked, places = np.unique(contexts, return_inverse=True)
        order = np.argsort(places, kind="stable")
        bounds = np.searchsorted(places[order], np.arange(0, len(asked) + TOGETHER, TOGETHER))
        numbers = self._arithmetic.zeros(len(states))
        for batch, first in enumerate(range(0, len(asked), TOGETHER)):
            own = order[bounds[batch] : bounds[batch + 1]]
            turn = self.turn(asked[first : first + TOGETHER])
            numbers[own] = turn[left[own], rolls[own], places[own] - first]
        return numbers

    @abstractmethod
    def turn(self, columns: IntArray) -> Any:
        """Compute the numbers of a turn in some contexts, shape (rolls left, dice, context)."""


class YahtzeeValues(YahtzeeNumbers):
    """Values of all positions under one policy.

    Args:
        game: the rules.
        arithmetic: the arithmetic of the values.
        decide: the player's decisions (see ``types.Decide``), or a fold that decides everywhere.
        between: value of each context before its first roll, shape (context + 1,); None for zeros.
        centres: None, or values V before the first rolls, shape (context + 1,); the values of this
            object are then mean squared deviations from V (see ``turn.Later``).
    """

    def __init__(
        self,
        game: Yahtzee,
        arithmetic: Arithmetic,
        decide: Decide | Fold,
        between: Array | None = None,
        centres: Array | None = None,
    ) -> None:
        if between is None:
            between = arithmetic.zeros(len(game.contexts) + 1)
        super().__init__(game, arithmetic, decide, between)
        self.later = Later(between, centres)
        self._last: tuple[IntArray, Values] | None = None

    @override
    def turn(self, columns: IntArray) -> Values:
        last = self._last  # cached for the next stage; another thread may replace it
        if last is None or not np.array_equal(last[0], columns):
            last = self._last = columns, self._swept(columns)[0]
        return last[1]

    def filled(self) -> Self:
        """Compute the value of each context before the first roll, last turns first."""
        known = self._game.contexts
        for columns in reversed(known.batches()):
            self.numbers[columns] = self._swept(columns)[1]
            tell(len(known) - int(columns[0]), len(known), "beginnings of turns")
        return self

    def agree(self) -> bool:
        """Say whether the values agree with the decisions, in a random sample of each turn.

        A few hundred contexts of each turn are computed again from the values of the next turns,
        and compared to the last bit. The sample always contains the empty card.
        """
        rng = np.random.default_rng()
        for begin, end in pairwise(self._game.contexts.levels):
            first = int(rng.integers(begin, end))
            columns = np.arange(first, min(first + TOGETHER, end))
            if not np.array_equal(self._swept(columns)[1], self.numbers[columns]):
                return False
        return True

    def _swept(self, columns: IntArray) -> tuple[Values, Array]:
        return swept_back(self._game, columns, self.later, self._decide, self._arithmetic)

    def means(self, contexts: IntArray, left: int) -> Array:
        """Return the values of keeping multisets, shape (context, kept).

        The next roll completes the dice; after it, ``left`` rolls are left.
        """
        asked, places = np.unique(contexts, return_inverse=True)
        found = self._arithmetic.zeros(len(contexts), KEEPS)
        for first in range(0, len(asked), TOGETHER):
            turn = self.turn(asked[first : first + TOGETHER])
            numbers, scale = self._arithmetic.whole(turn[left])
            means = self._arithmetic.unscaled(mean_of_rolls(numbers), scale * SCALE)
            own = np.flatnonzero((places >= first) & (places < first + TOGETHER))
            found[own] = means[:, places[own] - first].T
        return found

    @override
    def centres(self, seats: int | IntArray, states: IntArray) -> Array:
        """Return, for each position, the value of its turn before the first roll."""
        contexts, _, _ = self._game.locate(states)
        return self.numbers[contexts]

    @override
    def again(self, stage: Stage, expected: Array) -> Array:
        if self._decide == "best":
            return np.where(self._game.mask(stage.states), expected, -np.inf).max(axis=1)
        if self._decide == "mean":
            return self.at_stage(stage)
        return self._decide(stage, expected)

    @property
    def are_best(self) -> bool:
        """Whether these are the optimal values, in floats."""
        return self._decide == "best" and self.later.centres is None and self._arithmetic.rounds


class RecentValues(YahtzeeValues):
    """Optimal values with a cache of the latest turns, for ``lanes`` games that are played at once.

    The cache has two halves of the same arrays. Once a half is full, the cache drops the contexts
    of the other half and fills that half anew.
    """

    def __init__(self, game: Yahtzee, between: Array, lanes: int) -> None:
        super().__init__(game, FLOATS, "best", between)
        numbers = (MORE + 1) * ROLLS + MORE * KEEPS
        check_memory("num_envs", lanes, 8.0 * numbers * 2 * EACH)
        self._lanes = lanes
        self._most = max(EACH * lanes, TOGETHER)  # contexts that are looked up in one call
        self._values = np.empty((MORE + 1, ROLLS, 2 * self._most))  # (rolls left, dice, place)
        self._means = np.empty((MORE, KEEPS, 2 * self._most))  # (rolls left after, kept, place)
        self._places = np.full(len(game.contexts) + 1, NOWHERE)  # the last: no context
        self._held = np.full((2, self._most), len(game.contexts))  # contexts, by half
        self._half = self._used = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the constructor's arguments, without the cache."""
        return RecentValues, (self._game, self.numbers, self._lanes)

    def _find(self, contexts: IntArray) -> IntArray:
        """Return the place of each context in the cache; turns that are missing are computed."""
        missing = self._missing(contexts)
        if self._used + len(missing) > self._most:
            self._half, self._used = 1 - self._half, 0
            self._places[self._held[self._half]] = NOWHERE
            missing = self._missing(contexts)
        for first in range(0, len(missing), TOGETHER):
            columns = missing[first : first + TOGETHER]
            end = self._used + len(columns)
            self._held[self._half, self._used : end] = columns
            places = self._half * self._most + np.arange(self._used, end)
            own = slice(places[0], places[-1] + 1)
            swept = Turns(self._game.contexts, columns, self.later).folded("best")
            self._values[..., own], self._means[..., own] = swept
            self._places[columns], self._used = places, end
        return self._places[contexts]

    def _missing(self, contexts: IntArray) -> IntArray:
        """List the contexts that are not in the cache, in increasing order, each once."""
        return np.unique(contexts[self._places[contexts] == NOWHERE])

    @override
    def at(self, seats: int | IntArray, states: IntArray) -> Array:
        if len(states) > self._most:
            return super().at(seats, states)
        contexts, left, rolls = self._game.locate(states)
        return self._values[left, rolls, self._find(contexts)]

    def of_moves(self, states: IntArray, actions: IntArray) -> Array | None:
        """Return the values of legal moves, shape (move,); None if there are too many."""
        if len(states) > self._most:
            return None
        contexts, left, rolls = self._game.locate(states)
        found, kept = np.empty(len(states)), np.flatnonzero(actions < KEEPS)
        places = self._find(contexts[kept])
        found[kept] = self._means[left[kept] - 1, actions[kept], places]
        boxed = np.flatnonzero(actions >= KEEPS)
        columns = contexts[boxed]
        taken = self._game.contexts.take(columns, rolls[boxed], actions[boxed] - KEEPS)
        found[boxed] = self.later.worth(columns, taken)
        return found


class YahtzeeMass(YahtzeeNumbers):
    """Probability mass of all positions of games that begin with the mass of ``starts``."""

    def __init__(
        self, game: Yahtzee, arithmetic: Arithmetic, decide: Decide, starts: Sequence[Start]
    ) -> None:
        super().__init__(game, arithmetic, decide, arithmetic.zeros(len(game.contexts) + 1))
        states = np.concatenate([np.zeros(0, np.int64), *(start.states for start in starts)])
        chances = np.concatenate([arithmetic.zeros(0), *(start.chances for start in starts)])
        self._begun = game.locate(states), chances
        self._begins = np.unique(self._begun[0][0])

    def met(self, columns: IntArray) -> IntArray:
        """Return the contexts that have any mass."""
        return columns[(self.numbers[columns] != 0) | np.isin(columns, self._begins)]

    def flow(self, columns: IntArray, decide: Decide) -> tuple[Array, Array]:
        """Follow the mass through a turn in some contexts, in increasing order.

        Returns what ``swept_forward`` does.
        """
        begun = self._arithmetic.zeros(MORE + 1, ROLLS, len(columns))
        (contexts, left, rolls), chances = self._begun
        places = places_in(columns, contexts)
        here = places >= 0
        np.add.at(begun, (left[here], rolls[here], places[here]), chances[here])
        entering = self.numbers[columns]
        return swept_forward(self._game, columns, entering, begun, decide, self._arithmetic)

    @override
    def turn(self, columns: IntArray) -> Array:
        return self.flow(columns, self._decide)[0]
