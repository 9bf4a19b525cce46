"""The moves of any game as flat arrays, from which sweeps, tables and planners are made.

A *move* is a state and a legal action, a *way* a possible outcome of a move. The ways of a batch of
moves form one array, sorted by move. The results of the rules are checked as moves are listed (see
``contract``).

``Moves`` holds all moves of a player as tables, from which environments play many games at once.
Games of turns have the tables of their legs instead (see ``leg``): the moves of a turn do not
depend on the context, so that one table of the turn serves all contexts.

``require_totals`` checks payoffs that add up. A game that pays once cannot leave ``payoff_range``
without a payoff outside it. Where payoffs add up, a pass over all moves tells: with r what a way
pays and s the position that follows,

    low(position) = min over all actions and ways of r + low(s)        high(position) = max of ...

In a block with a cut moves pay nothing unless they leave it, so that passes end once they agree.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from .arithmetic import FLOATS, Arithmetic, Values
from .checks import as_exact, range_of, require_shapes
from .contract import CLOSE, exact_laws_of, order_of, require_moves, require_rows
from .errors import GameError, SizeError
from .game import Game, ListedGame, once_a_game
from .positions import legal_moves, pieces, states_of
from .types import Array, BoolArray, FloatArray, IntArray, Move, frozen

#: Number of ways that are listed at once, about 25 MB.
BATCH = 2**17
#: Largest number of outcomes of moves that are listed one by one: 134 MB.
MOST_OUTCOMES = 2**25
#: The largest relative difference of a probability in ``laws`` from the same one in ``exact_laws``.
CLOSEST = Fraction(1, 10**9)


class PossibleOutcomes(NamedTuple):
    """The possible outcomes of all laws of a game as one array, sorted by law (CSR)."""

    firsts: IntArray  # (law + 1,) first entry of each law and, last, the number of entries
    outcomes: IntArray  # (entry,) the outcome of each entry
    chances: Array  # (entry,) the probability of that outcome


class Ways(NamedTuple):
    """The ways of a batch of moves."""

    laws: IntArray  # (move,) row of ``Game.laws`` of each move
    moves: IntArray  # (way,) the move of each way, in growing order
    entries: IntArray  # (way,) the entry of each way in the game's ``PossibleOutcomes``
    outcomes: IntArray  # (way,) the outcome of each way
    chances: Array  # (way,) the probability of that outcome
    effect: Move  # the next position and the payoffs of each way


@once_a_game
def possible_outcomes(game: Game, arithmetic: Arithmetic) -> PossibleOutcomes:
    """List the possible outcomes of all laws."""
    laws = arithmetic.laws(game)
    rows, outcomes = np.nonzero(laws > 0)
    firsts = np.searchsorted(rows, np.arange(len(laws) + 1))
    return PossibleOutcomes(*map(frozen, (firsts, outcomes, laws[rows, outcomes])))


def list_ways(
    game: Game,
    seat: int,
    states: IntArray,
    actions: IntArray,
    arithmetic: Arithmetic,
    checked: bool = True,
) -> Ways:
    """List the ways of some legal moves of one player, arrays of shape (move,).

    If ``checked``, which needs the order of all positions, the first move that breaks the contract
    raises a ``GameError``.
    """
    laws = game.law(states, actions)
    require_rows(game, seat, states, actions, laws)
    possible = possible_outcomes(game, arithmetic)
    counts = np.diff(possible.firsts)[laws]
    moves = np.repeat(np.arange(len(states)), counts)
    entries = np.arange(len(moves)) - np.repeat(np.cumsum(counts) - counts, counts)
    entries += possible.firsts[laws[moves]]
    outcomes = possible.outcomes[entries]
    seats, before, chosen = np.full(len(moves), seat), states[moves], actions[moves]
    advance = game.advance if arithmetic.rounds else game.exact_advance
    effect = advance(seats, before, chosen, outcomes)
    if not arithmetic.rounds:
        require_shapes(game, len(moves), effect)
        effect = effect._replace(payoffs=as_exact("payoffs", effect.payoffs))
    if checked:
        require_moves(game, seats, before, chosen, effect)
    return Ways(laws, moves, entries, outcomes, possible.chances[entries], effect)


def list_moves(
    game: Game, seat: int, states: IntArray, arithmetic: Arithmetic
) -> tuple[IntArray, IntArray, Ways]:
    """List all legal moves from some states: index into ``states``, action, and ways of the moves.

    What breaks the contract raises a ``GameError``.
    """
    _ = order_of(game)  # checks the game before its other methods are called
    rows, actions = legal_moves(game, states)
    return rows, actions, list_ways(game, seat, states[rows], actions, arithmetic)


def batches(game: Game, states: IntArray) -> Iterator[slice]:
    """Divide states into batches of about ``BATCH`` ways at most."""
    most = game.num_actions * int(np.count_nonzero(game.laws, axis=1).max())
    return pieces(len(states), max(1, BATCH // most))


def transitions(game: Game, seat: int, state: int, action: int) -> tuple[FloatArray, Move]:
    """Return probability and effect of each possible outcome of one move, without checks."""
    ways = list_ways(game, seat, np.array([state]), np.array([action]), FLOATS, checked=False)
    return ways.chances, ways.effect


@once_a_game
def law_roundings(game: Game) -> int:
    """Return the largest relative error of ``laws``, in roundings (units of 2^-53), rounded up."""
    most = Fraction(0)
    for (row, outcome), chance in np.ndenumerate(exact_laws_of(game)):
        found = Fraction(float(game.laws[row, outcome]))
        if chance == 0 == found:
            continue
        most = max(most, abs(found / chance - 1) if chance else Fraction(1))
        if most > CLOSEST:
            raise GameError(
                f"laws must be exact_laws in floats, got {float(found)!r} for {chance} in row "
                f"{row}, outcome {outcome}"
            )
    return ceil(most * 2**53)


def worth_of(ways: Ways, seat: int, values: Values) -> Array:
    """Give what ways pay a player, plus its ``values`` where they lead, shape (way,)."""
    goes_on = ~ways.effect.over[:, seat]
    worth: Array = ways.effect.payoffs[:, seat].astype(ways.chances.dtype)  # they may be integers
    worth[goes_on] += values.at(ways.effect.seats[goes_on], ways.effect.states[goes_on])
    return worth


def move_roundings(game: Game, pays_early: bool) -> int:
    """Bound the number of roundings in the expected value of an action.

    A payoff, its probability, their product and each addition are rounded. If moves pay while the
    game goes on, payoffs and what follows are added up one by one.
    """
    most = int(np.count_nonzero(game.laws, axis=1).max())
    return 1 + law_roundings(game) + most * (2 if pays_early else 1)


class Moves(NamedTuple):
    """The moves of one seat, with the payoffs of a player, who may have another seat."""

    # (state, action) row of ``Game.laws``; -1 if illegal, or if the seat is never to move there.
    laws: IntArray
    firsts: IntArray  # (state, action) entry of outcome 0; outcome k has the entry ``firsts + k``
    # (entry,) seat * num_states + state of the next position; -1 if the player's game is over.
    leads_to: IntArray
    paying: IntArray  # (payment,) the entries that pay the player, or end its game
    payoffs: FloatArray  # (payment,) what the player is paid with these

    @property
    def over(self) -> BoolArray:
        """Whether the game is over with a payment, shape (payment,)."""
        return self.leads_to[self.paying] < 0


def tabulate_moves(game: Game, seat: int, player: int) -> Moves:
    """List the moves of a seat one by one, and check them and the totals of payoffs."""
    own = states_of(game, seat)
    sizes = game.laws.shape[1] - np.argmax(game.laws[:, ::-1] > 0, axis=1)  # up to the last one
    laws: Any
    firsts: Any
    laws, firsts = np.full((2, game.num_states, game.num_actions), -1, dtype=np.int32)
    position = np.min_scalar_type(-1 - game.num_players * game.num_states)  # also the size itself
    none = np.zeros(0, dtype=np.int32)
    listed, count = [(none.astype(position), none, np.zeros(0))], 0
    for batch in batches(game, own):
        rows, actions, ways = list_moves(game, seat, own[batch], FLOATS)
        states = own[batch][rows]
        begins = count + np.cumsum(sizes[ways.laws]) - sizes[ways.laws]
        laws[states, actions], firsts[states, actions] = ways.laws, begins
        size = int(sizes[ways.laws].sum())
        if count + size > MOST_OUTCOMES:
            raise SizeError(
                f"moves must have at most {MOST_OUTCOMES} outcomes to be listed, got {count + size}"
            )
        entries, effect = begins[ways.moves] + ways.outcomes, ways.effect
        over, paid = effect.over[:, player], effect.payoffs[:, player]
        leads_to = np.zeros(size, dtype=position)
        after = effect.seats * game.num_states + effect.states
        leads_to[entries - count] = np.where(over, -1, after)
        pays = over | (paid != 0)
        listed.append((leads_to, entries[pays].astype(np.int32), paid[pays].astype(np.float64)))
        count += size
    moves = Moves(laws, firsts, *(np.concatenate(column) for column in zip(*listed, strict=True)))
    if not moves.over.all():
        require_totals(game, player, FLOATS)
    return moves


@once_a_game
def require_totals(game: Game, seat: int, arithmetic: Arithmetic) -> None:
    """Raise a ``GameError`` unless payoffs to a player add up to a total in ``payoff_range``."""
    if isinstance(game, ListedGame):
        return
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
    """Give the smallest and the largest payoff to a player, each of shape (player, state)."""
    low, high = (arithmetic.zeros(game.num_players, game.num_states) for _ in range(2))
    known = np.zeros(low.shape, dtype=bool)  # in cycles not all are known when they are met
    in_order = [
        (mover, states[b]) for mover, states in game.stages() for b in batches(game, states)
    ]
    changed = True
    while changed:
        changed = False
        for mover, states in reversed(in_order):
            rows, _, ways = list_moves(game, mover, states, arithmetic)
            over = ways.effect.over[:, seat]
            after = np.where(over, 0, ways.effect.seats), np.where(over, 0, ways.effect.states)
            some = over | known[after]
            paid, rows = ways.effect.payoffs[some, seat], rows[ways.moves[some]]
            firsts = np.flatnonzero(np.diff(rows, prepend=-1))
            found = mover, states[rows[firsts]]
            before = low[found].copy(), high[found].copy(), known[found].all()
            for table, best in ((low, np.minimum), (high, np.maximum)):
                ahead = np.where(over, 0, table[after])[some]
                table[found] = best.reduceat(paid + ahead, firsts) if len(firsts) else []
            known[found] = True
            same = (low[found] == before[0]).all() and (high[found] == before[1]).all()
            changed |= not (before[2] and same)
        changed &= game.has_cycles
    return low, high
