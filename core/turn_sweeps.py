"""Sweeps of games of turns: all legs, last to first or first to last, a layer of a turn at a time.

The contexts of a leg are columns, so that one pass over the layers of its turn serves them all.
"""

from collections.abc import Sequence

import numpy as np

from .arithmetic import FLOATS, Arithmetic, Values
from .blocks import Blocks
from .moves import SeatTurn
from .sweeps import Sweeps, sweeps_for
from .turn import Piece
from .turn_game import TurnGame
from .types import Array, Decide, IntArray, Stage
from .whole_game import WholeGame


@sweeps_for(TurnGame)
class TurnSweeps(Sweeps):
    """The sweeps of a game of turns."""

    game: TurnGame

    def turns(self, player: int) -> list[SeatTurn]:
        """Give the legs, each with all its contexts in one block."""
        seen = slice(self.game.legs[0].turn.observations.shape[1])
        return [
            SeatTurn(
                leg.seat,
                leg.turn,
                self.game.first_states[number : number + 1],
                len(leg.contexts),
                seen,
                np.where(leg.settled[..., player], -1, leg.following),
                leg.paid[FLOATS][..., player],
            )
            for number, leg in enumerate(self.game.legs)
        ]

    def settled(
        self, seat: int, states: IntArray, player: int, arithmetic: Arithmetic = FLOATS
    ) -> tuple[IntArray, IntArray, Array, Array]:
        """List the actions that end a turn with a result that settles the payoff."""
        ways = []
        for number, where, in_turn, contexts in self.game.locate(states):
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
        values = arithmetic.values(len(seats), self.game.num_players, self.game.num_states)
        entries = arithmetic.zeros(len(seats), int(self.game.first_contexts[-1]))  # (seat, context)
        for number, leg in reversed(list(enumerate(self.game.legs))):

            def decide_states(piece: Piece, expected: Array, number: int = number) -> Array:
                _, count, actions, contexts = expected.shape  # (seat, state, action, context)
                stage = self._stage(number, piece, arithmetic)
                by_state = expected.swapaxes(2, 3).reshape(len(seats), count * contexts, actions)
                decided = decide(stage, by_state)
                in_a_row = slice(stage.states[0], stage.states[-1] + 1)
                values.put((..., stage.seat, in_a_row), decided, piece.scale)
                return decided.reshape(len(seats), count, contexts)

            later = entries[:, leg.following]  # (seat, result, context)
            settled, paid = (
                np.moveaxis(table[..., seats], -1, 0)
                for table in (leg.settled, leg.paid[arithmetic])
            )
            _, start = leg.turn.backward(decide_states, np.where(settled, paid, later), arithmetic)
            entries[:, slice(*self.game.first_contexts[number : number + 2])] = start
        return values.frozen()

    def _stage(self, leg: int, piece: Piece, arithmetic: Arithmetic) -> Stage:
        """Give some states of a leg's turn in all its contexts."""
        states = self.game.states_in(leg, piece.states)
        scale = np.full(len(states), piece.scale, dtype=arithmetic.dtype)
        return Stage(self.game.legs[leg].seat, states, scale)

    def move_on(
        self, decide: Decide, mass: Array, seat: int, arithmetic: Arithmetic = FLOATS
    ) -> None:
        """Visit the layers of all legs first to last: the adjoint of ``backward``."""
        for number, leg in enumerate(self.game.legs):

            def decide_states(piece: Piece, met: Array, number: int = number) -> Array:
                stage = self._stage(number, piece, arithmetic)
                weights = decide(stage, arithmetic.unscaled(met.ravel(), piece.scale))
                whole: Array = arithmetic.scaled(weights, piece.scale)  # (state, action)
                return whole.reshape(*met.shape, self.game.num_actions).swapaxes(1, 2)

            own = mass[leg.seat, slice(*self.game.first_states[number : number + 2])]
            begun = own.reshape(-1, int(self.game.num_contexts[number]))
            met, ended = leg.turn.forward(decide_states, begun, arithmetic)
            own[:] = met.array.ravel()
            goes_on = ~leg.settled[..., seat]
            self._begin(mass, leg.following[goes_on], ended[goes_on], arithmetic)

    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> Blocks:
        """Give the game as one block."""

        def forward_roundings(decision: int) -> int:
            return self._forward_roundings(decision, seat)

        whole = WholeGame(self, seat, arithmetic, self._backward_roundings, forward_roundings)
        return Blocks(1, lambda _: whole)

    def _backward_roundings(self, decision: int) -> int:
        """Count those of the longest way through the legs, a payoff's own and one more roll."""
        return (
            2
            + int(self.game.laws.shape[1])
            + self._on_longest_way(
                [leg.turn.backward_roundings(decision) for leg in self.game.legs]
            )
        )

    def _forward_roundings(self, decision: int, seat: int) -> int:
        """Count those of the longest way through the legs; to begin one takes some more."""
        entered = [leg.following[~leg.settled[..., seat]] for leg in self.game.legs]
        most = int(np.bincount(np.concatenate(entered)).max(initial=0)) + 2
        return self._on_longest_way(
            [leg.turn.forward_roundings(decision) + most for leg in self.game.legs]
        )

    def _on_longest_way(self, roundings: Sequence[int]) -> int:
        """Add up what each leg takes, over those that a game can go through: the largest sum."""
        longest = np.zeros(len(self.game.legs), dtype=np.int64)
        for number, leg in reversed(list(enumerate(self.game.legs))):
            contexts = np.unique(leg.following[~leg.ends])
            legs = np.searchsorted(self.game.first_contexts, contexts, side="right") - 1
            longest[number] = roundings[number] + longest[legs].max(initial=0)
        return int(longest.max())

    def _begin(
        self, mass: Array, contexts: IntArray, entering: Array, arithmetic: Arithmetic
    ) -> None:
        """Roll for the next player, wherever mass enters its contexts."""
        turn = self.game.legs[0].turn
        law = turn.probabilities[arithmetic][turn.law[0]]
        for outcome in np.flatnonzero(law != 0):
            legs, states = self.game.enter(contexts, np.full(len(contexts), outcome))
            np.add.at(mass, (self.game.seats[legs], states), entering * law[outcome])
