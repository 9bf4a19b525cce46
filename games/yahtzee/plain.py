"""The rules of one game in Python's own numbers, which are faster than arrays for a few games."""

from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core import IntArray
from ...core.plain import PlainMove, PlainRules, plain_rules_for
from ...core.sampling import inverse_laws
from .dice import DICE, KEEPS, ROLLS, dice
from .game import IN_TURN, MORE, Yahtzee, masks


@plain_rules_for(Yahtzee)
class PlainYahtzee(PlainRules):
    """``Yahtzee`` by its own tables, entry by entry."""

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
