"""The sweeps of Greed: values and mass by the recursion, moves and ends as tables."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...core.arithmetic import FLOATS, Arithmetic
from ...core.blocks import Blocks
from ...core.moves import Moves
from ...core.sweeps import Sweeps, sweeps_for
from ...core.types import Array, Decide, IntArray, Stage, frozen
from ...core.values import Values
from ...core.whole_game import WholeGame
from .game import Greed
from .recursion import backward, forward


@sweeps_for(Greed)
class GreedSweeps(Sweeps):
    """Sweeps in O(M^3), a die at a time, and the moves and ends of games as tables."""

    game: Greed

    def moves(self, seat: int, player: int) -> Moves:
        """List all moves; outcomes are sums, so that many moves share a row of totals."""
        game = self.game
        scores, limit = np.arange(game.num_scores), game.max_score
        totals = np.arange(game.num_scores + game.laws.shape[1])  # own score and a sum
        theirs, reached = scores[:, None], np.minimum(totals, limit)
        seen = [np.broadcast_to(score, (len(scores), len(totals))) for score in (theirs, reached)]
        later = (1 - seat) * game.num_states + game.encode(np.stack([*seen, 0 * seen[0]], axis=-1))
        halves = game.final_halves(totals, theirs)[int(player != seat)]
        rolled = np.where(game.is_bust(totals), -1 - halves, later)  # (other's score, total)
        stopped = np.stack(np.broadcast_arrays(theirs, scores, 1), axis=-1)  # as the other sees it
        tables = rolled, (1 - seat) * game.num_states + game.encode(stopped), -1 - halves
        begins = np.cumsum([0, *[table.size for table in tables]])
        own, other, last = game.scores(np.arange(game.num_states))
        row = other * len(totals) + own
        normal = begins[0] + row, begins[1] + other * len(scores) + own
        firsts = np.repeat(np.where(last, begins[2] + row, normal[0])[:, None], game.num_actions, 1)
        firsts[last == 0, 0] = normal[1][last == 0]
        laws = np.where(game.mask(np.arange(game.num_states)), np.arange(game.num_actions), -1)
        leads_to = np.concatenate([table.ravel() for table in tables])
        return Moves(laws, firsts, leads_to, np.array([0, 0.5, 1]))

    def backward_together(
        self, decide: Decide, seats: Sequence[int], arithmetic: Arithmetic = FLOATS
    ) -> Values:
        """Visit the stages last to first in O(M^3), a die at a time."""
        return backward(self.game, decide, seats, arithmetic)

    def backward_mirrored(self, decide: Decide, arithmetic: Arithmetic = FLOATS) -> Values | None:
        """Visit the stages of player 0 alone, whose values are also player 1's if zero-sum."""
        if not self.game.zero_sum:
            return None

        def decide_alone(stage: Stage, expected: Array) -> Array:
            return decide(stage, expected[0])[None]

        return backward(self.game, decide_alone, [0], arithmetic, movers=[0]).row(0)

    def move_on(
        self, decide: Decide, mass: Array, seat: int, arithmetic: Arithmetic = FLOATS
    ) -> None:
        """Visit the stages first to last in O(M^3): the adjoint of ``backward``."""
        forward(self.game, decide, mass, arithmetic)

    def blocks(self, seat: int, arithmetic: Arithmetic = FLOATS) -> Blocks:
        """Give the game as one block; a forward pass has as many roundings as a backward pass."""
        whole = WholeGame(self, seat, arithmetic, self._roundings, self._roundings)
        return Blocks(1, lambda _: whole)

    def _roundings(self, decision: int) -> int:
        """Bound the roundings on the longest way to the end, and in one more move.

        Every die that lands shows at least one point, and so does every turn but the last two,
        which bounds the number of dice and of turns. A die takes the roundings of a weight, of the
        product and of each addition; a turn takes those of a decision and of three differences
        from 1.
        """
        most = 2 * self.game.max_score + 2  # dice; also turns
        # Each die adds one sum of the dice before it for each face, and divides the total.
        chance = self.game.num_actions * (self.game.sides + 1)
        move = 1 + chance + int(self.game.laws.shape[1])
        return most * (self.game.sides + 1) + (most + 2) * (decision + 3) + move

    def settled(
        self, seat: int, states: IntArray, player: int, arithmetic: Arithmetic = FLOATS
    ) -> tuple[IntArray, IntArray, Array, Array]:
        """List the ends of games, by the laws of the sums."""
        own, other, last = self.game.scores(states)
        ends, needed, bust = (last == 1)[:, None], other - own, self.game.max_score + 1 - own
        below = self._chances(_below(self.game, arithmetic), needed)
        beyond = self._chances(_beyond(self.game, arithmetic), bust)
        lower = np.where(ends, below, 0)
        equal = np.where(ends, self._between(needed, needed + 1, arithmetic), 0)
        higher = np.where(ends, self._between(needed + 1, bust, arithmetic), 0)
        chances = [beyond, lower, equal, higher]  # by ending
        halves = [end.mover if player == seat else end.other for end in self.game.endings]
        if halves[0] == halves[1]:  # a bust and a lower score pay the same: one result
            chances, halves = [lower + beyond, equal, higher], halves[1:]
        legal = self.game.mask(states)
        ways = [np.nonzero(legal & (chance > 0)) for chance in chances]
        payoffs = [arithmetic.number(Fraction(half, 2)) for half in halves]
        return (
            np.concatenate([pairs for pairs, _ in ways]),
            np.concatenate([actions for _, actions in ways]),
            np.repeat(payoffs, [len(pairs) for pairs, _ in ways]),
            np.concatenate([chance[way] for chance, way in zip(chances, ways, strict=True)]),
        )

    def _between(self, first: IntArray, after: IntArray, arithmetic: Arithmetic) -> Array:
        """Give the chance of a sum from ``first`` to ``after`` - 1, shape (total, dice).

        It is the difference of two cumulative chances, counted from the nearer end of the law,
        where they are small. So small chances keep their digits, and impossible ones are 0.
        """
        below, beyond = _below(self.game, arithmetic), _beyond(self.game, arithmetic)
        low, high = self._chances(below, first), self._chances(below, after)
        more, most = self._chances(beyond, after), self._chances(beyond, first)
        between: Array = np.where(high <= most, high - low, most - more)
        return between

    def _chances(self, table: Array, totals: IntArray) -> Array:
        """Look totals up in a table of shape (dice, total); gives shape (total, dice)."""
        chances: Array = table[:, np.clip(totals, 0, table.shape[1] - 1)].T
        return chances


@lru_cache(maxsize=4)
def _beyond(game: Greed, arithmetic: Arithmetic) -> Array:
    """Give the chance of each total or more, shape (dice, total); the last chance is 0."""
    sums = np.cumsum(arithmetic.laws(game)[:, ::-1], axis=1)[:, ::-1]
    return frozen(np.concatenate([sums, np.zeros_like(sums[:, :1])], axis=1))


@lru_cache(maxsize=4)
def _below(game: Greed, arithmetic: Arithmetic) -> Array:
    """Give the chance of less than each total, shape (dice, total); the last chance is 1."""
    sums = np.cumsum(arithmetic.laws(game), axis=1)
    return frozen(np.concatenate([np.zeros_like(sums[:, :1]), sums], axis=1))
