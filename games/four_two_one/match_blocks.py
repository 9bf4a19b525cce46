"""The blocks of a match of 421: all token states of a pot, both players beginning.

In a round token states stay what they are, so they are columns of its turns, as contexts are. One
pass backward, of the follower's turns and then of the beginner's, gives the values of rounds from
those of the next rounds; one pass forward tells from which token state a round leads to which,
all side by side.
"""

import numpy as np

from ...core.arithmetic import Arithmetic, Values
from ...core.blocks import Block, Blocks
from ...core.turn import Piece
from ...core.types import Array, Decide, IntArray, Stage
from ...core.words import plural
from .match import FourTwoOneMatch


def blocks_of(game: FourTwoOneMatch, seat: int, arithmetic: Arithmetic) -> Blocks:
    """Give all blocks of a match, first to last: from a full pot to an empty one."""
    pots = np.unique(game.token_states[:, 0])[::-1]
    return Blocks(len(pots), lambda number: MatchBlock(game, seat, arithmetic, pots, number))


class MatchBlock(Block):
    """The rounds that begin with so many tokens in the pot.

    A point of the cut is a player who begins and a token state, before the first cast.
    """

    def __init__(
        self,
        game: FourTwoOneMatch,
        seat: int,
        arithmetic: Arithmetic,
        pots: IntArray,
        number: int,
    ) -> None:
        self._game, self._seat, self._arithmetic = game, seat, arithmetic
        pot = int(pots[number])
        self.successors = range(number + 1, len(pots))
        phase = self._phase = game.phases[0 if pot else -1]
        self._legs = phase.round.legs
        self._tokens = np.flatnonzero(game.token_states[:, 0] == pot)  # of all token states
        own = self._tokens - phase.first_tokens
        self._begins = phase.first_state + own * phase.round.num_states  # first states
        self._follows = phase.first_state + game.swapped(phase, own) * phase.round.num_states
        self._over, self._follower_wins, self._passes, self._following = (
            np.moveaxis(table[own], 0, -1)  # (result, result to beat, token state)
            for table in phase.settlement
        )
        self._is_cyclic = bool(game.is_cyclic(np.array([pot]))[0])
        self.places = np.arange(2 * len(own) if self._is_cyclic else 0)
        self.groups = np.zeros_like(self.places)
        self._first_casts = np.flatnonzero(self._legs[0].turn.possible[0])
        law = self._legs[0].turn.probabilities[arithmetic][self._legs[0].turn.law[0]]
        self._first_law = law[self._first_casts]
        sizes = [leg.turn.num_states * len(leg.contexts) for leg in self._legs]
        self._first_in_round = np.append(0, np.cumsum(sizes))  # (leg + 1,)

    @property
    def stages(self) -> list[Stage]:
        """The layers of who begins, then of who follows."""
        return [
            self._stage(beginner, number, slice(0, leg.turn.num_states))
            for beginner in (0, 1)
            for number, leg in enumerate(self._legs)
        ]

    def _stage(self, beginner: int, leg: int, states: slice, scale: int = 1) -> Stage:
        """Give some states of a turn with all its contexts and, last, all token states."""
        contexts = np.arange(len(self._legs[leg].contexts))
        in_turn = np.arange(states.start, states.stop)[:, None]
        in_round = self._first_in_round[leg] + in_turn * len(contexts) + contexts
        firsts = self._follows if leg else self._begins
        places = (in_round[..., None] + firsts).ravel()
        kind = self._arithmetic.dtype
        return Stage(beginner ^ (leg > 0), places, np.full(len(places), scale, dtype=kind))

    # ------------------------------------------------------------------ backward

    def gains(self, values: Values | None) -> Array | None:
        """Give the value of every round of the match before its first cast, (beginner, tokens)."""
        if values is None:
            return None
        entries = self._arithmetic.zeros(2, len(self._game.token_states))
        later = np.arange(self._tokens[-1] + 1, entries.shape[1])
        entries[:, later] = self._before_cast(later, values)
        return entries

    def _before_cast(self, tokens: IntArray, values: Values) -> Array:
        """Average over the first cast, shape (beginner, token state)."""
        states = self._entered(tokens)
        both = np.stack([values.at(beginner, states.ravel()) for beginner in (0, 1)])
        mean: Array = (both.reshape(2, *states.shape) * self._first_law).sum(axis=-1)
        return mean

    def _entered(self, tokens: IntArray) -> IntArray:
        """Give the states after each first cast, shape (token state, first cast)."""
        casts = self._first_casts
        tokens = np.repeat(tokens, len(casts))
        states = self._game.begin(tokens, np.tile(casts, len(tokens) // len(casts)))
        return states.reshape(-1, len(casts))

    def at_cut(self, values: Values) -> Array:
        """Average over the first cast."""
        if not self._is_cyclic:
            return self._arithmetic.zeros(0)
        return self._before_cast(self._tokens, values).ravel()

    def backward(
        self, decide: Decide, gains: Array | None, cut: Array, values: Values | None = None
    ) -> Array:
        """Sweep the turns of who follows, then those of who begins."""
        entries = self._arithmetic.zeros(2, len(self._game.token_states))
        if gains is not None:
            entries += gains
        if self._is_cyclic:
            entries[:, self._tokens] = cut.reshape(2, -1)
        found = self._arithmetic.zeros(2, len(self._tokens))
        for beginner in (0, 1):
            ends = entries[self._passes ^ beginner, self._following]
            wins = (self._follower_wins ^ (beginner == self._seat)) & (gains is not None)
            ends = np.where(self._over, self._arithmetic.numbers(wins.astype(np.int64)), ends)
            ends = ends.reshape(len(ends), -1)  # (result, context of who follows)
            starts = [
                self._sweep(decide, beginner, leg, ends, values)
                for leg in range(1, len(self._legs))
            ]
            chosen = np.concatenate(starts).reshape(-1, len(self._tokens))  # (result, tokens)
            found[beginner] = self._sweep(decide, beginner, 0, chosen, values)
        return found.ravel() if self._is_cyclic else found[:, :0].ravel()

    def _sweep(
        self, decide: Decide, beginner: int, leg: int, ends: Array, values: Values | None
    ) -> Array:
        """Sweep a turn, whose results are worth ``ends``; give its value before the first cast."""

        def decide_states(piece: Piece, expected: Array) -> Array:  # (state, action, context)
            stage = self._stage(beginner, leg, piece.states, piece.scale)
            by_state = expected.swapaxes(1, 2).reshape(-1, expected.shape[1])
            decided = decide(stage, by_state)
            if values is not None:
                values.put(stage.positions, decided, piece.scale)
            return decided.reshape(len(expected), -1)

        return self._legs[leg].turn.backward(decide_states, ends, self._arithmetic)[1]

    # ------------------------------------------------------------------ forward

    def returns(self, decide: Decide) -> Array:
        """Begin a round in every token state: each is a column of its own."""
        count = len(self._tokens)
        chances = self._arithmetic.zeros(1, 2 * count, 2 * count)
        entering = np.full(count, self._arithmetic.number(1))
        inside = ~self._over & np.isin(self._following, self._tokens)
        _, _, columns = np.nonzero(inside)
        targets = self._following[inside] - self._tokens[0]
        for beginner in (0, 1):
            ended = self._round(decide, beginner, entering, None)
            next_one = self._passes[inside] ^ beginner
            places = beginner * count + columns, next_one * count + targets
            np.add.at(chances[0], places, ended[inside])
        return chances

    def arrive(self, decide: Decide, mass: Array) -> Array:
        """Follow what begins in the block, and leave the mass as it is."""
        came = self._flow(decide, mass.copy(), self._arithmetic.zeros(2 * len(self._tokens)))
        arrived: Array = came[:, self._tokens].ravel()
        return arrived

    def forward(self, decide: Decide, mass: Array, returning: Array) -> None:
        """Follow it, and begin later rounds."""
        if not self._is_cyclic:
            returning = self._arithmetic.zeros(2 * len(self._tokens))
        came = self._flow(decide, mass, returning)
        later = np.arange(self._tokens[-1] + 1, came.shape[1])
        states = self._entered(later)
        for beginner in (0, 1):
            mass[beginner, states] += came[beginner, later][:, None] * self._first_law

    def _flow(self, decide: Decide, mass: Array, returning: Array) -> Array:
        """Follow mass through rounds; give what comes to others, (beginner, token state)."""
        came = self._arithmetic.zeros(2, len(self._game.token_states))
        for beginner, entering in enumerate(returning.reshape(2, -1)):
            ended = self._round(decide, beginner, entering, mass)
            on = ~self._over
            np.add.at(came, (self._passes[on] ^ beginner, self._following[on]), ended[on])
        return came

    def _round(self, decide: Decide, beginner: int, entering: Array, mass: Array | None) -> Array:
        """Play rounds to their ends: shape (result, result to beat, token state).

        Args:
            decide: as in ``forward``.
            beginner: who begins them.
            entering: mass before the first cast, shape (token state,).
            mass: what else begins in their states, which all mass replaces; None for nothing.
        """
        ended = self._turn(decide, beginner, 0, entering, mass)  # (result, token state)
        by_casts = ended.reshape(len(self._legs) - 1, -1)  # result, then token state
        turns = [
            self._turn(decide, beginner, leg, entered, mass).reshape(self._over.shape)
            for leg, entered in enumerate(by_casts, 1)
        ]
        total: Array = np.sum(turns, axis=0)
        return total

    def _turn(
        self, decide: Decide, beginner: int, leg: int, entering: Array, mass: Array | None
    ) -> Array:
        """Play a turn to its results, shape (result, context)."""
        turn, seat = self._legs[leg].turn, beginner ^ (leg > 0)
        begun = self._arithmetic.zeros(turn.num_states, len(entering))
        everything = self._stage(beginner, leg, slice(0, turn.num_states)).states
        if mass is not None:
            begun += mass[seat, everything].reshape(begun.shape)
        law = turn.probabilities[self._arithmetic][turn.law[0]]
        casts = np.flatnonzero(turn.possible[0])
        begun[turn.rolled[0, casts]] += law[casts][:, None] * entering

        def decide_states(piece: Piece, met: Array) -> Array:
            stage = self._stage(beginner, leg, piece.states, piece.scale)
            weights = decide(stage, met.ravel())
            return weights.reshape(*met.shape, -1).swapaxes(1, 2)

        met, ended = turn.forward(decide_states, begun, self._arithmetic)
        if mass is not None:
            mass[seat, everything] = met.array.ravel()
        return ended

    def roundings(self, decision: int, stay: float) -> float:
        """Count a payoff, a roll and, before a turn, a first cast."""
        return (stay + 1) * (1 + 2 * (len(self._first_law) + 1) + decision)

    def forward_roundings(self, decision: int) -> int:
        """Count two turns, and what comes from all their ends to one token state."""
        first, *second = (leg.turn.forward_roundings(decision) for leg in self._legs)
        most = int(np.bincount(self._following[~self._over]).max(initial=0))
        return first + max(second) + 2 * len(self._legs) + 4 + most

    def describe_cut(self, point: int) -> str:
        """Name the player who begins, and the tokens."""
        beginner, place = divmod(point, len(self._tokens))
        pot, own, other = self._game.token_states[self._tokens[place]]
        tokens = f"{own} {plural(own, 'token')} to {other}"
        return f"player {beginner}, who begins with {tokens}, {pot} in the pot"
