"""Greed: roll any number of dice in one go, come close to the limit, never above it.

Source: Chance Addis, *A Guide to Optimal Play in Greed* (2023).

The mover has score p, the other player o, the limit is M and the dice have s sides. The mover
rolls n >= 0 dice and adds their sum; above M the mover is bust and has lost. Rolling no dice
gives the other player one last turn, after which the higher score wins and equal scores tie. A
win pays 1, a tie 1/2, a loss 0 (section 1.1), so that V(p, o) and 1 - V(o, p) are the two
players' ratings of one position (section 6). ``endings`` has these payoffs and other rules for
ties.

The expected values of all actions take O(M^3) together, a die at a time (``sweeps``).
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core import Array, BoolArray, Game, IntArray, Move, at_least, frozen, one_of
from ...core.dice import sum_counts, sum_laws
from ...core.plain import PlainMove, PlainRules, plain_rules_for
from ...core.sampling import inverse_laws
from ...core.sizes import check_states

#: A value of the keyword ``tie``.
Tie: TypeAlias = Literal["half", "lost", "stopper", "chaser"]


class Ending(NamedTuple):
    """The payoffs of one end of a game, in halves: 2 for a win, 1 for a tie, 0 for a loss."""

    mover: int  # payoff of the player who rolled last
    other: int  # payoff of the other player
    words: str  # part of a sentence of the rules


class Endings(NamedTuple):
    """The ends of a game by the mover's score; the order is that of ``Greed.final_halves``."""

    bust: Ending
    lower: Ending
    equal: Ending
    higher: Ending


#: The sweeps need that a bust pays the mover nothing.
BUST = Ending(0, 2, "lose")
LOWER = Ending(0, 2, "the higher score wins")
HIGHER = Ending(2, 0, "the higher score wins")
#: The end with equal scores, by the value of the keyword ``tie``. The mover has had the last turn,
#: after the other player stopped.
TIES: dict[Tie, Ending] = {
    "half": Ending(1, 1, "equal scores are half a win for both"),
    "lost": Ending(0, 0, "with equal scores both lose"),
    "stopper": Ending(0, 2, "equal scores are won by the player who stopped"),
    "chaser": Ending(2, 0, "equal scores are won by the player who had the last turn"),
}


class Greed(Game):
    """The rules of Greed for two players.

    A state is (mover's score, other player's score, last turn?), an action a number of dice.

    Args:
        max_score: the limit M of the scores, at least 1 point.
        sides: faces of each die, at least 1.
        max_dice: the largest number of dice that a player may roll. None allows, in each state, the
            numbers up to floor(2 (M - p) / (s + 1)) + 1; one of these is always optimal (section 7:
            any sum up to n (s + 1) / 2 is no likelier with n + 1 dice than with n, and no rating is
            negative).
        tie: equal scores at the end are worth "half" a win to both players, or are "lost" by both,
            or are won by the "stopper", who rolled no dice, or by the "chaser", who had the last
            turn.

    Attributes:
        endings: the ends of a game with their payoffs.
        num_scores: number of scores from 0 to the limit.
        dice_allowed: the largest number of dice that the mover may roll, shape (own score,).

    Raises:
        ValueError: if a number is not an integer in its range, or ``tie`` is unknown.
    """

    name: ClassVar[str] = "Greed"
    num_players = 2
    observation_names = ("own score", "other score", "last turn?")
    payoff_range = (0.0, 1.0)

    def __init__(
        self, max_score: int = 100, sides: int = 6, max_dice: int | None = None, tie: Tie = "half"
    ) -> None:
        self.max_score = at_least("max_score", max_score, 1)
        self.sides = at_least("sides", sides, 1)
        self.max_dice = max_dice if max_dice is None else at_least("max_dice", max_dice, 0)
        self.tie: Tie = one_of("tie", tie, get_args(Tie))
        self.endings = Endings(BUST, LOWER, TIES[self.tie], HIGHER)
        self.zero_sum = all(end.mover + end.other == 2 for end in self.endings)
        halves = [(end.mover, end.other) for end in self.endings]
        self._halves = frozen(np.array(halves).T)  # (mover or other, ending)
        self.num_scores = self.max_score + 1
        self.num_states = 2 * self.num_scores**2
        most = 2 * self.max_score // (self.sides + 1) + 1 if max_dice is None else max_dice
        check_states(self, self.num_states, most * most * self.sides)  # the laws of the sums
        self.observation_sizes = (self.num_scores, self.num_scores, 2)
        allowed = 2 * (self.max_score - np.arange(self.num_scores)) // (self.sides + 1) + 1
        if self.max_dice is not None:
            allowed = np.full(self.num_scores, self.max_dice)
        self.dice_allowed = frozen(allowed)  # (own score,)
        self.num_actions = int(self.dice_allowed[0]) + 1
        small = np.min_scalar_type(self.num_actions)  # masks are compared faster in few bytes
        self._actions = np.arange(self.num_actions, dtype=small)
        self._allowed = self.dice_allowed.astype(small)
        self.laws = frozen(sum_laws(self.num_actions - 1, self.sides))

    def observe(self, states: IntArray, seat: int) -> IntArray:
        """Give (own score, other score, last turn?) of each state, the same for both seats."""
        seen = np.empty((*states.shape, 3), dtype=np.int64)
        seen[..., 0], seen[..., 1], seen[..., 2] = self.scores(states)
        return seen

    def encode(self, observations: IntArray) -> IntArray:
        """Give the state of each observation."""
        own, other, last = np.moveaxis(np.asarray(observations, dtype=np.int64), -1, 0)
        return (last * self.num_scores + own) * self.num_scores + other

    def scores(self, states: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return own score, other player's score and 1 for a last turn, of each state."""
        rest, other = np.divmod(states, self.num_scores)
        last, own = np.divmod(rest, self.num_scores)
        return own, other, last

    def mask(self, states: IntArray) -> BoolArray:
        """Allow the numbers of dice up to ``dice_allowed`` for the mover's score."""
        own = states // self.num_scores % self.num_scores
        return self._actions <= self._allowed[own][..., None]

    def initial_law(self) -> tuple[IntArray, Array]:
        """Start at 0 : 0."""
        return np.array([0]), np.array([1], dtype=object)

    def exact_laws(self) -> Array:
        """Give the laws of the sums as fractions."""
        laws = np.full(self.laws.shape, Fraction(0), dtype=object)
        for dice in range(self.num_actions):
            for total, count in enumerate(sum_counts(dice, self.sides)):
                laws[dice, total] = Fraction(count, self.sides**dice)
        return laws

    def law(self, states: IntArray, actions: IntArray) -> IntArray:
        """Give the row of each move: row n is the law of the sum of n dice."""
        return actions

    def final_halves(self, own: IntArray, other: IntArray) -> tuple[IntArray, IntArray]:
        """Return the payoffs of the player who rolled last and of the other player, in halves."""
        endings = np.where(own > self.max_score, 0, 2 + np.sign(own - other))  # as in ``endings``
        mover, opponent = self._halves[:, endings]
        return mover, opponent

    def advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        """Add the dice to the mover's score and pass the turn, or end the game."""
        own, other, last = self.scores(states)
        own = own + outcomes
        over = (own > self.max_score) | (last == 1)
        halves = np.where(over, self.final_halves(own, other), 0)  # (mover or other, move)
        payoffs, others = np.empty((len(states), 2)), 1 - seats
        index = np.arange(len(states))
        payoffs[index, seats], payoffs[index, others] = halves / 2
        follow = ((actions == 0) * self.num_scores + other) * self.num_scores + own * ~over
        return Move(others, follow, payoffs, np.repeat(over[:, None], 2, axis=1))

    def stages(self) -> Sequence[tuple[int, IntArray]]:
        """List the normal states by growing sum of scores, then the last turns."""
        diagonals = [self.diagonal(total)[1] for total in range(2 * self.max_score + 1)]
        rows = np.arange(self.num_scores**2, self.num_states).reshape(self.num_scores, -1)
        return [(seat, states) for states in [*diagonals, *rows] for seat in (0, 1)]

    def diagonal(self, total: int) -> tuple[slice, IntArray]:
        """Return the other player's scores on the anti-diagonal p + o = total, and its states."""
        window = slice(max(0, total - self.max_score), min(total, self.max_score) + 1)
        other = np.arange(window.start, window.stop)
        return window, (total - other) * self.num_scores + other


@plain_rules_for(Greed)
class PlainGreed(PlainRules):
    """The rules of one game in Python's own numbers, faster than arrays, by tables of ``Greed``."""

    def __init__(self, game: Greed) -> None:
        self._laws, self._scores, self._endings = inverse_laws(game), game.num_scores, game.endings
        states = np.arange(game.num_scores) * game.num_scores
        self._masks = game.mask(states).astype(np.int8)  # (own score, action)

    @override
    def mask(self, state: int) -> npt.NDArray[np.int8]:
        return self._masks[state // self._scores % self._scores].copy()

    @override
    def observe(self, state: int, seat: int) -> IntArray:
        rest, other = divmod(state, self._scores)
        last, own = divmod(rest, self._scores)
        return np.array((own, other, last), dtype=np.int64)

    @override
    def advance(self, seat: int, state: int, action: int, chance: float) -> PlainMove:
        rest, other = divmod(state, self._scores)
        last, own = divmod(rest, self._scores)
        outcome = self._laws.draw_one(action, chance)
        own += outcome
        bust = own >= self._scores
        if not (last or bust):
            after = ((action == 0) * self._scores + other) * self._scores + own
            return PlainMove(outcome, 1 - seat, after, (0.0, 0.0), (False, False))
        end = self._endings[0 if bust else 2 + (own > other) - (own < other)]
        paid = (end.other / 2, end.mover / 2) if seat else (end.mover / 2, end.other / 2)
        return PlainMove(outcome, 1 - seat, 0, paid, (True, True))
