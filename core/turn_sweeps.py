"""Sweeps of games of turns (see ``turn_blocks``)."""

from collections.abc import Sequence

import numpy as np

from .arithmetic import FLOATS, Arithmetic
from .blocks import Blocks
from .sweeps import Sweeps, sweeps_for
from .turn_blocks import TurnBlock
from .turn_game import TurnGame
from .types import Array, Decide, IntArray
from .values import Values


@sweeps_for(TurnGame)
class TurnSweeps(Sweeps):
    """The sweeps of a game of turns."""

    game: TurnGame

    @property
    def turn_game(self) -> TurnGame:
        """The game."""
        return self.game

    def settled(
        self, seat: int, states: IntArray, player: int, arithmetic: Arithmetic = FLOATS
    ) -> tuple[IntArray, IntArray, Array, Array]:
        """List the actions that end a turn with a result that settles the payoff."""
        ways = []
        for number, where, in_turn, contexts in self.game.locate(
            states, np.full_like(states, seat)
        ):
            leg, turn = self.game.legs[number], self.game.legs[number].turn
            rows, actions = np.nonzero(turn.legal[in_turn] & turn.ends[in_turn])
            results = turn.leads_to[in_turn[rows], actions]
            settled = leg.settled[results, contexts[rows], player]
            payoffs = leg.paid[arithmetic][results, contexts[rows], player]
            ways.append((where[rows[settled]], actions[settled], payoffs[settled]))
        pairs, actions, payoffs = (np.concatenate(column) for column in zip(*ways, strict=True))
        return pairs, actions, payoffs, np.ones(len(pairs), dtype=arithmetic.dtype)

    def backward_together(
        self, decide: Decide, seats: Sequence[int], arithmetic: Arithmetic = FLOATS
    ) -> Values:
        """Visit the layers of all legs last to first."""
        self._require_one_pass()
        values = arithmetic.values(len(seats), self.game.num_players, self.game.num_states)
        self._block(seats, arithmetic, 0).backward_together(decide, values)
        return values.frozen()

    def move_on(
        self, decide: Decide, mass: Array, seat: int, arithmetic: Arithmetic = FLOATS
    ) -> None:
        """Visit the layers of all legs first to last: the adjoint of ``backward``."""
        self._require_one_pass()
        self._block([seat], arithmetic, 0).forward(decide, mass, arithmetic.zeros(0))

    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> Blocks:
        """Give the blocks of contexts."""
        count = int(self.game.blocks.max()) + 1
        return Blocks(count, lambda number: self._block([seat], arithmetic, number))

    def _block(self, seats: Sequence[int], arithmetic: Arithmetic, number: int) -> TurnBlock:
        return TurnBlock(self.game, seats, arithmetic, self.game.blocks, number)
