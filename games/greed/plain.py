"""The rules of one game in Python's own numbers, which are faster than arrays for one game."""

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from ...core.plain import PlainMove, PlainRules, plain_rules_for
from ...core.sampling import inverse_laws
from ...core.types import IntArray
from .game import Greed


@plain_rules_for(Greed)
class PlainGreed(PlainRules):
    """``Greed`` by its own tables, entry by entry."""

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
