"""Yahtzee for one player: thirteen boxes, five dice, three rolls a turn.

A player rolls five dice, keeps any of them and rolls the others again, up to two times, and then
takes a box that is still open; it may take a box earlier. The boxes of a face score the sum of that
face, three and four of a kind and chance the sum of all dice, a full house 25, a small straight 30,
a large straight 40 and a Yahtzee, five of a kind, 50. Once the upper boxes have 63 points or more,
they earn 35 further points, which are paid with the move that reaches 63.

A *further Yahtzee*, while the box for it holds 50, earns ``bonus`` points. A Yahtzee that is rolled
while its box is filled, with 50 or 0, is a *joker*: it scores the fixed points of a full house or a
straight if the upper box of its face is filled. By the official rule (``forced``) it must take the
upper box of its face if this is open, else any open lower box, else any open box, for 0. Without
jokers five of a kind are no full house. The rules are those of Glenn (2006), *An Optimal Strategy
for Yahtzee*, and Verhoeff (1999), *Optimal Solitaire Yahtzee Strategies*.

Points add up, so the points so far are no part of a state. It has the open boxes, the upper points
as far as 63, whether a further Yahtzee is paid, the rolls left and the dice: these are 4 x 10^8
states. What comes before the rolls and the dice is the *context* of a turn (``card``). If only
some boxes are played, all others count as filled, the box for a Yahtzee with 0.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, get_args

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core import EXACT, FLOATS, Array, BoolArray, Game, IntArray, Move, at_least, frozen, one_of
from ...core.plain import PlainMove, PlainRules, plain_rules_for
from ...core.sampling import inverse_laws
from ...core.types import Lazy
from .card import ALL, BOXES, ENOUGH, Contexts, Joker, boxes_in, has_box, names_of, read_boxes
from .dice import DICE, FACES, KEEPS, ROLLS, dice

#: Number of rolls after the first one; below it, the number of states of a context.
MORE = 2
MOST_BONUS = 10**6
IN_TURN = (MORE + 1) * ROLLS


class Yahtzee(Game):
    """The rules of Yahtzee for one player.

    A state is (context, rolls made, dice). Action a below 210 keeps multiset a (see ``dice``) and
    rolls the other dice; action 210 + b takes box b. With rolls left every proper part of the dice
    may be kept, none included, and every box that the rules allow may be taken.

    Args:
        joker: "forced" (the official rule), or "free": a joker may take any open box.
        bonus: points of each further Yahtzee, at least 0. With 0 there are no jokers.
        boxes: the boxes that are played: "all", or some of their names with commas between them,
            such as "ones,full_house,chance".

    Attributes:
        boxes: the same, in the order of the card.
        chosen: the boxes, by number, in the order of the card.
        contexts: the contexts of turns.
    """

    name: ClassVar[str] = "Yahtzee"
    num_players = 1
    num_actions = KEEPS + len(BOXES)
    observation_names = (
        *(f"{box} open?" for box in BOXES),
        *("upper points", "further Yahtzee paid?", "rolls left"),
        *(f"dice of face {face}" for face in range(1, FACES + 1)),
    )
    observation_sizes = (*(2,) * len(BOXES), ENOUGH + 1, 2, MORE + 1, *(DICE + 1,) * FACES)
    zero_sum = False

    def __init__(self, joker: Joker = "forced", bonus: int = 100, boxes: str = ALL) -> None:
        self.joker: Joker = one_of("joker", joker, get_args(Joker))
        self.bonus = at_least("bonus", bonus, 0, MOST_BONUS)
        chosen = read_boxes(boxes)
        self.boxes = names_of(chosen)
        self.chosen = tuple(boxes_in(chosen))
        self.contexts = Contexts(chosen, joker == "forced", self.bonus)
        self.payoff_range = (0.0, float(self.contexts.largest_total))
        self.num_states = len(self.contexts) * IN_TURN
        #: Probability of each multiset of n dice in row n, shape (n, outcome).
        self.laws = frozen(FLOATS.chances(dice().ways))
        known, boxes_seen = self.contexts, np.arange(len(BOXES))
        is_open = has_box(known.still_open[:, None], boxes_seen)
        seen = np.column_stack([is_open, known.upper, known.holds_fifty])  # (context, component)
        #: What is seen of each context, shape (context, component).
        self.seen_of_contexts = frozen(seen.astype(np.int8))
        #: Index of the roll with given counts of faces, -1 if they are not five dice.
        self._numbers = np.full((DICE + 1,) * FACES, -1)
        self._numbers[tuple(dice().counts[KEEPS:].T)] = np.arange(ROLLS)

    # ------------------------------------------------------------------ states

    def locate(self, states: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return the context, the rolls left and the index of the roll of each state."""
        contexts, in_turn = np.divmod(states, IN_TURN)
        made, rolls = np.divmod(in_turn, ROLLS)
        return contexts, MORE - made, rolls

    def states_in(self, contexts: IntArray, rolls_left: int) -> IntArray:
        """Return all states of some contexts with ``rolls_left``, shape (context * dice,)."""
        firsts = contexts * IN_TURN + (MORE - rolls_left) * ROLLS
        return (firsts[:, None] + np.arange(ROLLS)).ravel()

    @override
    def observe(self, states: IntArray, seat: int) -> IntArray:
        contexts, left, rolls = self.locate(states)
        seen = np.empty((len(states), len(self.observation_sizes)), dtype=np.int64)
        seen[:, : len(BOXES) + 2] = self.seen_of_contexts.take(contexts, axis=0)
        seen[:, len(BOXES) + 2] = left
        seen[:, -FACES:] = dice().counts[KEEPS:].take(rolls, axis=0)
        return seen

    @override
    def encode(self, observations: IntArray) -> IntArray:
        seen = np.asarray(observations, dtype=np.int64)
        still_open = (seen[..., : len(BOXES)] << np.arange(len(BOXES))).sum(axis=-1)
        upper, holds, left = np.moveaxis(seen[..., len(BOXES) : -FACES], -1, 0)
        contexts = self.contexts.find(still_open, holds, upper)
        rolls = self._numbers[tuple(np.moveaxis(seen[..., -FACES:], -1, 0))]
        states = contexts * IN_TURN + (MORE - left) * ROLLS + rolls
        return np.where((contexts < 0) | (rolls < 0), -1, states)

    # ------------------------------------------------------------------ rules

    @override
    def mask(self, states: IntArray) -> BoolArray:
        contexts, left, rolls = self.locate(states)
        may_keep, in_sets = masks()
        legal: BoolArray = may_keep.take(np.where(left > 0, rolls + ROLLS, rolls), axis=0)
        legal[:, KEEPS:] = in_sets.take(self.contexts.allowed(contexts, rolls), axis=0)
        return legal

    @override
    def initial_law(self) -> tuple[IntArray, Array]:
        """Roll five dice for the empty card."""
        return np.arange(ROLLS), self.exact_laws()[DICE]

    @override
    def exact_laws(self) -> Array:
        return EXACT.chances(dice().ways)

    @override
    def law(self, states: IntArray, actions: IntArray) -> IntArray:
        """Return the number of dice that the move rolls: five for a new turn, 0 at the end."""
        last = states >= self.contexts.levels[-2] * IN_TURN
        kept = dice().sizes.take(np.minimum(actions, KEEPS - 1))
        return np.where(actions < KEEPS, DICE - kept, np.where(last, 0, DICE))

    @override
    def advance(
        self, seats: IntArray, states: IntArray, actions: IntArray, outcomes: IntArray
    ) -> Move:
        """Add the outcome to the kept dice, or pay the points of a box and begin the next turn."""
        contexts, left, rolls = self.locate(states)
        payoffs = np.zeros((len(states), 1))
        after, boxed = np.empty_like(states), actions >= KEEPS
        kept = np.flatnonzero(~boxed)
        completed = dice().completed[actions[kept], outcomes[kept]]
        after[kept] = contexts[kept] * IN_TURN + (MORE + 1 - left[kept]) * ROLLS + completed
        where = np.flatnonzero(boxed)
        taken = self.contexts.take(contexts[where], rolls[where], actions[where] - KEEPS)
        payoffs[where, 0] = taken.points
        over = np.zeros((len(states), 1), dtype=bool)
        over[where, 0] = ends = taken.contexts == len(self.contexts)
        after[where] = np.where(ends, 0, taken.contexts * IN_TURN + outcomes[where])
        return Move(seats, after, payoffs, over)

    @override
    def stages(self) -> Sequence[tuple[int, IntArray]]:
        """List the stages turn by turn: all states with one number of open boxes and rolls left."""
        return Lazy((MORE + 1) * (len(self.contexts.levels) - 1), self._stage)

    def _stage(self, number: int) -> tuple[int, IntArray]:
        level, made = divmod(number, MORE + 1)
        contexts = np.arange(*self.contexts.levels[level : level + 2])
        return 0, self.states_in(contexts, MORE - made)


@cache
def masks() -> tuple[BoolArray, BoolArray]:
    """Return the tables from which ``mask`` is assembled.

    Returns:
        Whether an action may keep dice, bool, shape (2 * dice, action), first the rolls with no
        roll left, then the rolls with some left; and the boxes in each set, bool, shape (set, box).
    """
    may_keep = np.zeros((2 * ROLLS, KEEPS + len(BOXES)), dtype=bool)
    may_keep[ROLLS:, :KEEPS] = dice().parts
    sets = np.arange(1 << len(BOXES))
    return frozen(may_keep), frozen(has_box(sets[:, None], np.arange(len(BOXES))))


@plain_rules_for(Yahtzee)
class PlainYahtzee(PlainRules):
    """The rules of one game in Python's own numbers, faster than arrays, by its tables."""

    def __init__(self, game: Yahtzee) -> None:
        self._contexts, self._end = game.contexts, len(game.contexts)
        self._laws = inverse_laws(game)
        self._seen = game.seen_of_contexts
        may_keep, in_sets = masks()
        keeps = np.concatenate([np.tile(may_keep[ROLLS:], (MORE, 1)), may_keep[:ROLLS]])
        #: By rolls made * ROLLS + dice: the legal actions that keep dice, and what is seen.
        self._keeps = [row.tobytes() for row in keeps[:, :KEEPS]]
        self._boxes = [row.tobytes() for row in in_sets]
        left = np.repeat(np.arange(MORE, -1, -1), ROLLS)
        self._turns = np.column_stack([left, np.tile(dice().counts[KEEPS:], (MORE + 1, 1))])
        self._completed: list[int] = dice().completed.ravel().tolist()
        self._rolled: list[int] = (DICE - dice().sizes[:KEEPS]).tolist()

    @override
    def mask(self, state: int) -> npt.NDArray[np.int8]:
        context, in_turn = divmod(state, IN_TURN)
        plain, roll = self._contexts.plain, in_turn % ROLLS
        held = plain.still_open(context)
        if plain.own(roll):  # no other roll may be a joker, whose boxes are fewer
            held = self._contexts.allowed(context, roll, plain)
        return np.frombuffer(bytearray(self._keeps[in_turn] + self._boxes[held]), np.int8)

    @override
    def observe(self, state: int, seat: int) -> IntArray:
        context, in_turn = divmod(state, IN_TURN)
        return np.concatenate((self._seen[context], self._turns[in_turn]))

    @override
    def advance(self, seat: int, state: int, action: int, chance: float) -> PlainMove:
        context, in_turn = divmod(state, IN_TURN)
        if action < KEEPS:
            outcome = self._laws.draw_one(self._rolled[action], chance)
            following = in_turn - in_turn % ROLLS + ROLLS
            after = context * IN_TURN + following + self._completed[action * ROLLS + outcome]
            return PlainMove(outcome, 0, after, (0.0,), (False,))
        plain, box = self._contexts.plain, action - KEEPS
        taken: Any = self._contexts.take(context, in_turn % ROLLS, box, plain)
        over, paid = taken.contexts == self._end, (float(taken.points),)
        first = self._laws.draw_one(DICE, chance)
        return PlainMove(first, 0, 0 if over else taken.contexts * IN_TURN + first, paid, (over,))
