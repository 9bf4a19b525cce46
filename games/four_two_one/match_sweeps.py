"""A match of 421 swept block by block, and its moves as tables of turns."""

import numpy as np

from ...core.arithmetic import FLOATS, Arithmetic
from ...core.blocks import Blocks
from ...core.moves import SeatTurn
from ...core.sweeps import Sweeps, sweeps_for
from ...core.types import Array, IntArray
from .match import FourTwoOneMatch
from .match_blocks import blocks_of


@sweeps_for(FourTwoOneMatch)
class MatchSweeps(Sweeps):
    """The sweeps of a match."""

    game: FourTwoOneMatch

    def turns(self, player: int) -> list[SeatTurn]:
        """Give the turns of both seats in each phase: a token state is a block of contexts."""
        sizes = {
            (seat, number, leg): len(phase.settlement.over) * len(played.contexts)
            for seat in (0, 1)
            for number, phase in enumerate(self.game.phases)
            for leg, played in enumerate(phase.round.legs)
        }
        firsts = dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist(), strict=False))
        return [self._seat_turn(player, *place, firsts) for place in sizes]

    def _seat_turn(
        self, player: int, seat: int, number: int, leg: int, firsts: dict[tuple[int, int, int], int]
    ) -> SeatTurn:
        """Give a turn of one seat.

        Args:
            player: whose payoffs are meant.
            seat: whose turn it is.
            number: of the phase.
            leg: of the round.
            firsts: number of the first context of each turn, by (seat, phase, leg).
        """
        game = self.game
        phase = game.phases[number]
        played, settled = phase.round.legs[leg], phase.settlement
        tokens = np.arange(len(settled.over))
        starts = phase.first_state + tokens * phase.round.num_states + phase.round.first_states[leg]
        seen = slice(3, 3 + played.turn.observations.shape[1])
        width = len(played.contexts)
        if leg == 0:  # the other follows, with the result to beat as its context
            to_beat = len(phase.round.legs[1].contexts)
            after, context = np.divmod(np.arange(played.turn.num_results)[:, None], to_beat)
            follows = np.array([firsts[1 - seat, number, 1 + i] for i in range(after.max() + 1)])
            following = follows[after] + game.swapped(phase, tokens) * to_beat + context
            payoffs = np.zeros(following.shape)
            return SeatTurn(seat, played.turn, starts, width, seen, following, payoffs)
        over, wins, stays, then = (
            np.moveaxis(table[game.swapped(phase, tokens)], 1, 0).reshape(-1, len(tokens) * width)
            for table in settled
        )
        rounds = np.array([[firsts[i, k, 0] for k in range(len(game.phases))] for i in (0, 1)])
        later = np.searchsorted([phase.first_tokens for phase in game.phases], then, "right") - 1
        inside = then - np.array([phase.first_tokens for phase in game.phases])[later]
        following = rounds[np.where(stays, seat, 1 - seat), later] + inside
        payoffs = (wins == (player == seat)).astype(np.float64)
        following = np.where(over, -1, following)
        return SeatTurn(seat, played.turn, starts, width, seen, following, payoffs)

    def settled(
        self, seat: int, states: IntArray, player: int, arithmetic: Arithmetic = FLOATS
    ) -> tuple[IntArray, IntArray, Array, Array]:
        """List the last moves of rounds that end the match."""
        pairs, actions = np.nonzero(self.game.mask(states))
        rows, columns, payoffs = [], [], []
        for phase, where, tokens, in_round in self.game.locate(states[pairs]):
            ended, at = self.game.ended(phase, tokens, in_round, actions[where])
            over = phase.settlement.over[at]
            rows.append(pairs[where[ended[over]]])
            columns.append(actions[where[ended[over]]])
            wins = phase.settlement.follower_wins[at][over] == (player == seat)
            payoffs.append(arithmetic.numbers(wins.astype(np.int64)))
        joined = (np.concatenate(column) for column in (rows, columns, payoffs))
        pairs, actions, paid = joined
        return pairs, actions, paid, arithmetic.numbers(np.ones(len(pairs), dtype=np.int64))

    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> Blocks:
        """Give the blocks, first to last, each the token states of a pot."""
        return blocks_of(self.game, seat, arithmetic)
