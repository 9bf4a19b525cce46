"""The smallest and the largest payoff from each position on, whatever players and chance do.

A game that pays once cannot leave ``payoff_range`` without a payoff outside it. Where payoffs add
up, a pass over all moves tells: with r what a way pays and s the position that follows,

    low(position) = min over all actions and ways of r + low(s)        high(position) = max of ...

In a block with a cut moves pay nothing unless they leave it, so that passes end once they agree.
"""

from typing import Any

import numpy as np

from .arithmetic import Arithmetic
from .checks import range_of
from .contract import CLOSE
from .errors import GameError
from .game import Game
from .identity import once_a_game
from .listing import Ways, batches, list_moves
from .types import Array, IntArray


@once_a_game
def require_totals(game: Game, seat: int, arithmetic: Arithmetic) -> None:
    """Check that payoffs to a player add up to a total in ``payoff_range``, from any position on.

    Raises:
        GameError: naming a position from which they do not.
    """
    low, high = extremes(game, seat, arithmetic)
    ends: Any = range_of(game) if arithmetic.rounds else game.exact_range
    close = CLOSE * max(map(abs, ends)) if arithmetic.rounds else 0
    for mover, states in game.stages():
        at = mover, states
        wrong = (low[at] < ends[0] - close) | (high[at] > ends[1] + close)
        if wrong.any():
            place = int(np.argmax(wrong))
            least, most = low[mover, states[place]], high[mover, states[place]]
            raise GameError(
                "payoff_range must hold the payoffs from any position on, "
                f"{float(ends[0])} to {float(ends[1])}, got {float(least)} to {float(most)} for "
                f"player {seat} from state {states[place]} of player {mover} on"
            )


def extremes(game: Game, seat: int, arithmetic: Arithmetic) -> tuple[Array, Array]:
    """Give the smallest and the largest payoff to a player, each of shape (player, state).

    Raises:
        GameError: if a move breaks a rule, naming it.
    """
    low, high = (arithmetic.zeros(game.num_players, game.num_states) for _ in range(2))
    known = np.zeros(
        low.shape, dtype=bool
    )  # in cycles some positions are met before they are known
    stages = list(game.stages())
    changed = True
    while changed:
        changed = False
        for mover, states in reversed(stages):
            for batch in batches(game, states):
                rows, _, ways = list_moves(game, mover, states[batch], arithmetic)
                paths = rows[ways.moves]
                changed |= _extend(low, high, known, mover, states[batch], paths, ways, seat)
        changed &= game.has_cycles
    return low, high


def _extend(
    low: Array,
    high: Array,
    known: Array,
    mover: int,
    states: IntArray,
    rows: IntArray,
    ways: Ways,
    seat: int,
) -> bool:
    """Renew the extremes of some states from those of the positions that follow.

    Args:
        low: the smallest payoffs, changed in place.
        high: the largest payoffs, changed in place.
        known: whether there are extremes, changed in place, shape (player, state).
        mover: player to move in the states.
        states: shape (state,).
        rows: place of the state of each way, growing, shape (way,).
        ways: of all moves from the states.
        seat: the player who is paid.

    Returns:
        Whether an extreme has changed.
    """
    over = ways.effect.over[:, seat]
    after = np.where(over, 0, ways.effect.seats), np.where(over, 0, ways.effect.states)
    some = over | known[after]
    rows, paid = rows[some], ways.effect.payoffs[some, seat]
    firsts = np.flatnonzero(np.diff(rows, prepend=-1))
    found = mover, states[rows[firsts]]
    before = low[found].copy(), high[found].copy(), known[found].all()
    for table, best in ((low, np.minimum), (high, np.maximum)):
        ahead = np.where(over, 0, table[after])[some]
        table[found] = best.reduceat(paid + ahead, firsts) if len(firsts) else table[found]
    known[found] = True
    return not (before[2] and (low[found] == before[0]).all() and (high[found] == before[1]).all())
