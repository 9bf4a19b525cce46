"""Greedy policies for games with too many states for a table of actions."""

from typing import Any

import numpy as np
from typing_extensions import override

from ...core import FLOATS, Game, IntArray, SizeError, Values, frozen
from ...core.sizes import show
from ...core.sweeps import sweeps_of
from .kinds import DeterministicPolicy

#: Largest number of states for which ``actions`` returns an array of all states.
MOST = 2**22
#: Number of states in a batch.
PIECE = 4096


class GreedyPolicy(DeterministicPolicy):
    """Takes the smallest of the best actions, computed from the values of positions on request.

    Args:
        game: the rules.
        seat: the seat that the policy plays.
        found: the values of all positions to that seat, floats.
        name: name for people.
    """

    fold = "best"

    def __init__(self, game: Game, seat: int, found: Values, name: str) -> None:
        super().__init__(np.zeros(0, dtype=np.int64), game.num_actions, name)
        self.shape = (game.num_states, game.num_actions)
        self._game, self._seat, self._found = game, seat, found

    @override
    def __eq__(self, other: object) -> bool:
        """Compare games, seats, names and values."""
        return self is other or (
            isinstance(other, GreedyPolicy)
            and (self._game, self._seat, self.name) == (other._game, other._seat, other.name)
            and np.array_equal(self._found.numbers, other._found.numbers)
        )

    @override
    def __hash__(self) -> int:
        return hash((self._game, self._seat, self.name))

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle game and values."""
        return GreedyPolicy, (self._game, self._seat, self._found, self.name)

    @property
    @override
    def actions(self) -> IntArray:
        """The action in each state, shape (state,).

        Raises:
            SizeError: if the game has more than ``MOST`` states.
        """
        count = self.shape[0]
        if count > MOST:
            raise SizeError(
                f"a table of actions must be of at most {show(MOST)} states, got {show(count)}: "
                "ask for the actions in some states"
            )
        return frozen(self.likeliest(np.arange(count)))

    @override
    def _chosen(self, states: IntArray) -> IntArray:
        chosen = np.empty(len(states), dtype=np.int64)
        tie, sweeps = FLOATS.tie(self._game), sweeps_of(self._game)
        for first in range(0, len(states), PIECE):
            own = states[first : first + PIECE]
            expected = sweeps.expected(self._seat, own, self._found)
            optimal = FLOATS.best(expected, np.isfinite(expected), tie)[1]
            chosen[first : first + PIECE] = optimal.argmax(axis=1)
        return chosen
