"""The rules of one game in Python's own numbers, which are faster than arrays for one game."""

from typing import Any

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
        self._laws, self._scores = inverse_laws(game), game.num_scores
        own, other = np.arange(game.num_scores + 1)[:, None], np.arange(game.num_scores)
        #: By own score, which is at most one point above the limit, and other score.
        self._halves: Any = np.stack(game.final_halves(own, other), axis=-1).tolist()
        self._masks = game.mask(other * game.num_scores).astype(np.int8)  # (own score, action)

    @override
    def mask(self, state: int) -> npt.NDArray[np.int8]:
        legal: npt.NDArray[np.int8] = self._masks[state // self._scores % self._scores].copy()
        return legal

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
        own = min(own + outcome, self._scores)
        if not last and own < self._scores:
            after = ((action == 0) * self._scores + other) * self._scores + own
            return PlainMove(outcome, 1 - seat, after, (0.0, 0.0), (False, False))
        mover, opponent = self._halves[own][other]
        halves = (opponent, mover) if seat else (mover, opponent)
        return PlainMove(outcome, 1 - seat, 0, (halves[0] / 2, halves[1] / 2), (True, True))
